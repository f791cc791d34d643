"""Genes of an AnnData object: a selection in scanpy's manner, written into the object itself.

Importing this does not import anndata: that comes with the object that is passed in.
"""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.arrays.namespace import is_sparse
from featsieve.criteria.selected_clusters import layers
from featsieve.tuning import feature_qvalues
from featsieve.validation import check_finite, check_selector, warn
from featsieve.workflow.methods import find_method, make_selector

# Blocks of rows that are read from a file have about so many entries (32 MiB of float64).
BLOCK_ELEMENTS = 2**22
# Settings that belong to a method given by its name; an estimator has its own.
DEFAULTS = {"n_features": "auto", "n_clusters": "auto", "random_state": 0, "verbose": 0}


def select_genes(
    adata: Any,
    *,
    n_genes: int | float | str = "auto",
    n_clusters: int | str = "auto",
    selector: Any = "JASFS",
    layer: str | None = None,
    mask_var: Any = None,
    key_added: str | None = None,
    subset: bool = False,
    inplace: bool = True,
    qvalues: bool = False,
    random_state: Any = 0,
    verbose: int = 0,
) -> Any:
    """Select the genes that carry the clusters of the cells, without labels.

    The conventions are those of ``scanpy.pp.highly_variable_genes``. Expression should be
    normalised and log-transformed; there is a warning where it looks like counts.

    Parameters
    ----------
    adata : anndata.AnnData
        Cells x genes: dense, sparse (never made dense), or backed by a file. Of a file only X is
        read, and of X the genes looked at, but these must fit into memory. Single precision stays
        single.
    n_genes : int, float, "auto" or "significant", default="auto"
        How many genes to select: a count, a fraction of the genes looked at, or "auto": the fewest
        that show the clusters as well as any, by a criterion that needs no labels. Few genes may
        do for that; "significant" (JASFS) keeps all that go with the clusters at q <= 0.05.
    n_clusters : int or "auto", default="auto"
        How many clusters of cells to look for; "auto" finds a number.
    selector : str or estimator, default="JASFS"
        Name of a method of featsieve (capitals do not matter), or an estimator with settings of
        its own, such as ``JASFS(10, n_features_to_select=200, alpha=1.0)`` or a
        ``StabilitySelection``. An estimator is itself fitted, so that it can be asked further
        questions; leave ``n_genes``, ``n_clusters``, ``random_state`` and ``verbose`` out then.
    layer : str or None, default=None
        Take ``adata.layers[layer]`` instead of ``adata.X``.
    mask_var : str, array of bool or None, default=None
        Look at these genes only: the name of a column of ``adata.var``, or one value per gene.
    key_added : str or None, default=None
        A name for this selection, where there are to be several: all names below begin with it.
    subset : bool, default=False
        Whether to keep the selected genes only.
    inplace : bool, default=True
        Whether to write into ``adata``, or to return the columns for ``adata.var``.
    qvalues : bool, default=False
        Whether to compute q-values of the genes, by some forty fits
        (:func:`featsieve.tuning.feature_qvalues`). ``n_genes="significant"`` does so always.
    random_state : int, RandomState instance or None, default=0
        Seeds the method, if it draws numbers.
    verbose : int, default=0
        Whether to print progress, for methods that iterate.

    Returns
    -------
    None or pandas.DataFrame
        With ``inplace=False``, the columns of ``adata.var`` below. Otherwise they are in the
        object (names with ``key_added="mine"`` in brackets):

        ``adata.var["selected"]`` (``"mine_selected"``)
            Whether the gene is selected; ``scanpy.pp.pca(adata, mask_var="selected")`` takes it.
        ``adata.var["featsieve_score"]`` (``"mine_score"``)
            What it is worth, in the units of the method; NaN for genes outside of ``mask_var``.
        ``adata.var["featsieve_rank"]`` (``"mine_rank"``)
            1 for the best; NaN likewise.
        ``adata.var["featsieve_qvalue"]`` (``"mine_qvalue"``)
            False discovery rate at which the gene goes with the clusters, where that was computed;
            NaN likewise.
        ``adata.obs["featsieve_cluster"]`` (``"mine_cluster"``)
            Cluster of every cell, as a categorical, if the method finds any.
        ``adata.uns["featsieve"]`` (``"mine"``)
            Method, parameters and versions: all of it can be written to a file. Where a number was
            to be found, ``["structure"]`` says whether there are clusters (verdict, p-values and
            sentence, as :func:`featsieve.structure_test`); there is a warning where not.

    See Also
    --------
    featsieve.JASFS : The default method, and what its parameters mean.
    featsieve.StabilitySelection : Which genes are selected again and again.

    Notes
    -----
    What is written into a backed object is in memory until the object is written. Genes that do not
    vary come last. With tens of thousands of genes most of the time goes into genes that tell
    nothing: a rough choice before this one, as ``mask_var="highly_variable"``, saves it.

    Examples
    --------
    >>> import anndata
    >>> from featsieve.anndata import select_genes
    >>> from featsieve.datasets import make_planted
    >>> planted = make_planted(n_samples=120, n_features=200, n_informative=10, random_state=0)
    >>> adata = anndata.AnnData(planted.X)
    >>> select_genes(adata, n_genes=10, n_clusters=4)
    >>> int(adata.var["selected"].sum()), adata.obs["featsieve_cluster"].nunique()
    (10, 4)
    >>> bool((adata.var["selected"] == planted.informative).all())
    True
    >>> select_genes(adata, n_genes=5, n_clusters=4, key_added="few")
    >>> adata.uns["few"]["selector"], int(adata.var["few_selected"].sum())
    ('JASFS', 5)
    """
    if not all(hasattr(adata, part) for part in ("obs", "var", "uns", "layers")):
        raise TypeError(
            f"adata must be an AnnData object; got {type(adata).__name__}. For a plain table fit a "
            "selector: featsieve.JASFS().fit(X)."
        )
    if inplace and (adata.is_view or (adata.isbacked and subset)):
        what = "a view" if adata.is_view else "subset=True on a file"
        raise ValueError(
            f"anndata cannot change {what} in place: copy it first, with adata = adata.copy() (of "
            "a file adata.to_memory()), or pass inplace=False and use the columns that come back."
        )
    mask = _gene_mask(adata, mask_var)
    sieve = _estimator(
        selector,
        n_features=n_genes,
        n_clusters=n_clusters,
        random_state=random_state,
        verbose=verbose,
    )
    X = _expression(adata, layer, mask)
    check_finite(X, owner="select_genes", names=adata.var_names.to_numpy()[mask])
    _warn_of_counts(X)
    fitted = sieve.fit(X)
    q_values = getattr(fitted, "qvalues_", None)
    if qvalues and q_values is None:
        tested = feature_qvalues(fitted, X, verbose=verbose, random_state=random_state)
        q_values = tested.qvalues

    prefix = "featsieve" if key_added is None else key_added
    selected = "selected" if key_added is None else f"{key_added}_selected"
    facts = {"score": fitted.scores_, "rank": fitted.ranking_, "qvalue": q_values}
    frame = _gene_columns(adata.var_names, fitted.get_support(), mask, facts, selected, prefix)
    if not inplace:
        return frame[frame[selected]] if subset else frame
    adata.var.drop(columns=f"{prefix}_qvalue", errors="ignore", inplace=True)  # of another one
    for name, column in frame.items():
        adata.var[name] = column.to_numpy()
    _write_clusters(adata, fitted, f"{prefix}_cluster")
    about = {"layer": layer or "X", **_about_fit(fitted)}
    if mask_var is not None:
        about["mask_var"] = mask_var if isinstance(mask_var, str) else "an array"
    adata.uns[prefix] = about
    if subset:
        adata._inplace_subset_var(frame[selected].to_numpy())
    return None


