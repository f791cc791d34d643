"""The single-cell tables of genes.py, and the rules that choose genes there."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import real_data
from featsieve import JASFS

SETS = ("sc_baron_mouse1", "sc_camp", "sc_mix5_celseq2", "sc_pollen")
LOG10 = ("sc_pollen",)  # stored as log10(count + 1)
GENES = (30, 100, 300, 1000)
LEAST_SEEN = 0.02  # of the cells express a gene that is looked at
PRESELECTED = 2000  # genes that SCMER looks at


@dataclass(frozen=True)
class Cells:
    """Cells x genes: logs, counts where there are any, and the type of every cell."""

    logs: Any
    counts: Any
    types: np.ndarray

    @property
    def n_types(self) -> int:
        """How many types there are."""
        return len(np.unique(self.types))

    def annotated(self) -> Any:
        """Return the logs as an AnnData object, with counts as a layer."""
        import scanpy

        adata = scanpy.AnnData(self.logs)
        adata.uns["log1p"] = {"base": None}
        if self.counts is not None:
            adata.layers["counts"] = self.counts
        return adata

    def half(self, seed: int) -> "Cells":
        """Return a random half of the cells, with the genes that are seen there."""
        n = len(self.types)
        rows = np.sort(np.random.default_rng(seed).permutation(n)[: n // 2])
        counts = None if self.counts is None else self.counts[rows]
        return seen_genes(self.logs[rows], counts, self.types[rows])


def load(source: str, label_key: str) -> Cells:
    """Return one of our sets by its name, or a .h5ad file."""
    if source in SETS:
        X, types = real_data.load(source)
        counts = np.round(10.0**X - 1.0) if source in LOG10 else X
        return seen_genes(log_normalised(counts), counts, types)
    return load_h5ad(Path(source), label_key)


def load_h5ad(path: Path, label_key: str) -> Cells:
    """Return a file: counts are the layer of that name, or X if it holds whole numbers."""
    import scanpy

    adata = scanpy.read_h5ad(path)
    if label_key not in adata.obs:
        raise SystemExit(f"{path.name}: adata.obs has no column {label_key!r}; see --label-key.")
    adata = adata[adata.obs[label_key].notna().to_numpy()]
    types = np.unique(adata.obs[label_key].astype(str), return_inverse=True)[1]
    counts = adata.layers.get("counts", adata.X)
    values = counts if isinstance(counts, np.ndarray) else counts.data
    if (values == np.round(values)).all():
        counts = counts.astype(np.float64)
        return seen_genes(log_normalised(counts), counts, types)
    return seen_genes(adata.X.astype(np.float64), None, types)


def log_normalised(counts: Any) -> Any:
    """Return log1p of counts divided by the total of the cell, times the median total."""
    import scanpy

    adata = scanpy.AnnData(counts.copy())
    scanpy.pp.normalize_total(adata)
    scanpy.pp.log1p(adata)
    return adata.X


def seen_genes(logs: Any, counts: Any, types: np.ndarray) -> Cells:
    """Return the genes that enough of the cells express."""
    seen = np.asarray((logs > 0).mean(axis=0)).reshape(-1) >= LEAST_SEEN
    return Cells(logs[:, seen], None if counts is None else counts[:, seen], types)


def by_jasfs(cells: Cells, n_clusters: int | str, n_genes: int, state: int) -> JASFS:
    """Return the fitted selector; argsort of its ranking is the order of the genes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "auto" may say that it sees no clusters
        sieve = JASFS(n_clusters, n_features_to_select=n_genes, random_state=state)
        return sieve.fit(cells.logs)


def by_scanpy(flavor: str, on_counts: bool = False) -> Callable[[Cells, int], np.ndarray | None]:
    """Return a rule: the highly variable genes of scanpy, in one of its flavours."""

    def rule(cells: Cells, n_genes: int) -> np.ndarray | None:
        import scanpy

        if on_counts and cells.counts is None:
            return None
        own = flavor == "pearson_residuals"
        home = scanpy.experimental.pp if own else scanpy.pp
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of counts that are no whole numbers
            frame = home.highly_variable_genes(
                cells.annotated(),
                flavor=flavor,
                n_top_genes=n_genes,
                layer="counts" if on_counts else None,
                inplace=False,
            )
        return np.flatnonzero(frame["highly_variable"].to_numpy())

    return rule


def by_variance(cells: Cells, n_genes: int) -> np.ndarray:
    """Return the genes whose logs vary most."""
    mean = np.asarray(cells.logs.mean(axis=0)).reshape(-1)
    square = cells.logs.power(2) if hasattr(cells.logs, "power") else cells.logs**2
    variance = np.asarray(square.mean(axis=0)).reshape(-1) - mean**2
    return np.argsort(-variance, kind="stable")[:n_genes]


def by_scmer(cells: Cells, n_genes: int) -> np.ndarray | None:
    """Return about so many genes by SCMER, as its tutorials do; None where it is not."""
    if n_genes != 100 or find_spec("scmer") is None:
        return None
    import scanpy
    import scmer

    first = SCANPY["seurat"](cells, PRESELECTED)
    scaled = cells.annotated()[:, first].copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where the search ends further off than the tolerance
        scanpy.pp.scale(scaled, max_value=10)
        model = scmer.UmapL1.tune(
            n_genes,
            np.asarray(scaled.X),
            n_pcs=40,
            perplexity=100.0,
            min_lasso=1e-5,
            smallest_log10_fold_change=0.05,
            tolerance=5,
            n_threads=1,
            verbosity=0,
        )
    return first[np.flatnonzero(model.get_mask())]


SCANPY = {
    "seurat": by_scanpy("seurat"),
    "seurat_v3": by_scanpy("seurat_v3", on_counts=True),
    "cell_ranger": by_scanpy("cell_ranger"),
    "pearson_residuals": by_scanpy("pearson_residuals", on_counts=True),
}
# Rules that draw no numbers.
FIXED = {
    **{f"scanpy {name}": rule for name, rule in SCANPY.items()},
    "largest variance": by_variance,
    "SCMER": by_scmer,
}
