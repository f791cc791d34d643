"""Genes of an AnnData object: a selection in scanpy's manner, written into the object itself.

Importing this does not import anndata: that comes with the object that is passed in.
"""

from collections.abc import Mapping
from importlib.metadata import version
from inspect import signature
from typing import Any

import numpy as np

from featsieve import selectors
from featsieve.anndata.expression import expression, gene_mask, warn_of_counts
from featsieve.criteria.selected_clusters import layers
from featsieve.tuning import LabelFreeSearchCV
from featsieve.validation import check_finite, check_option, check_selector

# Settings that belong to a method given by its name; an estimator has its own.
DEFAULTS = {"n_genes": "auto", "n_clusters": "auto", "random_state": 0, "verbose": 0}


def select_genes(
    adata: Any,
    *,
    n_genes: int | float | str = "auto",
    n_clusters: int | str = "auto",
    selector: Any = "JASFS",
    layer: str | None = None,
    mask_var: Any = None,
    key_added: str | None = None,
    highly_variable: bool = False,
    subset: bool = False,
    inplace: bool = True,
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
    n_genes : int, float or "auto", default="auto"
        How many genes to select: a count, a fraction of the genes looked at, or "auto": the fewest
        that show the clusters as well as any, by a criterion that needs no labels. Few genes may
        do for that; for all that tell the clusters apart, give a count.
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
    highly_variable : bool, default=False
        Whether to write the selection into ``adata.var["highly_variable"]`` as well, where
        ``scanpy.pp.pca`` looks by default (it replaces what is there). Without it:
        ``scanpy.pp.pca(adata, mask_var="selected")``.
    subset : bool, default=False
        Whether to keep the selected genes only.
    inplace : bool, default=True
        Whether to write into ``adata``, or to return the columns for ``adata.var``.
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
            Whether the gene is selected.
        ``adata.var["featsieve_score"]`` (``"mine_score"``)
            What it is worth, in the units of the method; NaN for genes outside of ``mask_var``.
        ``adata.var["featsieve_rank"]`` (``"mine_rank"``)
            1 for the best; NaN likewise.
        ``adata.obs["featsieve_cluster"]`` (``"mine_cluster"``)
            Cluster of every cell, as a categorical, if the method finds any.
        ``adata.uns["featsieve"]`` (``"mine"``)
            Method, parameters, versions, and the ``criterion`` for every number of genes that was
            looked at: all of it can be written to a file.

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
    mask = gene_mask(adata, mask_var)
    sieve = _estimator(
        selector,
        n_genes=n_genes,
        n_clusters=n_clusters,
        random_state=random_state,
        verbose=verbose,
    )
    X = expression(adata, layer, mask)
    check_finite(X, owner="select_genes", names=adata.var_names.to_numpy()[mask])
    warn_of_counts(X)
    sieve.fit(X)
    fitted = sieve.best_estimator_ if isinstance(sieve, LabelFreeSearchCV) else sieve

    prefix = "featsieve" if key_added is None else key_added
    selected = "selected" if key_added is None else f"{key_added}_selected"
    frame = _gene_columns(adata.var_names, fitted, mask, selected=selected, prefix=prefix)
    if not inplace:
        return frame[frame[selected]] if subset else frame
    for name, column in frame.items():
        adata.var[name] = column.to_numpy()
    if highly_variable:
        adata.var["highly_variable"] = frame[selected].to_numpy()
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
    if not isinstance(selector, str):
        changed = [name for name, default in DEFAULTS.items() if given[name] != default]
        if changed:
            raise ValueError(
                f"selector is an estimator with settings of its own: leave {changed[0]} out, and "
                "set its own parameter instead."
            )
        searches = isinstance(selector, LabelFreeSearchCV)
        check_selector(selector.estimator if searches else selector)
        if searches and not selector.refit:
            raise ValueError("The search must fit its best candidate: set refit=True.")
        return selector
    known = {name.lower(): name for name in selectors.__all__}
    selector = known.get(selector.lower(), selector)
    check_option("selector", selector, tuple(selectors.__all__))
    kind = getattr(selectors, selector)
    takes = signature(kind).parameters
    settings = {"n_features_to_select": given.pop("n_genes"), **given}
    if isinstance(given["n_clusters"], str):
        if "n_clusters" in takes and takes["n_clusters"].default is None:
            del settings["n_clusters"]  # an option of SPEC: there is nothing to be found
    elif "n_clusters" not in takes:
        raise ValueError(f"{selector} looks for no clusters: leave n_clusters out.")
    return kind(**{name: value for name, value in settings.items() if name in takes})


def _gene_columns(names: Any, fitted: Any, mask: np.ndarray, *, selected: str, prefix: str) -> Any:
    """Return selection, score and rank of every gene as a data frame."""
    import pandas as pd  # comes with anndata

    frame = pd.DataFrame({selected: np.zeros(len(mask), dtype=bool)}, index=names)
    frame.loc[mask, selected] = fitted.get_support()
    for part, values in (("score", fitted.scores_), ("rank", fitted.ranking_)):
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
    for layer in layers(fitted):
        if hasattr(layer, "n_clusters_"):
            about.setdefault("n_clusters", int(layer.n_clusters_))
    if hasattr(fitted, "stability_"):
        about["stability"] = float(fitted.stability_)
    if hasattr(fitted, "status_"):
        about |= {"status": fitted.status_.value, "objective": np.asarray(fitted.objective_)}
    curve = getattr(getattr(fitted, "path_", None), "curve", None)
    if curve is not None:
        about["criterion"] = {
            "name": curve.criterion,
            "n_genes": curve.sizes,
            "value": curve.values,
            "standard_error": curve.errors,
            "chosen": curve.chosen,
            "equivalent_range": np.array(curve.equivalent_range),
        }
    return about


def storable(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as numbers and words; None is left out, all else is described."""
    plain = (bool, int, float, str)
    return {
        name: value if isinstance(value, plain) else repr(value)
        for name, value in params.items()
        if value is not None
    }
