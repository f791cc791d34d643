"""One data set, and how selections on it are judged; each is judged once.

Selectors and the criterion are handed the table and the number of clusters. The classes stay in
the methods that judge by them; only the ceiling "TrueLabels" is given them.
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from featsieve.criteria.clusterings import sample_rows
from featsieve.criteria.measures import Evaluation, Modularity
from featsieve.datasets import Dataset, load_dataset
from featsieve.evaluation import ClusteringScores, paper_protocol, practical_protocol, redundancy
from featsieve.hypotheses.families import table_labels


def label_free_criterion(X: Any, n_clusters: int) -> Evaluation:
    """Prepare the modularity of selections on a table; it is never given classes."""
    X, _ = sample_rows(X, check_random_state(0))
    labels = table_labels(X, n_clusters, random_state=check_random_state(0))
    return Modularity().prepare(X, labels)


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
        """The criterion, prepared when it is first asked for."""
        return label_free_criterion(self.X, self.n_classes)

    def columns(self, support: np.ndarray) -> Any:
        """Return some columns of the table; sparse ones stay sparse."""
        return sp.csr_array(self._csc[:, support]) if sp.issparse(self.X) else self.X[:, support]

    @cached_property
    def _csc(self) -> sp.csc_array:
        """The sparse table by columns."""
        return sp.csc_array(self.X)

    def evaluate(self, support: np.ndarray, *, n_seeds: int, practical: bool) -> dict[str, Any]:
        """Return how good a (sorted) selection is, as entries of a row; the same is judged once."""
        key = (support.tobytes(), n_seeds, practical)
        if key not in self._evaluated:
            self._evaluated[key] = self._evaluate(support, n_seeds, practical)
        return self._evaluated[key]

    def _evaluate(self, support: np.ndarray, n_seeds: int, practical: bool) -> dict[str, Any]:
        columns = self.columns(support)
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

    def evaluate_labels(self, labels: np.ndarray) -> dict[str, float]:
        """Return how well the labels of a selector agree with the classes, as entries of a row."""
        return _entries(ClusteringScores.of_labels(self.classes, labels).mean(), "own")


def _entries(scores: Sequence[float], kind: str) -> dict[str, float]:
    """Return accuracy, NMI and ARI by the names of their columns."""
    return {f"{name}_{kind}": x for name, x in zip(("acc", "nmi", "ari"), scores, strict=True)}


# Cells come data set by data set.
@lru_cache(maxsize=2)
def workbench(name: str, data: str | None = None, *, checksum: str = "") -> Workbench:
    """Return the workbench of a data set; a process keeps the latest ones."""
    dataset = load_dataset(name, data=data)
    if checksum and dataset.checksum != checksum:
        raise ValueError(f"The file of {name} changed during the run: start the run again.")
    return Workbench(dataset)
