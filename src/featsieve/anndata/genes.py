"""Genes of an AnnData object: a selection in scanpy's manner, written into the object itself.

Importing this does not import anndata: that comes with the object that is passed in.
"""

from typing import Any

import numpy as np

from featsieve import defaults
from featsieve.anndata.expression import (
    batches,
    cell_totals,
    expression,
    find_constraints,
    gene_mask,
    on_device,
)
from featsieve.anndata.record import (
    about_fit,
    check_own,
    gene_columns,
    named_constraints,
    write_columns,
)
from featsieve.constraints import CONSTRAINTS, unmatched_patterns
from featsieve.criteria.automatic import innermost
from featsieve.criteria.batches import within_batches
from featsieve.criteria.selected_clusters import fitted_attribute
from featsieve.criteria.structure import StructureTest, warn_without_structure
from featsieve.io.counts import read_expression
from featsieve.tuning import feature_qvalues
from featsieve.validation import check_finite, check_selector, warn
from featsieve.workflow.constraints import count_or_budget
from featsieve.workflow.methods import find_method, make_selector

# Settings that belong to a method given by its name; an estimator has its own.
DEFAULTS = {"n_features": "auto", "n_clusters": "auto", "random_state": 0, "verbose": 0}


def select_genes(
    adata: Any,
    *,
    n_genes: int | float | str = "auto",
    n_clusters: int | str = "auto",
    selector: Any = "JASFS",
    layer: str | None = None,
    counts: bool | None = None,
    mask_var: Any = None,
    batch_key: str | None = None,
    keep: Any = None,
    exclude: Any = None,
    groups: Any = None,
    costs: Any = None,
    budget: float | None = None,
    key_added: str | None = None,
    subset: bool = False,
    inplace: bool = True,
    qvalues: bool = False,
    device: str | None = None,
    random_state: Any = 0,
    verbose: int = 0,
) -> Any:
    """Select the genes that carry the clusters of the cells, without labels.

    The conventions are those of ``scanpy.pp.highly_variable_genes``. Raw counts, logarithms and
    scaled values are told apart; counts are normalised here, and ``adata.X`` stays as it is.

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
        questions; leave ``n_genes``, ``n_clusters``, the constraints, ``random_state`` and
        ``verbose`` out then. Its own constraints may name genes: ``JASFS(10, keep=["CD3E"])``.
    layer : str or None, default=None
        Take ``adata.layers[layer]`` instead of ``adata.X``.
    counts : bool or None, default=None
        Whether the values are raw counts. They are brought to the median total of all cells, over
        all genes, then log(1 + x) is taken. None finds out: whole numbers, none below 0 and some
        above 1, are counts. All else is used as it is.
    mask_var : str, array of bool or None, default=None
        Look at these genes only: the name of a column of ``adata.var``, or one value per gene.
    batch_key : str or None, default=None
        Column of ``adata.obs`` with the batch of every cell (a plate, a donor, a species): the
        clusters inside of batches count.
    keep, exclude : names of genes, patterns, mask, or column of ``adata.var``, default=None
        Genes that are selected in any case (they count, the others complement them), and genes
        that are never selected (``exclude=["MT-*", "RP[SL]*"]``), though they take part in finding
        clusters. The name of a column with True and False stands for its genes.
    groups : mapping or list, default=None
        Genes that are selected together or not at all, and count as one: ``{"name": genes}``.
    costs : mapping or sequence of floats, default=None
        Prices of genes or groups by name; others cost 1.
    budget : float or None, default=None
        What the selected genes may cost together, in place of ``n_genes``.
    key_added : str or None, default=None
        A name for this selection, where there are to be several: all names below begin with it in
        the place of "featsieve".
    subset : bool, default=False
        Whether to keep the selected genes only.
    inplace : bool, default=True
        Whether to write into ``adata``, or to return the columns for ``adata.var``.
    qvalues : bool, default=False
        Whether to compute q-values of the genes, by some forty fits
        (:func:`featsieve.tuning.feature_qvalues`). ``n_genes="significant"`` does so always.
    device : str or None, default=None
        Where to compute: "cuda" moves the normalised genes, dense and in single precision (4 bytes
        an entry), to a GPU with PyTorch. None stays on the processor.
    random_state : int, RandomState instance or None, default=0
        Seeds the method, if it draws numbers.
    verbose : int, default=0
        Whether to print progress, for methods that iterate.

    Returns
    -------
    None or pandas.DataFrame
        With ``inplace=False``, the columns of ``adata.var`` below. Otherwise they are in the
        object:

        ``adata.var["featsieve_selected"]``
            Whether the gene is selected; ``scanpy.pp.pca(adata, mask_var="featsieve_selected")``
            takes it (normalise counts before: ``adata.X`` is as it was).
        ``adata.var["featsieve_score"]``
            What it is worth, in the units of the method; NaN for genes outside of ``mask_var``.
        ``adata.var["featsieve_rank"]``
            1 for the best; NaN likewise.
        ``adata.var["featsieve_q"]``
            False discovery rate at which the gene goes with the clusters, where that was computed;
            NaN likewise.
        ``adata.obs["featsieve_cluster"]``, ``adata.obs["featsieve_certainty"]``
            Cluster of every cell, as a categorical, and the share of it with which other views of
            the table put the cell together, if the method finds any.
        ``adata.uns["featsieve"]``
            What a methods section needs: kind of the values and what was done to them, method,
            parameters (the seed is one), versions, numbers of cells, genes and clusters and whether
            these were given or found, structure (verdict, p-values and sentence, as
            :func:`featsieve.structure_test`), mean certainty, batches, constraints (groups and
            prices as data frames) and the patterns among them that fit no gene. All of it can be
            written to a file.

        Columns of these names that were not written here are never replaced: that is an error.

    Warns
    -----
    NoStructureWarning
        Where the cells show no clusters, also if the numbers were given.
    UserWarning
        Where the clusters are doubtful, or values look neither like counts nor like logarithms.

    See Also
    --------
    featsieve.JASFS : The default method, and what its parameters mean.
    featsieve.StabilitySelection : Which genes are selected again and again.

    Notes
    -----
    What is written into a backed object is in memory until the object is written. Genes that do not
    vary, as those without counts, come last. With tens of thousands of genes most of the time goes
    into genes that tell nothing: a rough choice before this one, as ``mask_var="highly_variable"``,
    saves it.

    Examples
    --------
    >>> import anndata
    >>> from featsieve.anndata import select_genes
    >>> from featsieve.datasets import make_cells
    >>> cells = make_cells(200, 300, n_markers=10, smallest_marker_mean=0.3, random_state=0)
    >>> adata = anndata.AnnData(cells.X)  # raw counts
    >>> select_genes(adata, n_genes=20, n_clusters=7, exclude=["0", "1"])
    >>> int(adata.var["featsieve_selected"].sum()), adata.obs["featsieve_cluster"].nunique()
    (20, 7)
    >>> adata.uns["featsieve"]["values"], adata.uns["featsieve"]["structure"]["verdict"]
    ('counts', 'clusters')
    >>> select_genes(adata, n_genes=5, n_clusters=7, key_added="few")
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
    prefix = "featsieve" if key_added is None else key_added
    if inplace:
        check_own(adata, prefix)
    mask, batch = gene_mask(adata, mask_var), batches(adata, batch_key)
    given = {"keep": keep, "exclude": exclude, "groups": groups, "costs": costs, "budget": budget}
    sieve = _estimator(
        selector,
        n_features=n_genes,
        n_clusters=n_clusters,
        random_state=random_state,
        verbose=verbose,
        **{name: value for name, value in given.items() if value is not None},
    )
    # By names, which the table of the fit has not.
    inner = innermost(sieve)
    own = {name: getattr(inner, name, None) for name in CONSTRAINTS if hasattr(inner, name)}
    placed = find_constraints(adata, mask, own)
    names = adata.var_names.to_numpy()[mask]
    X = expression(adata, layer, mask)
    check_finite(X, owner="select_genes", names=names)
    totals = None if mask.all() else lambda: cell_totals(adata, layer)
    found = read_expression(X, counts=counts, totals=totals)
    if found.doubt:
        warn(found.doubt)
    in_batches: dict[str, Any] = {} if batch is None else {"batch": batch}
    inner.set_params(**placed)
    try:
        table = found.X if device is None else on_device(found.X, device)
        fitted = sieve.fit(table, **in_batches)
    finally:
        inner.set_params(**own)
    structure = _check_clusters(fitted, found.X, batch)
    q_values = getattr(fitted, "qvalues_", None)
    if qvalues and q_values is None:
        tested = feature_qvalues(
            fitted, table, verbose=verbose, random_state=random_state, **in_batches
        )
        q_values = tested.qvalues

    facts = {
        "selected": fitted.get_support(),
        "score": fitted.scores_,
        "rank": fitted.ranking_,
        "q": q_values,
    }
    frame = gene_columns(adata.var_names, mask, prefix, facts)
    selected = frame[f"{prefix}_selected"]
    if not inplace:
        return frame[selected] if subset else frame
    about = {"layer": layer or "X"} | about_fit(fitted, found, structure=structure)
    if placed:
        about["constraints"] = named_constraints(placed, names)
    if unmatched := unmatched_patterns(own.get("exclude"), adata.var_names.tolist()):
        about["patterns_without_genes"] = np.array(unmatched, dtype=object)
    if mask_var is not None:
        about["mask_var"] = mask_var if isinstance(mask_var, str) else "an array"
    if batch_key is not None:
        about["batch_key"] = batch_key
    write_columns(adata, prefix, frame, fitted)
    adata.uns[prefix] = about
    if subset:
        adata._inplace_subset_var(selected.to_numpy())
    return None


def _estimator(selector: Any, **given: Any) -> Any:
    """Return the estimator to fit: one with the given settings, or the user's own."""
    if isinstance(selector, str):
        number = count_or_budget(given.pop("n_features"), given.get("budget"), what="gene")
        return make_selector(find_method(selector), n_features=number, **given)
    changed = [n for n, value in given.items() if n not in DEFAULTS or value != DEFAULTS[n]]
    if changed:
        raise ValueError(
            f"selector is an estimator with settings of its own: leave "
            f"{changed[0].replace('n_features', 'n_genes')} out, and set its own parameter instead."
        )
    check_selector(selector)
    return selector


def _check_clusters(fitted: Any, X: Any, batch: Any) -> StructureTest | None:
    """Return whether there are clusters, and warn where there are none, or doubtful ones."""
    structure = fitted_attribute(fitted, "structure_")
    if structure is None:
        inside, codes, _ = within_batches(X, batch)
        structure = warn_without_structure(inside, codes=codes)
    certainty = fitted_attribute(fitted, "sample_certainty_")
    if certainty is not None and np.mean(certainty) < defaults.REPORT_DOUBTFUL_CERTAINTY:
        warn(
            "The clusters are doubtful: clustered in other ways, a cell stays with only "
            f"{np.mean(certainty):.0%} of its cluster. Genes that carry doubtful clusters are "
            "doubtful, too: try fewer clusters (n_clusters), or more cells."
        )
    return structure
