"""One data set, and what the fits on it share.

Selectors and the criterion are handed the table and the number of clusters. The classes stay in
the two methods that judge a selection by them.
"""

from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import is_sparse
from featsieve.base import COLUMN_SCALES
from featsieve.bench.methods import shared_start, shares_graph
from featsieve.criteria.clusterings import sample_rows
from featsieve.criteria.measures import Evaluation, Modularity
from featsieve.datasets import Dataset, load_dataset
from featsieve.evaluation import ClusteringScores, paper_protocol, practical_protocol, redundancy
from featsieve.graphs.affinity import heat_kernel_graph
from featsieve.graphs.initial_labels import authors_labels, first_labels, table_labels

# Tables kept in a process: cells come data set by data set.
KEPT = 2


class LabelFreeCriterion:
    """The modularity of a selection on a table, prepared once; it is never given classes.

    Its graph is that of the view in which the pseudo-labels of the whole table show, those with
    which JASFS would start: what the library itself judges by.
    """

    def __init__(self, X: Any, *, n_clusters: int) -> None:
        self._X, self._n_clusters = X, n_clusters
        self._values: dict[bytes, float] = {}

    def __call__(self, support: np.ndarray) -> float:
        """Return the criterion of a selection (indices), computed once for each."""
        key = support.tobytes()
        if key not in self._values:
            self._values[key] = float(np.mean(self._evaluate(support)))
        return self._values[key]

    @cached_property
    def _evaluate(self) -> Evaluation:
        """The criterion with the pseudo-labels and the graph of the table, or of a sample of it."""
        X, _ = sample_rows(self._X, check_random_state(0))
        labels = table_labels(X, self._n_clusters, random_state=check_random_state(0))
        return Modularity().prepare(X, labels)


class Workbench:
    """A data set with what the fits on it share: graphs, first labels, judged selections."""

    def __init__(self, dataset: Dataset) -> None:
        if dataset.y is None:
            raise ValueError(f"{dataset.name} has no classes to compare with.")
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
        self._known: dict[tuple, Any] = {}

    def _once(self, key: tuple, compute: Callable[[], Any]) -> Any:
        """Return what was computed for a key, or compute it."""
        if key not in self._known:
            self._known[key] = compute()
        return self._known[key]

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
            names = ("n_neighbors", "n_clusters", "random_state")
            labels = self.start(kind, scale, **{name: values[name] for name in names})
            if labels is not None:
                given["init"] = labels
        selector.set_params(**given)

    def graph(self, scale: str, n_neighbors: int) -> sp.csr_array:
        """Return the heat-kernel graph of the samples, built once."""
        return self._once(
            ("graph", scale, n_neighbors),
            lambda: heat_kernel_graph(self._operator(scale), n_neighbors=n_neighbors),
        )

    def start(
        self, kind: str, scale: str, *, n_neighbors: int, n_clusters: int, random_state: int
    ) -> np.ndarray | None:
        """Return first labels, computed once; None where a cluster is empty: they cannot be given.

        ``kind`` is "spectral", of most methods, or "authors", of JASFS as published.
        """

        def compute() -> np.ndarray | None:
            operator, random = self._operator(scale), check_random_state(random_state)
            if kind == "authors":
                labels = authors_labels(
                    operator, "spectral", n_clusters, n_neighbors=n_neighbors, random_state=random
                )
            else:
                graph = self.graph(scale, n_neighbors)
                labels, _ = first_labels(
                    "spectral", self.X, operator, n_clusters, graph=graph, random_state=random
                )
            return labels if len(np.unique(labels)) == n_clusters else None

        return self._once((kind, scale, n_neighbors, n_clusters, random_state), compute)

    def _operator(self, scale: str) -> DataOperator:
        """Return the operator that a selector with this scale uses."""
        name, center = COLUMN_SCALES[scale]
        return as_operator(self.X, scale=name, center=center)

    def columns(self, support: np.ndarray) -> Any:
        """Return some columns of the table (sorted indices); sparse ones stay sparse."""
        if not sp.issparse(self.X):
            return self.X[:, support]
        by_column = self._once(("by column",), lambda: sp.csc_array(self.X))
        return sp.csr_array(by_column[:, support])

    def redundancy(self, support: np.ndarray) -> float:
        """Return the mean correlation of the selected columns, computed once."""
        places = np.arange(len(support))
        return self._once(
            ("redundancy", support.tobytes()), lambda: redundancy(self.columns(support), places)
        )

    # Judged selections: classes --------------------------------------------------------------

    def judge(self, support: np.ndarray, *, n_seeds: int) -> ClusteringScores:
        """Return how well k-means on a selection (sorted indices) finds the classes, once each."""
        return self._once(
            ("paper", n_seeds, support.tobytes()),
            lambda: paper_protocol(self.columns(support), self._classes, n_seeds=n_seeds),
        )

    def judge_practical(self, support: np.ndarray) -> ClusteringScores:
        """Return the same by the practical protocol."""
        return self._once(
            ("practical", support.tobytes()),
            lambda: practical_protocol(self.columns(support), self._classes),
        )

    def judge_labels(self, labels: np.ndarray) -> ClusteringScores:
        """Return how well the labels of a selector agree with the classes."""
        return ClusteringScores.of_labels(self._classes, labels)

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
