"""From a table to a selection with everything that is worth knowing about it."""

import time
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import kruskal

from featsieve import defaults
from featsieve.arrays import as_operator
from featsieve.arrays.namespace import is_sparse, to_numpy
from featsieve.constraints import CONSTRAINTS
from featsieve.criteria.automatic import with_found_numbers
from featsieve.criteria.qvalues import FEWEST_SAMPLES, FeatureQValues
from featsieve.criteria.structure import StructureTest
from featsieve.datasets import Dataset
from featsieve.evaluation import Stability
from featsieve.io.counts import row_totals
from featsieve.io.names import find_columns
from featsieve.io.selection_model import SelectionModel
from featsieve.names import listed
from featsieve.progress import FitProgress
from featsieve.tables import Table
from featsieve.tuning import feature_qvalues
from featsieve.tuning.selection import Selection, gather
from featsieve.workflow.impute import INSTEAD, SAID, donor_rows
from featsieve.workflow.messages import Note, ProgressCallback, list_columns, silent
from featsieve.workflow.methods import find_method, make_selector, repeat_selection
from featsieve.workflow.prepare import Prepared, as_dataset, prepare_table, sample_table

# What a model needs to know of how a table was prepared.
STEPS = ("fill", "centre", "scale", "target", "center_rows")
# Settings of `select_features` that are no settings of `prepare_table`.
OWN_SETTINGS = ("table", "method", "qvalues", "n_jobs", "progress")
# Seconds of a fit with known numbers from which on refits are worth processes of their own.
SLOW_FIT = 0.2


@dataclass(frozen=True, eq=False)
class SelectionRun:
    """A selection from a table, and what is known about it.

    Attributes
    ----------
    prepared : Prepared
        The table, in the units of the file and as the selector saw it.
    model : SelectionModel
        What `featsieve apply` uses on other rows.
    found : Selection
        Clusters and explanations, as the report takes them.
    labels : ndarray of shape (n_samples,)
        Cluster of every sample; k-means finds them for methods that find none.
    frequency : ndarray of shape (n_features,), or None
        Share of the subsamples in which each feature was selected.
    stability : Stability or None
        How far the selections from subsamples agree beyond chance.
    structure : StructureTest or None
        Whether there are clusters; see `featsieve.structure_test`. None for fewer than 10 rows or
        two columns that vary.
    seconds : float
        That the fit to all rows took.
    notes : tuple of Note
        What a user should know, a sentence each, with its ``kind``.
    """

    prepared: Prepared
    model: SelectionModel
    found: Selection
    labels: np.ndarray
    frequency: np.ndarray | None
    stability: Stability | None
    structure: StructureTest | None
    seconds: float
    notes: tuple[Note, ...]

    @property
    def table(self) -> Dataset:
        """The table in the units of the file, its gaps filled."""
        return self.prepared.table

    @property
    def selector(self) -> Any:
        """The fitted selector."""
        return self.model.selector

    @property
    def features(self) -> Table:
        """One row per feature; see `featsieve.explain`."""
        return self.found.facts

    @property
    def selected(self) -> list[str]:
        """Names of the selected features, in the order of the columns."""
        return list(self.model.selected)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(np.unique(self.labels))

    @property
    def samples(self) -> Table:
        """One row per sample: name (or row number, from 1), cluster, certainty, class, if known."""
        found, certainty = sample_table(self.table, self.labels), self.found.certainty
        if certainty is not None:
            found["certainty"] = certainty
        y, classes = self.table.y, self.table.class_names
        if y is not None and classes is not None:
            found["class"] = np.array([*classes, ""])[y]  # -1: missing
        return found


