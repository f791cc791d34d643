"""What a selection leaves in an AnnData object: columns, and every number of a methods section."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np

from featsieve.constraints import CONSTRAINTS, find_columns, find_groups
from featsieve.criteria.selected_clusters import fitted_attribute
from featsieve.criteria.structure import StructureTest
from featsieve.io.counts import Expression

OF_GENES = ("selected", "score", "rank", "q")
OF_CELLS = ("cluster", "certainty")


def check_own(adata: Any, prefix: str) -> None:
    """Refuse to write over what featsieve did not write."""
    record = adata.uns.get(prefix)
    if isinstance(record, Mapping) and "featsieve" in record.get("versions", {}):
        return
    taken = [f"adata.uns[{prefix!r}]"] if record is not None else []
    for where, parts in (("var", OF_GENES), ("obs", OF_CELLS)):
        names = (f"{prefix}_{part}" for part in parts)
        taken += [f"adata.{where}[{n!r}]" for n in names if n in getattr(adata, where).columns]
    if taken:
        raise ValueError(
            f"{taken[0]} is there already, and not from select_genes: give the selection another "
            "name, with key_added='...', or remove it."
        )


def gene_columns(
    names: Any, mask: np.ndarray, prefix: str, facts: Mapping[str, np.ndarray | None]
) -> Any:
    """Return what is known of every gene as a data frame; ``facts`` are by parts of names."""
    import pandas as pd  # comes with anndata

    frame = pd.DataFrame(index=names)
    for part, values in facts.items():
        if values is not None:
            empty: Any = False if values.dtype == bool else np.nan
            column = np.full(len(mask), empty)
            column[mask] = values
            frame[f"{prefix}_{part}"] = column
    return frame


def write_columns(adata: Any, prefix: str, genes: Any, fitted: Any) -> None:
    """Write what is known of genes and cells, in the place of an earlier selection's."""
    import pandas as pd

    for frame, parts in ((adata.var, OF_GENES), (adata.obs, OF_CELLS)):
        old = [f"{prefix}_{part}" for part in parts]
        frame.drop(columns=old, errors="ignore", inplace=True)
    for name, column in genes.items():
        adata.var[name] = column.to_numpy()
    labels = getattr(fitted, "labels_", None)
    if labels is not None:
        clusters = [str(value) for value in np.unique(labels)]
        words = [str(value) for value in labels]
        adata.obs[f"{prefix}_cluster"] = pd.Categorical(words, categories=clusters)
        certainty = fitted_attribute(fitted, "sample_certainty_")
        if certainty is not None:
            adata.obs[f"{prefix}_certainty"] = np.asarray(certainty)


def about_fit(fitted: Any, found: Expression, *, structure: StructureTest | None) -> dict[str, Any]:
    """Return how a selection was made, in types that a .h5ad file can hold."""
    import featsieve  # which holds this module

    about: dict[str, Any] = {
        "values": found.kind,
        "normalisation": found.sentence,
        "n_cells": int(found.X.shape[0]),
        "n_genes_looked_at": int(found.X.shape[1]),
        "selector": type(fitted).__name__,
        "params": storable({n: v for n, v in fitted.get_params().items() if n not in CONSTRAINTS}),
        "n_genes": int(fitted.n_features_selected_),
        "versions": {
            "featsieve": featsieve.__version__,
            **{name: version(name) for name in ("anndata", "numpy", "scikit-learn", "scipy")},
        },
    }
    if found.target is not None:
        about["library_size"] = found.target
    if hasattr(fitted, "n_clusters_"):
        about["n_clusters"] = int(fitted.n_clusters_)
        count = fitted_attribute(fitted, "cluster_count_")
        about["n_clusters_is"] = "given" if count is None else "found"
        if count is not None:
            about["n_clusters_plausible"] = np.array(count.plausible_range, dtype=int)
    if structure is not None:
        named = ("verdict", "p_permuted", "p_rotated", "sentence")
        about["structure"] = {name: getattr(structure, name) for name in named}
    certainty = fitted_attribute(fitted, "sample_certainty_")
    if certainty is not None:
        about["mean_certainty"] = float(np.mean(certainty))
    explained = fitted_attribute(fitted, "batch_report_")
    if explained is not None:
        about["batch"] = storable(explained.summary())
    return about


def named_constraints(given: Mapping[str, Any], names: np.ndarray) -> dict[str, Any]:
    """Return constraints by the names of genes, as .h5ad files can hold them (no "/" in keys)."""
    import pandas as pd

    found = dict(given)
    for part in {"keep", "exclude"} & found.keys():
        found[part] = names[find_columns(part, found[part], None, len(names))].astype(object)
    groups = find_groups(found.get("groups"), None, len(names))
    if groups:
        owner = {str(names[j]): name for name, genes in groups.items() for j in genes}
        found["groups"] = pd.DataFrame({"group": owner}).rename_axis("gene")
    costs = found.get("costs")
    if costs is not None:
        pairs = costs.items() if isinstance(costs, Mapping) else enumerate(costs)
        paid = {n if isinstance(n, str) else str(names[n]): float(price) for n, price in pairs}
        found["costs"] = pd.DataFrame({"price": paid}).rename_axis("gene")
    return found


def storable(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as numbers and words; None is left out, all else is described."""
    plain = (bool, int, float, str)
    return {
        name: value if isinstance(value, plain) else repr(value)
        for name, value in params.items()
        if value is not None
    }
