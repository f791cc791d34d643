"""Several methods on one table: do they agree, do they repeat themselves, how long do they take."""

import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.evaluation import Stability
from featsieve.evaluation.judging import Judge, too_many_classes
from featsieve.tables import Table
from featsieve.tuning import NoStructureWarning, suggest_n_clusters
from featsieve.workflow.messages import ProgressCallback, Steps
from featsieve.workflow.methods import DEFAULT_METHOD, check_counts, find_method, make_selector
from featsieve.workflow.prepare import Prepared, prepare_table
from featsieve.workflow.subsamples import check_subsamples, repeat_selection

DEFAULT_METHODS = ("JASFS", "LaplacianScore", "MCFS", "MaxVariance")


@dataclass(frozen=True, eq=False)
class Entry:
    """What one method made of the table."""

    method: str
    support: np.ndarray | None  # None: it failed, for this reason
    seconds: float
    stability: Stability | None = None
    reason: str = ""
    agreement: dict[str, float] | None = None  # of k-means on its columns with known classes


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several methods on one table.

    Attributes
    ----------
    prepared : Prepared
    entries : tuple of Entry
        In the order that was asked for.
    n_clusters, n_features : int
        For all methods alike.
    n_subsamples : int
    notes : tuple of str
        What a user should know, a sentence each.
    all_features : dict or None
        Accuracy and mutual information of k-means on all columns with the known classes, to
        compare with.
    """

    prepared: Prepared
    entries: tuple[Entry, ...]
    n_clusters: int
    n_features: int
    n_subsamples: int
    notes: tuple[str, ...] = ()
    all_features: dict[str, float] | None = None

    @property
    def agreement(self) -> np.ndarray:
        """Jaccard index of every pair of methods: shared features over all that either selects.

        NaN for methods that failed.
        """
        failed = np.full(len(self.prepared.feature_names), np.nan)
        chosen = [failed if e.support is None else e.support for e in self.entries]
        shared = np.array(chosen, dtype=np.float64) @ np.transpose(chosen)
        sizes = np.diag(shared)
        return shared / (sizes[:, None] + sizes - shared)

    @property
    def by_chance(self) -> float:
        """About the Jaccard index of two random selections of as many features."""
        d = len(self.prepared.feature_names)
        shared = self.n_features**2 / d
        return shared / (2 * self.n_features - shared)

    def rows(self) -> list[dict[str, Any]]:
        """Return what is known about each method, with its agreement with every other one.

        Where classes are known, the last row is for all features, to compare with.
        """
        rows = []
        for entry, shared in zip(self.entries, self.agreement, strict=True):
            stable = entry.stability
            low, high = (np.nan, np.nan) if stable is None else stable.interval
            row: dict[str, Any] = {
                "method": entry.method,
                "status": "failed" if entry.support is None else "done",
                "seconds": entry.seconds,
                "n_features": len(self.selected(entry)),
                "stability": np.nan if stable is None else stable.value,
                "stability_low": low,
                "stability_high": high,
            }
            if self.all_features is not None:
                row |= entry.agreement or {"accuracy": np.nan, "nmi": np.nan}
            row |= {f"jaccard_{e.method}": j for e, j in zip(self.entries, shared, strict=True)}
            rows.append(row | {"selected": ";".join(self.selected(entry)), "reason": entry.reason})
        if self.all_features is not None:
            empty = {key: "" if isinstance(cell, str) else np.nan for key, cell in rows[0].items()}
            reference = {"method": "all features", "status": "reference", **self.all_features}
            rows.append(empty | reference | {"n_features": len(self.prepared.feature_names)})
        return rows

    def table(self) -> Table:
        """Return the rows as a table."""
        rows = self.rows()
        return Table({name: [row[name] for row in rows] for name in rows[0]})

    def selected(self, entry: Entry) -> list[str]:
        """Return the names of the features that a method selected, in the order of the columns."""
        names = self.prepared.feature_names
        return [] if entry.support is None else [names[j] for j in np.flatnonzero(entry.support)]

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON, which has no NaN."""
        rows = [{k: None if v != v else v for k, v in row.items()} for row in self.rows()]
        return {
            "table": self.prepared.table.name,
            "n_samples": int(self.prepared.X.shape[0]),
            "n_features": int(self.prepared.X.shape[1]),
            "n_selected": self.n_features,
            "n_clusters": self.n_clusters,
            "n_subsamples": self.n_subsamples,
            "methods": rows,
            "jaccard_by_chance": self.by_chance,
            "notes": list(self.notes),
        }


