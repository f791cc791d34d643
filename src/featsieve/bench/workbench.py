"""One data set, and what the fits on it share.

Selectors and the criterion are handed the table and the number of clusters. The classes stay in
the two methods that judge a selection by them.
"""

import hashlib
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import is_sparse
from featsieve.base import COLUMN_SCALES
from featsieve.bench.methods import shared_start, shares_graph
from featsieve.bench.plan import without_classes
from featsieve.criteria.clusterings import sample_rows
from featsieve.criteria.measures import Evaluation, Modularity
from featsieve.datasets import Dataset, load_dataset
from featsieve.evaluation import ClusteringScores, paper_protocol, practical_protocol, redundancy
from featsieve.graphs.initial_labels import authors_labels, first_labels
from featsieve.graphs.knn import heat_kernel_graph
from featsieve.graphs.pseudo_labels import table_labels

# Tables kept in a process: cells come data set by data set.
KEPT = 2


class LabelFreeCriterion:
    """The modularity of a selection on a table, prepared once; it is never given classes.

    Its graph is that of the view in which the pseudo-labels of the whole table show, those with
    which JASFS would start: what the library itself judges by.
    """

    def __init__(self, X: Any, *, n_clusters: int) -> None:
        self._X, _ = sample_rows(X, check_random_state(0))
        self._n_clusters = n_clusters
        self._evaluate: Evaluation | None = None
        self._values: dict[bytes, float] = {}

    def __call__(self, support: np.ndarray) -> float:
        """Return the criterion of a selection (indices), computed once for each."""
        key = support.tobytes()
        if key not in self._values:
            self._values[key] = float(np.mean(self._prepared()(support)))
        return self._values[key]

    def _prepared(self) -> Evaluation:
        """Find the pseudo-labels and the graph, the first time."""
        if self._evaluate is None:
            labels = table_labels(self._X, self._n_clusters, random_state=check_random_state(0))
            self._evaluate = Modularity().prepare(self._X, labels)
        return self._evaluate