def select_features(
    table: Any,
    *,
    method: str = "jasfs",
    n_clusters: int | str = "auto",
    n_features: int | float | str = "auto",
    standardize: bool = False,
    impute: str | None = None,
    counts: bool | None = None,
    center_rows: bool = False,
    keep: Any = None,
    exclude: Any = None,
    groups: Any = None,
    costs: Any = None,
    budget: float | None = None,
    n_subsamples: int | None = None,
    qvalues: bool | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    what: str = "feature",
    progress: ProgressCallback = silent,
) -> SelectionRun:
    """Select features of a table, and say how far the selection can be trusted.

    Parameters
    ----------
    table : Dataset, path, data frame or array
        Rows are samples. Classes that come with it are used to judge, never to select. Where it
        has batches (``read_table(..., batch_column=...)``), the clusters inside of these count.
    method : str, default="jasfs"
        A selector of featsieve by its name; upper and lower case do not matter.
    n_clusters : int or "auto", default="auto"
        Number of clusters to look for.
    n_features : int, float, "auto" or "significant", default="auto"
        How many features to select: a count, a fraction of the features, what suffices to show
        the clusters, or all that go with them at q <= 0.05 (JASFS).
    standardize : bool, default=False
        Whether columns are given mean 0 and variance 1 first. Most methods scale columns by
        themselves where they need it.
    impute : {"median", "nearest", "category"}, optional
        Fill missing values, which are refused otherwise: with the median of the column (of a
        category the most frequent level), from the five nearest rows that have a value, or, in
        categories, with a level of their own. A note says how far the selection depends on it
        (not with ``n_subsamples=0``).
    counts : bool, optional
        Whether the values are raw counts: rows are brought to their median total, then log(1 + x)
        is taken. By default whole numbers of an AnnData file are counts.
    center_rows : bool, default=False
        Whether the mean of all columns is taken out of every row first: brightness, dilution or
        depth that moves all columns alike. Columns must have one unit.
    keep, exclude : names or patterns of columns, optional
        Columns that are selected in any case (they count, the others complement them), and columns
        that are never selected, though they take part in finding clusters. Of AnnData files the
        name of a column of ``var`` with True and False stands for its genes.
    groups : mapping, optional
        Columns that are selected together or not at all, and count as one: ``{"name": columns}``.
    costs : mapping, optional
        Prices of columns or groups by name; others cost 1.
    budget : float, optional
        What the selected columns may cost together, in place of ``n_features``.
    n_subsamples : int, optional
        Times that the selection is repeated on 80 % of the rows, with the same numbers of clusters
        and features, to see what comes back. By default 10, or 0 for more than 2e7 elements.
    qvalues : bool, optional
        Whether q-values of the features are computed, by some forty refits
        (:func:`featsieve.tuning.feature_qvalues`). ``n_features="significant"`` does so always. By
        default where the number of features is found (few may suffice to show clusters that many
        go with), of tables of up to 1e5 elements; not with ``n_subsamples=0``.
    random_state : int, default=0
        The same number gives the same answer.
    n_jobs : int, optional
        Refits for q-values that run at a time, as in scikit-learn. The answer is the same.
    what : {"feature", "gene"}, default="feature"
        What messages call a column.
    progress : callable, optional
        ``progress(text)`` is called at every step.

    Returns
    -------
    SelectionRun
        What would be warnings elsewhere is in its ``notes``.

    Examples
    --------
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.workflow import select_features
    >>> planted = make_planted(90, 40, n_informative=6, n_clusters=3, signal=3.0, random_state=0)
    >>> run = select_features(planted.X, n_features=6, n_subsamples=5)
    >>> run.n_clusters, run.selected == [f"x{j}" for j in planted.informative.nonzero()[0]]
    (3, True)
    >>> run.stability.value > 0.8
    True
    """
    settings_of_table = {k: v for k, v in locals().items() if k not in OWN_SETTINGS}
    kind = find_method(method)
    table, filled = as_dataset(table), tuple[Note, ...]()
    prepared = prepare_table(table, **settings_of_table)
    X, about, in_batches = prepared.X, prepared.table, prepared.in_batches
    numbers = {"n_clusters": prepared.n_clusters, "n_features": prepared.n_features}
    settings = {"random_state": random_state, **prepared.constraints}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        progress(f"looking for features with {kind.__name__}")
        selector = make_selector(kind, **numbers, **settings)
        start = time.perf_counter()
        selector.fit(X, **in_batches)
        seconds = time.perf_counter() - start
        repeats = repeat_selection(selector, prepared, progress)
        each = (time.perf_counter() - start - seconds) / max(prepared.n_subsamples, 1)
        small = X.shape[0] * X.shape[1] <= defaults.QVALUE_ELEMENTS
        tested: Any = False
        if qvalues is None:
            # worth their time beside an automatic number, of a small table with clusters
            found_count = prepared.n_features == "auto" and prepared.n_subsamples > 0
            several = len(np.unique(getattr(selector, "labels_", 0))) > 1
            qvalues = small and X.shape[0] >= FEWEST_SAMPLES and found_count and several
        if qvalues and not hasattr(selector, "qvalues_"):
            # processes take seconds to start, and memory: where fits are quick, one does
            tested = feature_qvalues(
                selector,
                X,
                n_jobs=n_jobs if small and each > SLOW_FIT else None,
                verbose=FitProgress("", 1, lambda text: progress(f"testing the features: {text}")),
                random_state=random_state,
                **in_batches,
            )
        progress("explaining")
        found = gather(
            selector,
            X,
            feature_names=about.feature_names if prepared.owner is None else prepared.columns,
            sample_names=about.sample_names,
            n_clusters=None if isinstance(n_clusters, str) else n_clusters,
            qvalues=tested,
            **in_batches,
        )
        few = _too_few_null_values(tested, found) if tested else ()
        if repeats.frequency is not None:
            found.facts["selection_frequency"] = repeats.frequency
        labels = getattr(selector, "labels_", None)  # else those of k-means, if there are any
        if labels is None:
            none = np.zeros(X.shape[0], dtype=np.intp)
            labels = none if found.clusters is None else found.clusters.codes
        if prepared.n_filled and prepared.n_subsamples and not is_sparse(X):
            progress("filling the gaps in another way")
            chosen = {found.feature_names[j] for j in found.chosen}
            filled = (_filled_otherwise(table, selector, chosen, settings_of_table),)
        progress("looking for structure")
        structure = found.structure
    model = SelectionModel.from_selector(
        selector,
        about.names,
        **{part: getattr(prepared, part) for part in STEPS},
        reading=about.origin.options or None,
        id_name=about.id_name,
        label_name=about.label_name,
        batch_name=about.batch_name,
        layer=about.layer,
        method=kind.__name__,
    )
    if impute == "nearest":
        rows = table.X[donor_rows(len(table.X))]
        model = replace(model, donors=rows[:, find_columns(model.selected, about.names)])
        text = (
            f"The model holds the selected columns of {len(rows):,} rows, from which gaps of other "
            "rows are filled: mind who gets it."
        )
        filled = (*filled, Note(text, "filled"))
    # One sentence about missing structure is enough, whoever said it.
    told = {(w.category, w.category is UserWarning and str(w.message)): w for w in reversed(caught)}
    there = structure is None or structure.verdict == "clusters"
    depth = _about_depth(prepared, labels, "clusters" if there else "parts")
    values = (*note_about_units(prepared, selector), *depth)
    own = (*prepared.notes, *filled, *values, *repeats.notes, *few)
    explained = found.fitted("batch_report_")
    if explained is not None:
        of = f"Batches are those of the column {about.batch_name!r}. " if about.batch_name else ""
        own = (Note(f"{of}{explained.sentence}", "batch"), *own)
    others = (Note(str(w.message), w.category.__name__) for w in caught if w in told.values())
    return SelectionRun(
        prepared,
        model,
        found,
        np.asarray(labels),
        repeats.frequency,
        repeats.stability,
        structure,
        seconds,
        notes=(*own, *others),
    )


