"""Run one cell: fit, judge, and write down what came of it, whatever that is.

Selectors and the criterion are handed the table and the number of clusters. The classes stay in
the methods that judge by them; only the ceiling "TrueLabels" is given them.
"""

import hashlib
import signal
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, cached_property, lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from featsieve.bench.cells import Cell, blank_row
from featsieve.bench.methods import TRUE_LABELS, defaults_of, make_selector
from featsieve.bench.plan import RANKING
from featsieve.criteria.clusterings import sample_rows
from featsieve.criteria.measures import Evaluation, Modularity
from featsieve.datasets import Dataset, load_dataset
from featsieve.evaluation import ClusteringScores, paper_protocol, practical_protocol, redundancy
from featsieve.hypotheses.families import table_labels

# Ranking i of a RandomSelector for the seed s has the random_state i + s * STEP.
STEP = 10**6
# An error that was swallowed (raised inside a destructor, say) is raised again after so long.
AGAIN_SECONDS = 1.0


class Workbench:
    """A data set with the selections that were judged on it."""

    def __init__(self, dataset: Dataset) -> None:
        if dataset.y is None:
            raise ValueError(f"{dataset.name} has no classes to compare with.")
        X = sp.csr_array(dataset.X) if sp.issparse(dataset.X) else np.asarray(dataset.X)
        self.X = X.astype(np.float64, copy=False)
        self.n_samples, self.n_columns = self.X.shape
        self.n_classes = len(np.unique(dataset.y))
        self._informative, self._redundant = dataset.informative, dataset.redundant
        self.classes = np.asarray(dataset.y)
        self._evaluated: dict[tuple[bytes, int, bool], dict[str, Any]] = {}

    def criterion(self, support: np.ndarray) -> float:
        """Return the label-free criterion of a selection (indices)."""
        return float(np.mean(self._criterion(support)))

    @cached_property
    def _criterion(self) -> Evaluation:
        """The modularity of selections, prepared when it is first asked for; without classes."""
        X, _ = sample_rows(self.X, check_random_state(0))
        labels = table_labels(X, self.n_classes, random_state=check_random_state(0))
        return Modularity().prepare(X, labels)

    def evaluate(self, support: np.ndarray, *, n_seeds: int, practical: bool) -> dict[str, Any]:
        """Return how good a (sorted) selection is, as entries of a row; the same is judged once."""
        key = (support.tobytes(), n_seeds, practical)
        if key not in self._evaluated:
            self._evaluated[key] = self._evaluate(support, n_seeds, practical)
        return self._evaluated[key]

    def _evaluate(self, support: np.ndarray, n_seeds: int, practical: bool) -> dict[str, Any]:
        columns = self.X[:, support]
        row: dict[str, Any] = {"redundancy": redundancy(columns, np.arange(len(support)))}
        informative, redundant = self._informative, self._redundant
        if informative is not None:
            planted = informative if redundant is None else informative | redundant
            row["planted_precision"] = float(np.mean(planted[support]))
            row["planted_recall"] = float(informative[support].sum() / informative.sum())
        if n_seeds:
            row["criterion"] = self.criterion(support)
            scores = paper_protocol(columns, self.classes, n_seeds=n_seeds)
            row |= _entries(scores.mean(), "mean") | _entries(scores.std(), "std")
            row |= {"acc_runs": scores.accuracy.tolist(), "nmi_runs": scores.nmi.tolist()}
        if practical:
            row |= _entries(practical_protocol(columns, self.classes).mean(), "practical")
        return row


def _entries(scores: Sequence[float], kind: str) -> dict[str, float]:
    """Return accuracy, NMI and ARI by the names of their columns."""
    return {f"{name}_{kind}": x for name, x in zip(("acc", "nmi", "ari"), scores, strict=True)}


# Cells come data set by data set.
@lru_cache(maxsize=2)
def workbench(name: str, data: str | None = None, *, checksum: str = "") -> Workbench:
    """Return the workbench of a data set; a process keeps the latest ones."""
    dataset = load_dataset(name, data=data)
    if checksum and dataset.checksum != checksum:
        raise ValueError(f"The numbers of {name} changed during the run: start the run again.")
    return Workbench(dataset)