def _estimator(selector: Any, **given: Any) -> Any:
    """Return the estimator to fit: one with the given settings, or the user's own."""
    if isinstance(selector, str):
        return make_selector(find_method(selector), **given)
    changed = [name for name, default in DEFAULTS.items() if given[name] != default]
    if changed:
        raise ValueError(
            f"selector is an estimator with settings of its own: leave "
            f"{changed[0].replace('n_features', 'n_genes')} out, and set its own parameter instead."
        )
    check_selector(selector)
    return selector


def _gene_columns(
    names: Any,
    support: np.ndarray,
    mask: np.ndarray,
    facts: dict[str, np.ndarray | None],
    selected: str,
    prefix: str,
) -> Any:
    """Return the selection and what is known of every gene as a data frame."""
    import pandas as pd  # comes with anndata

    frame = pd.DataFrame({selected: np.zeros(len(mask), dtype=bool)}, index=names)
    frame.loc[mask, selected] = support
    for part, values in facts.items():
        if values is None:
            continue
        column = np.full(len(mask), np.nan)
        column[mask] = values
        frame[f"{prefix}_{part}"] = column
    return frame


def _write_clusters(adata: Any, fitted: Any, name: str) -> None:
    """Write the clusters of the cells, or remove those of an earlier selection."""
    import pandas as pd

    labels = getattr(fitted, "labels_", None)
    if labels is None:
        adata.obs.drop(columns=name, errors="ignore", inplace=True)
        return
    clusters = [str(value) for value in np.unique(labels)]
    adata.obs[name] = pd.Categorical([str(value) for value in labels], categories=clusters)