def _too_few_null_values(tested: FeatureQValues, found: Selection) -> tuple[Note, ...]:
    """Say which features are beyond all null values, and yet not significant."""
    owner = np.arange(len(tested.pvalues)) if found.owner is None else found.owner
    n_columns = np.bincount(owner)[owner]  # for which p-values of a variable are corrected
    beyond = tested.pvalues <= (1.0 + 1e-9) * n_columns / (1.0 + tested.null_sizes)
    beyond &= tested.null_sizes > 0  # none where a column is constant
    called = np.bincount(owner, weights=tested.significant()) > 0.0
    reached = np.bincount(owner, weights=beyond) > 0.0
    names = [found.feature_names[j] for j in np.unique(owner) if reached[j] and not called[j]]
    if not names:
        return ()
    text = (
        f"Beyond all that chance gave, though not significant: {list_columns(names)}. So few null "
        "values cannot show more; in Python, feature_qvalues takes a larger n_refits."
    )
    return (Note(text, "qvalues"),)


def _filled_otherwise(
    table: Dataset, selector: Any, chosen: set[str], settings: dict[str, Any]
) -> Note:
    """Say how many of the features would be selected if gaps were filled in another way."""
    other = prepare_table(table, **{**settings, "impute": INSTEAD[settings["impute"]]})
    constraints = dict.fromkeys(CONSTRAINTS) | other.constraints
    again = with_found_numbers(selector, **constraints)
    names = other.table.names
    again.fit(other.X, **other.in_batches)
    owner = np.arange(len(names)) if other.owner is None else other.owner
    others = {names[j] for j in owner[again.get_support()]}
    if others == chosen:
        text = "the same features would be selected"
    else:
        gone, new = (list_columns(sorted(a - b)) for a, b in ((chosen, others), (others, chosen)))
        text = f"{len(chosen & others)} of the {len(chosen)} features would be selected again"
        text += f" ({new} in place of {gone})" if others - chosen else f" (not {gone})"
    return Note(f"With missing values {SAID[INSTEAD[settings['impute']]]}, {text}.", "filled")


