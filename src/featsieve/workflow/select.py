"""From a table to a selection with everything that is worth knowing about it."""

import copy
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve import defaults
from featsieve.arrays import as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.criteria.selected_clusters import selected_clusters
from featsieve.datasets import Dataset
from featsieve.evaluation import (
    Stability,
    clustering_accuracy,
    normalized_mutual_information,
)
from featsieve.io.selection_model import SelectionModel
from featsieve.tables import Table
from featsieve.tuning import explain, structure_score
from featsieve.validation import check_number, warn
from featsieve.workflow.messages import Note, ProgressCallback, Steps
from featsieve.workflow.methods import check_counts, find_method, make_selector
from featsieve.workflow.prepare import Prepared, prepare_table, sample_table
from featsieve.workflow.subsamples import check_subsamples, repeat_selection

# Beside the fits to subsamples: the fit to all rows, the structure score, the explanation.
FIXED_STEPS = 3


@dataclass(frozen=True, eq=False)
class SelectionRun:
    """A selection from a table, and what is known about it.

    Attributes
    ----------
    prepared : Prepared
        The table, in the units of the file and as the selector saw it.
    model : SelectionModel
        What `featsieve.workflow.apply_model` uses on other rows.
    labels : ndarray of shape (n_samples,)
        Cluster of every sample.
    features : Table
        One row per feature; see `featsieve.explain`.
    frequency : ndarray of shape (n_features,), or None
        Share of the subsamples in which each feature was selected.
    stability : Stability or None
        How far the selections from subsamples agree beyond chance.
    structure : float
        How much clearer the clusters are than by chance; see `featsieve.structure_score`.
    settings : dict
        What was asked for.
    seconds : float
        That the fit to all rows took.
    notes : tuple of Note
        What a user should know, a sentence each, with its ``kind``.
    """

    prepared: Prepared
    model: SelectionModel
    labels: np.ndarray
    features: Table
    frequency: np.ndarray | None
    stability: Stability | None
    structure: float
    settings: dict[str, Any]
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
    def selected(self) -> list[str]:
        """Names of the selected features, in the order of the columns."""
        return list(self.model.selected)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(np.unique(self.labels))

    @property
    def samples(self) -> Table:
        """One row per sample: its name (or its row number, from 0), cluster and class, if known."""
        found = sample_table(self.table, self.labels)
        y, classes = self.table.y, self.table.class_names
        if y is not None and classes is not None:
            found["class"] = np.array([*classes, ""])[y]  # -1: missing
        return found

    @property
    def agreement(self) -> dict[str, float] | None:
        """Accuracy and mutual information of the clusters with the classes, where these are known.

        The classes have no part in the selection: they only judge it.
        """
        y = self.table.complete_y
        if y is None:
            return None
        return {
            "accuracy": clustering_accuracy(y, self.labels),
            "nmi": normalized_mutual_information(y, self.labels),
        }