def run_cell(cell: Cell, *, data: str | None = None, jobs: int = 1) -> list[dict[str, Any]]:
    """Run a cell and return its rows; an error in it becomes a row with the reason."""
    row = blank_row(cell, jobs=jobs)
    try:
        bench = workbench(cell.dataset, data, checksum=cell.data_checksum)
    except (OSError, ValueError, ImportError) as error:  # left for later
        return [row | {"status": "skipped", "reason": _describe(error)}]
    row |= {name: getattr(bench, name) for name in ("n_samples", "n_columns", "n_classes")}
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with time_limit(cell.seconds):
                rows = [row | found for found in _results(cell, bench)]
        except TimeUpError as error:
            return [row | {"status": "timeout", "reason": str(error)}]
        except Exception as error:  # whatever a method raises is its result
            took = time.perf_counter() - start
            return [row | {"status": "failed", "reason": _describe(error), "fit_seconds": took}]
    heard = "; ".join(dict.fromkeys(_describe(warning.message) for warning in caught))
    reason = f"warned: {heard}" if heard else ""
    return [found | {"status": "done", "reason": reason} for found in rows]


def _results(cell: Cell, bench: Workbench) -> list[dict[str, Any]]:
    """Fit once, and return what is known at every count."""
    counts = cell.counts
    if counts is not None:
        counts = tuple(count for count in counts if count <= bench.n_columns)
        if not counts:
            raise ValueError(f"more features are asked for than the {bench.n_columns} there are")
    selector, common = fit_cell(cell, bench, n_features=None if counts is None else max(counts))
    decides = defaults_of(cell.selector)["n_features_to_select"] is None
    common["own_count"] = counts is None and decides
    judged = cell.experiment != "time"
    if judged and hasattr(selector, "labels_") and cell.selector != TRUE_LABELS:
        own = ClusteringScores.of_labels(bench.classes, selector.labels_)
        common |= _entries(own.mean(), "own")
    order = np.argsort(selector.ranking_)
    rows = []
    for count in counts or (int(selector.n_features_selected_),):
        start = time.perf_counter()
        support = np.sort(order[:count])
        row = common | {
            "n_features": count,
            "support": hashlib.sha256(support.astype(np.int64).tobytes()).hexdigest()[:16],
        }
        n_seeds = cell.kmeans_seeds if judged else 0
        row |= bench.evaluate(support, n_seeds=n_seeds, practical=cell.practical)
        rows.append(row | {"evaluate_seconds": time.perf_counter() - start})
    return rows


def fit_cell(cell: Cell, bench: Workbench, *, n_features: int | None) -> tuple[Any, dict[str, Any]]:
    """Fit the selector of a cell, and return it with what the fit took; only the fit is timed."""
    params = dict(cell.params)
    random_state = params.pop(RANKING, 0) + (STEP if RANKING in cell.params else 1) * cell.seed
    if n_features is not None:
        params["n_features_to_select"] = n_features
    selector = make_selector(
        cell.selector, params, n_clusters=bench.n_classes, random_state=random_state
    )
    if cell.selector == TRUE_LABELS:
        selector.set_params(init=bench.classes)
    _warm_up(cell.selector)
    start = time.perf_counter()
    selector.fit(bench.X)
    took = time.perf_counter() - start
    return selector, {"fit_seconds": took, "n_iter": int(getattr(selector, "n_iter_", 0))}


@cache
def _warm_up(name: str) -> None:
    """Fit a tiny table, so that the first cell of a process does not pay for loading code."""
    X = np.random.default_rng(0).normal(size=(20, 6))
    selector = make_selector(name, {"n_features_to_select": 2}, n_clusters=2, random_state=0)
    with warnings.catch_warnings(), suppress(Exception):  # the cell itself will say so
        warnings.simplefilter("ignore")
        selector.fit(X)


def _describe(error: BaseException | str) -> str:
    """Return type and message on one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


class TimeUpError(BaseException):
    """The time limit has passed; no ``except Exception`` of the code under it swallows it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise ``TimeUpError`` in the block after so many seconds; there are no alarms on Windows."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def ring(*_: Any) -> None:
        raise TimeUpError(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS)
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    finally:  # where it rang at the last moment, between the block and that line
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