def _about_fit(fitted: Any) -> dict[str, Any]:
    """Return how a selection was made, in types that a .h5ad file can hold."""
    import featsieve  # which holds this module

    about: dict[str, Any] = {
        "selector": type(fitted).__name__,
        "params": storable(fitted.get_params()),
        "n_genes": int(fitted.n_features_selected_),
        "versions": {
            "featsieve": featsieve.__version__,
            **{name: version(name) for name in ("anndata", "numpy", "scikit-learn", "scipy")},
        },
    }
    if hasattr(fitted, "n_clusters_"):
        about["n_clusters"] = int(fitted.n_clusters_)
    for inside in layers(fitted):
        if (found := getattr(inside, "structure_", None)) is not None:
            named = ("verdict", "p_permuted", "p_rotated", "sentence")
            about["structure"] = {name: getattr(found, name) for name in named}
    return about


def storable(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as numbers and words; None is left out, all else is described."""
    plain = (bool, int, float, str)
    return {
        name: value if isinstance(value, plain) else repr(value)
        for name, value in params.items()
        if value is not None
    }


def _gene_mask(adata: Any, mask_var: Any) -> np.ndarray:
    """Return which genes to look at."""
    if mask_var is None:
        return np.ones(adata.n_vars, dtype=bool)
    if isinstance(mask_var, str):
        if mask_var not in adata.var.columns:
            held = ", ".join(map(str, adata.var.columns)) or "none"
            raise ValueError(f"adata.var has no column {mask_var!r}; its columns are: {held}.")
        mask_var = adata.var[mask_var]
    mask = np.asarray(mask_var)
    if mask.dtype != bool or mask.shape != (adata.n_vars,):
        raise ValueError(
            f"mask_var must hold True or False for each of the {adata.n_vars} genes; got "
            f"{mask.dtype} of shape {mask.shape}."
        )
    if not mask.any():
        raise ValueError("mask_var leaves no gene: it is False for all of them.")
    return mask


def _expression(adata: Any, layer: str | None, mask: np.ndarray) -> Any:
    """Return the chosen genes of X or of a layer: an array or a sparse matrix, in memory."""
    if layer is not None and layer not in adata.layers:
        held = ", ".join(map(str, adata.layers)) or "none"
        raise ValueError(f"adata has no layer {layer!r}; its layers are: {held}.")
    stored = adata.X if layer is None else adata.layers[layer]
    if stored is None:
        raise ValueError("adata.X is empty: name one of its layers with layer=.")
    columns = slice(None) if mask.all() else np.flatnonzero(mask)
    if isinstance(stored, np.ndarray) or is_sparse(stored):
        stored = stored if is_sparse(stored) else np.asarray(stored)
        return stored if mask.all() else stored[:, columns]
    if not adata.isbacked or layer is not None:
        raise TypeError(
            f"{'adata.X' if layer is None else f'layer {layer!r}'} is a {type(stored).__name__}, "
            "which is not in memory here: load it first with adata = adata.to_memory()."
        )
    if getattr(stored, "format", None) == "csc":
        return stored[:, columns]
    # Of the rows only the chosen columns are kept, block by block.
    step = max(1, BLOCK_ELEMENTS // adata.n_vars)
    blocks = [stored[i : i + step][:, columns] for i in range(0, adata.n_obs, step)]
    return sp.vstack(blocks, format="csr") if is_sparse(blocks[0]) else np.concatenate(blocks)


def _warn_of_counts(X: Any) -> None:
    """Warn where values are whole numbers and cells have very different totals."""
    values = X.data if is_sparse(X) else X
    some = np.ravel(values[:: max(1, values.size // defaults.COUNTS_ENTRIES)])
    if len(some) == 0 or some.max() <= 1 or some.min() < 0 or (some != np.round(some)).any():
        return
    totals = np.asarray(X.sum(axis=1)).reshape(-1)
    low, high = np.quantile(totals, [0.05, 0.95])
    if high > defaults.COUNTS_UNEVEN * max(low, 1.0):
        warn(
            "The values look like raw counts: they are whole numbers, and the totals of the cells "
            f"go from {low:.0f} to {high:.0f} (5th to 95th percentile). Cells would be told apart "
            "by how deeply they were sequenced. Normalise and log-transform first, for example "
            "with scanpy.pp.normalize_total(adata) and scanpy.pp.log1p(adata), or name a layer "
            "that is."
        )