def select_features(
    table: Any,
    *,
    method: str = "jasfs",
    n_clusters: int | str = "auto",
    n_features: int | float | str = "auto",
    standardize: bool = False,
    impute: str | None = None,
    n_subsamples: int | None = None,
    random_state: int = 0,
    progress: ProgressCallback | None = None,
) -> SelectionRun:
    """Select features of a table, and say how far the selection can be trusted.

    Parameters
    ----------
    table : Dataset, path, data frame or array
        Rows are samples. Classes that come with it are used to judge, never to select.
    method : str, default="jasfs"
        A selector of featsieve by its name; upper and lower case do not matter.
    n_clusters : int or "auto", default="auto"
        Number of clusters to look for.
    n_features : int, float or "auto", default="auto"
        How many features to select: a count, a fraction of the features, or what suffices to show
        the clusters.
    standardize : bool, default=False
        Whether columns are given mean 0 and variance 1 first. Most methods scale columns by
        themselves where they need it.
    impute : {"median"}, optional
        Fill missing values, which are refused otherwise.
    n_subsamples : int, optional
        Times that the selection is repeated on 80 % of the rows, with the same numbers of clusters
        and features, to see what comes back. By default 10, or 0 for more than 2e7 elements.
    random_state : int, default=0
        The same number gives the same answer.
    progress : callable, optional
        ``progress(text, done, total)`` is called at every step.

    Returns
    -------
    SelectionRun

    Warns
    -----
    UserWarning
        For everything in ``notes``.

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
    kind = find_method(method)
    check_number("random_state", random_state, low=0, integer=True)
    prepared = prepare_table(table, impute=impute, standardize=standardize)
    X = prepared.X
    n_clusters, n_features = check_counts(n_clusters, n_features, X.shape)
    n_subsamples = check_subsamples(n_subsamples, X)
    steps = Steps(FIXED_STEPS + n_subsamples, progress)
    with _collected() as caught:
        steps.next(f"looking for features with {kind.__name__}")
        selector = make_selector(
            kind, n_clusters=n_clusters, n_features=n_features, random_state=random_state
        )
        start = time.perf_counter()
        selector.fit(X)
        seconds = time.perf_counter() - start
        repeats = repeat_selection(
            selector, X, n_subsamples, random_state=random_state, steps=steps
        )
        steps.next("looking for structure")
        labels = find_clusters(
            selector, X, n_clusters=None if isinstance(n_clusters, str) else n_clusters
        )
        structure = score_structure(X, labels, random_state=random_state)
        steps.next("explaining")
        features = explain_run(prepared, selector, labels, repeats.frequency)
        steps.end()
    own_notes = (*prepared.notes, *note_about_units(prepared, selector), *repeats.notes)
    for note in own_notes:
        warn(note)
    model = SelectionModel.from_selector(
        selector,
        prepared.feature_names,
        fill=prepared.fill,
        centre=prepared.centre,
        scale=prepared.scale,
        id_name=prepared.table.id_name,
        label_name=prepared.table.label_name,
        method=kind.__name__,
        table_name=prepared.table.name,
    )
    settings = {
        "method": kind.__name__,
        "clusters": n_clusters,
        "features": n_features,
        "standardize": standardize,
        "impute": impute,
        "subsamples": n_subsamples,
        "seed": random_state,
    }
    return SelectionRun(
        prepared,
        model,
        labels,
        features,
        repeats.frequency,
        repeats.stability,
        structure,
        settings,
        seconds,
        notes=(*own_notes, *caught),
    )


def find_clusters(selector: Any, X: Any, *, n_clusters: int | None = None) -> np.ndarray:
    """Return the cluster of every sample, also for methods that find none themselves."""
    own = getattr(selector, "labels_", None)
    if own is not None:
        return np.asarray(own)
    found = selected_clusters(selector, X, n_clusters=n_clusters)
    return np.zeros(X.shape[0], dtype=np.intp) if found is None else found.codes


def score_structure(X: Any, labels: np.ndarray, *, random_state: int = 0) -> float:
    """Return the structure score of a table, or of random samples of a long one."""
    if len(np.unique(labels)) == 1:
        return 0.0
    most = defaults.SCORED_SAMPLES
    if X.shape[0] > most:
        rows = np.sort(np.random.RandomState(random_state).permutation(X.shape[0])[:most])
        X, labels = X[rows], labels[rows]
    return structure_score(X, labels, random_state=random_state)


def explain_run(
    prepared: Prepared, selector: Any, labels: np.ndarray, frequency: np.ndarray | None
) -> Table:
    """Return the explanation of every feature, with its name and selection frequency."""
    named = copy.copy(selector)
    named.feature_names_in_ = np.asarray(prepared.feature_names, dtype=object)
    with warnings.catch_warnings():
        # the table has no names, the copy of the selector has: that is what it was made for
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        table = explain(named, prepared.X, labels=labels)
    if frequency is not None:
        table["selection_frequency"] = frequency
    return table


def note_about_units(prepared: Prepared, selector: Any) -> tuple[Note, ...]:
    """Say so if the clusters were found in distances that a few columns decide by their units."""
    if getattr(selector, "init_", None) != "raw":
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
        f"most count most, such as {prepared.feature_names[widest]!r}. If the units of the columns "
        "cannot be compared, give --standardize (in Python standardize=True)."
    )
    return (Note(text, "units"),)


@contextmanager
def _collected() -> Iterator[list[Note]]:
    """Collect warnings as notes, one of each kind, and pass them on at the end."""
    notes: list[Note] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield notes
    # One sentence about missing structure is enough, whoever said it first.
    first = {(w.category, w.category is UserWarning and str(w.message)): w for w in caught[::-1]}
    for warning in [w for w in caught if w in first.values()]:
        notes.append(Note(str(warning.message), warning.category.__name__))
        warn(str(warning.message), warning.category)
