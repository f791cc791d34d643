"""Clusters of weighted columns and weights of the columns, in turn: sparse k-means and SKFR."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.linalg import leading_eigenpairs
from featsieve.arrays.namespace import to_numpy
from featsieve.graphs.kmeans import fill_empty, kmeans
from featsieve.hypotheses.sparse_kmeans import memberships
from featsieve.solvers.block_problem import BlockProblem
from featsieve.solvers.protocol import Status

Weigh = Callable[[np.ndarray], np.ndarray]  # b to w


class WeightedClusters(NamedTuple):
    """Labels of the samples, sums of squares of the columns between them, weights."""

    labels: np.ndarray
    between: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class WeightedKMeans(BlockProblem[WeightedClusters]):
    """total - sum_j w_j b_j, b_j the sum of squares of column j between the clusters.

    ``weigh`` returns the weights for b, which are the best there are under a constraint. The labels
    are those of k-means from some starts, the last labels among them, or only take one of its
    steps (``by_steps``).
    """

    operator: DataOperator  # with centred columns
    n_clusters: int
    weigh: Weigh
    seed: int = 0
    total: float = 0.0
    n_starts: int = defaults.KMEANS_STARTS
    by_steps: bool = False

    blocks = ("weights", "labels")

    def start(self, labels: np.ndarray) -> WeightedClusters:
        """Return the state with these labels."""
        between = between_squares(self.operator, labels)
        return WeightedClusters(labels, between, self.weigh(between))

    def objective(self, state: WeightedClusters) -> float:
        """Return what is minimised."""
        return self.total - float(state.weights @ state.between)

    def status(
        self, state: WeightedClusters, history: Sequence[float], tol: float
    ) -> Status | None:
        """Return how the iterations end here: by the change of what the clusters explain."""
        return super().status(state, [value - self.total for value in history[-2:]], tol)

    def update_weights(self, state: WeightedClusters) -> WeightedClusters:
        """Return the best weights for the labels."""
        return state._replace(weights=self.weigh(state.between))

    def update_labels(self, state: WeightedClusters) -> WeightedClusters:
        """Return better labels for the weights, or the same."""
        if not state.weights.any() or self.n_clusters == 1:
            return state
        points = weighted_points(self.operator, state.weights)
        if self.by_steps:
            labels = nearest_means(points, state.labels, self.n_clusters)
        else:
            rng = np.random.default_rng(self.seed)
            labels = kmeans(
                points, self.n_clusters, rng, n_starts=self.n_starts, starts=[state.labels]
            )
        found = state._replace(labels=labels, between=between_squares(self.operator, labels))
        # the acceptance guard: k-means compares in single precision
        return found if self.objective(found) < self.objective(state) else state


def between_squares(operator: DataOperator, labels: np.ndarray) -> np.ndarray:
    """Return b_j = sum_k n_k (mean of column j in cluster k)², for centred columns."""
    member = memberships(labels)
    size = np.maximum(member.sum(axis=1, keepdims=True), 1.0)
    product = operator.rmatmul(operator.place((member / np.sqrt(size)).T))
    return np.asarray(np.sum(to_numpy(product).astype(np.float64) ** 2, axis=1))


def weighted_points(operator: DataOperator, weights: np.ndarray) -> np.ndarray:
    """Return points with the distances of the samples in columns times sqrt(w): few columns."""
    chosen, n = np.flatnonzero(weights), operator.shape[0]
    step = max(n, operator.block_elements // n)
    blocks = (chosen[start : start + step] for start in range(0, len(chosen), step))
    scaled = (
        operator.columns(operator.place(block)) * operator.place(np.sqrt(weights[block]))[None, :]
        for block in blocks
    )
    if len(chosen) <= n:
        return np.asarray(to_numpy(next(scaled)), dtype=np.float64)
    gram = reduce(add, (Z @ Z.T for Z in scaled))  # of fewer dimensions
    energy, U = leading_eigenpairs(gram, n)
    return to_numpy(U) * np.sqrt(np.maximum(to_numpy(energy), 0.0))


def nearest_means(points: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the clusters whose means are nearest: one step of Lloyd; ties stay where they are."""
    member = memberships(labels)
    distances = distances_to(points, member @ points / member.sum(axis=1, keepdims=True))
    nearest, rows = distances.argmin(axis=1), np.arange(len(labels))
    stays = distances[rows, labels] <= distances[rows, nearest]
    return fill_empty(np.where(stays, labels, nearest), n_clusters)


def nearest_centres(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return the nearest of some centres for every point; none is left without."""
    return fill_empty(distances_to(points, centres).argmin(axis=1), len(centres))


def distances_to(points: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return squared distances, less the squared length of the point."""
    return np.sum(centres**2, axis=1) - 2.0 * points @ centres.T