class Workbench:
    """A data set with what the fits on it share: graphs, first labels, judged selections."""

    def __init__(self, dataset: Dataset) -> None:
        if dataset.y is None:
            raise ValueError(without_classes(dataset.name))
        X = dataset.X
        self.X = (sp.csr_array(X) if sp.issparse(X) else np.asarray(X)).astype(
            np.float64, copy=False
        )
        self.n_samples, self.n_columns = self.X.shape
        self.n_classes = len(np.unique(dataset.y))
        self.criterion = LabelFreeCriterion(self.X, n_clusters=self.n_classes)
        self.planted: tuple[np.ndarray, np.ndarray] | None = None
        if dataset.informative is not None:
            copies = dataset.redundant
            both = dataset.informative if copies is None else dataset.informative | copies
            self.planted = both, dataset.informative
        self._classes = np.asarray(dataset.y)
        self._by_column: Any = None
        self._graphs: dict[tuple, sp.csr_array] = {}
        self._starts: dict[tuple, np.ndarray | None] = {}
        self._judged: dict[tuple, ClusteringScores] = {}
        self._redundancies: dict[bytes, float] = {}

    # Shared by fits: no classes ------------------------------------------------------------------

    def share(self, selector: Any) -> None:
        """Hand a selector the graph and the first labels it would compute, where that can be done.

        Its scores do not change; the clusters in ``labels_`` may be numbered differently.
        """
        values = selector.get_params()
        given: dict[str, Any] = {}
        if shares_graph(selector):
            given["affinity"] = self.graph(values["scale"], values["n_neighbors"])
        kind = shared_start(selector)
        if kind is not None:
            scale = "none" if values["scale"] == "auto" else values["scale"]  # JASFS as published
            labels = self.start(
                kind,
                scale,
                values["n_neighbors"],
                n_clusters=values["n_clusters"],
                seed=values["random_state"],
            )
            if labels is not None:
                given["init"] = labels
        selector.set_params(**given)

    def graph(self, scale: str, n_neighbors: int) -> sp.csr_array:
        """Return the heat-kernel graph of the samples, built once."""
        key = (scale, n_neighbors)
        if key not in self._graphs:
            operator = self._operator(scale)
            self._graphs[key] = heat_kernel_graph(operator, n_neighbors=n_neighbors)
        return self._graphs[key]

    def start(
        self, kind: str, scale: str, n_neighbors: int, *, n_clusters: int, seed: int
    ) -> np.ndarray | None:
        """Return first labels, computed once; None where a cluster is empty: they cannot be given.

        ``kind`` is "spectral", of most methods, or "authors", of JASFS as published.
        """
        key = (kind, scale, n_neighbors, n_clusters, seed)
        if key not in self._starts:
            operator, random_state = self._operator(scale), check_random_state(seed)
            if kind == "authors":
                labels = authors_labels(
                    operator,
                    "spectral",
                    n_clusters,
                    n_neighbors=n_neighbors,
                    random_state=random_state,
                )
            else:
                graph = self.graph(scale, n_neighbors)
                labels, _ = first_labels(
                    "spectral", self.X, operator, n_clusters, graph=graph, random_state=random_state
                )
            self._starts[key] = labels if len(np.unique(labels)) == n_clusters else None
        return self._starts[key]

    def _operator(self, scale: str) -> DataOperator:
        """Return the operator that a selector with this scale uses."""
        name, center = COLUMN_SCALES[scale]
        return as_operator(self.X, scale=name, center=center)

    def columns(self, support: np.ndarray) -> Any:
        """Return some columns of the table (sorted indices); sparse ones stay sparse."""
        if not sp.issparse(self.X):
            return self.X[:, support]
        if self._by_column is None:
            self._by_column = sp.csc_array(self.X)
        return sp.csr_array(self._by_column[:, support])

    # Judged selections: classes --------------------------------------------------------------

    def judge(
        self, support: np.ndarray, *, n_seeds: int, practical: bool = False
    ) -> ClusteringScores:
        """Return how well k-means on a selection (sorted indices) finds the classes, once each.

        By the paper's protocol, or by the practical one.
        """
        key = (support.tobytes(), 0 if practical else n_seeds)
        if key not in self._judged:
            columns = self.columns(support)
            self._judged[key] = (
                practical_protocol(columns, self._classes)
                if practical
                else paper_protocol(columns, self._classes, n_seeds=n_seeds)
            )
        return self._judged[key]

    def judge_labels(self, labels: np.ndarray) -> ClusteringScores:
        """Return how well the labels of a selector agree with the classes."""
        return ClusteringScores.of_labels(self._classes, labels)

    def redundancy(self, support: np.ndarray) -> float:
        """Return the mean correlation of the selected columns, computed once."""
        key = support.tobytes()
        if key not in self._redundancies:
            self._redundancies[key] = redundancy(self.columns(support), np.arange(len(support)))
        return self._redundancies[key]

    def scatter(self, support: np.ndarray) -> tuple[list[float], list[int]]:
        """Return the samples in a few columns, row by row, with their classes: for a figure."""
        points = self.columns(support)
        points = points.toarray() if is_sparse(points) else points
        return points.ravel().tolist(), self._classes.astype(int).tolist()


@lru_cache(maxsize=KEPT)
def workbench(name: str, data: str | None = None, *, checksum: str = "") -> Workbench:
    """Return the workbench of a data set; a process keeps the latest ones."""
    dataset = load_dataset(name, data=data)
    if checksum and dataset.checksum != checksum:
        raise ValueError(f"The file of {name} changed during the run: start the run again.")
    return Workbench(dataset)


def support_hash(support: np.ndarray) -> str:
    """Return a name for a selection: the same for the same columns."""
    return hashlib.sha256(np.sort(support).astype(np.int64).tobytes()).hexdigest()[:16]