def compare_methods(
    table: Any,
    methods: Iterable[str] = DEFAULT_METHODS,
    *,
    n_clusters: int | str = "auto",
    n_features: int | float | str = "auto",
    standardize: bool = False,
    impute: str | None = None,
    n_subsamples: int | None = None,
    random_state: int = 0,
    progress: ProgressCallback | None = None,
) -> Comparison:
    """Let several methods select as many features of one table, and compare what they select.

    Parameters
    ----------
    table : Dataset, path, data frame or array
        Rows are samples. Classes that come with it are used to judge, never to select.
    methods : iterable of str, default=("JASFS", "LaplacianScore", "MCFS", "MaxVariance")
        Selectors of featsieve by their names; upper and lower case do not matter.
    n_clusters : int or "auto", default="auto"
        Number of clusters for all methods that want it; "auto" is found once.
    n_features : int, float or "auto", default="auto"
        Number of features for all methods; "auto" is what JASFS finds, once: selections of
        different sizes cannot agree.
    standardize : bool, default=False
        Whether columns are given mean 0 and variance 1 first.
    impute : {"median"}, optional
        Fill missing values, which are refused otherwise.
    n_subsamples : int, optional
        Times that each selection is repeated on 80 % of the rows. By default 10, or 0 for more
        than 2e7 elements.
    random_state : int, default=0
        The same number gives the same selections.
    progress : callable, optional
        ``progress(text, done, total)`` is called at every step.

    Returns
    -------
    Comparison
        A method that fails is part of it, with the reason.

    Examples
    --------
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.workflow import compare_methods
    >>> X = make_planted(90, 40, n_informative=6, n_clusters=3, signal=3.0, random_state=0).X
    >>> compared = compare_methods(X, ["jasfs", "maxvariance"], n_features=6, n_subsamples=0)
    >>> compared.agreement.round(2).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    chosen = {kind.__name__: kind for kind in map(find_method, methods)}
    if not chosen:
        raise ValueError("Name at least one method to compare, for example jasfs.")
    prepared = prepare_table(table, impute=impute, standardize=standardize)
    X = prepared.X
    n_clusters, n_features = check_counts(n_clusters, n_features, X.shape)
    n_subsamples = check_subsamples(n_subsamples, X)
    y = prepared.table.complete_y
    judge = None if y is None else Judge(X, y)
    steps = Steps(1 + len(chosen) * (1 + n_subsamples), progress)
    steps.next("counting clusters and features")
    notes: list[str] = list(prepared.notes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of several methods about one table
        if isinstance(n_clusters, str):
            n_clusters = suggest_n_clusters(X, random_state=random_state).n_clusters
            notes.append(f"{n_clusters} clusters: found, right within a factor of about two.")
        counts = {"n_clusters": n_clusters, "random_state": random_state}
        if isinstance(n_features, str):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", NoStructureWarning)
                finder = make_selector(find_method(DEFAULT_METHOD), n_features="auto", **counts)
                n_features = finder.fit(X).n_features_selected_
            notes.append(f"{n_features} features for every method: as many as JASFS finds.")
            notes += [str(w.message) for w in caught if w.category is NoStructureWarning]
        entries = []
        for name, kind in chosen.items():
            steps.next(name)
            selector = make_selector(kind, n_features=n_features, **counts)
            start = time.perf_counter()
            try:
                selector.fit(X)
            except (ValueError, ArithmeticError, MemoryError) as error:
                reason = str(error) or type(error).__name__
                entries.append(Entry(name, None, time.perf_counter() - start, reason=reason))
                steps.skip(n_subsamples)
                continue
            seconds = time.perf_counter() - start
            repeats = repeat_selection(
                selector, X, n_subsamples, random_state=random_state, steps=steps
            )
            notes += [f"{name}: {note}" for note in repeats.notes]
            support = selector.support_
            agreement = _agreement(judge, np.flatnonzero(support))
            entries.append(Entry(name, support, seconds, repeats.stability, agreement=agreement))
        all_features = _agreement(judge)
    steps.end()
    if judge is not None and not judge.can:
        notes.append("The classes judge nothing: all samples are of one class.")
    if y is not None and too_many_classes(len(np.unique(y)), len(y)):
        notes.append(
            f"{len(np.unique(y)):,} classes of {len(y):,} samples: nearly every sample is its own "
            "class, so such numbers mean nothing."
        )
    return Comparison(
        prepared,
        tuple(entries),
        int(n_clusters),
        int(n_features),
        n_subsamples,
        notes=tuple(notes),
        all_features=all_features,
    )


def _agreement(judge: Judge | None, columns: Any = None) -> dict[str, float] | None:
    """Return how well k-means on some columns finds the known classes, if there are any."""
    if judge is None or not judge.can:
        return None
    accuracy, nmi, _ = judge.scores(columns).mean()
    return {"accuracy": float(accuracy), "nmi": float(nmi)}
