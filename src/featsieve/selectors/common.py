"""What several methods share: their parameters, the first labels, blocks updated in turn."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import stable_order
from featsieve.base import ConstrainedSelector, estimator
from featsieve.choices import ROUNDING
from featsieve.graphs.affinity import sample_graph
from featsieve.graphs.initial_labels import first_labels
from featsieve.graphs.spectral_labels import by_first_sample
from featsieve.solvers.block_problem import BlockProblem, solve
from featsieve.solvers.protocol import S
from featsieve.solvers.weighted_kmeans import Weigh, WeightedClusters


@estimator
class ClusterSelector(ConstrainedSelector):
    """Parameters of the methods that look for clusters."""

    n_clusters: int | str = field(default=8, kw_only=False)
    n_features_to_select: int | float | str | None = 0.1
    n_neighbors: int = 5
    scale: str = "unit"


@estimator
class Iterations(ConstrainedSelector):
    """Parameters of the methods that iterate, and the iterations."""

    max_iter: int = 200
    tol: float = 1e-5
    callback: Any = None
    verbose: int = 0

    def _alternate(self, problem: BlockProblem[S], state: S, blocks: str) -> S:
        """Update the blocks of a problem in turn; keep what the solver reports."""
        self._progress.step(f"{blocks} in turn, at most {self.max_iter} times")
        solution = solve(
            problem,
            state,
            max_iter=self.max_iter,
            tol=self.tol,
            callback=self._progress.watch(self.callback),
        )
        self._set_outcome(solution)
        return solution.state


@estimator
class PartitionSelector(Iterations):
    """A method whose clusters are those of k-means: it has no graph."""

    n_clusters: int | str = field(default=8, kw_only=False)
    n_features_to_select: int | float | str | None = 0.1
    scale: str = "unit"
    max_iter: int = 100
    random_state: Any = None

    # The features that are selected are those with which the clusters are found.
    _follows_count = True

    def _units(self) -> np.ndarray:
        """Return the feature of every column: those that are bought together are one."""
        if self._offer is None:
            return np.arange(self.n_features_in_)
        unit = self._offer.unit.copy()
        alone = np.flatnonzero(unit < 0)  # not for sale, but among what finds the clusters
        unit[alone] = self._offer.n_units + np.arange(len(alone))
        return unit

    def _by_units(self, weigh: Weigh) -> Weigh:
        """Weigh features, of several columns by the sum of their b_j, instead of columns."""
        unit = self._units()
        return lambda between: weigh(np.bincount(unit, weights=between))[unit]

    def _set_clusters(self, found: WeightedClusters, scores: np.ndarray, n_selected: int) -> None:
        """Keep the clusters; rank the features by how far they lie apart in them."""
        self.labels_ = by_first_sample(found.labels)
        keys = np.where(self._varies, found.between, -np.inf)
        order = stable_order(keys, rounding=ROUNDING)
        self._set_selection(np.where(self._varies, scores, 0.0), n_selected, order=order)


@estimator
class IterativeSelector(ClusterSelector, Iterations):
    """A method that iterates on clusters and a graph."""

    # Whether columns are centred whatever ``scale`` says: where an intercept centres them anyway.
    _centres: ClassVar[bool] = False

    def _operator(self, X: Any) -> DataOperator:
        """Return the operator of a checked table that the method works with."""
        operator = super()._operator(X)
        return operator.centred() if self._centres else operator


@dataclass(frozen=True)
class Start:
    """What a method of labels knows before its iterations."""

    X: Any
    operator: DataOperator
    graph: Any  # None where it is not needed
    labels: np.ndarray
    given: bool  # by the user
    n_clusters: int
    random_state: np.random.RandomState


@estimator
class LabelSelector(IterativeSelector):
    """A method that starts from pseudo-labels."""

    init: Any = "spectral"
    random_state: Any = None

    def _first_labels(self, X: Any, operator: DataOperator) -> Start:
        """Return the first labels, and the graph of the samples."""
        n_clusters = self._count_clusters(X)
        random_state = check_random_state(self.random_state)
        self._progress.step("finding the first labels")
        graph = self._graph(operator)
        labels, given = first_labels(
            self.init,
            X,
            operator,
            n_clusters,
            graph=graph,
            n_neighbors=self.n_neighbors,
            random_state=random_state,
        )
        return Start(X, operator, graph, labels, given, n_clusters, random_state)

    def _graph(self, operator: DataOperator) -> sp.csr_array | None:
        """Return the graph of the samples; None for a method without ``affinity``."""
        if not hasattr(self, "affinity"):
            return None
        return sample_graph(operator, self.affinity, n_neighbors=self.n_neighbors)

    def _keep_labels(self, labels: np.ndarray, start: Start) -> None:
        """Keep the order of labels that the user gave; number others by their first samples."""
        self.labels_ = labels if start.given else by_first_sample(labels)