def _about_depth(prepared: Prepared, labels: np.ndarray, what: str) -> tuple[Note, ...]:
    """Say whether the clusters go with the totals of rows that counts were divided by."""
    if prepared.target is None or len(codes := np.unique(labels)) < 2:
        return ()
    totals = row_totals(prepared.table.X)
    if np.ptp(totals) == 0.0:  # rarefied
        return ()
    p = kruskal(*(totals[labels == k] for k in codes)).pvalue
    medians = listed(f"{np.median(totals[labels == k]):,.0f}" for k in codes)
    go = "differ between" if p <= defaults.STRUCTURE_LEVEL else "do not differ between"
    text = f"The totals of the rows (depth) {go} the {what}: medians {medians} (Kruskal-Wallis "
    text += f"p = {p:.2g})."
    if p <= defaults.STRUCTURE_LEVEL:
        text += " Dividing by them may not have taken all of it out."
    return (Note(text, "depth"),)


def note_about_units(prepared: Prepared, selector: Any) -> tuple[Note, ...]:
    """Say so if the clusters were found in distances that a few columns decide by their units."""
    if prepared.target is not None:  # logarithms of counts have one unit
        return ()
    families = getattr(selector, "init_", {"family": ["none"], "weight": [1.0]})
    if families["family"][int(np.argmax(families["weight"]))] != "raw":
        return ()
    operator = as_operator(prepared.X, scale="none")
    spread = np.sqrt(to_numpy(operator.column_norms()))
    varying = spread[spread > 0.0]
    widest = int(spread.argmax())
    narrow = np.quantile(varying, defaults.NARROW_SHARE, method="lower")
    if spread[widest] <= defaults.WIDE_SPREAD * narrow:
        return ()
    text = (
        "The clusters were found in distances of the columns as they are, in which those that vary "
        f"most count most, such as {prepared.columns[widest]!r}. If the units of the columns "
        "cannot be compared, give --standardize (in Python standardize=True)."
    )
    return (Note(text, "units"),)
