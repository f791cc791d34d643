"""The label hypotheses of a fit: two stages, and landmarks where there are many samples.

    1. families of views of the whole table (``hypotheses/families.py``), the features for them
    2. views of the first of these features: where most of the gain is

The target of the features is the second stage; the consensus of both stages are the clusters.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve import defaults
from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import Array, take_rows, to_numpy
from featsieve.graphs.affinity import graph_of_neighbours
from featsieve.graphs.coordinates import hat_directions, principal_coordinates, unit_rows
from featsieve.graphs.distances import hat_distances, nearest_neighbours
from featsieve.graphs.kmeans import fill_empty, kmeans
from featsieve.graphs.landmarks import cell_sums, nearest_landmarks, vote
from featsieve.graphs.spectral_labels import by_first_sample
from featsieve.graphs.views import vote_accuracy
from featsieve.hypotheses.families import (
    Belief,
    first_hypotheses,
    second_hypotheses,
    second_sizes,
)
from featsieve.hypotheses.pool import Pool
from featsieve.hypotheses.views import hat_view
from featsieve.solvers.forward_forms import LARGEST_GRAM
from featsieve.solvers.row_sparse import RowSparseRegression, mean_column_norm
from featsieve.solvers.supports import NONE, path_through


@dataclass(frozen=True)
class Settings:
    """The parameters of the estimator that the labels depend on."""

    n_hypotheses: int | str
    start: str | None  # a named single start, "given", or None: hypotheses
    labels: np.ndarray | None  # the user's, if there are any
    n_clusters: int
    n_neighbors: int
    ridge: float  # in units of the mean squared column norm
    shrinkage: float
    scale: str
    n_jobs: int


@dataclass(frozen=True)
class Found:
    """What is known of the labels before the features are chosen."""

    pool: Pool  # the target
    labels: np.ndarray  # the consensus
    certainty: np.ndarray  # of every sample
    belief: Belief
    n_landmarks: int = 0


def find_labels(
    X: Any, operator: DataOperator, settings: Settings, rng: np.random.Generator
) -> Found:
    """Return the hypotheses of a table and their consensus."""
    c, n = settings.n_clusters, operator.shape[0]
    if settings.labels is not None:
        return single(settings.labels, settings)
    count = max(defaults.N_LANDMARKS, defaults.LANDMARKS_PER_CLUSTER * c)
    if n <= count:
        return few_samples(X, operator, settings, rng)
    rows = np.sort(rng.choice(n, count, replace=False))
    some = take_rows(X, rows)
    small = as_operator(some, scale=settings.scale)
    first = None
    if settings.start is None and settings.n_hypotheses != 1:
        first = first_stage(some, small, settings, rng)
    if (first is None or first[1].credible) and many_rows_each(operator):
        centres = rng.choice(rows, min(count, defaults.N_CELLS), replace=False)
        table = cells(operator, np.sort(centres), settings)
        small = as_operator(table, scale=settings.scale)
        found = few_samples(table, small, settings, rng)
        order = best_features(small, found.pool, settings)
        Z = table[:, order]
    else:
        found = few_samples(some, small, settings, rng, first=first)
        order = best_features(small, found.pool, settings)
        parts = operator.parts()
        Z = np.asarray(parts.gather(parts.map(columns_at, shared=(rows, order))))
    links = Links.by_features(operator, Z, order, found.labels, settings)
    consensus = by_first_sample(fill_empty(links.vote(found.labels, c), c))
    labels = np.stack([fill_empty(one, c) for one in links.nearest_labels(found.pool.labels)])
    pool = Pool(labels, found.pool.weights, c)
    return Found(pool, consensus, pool.certainty(consensus), found.belief, len(Z))


def many_rows_each(operator: DataOperator) -> bool:
    """Say whether cells hold enough rows to be worth their means (and these fit into memory)."""
    n, d = operator.shape
    return n >= defaults.ROWS_PER_CELL * defaults.N_CELLS and d <= LARGEST_GRAM


def cells(operator: DataOperator, rows: np.ndarray, settings: Settings) -> np.ndarray:
    """Return means of the samples that are nearest to each of some rows, in the hat metric.

    Clusters that show in the hat metric show more clearly in these means: noise averages out.
    """
    parts = operator.parts()
    directions = hat_directions(
        operator, shrinkage=settings.shrinkage, n_directions=2 * settings.n_clusters
    )
    points = np.asarray(parts.gather(parts.map(coordinates_at, shared=(rows, directions))))
    links = Links.to(operator, None, directions, points, settings)
    sums, sizes = parts.total(cell_sums, links.links, shared=(len(rows),))
    # a row is its own nearest, unless it coincides with another, whose cell is its own then
    owner = links.nearest()[rows]
    return np.asarray(sums[owner] / sizes[owner, None])


def single(labels: np.ndarray, settings: Settings) -> Found:
    """Return the one hypothesis that is given, or comes from a named start."""
    belief = Belief([str(settings.start)], [1], [np.nan], [np.nan], [np.nan], [1.0])
    pool = Pool.of([labels], settings.n_clusters)
    return Found(pool, labels, np.ones(len(labels)), belief)


def few_samples(
    X: Any,
    operator: DataOperator,
    settings: Settings,
    rng: np.random.Generator,
    *,
    first: tuple[Pool, Belief] | None = None,
) -> Found:
    """Return the hypotheses of a table whose samples can all be compared."""
    c, k = settings.n_clusters, settings.n_neighbors
    if settings.start is not None or settings.n_hypotheses == 1:
        if settings.start == "k-means":
            labels = kmeans(
                to_numpy(principal_coordinates(operator)[0]),
                c,
                rng,
                n_starts=defaults.KMEANS_STARTS,
            )
        else:
            view = hat_view(operator, c, shrinkage=settings.shrinkage)
            labels = view.cuts(c, rng, k, n_starts=defaults.KMEANS_STARTS)[0]
        return single(by_first_sample(labels), settings)
    pool, belief = first or first_stage(X, operator, settings, rng)
    order = best_features(operator, pool, settings)
    root = np.sqrt(operator.shape[0])

    def columns(count: int) -> np.ndarray:
        return to_numpy(operator.columns(operator.place(order[:count]))) * root

    n_varying = int(to_numpy(operator.varies).sum())
    second = second_hypotheses(columns, n_varying, c, rng, n_neighbors=k, n_jobs=settings.n_jobs)
    everything = pool + second
    labels = everything.consensus(rng)
    return Found(second, labels, everything.certainty(labels), belief)


def first_stage(
    X: Any, operator: DataOperator, settings: Settings, rng: np.random.Generator
) -> tuple[Pool, Belief]:
    """Return the hypotheses of views of the whole table, and how far each family is believed."""
    n_splits = defaults.HAT_SPLITS
    if settings.n_hypotheses != "auto":  # two halves of each split, all columns, ranks
        n_splits = max(1, round((int(settings.n_hypotheses) - 2) / 2))
    return first_hypotheses(
        X,
        operator,
        settings.n_clusters,
        rng,
        n_splits=n_splits,
        n_neighbors=settings.n_neighbors,
        shrinkage=settings.shrinkage,
        scale=settings.scale,
        n_jobs=settings.n_jobs,
    )


def best_features(operator: DataOperator, pool: Pool, settings: Settings) -> np.ndarray:
    """Return the features that the second stage looks at, best first.

    They need not be exact: the target is reduced to its leading directions.
    """
    target = operator.place(pool.target(most=2 * pool.n_clusters))
    ridge = settings.ridge * mean_column_norm(operator)
    regression = RowSparseRegression(operator, target, ridge=ridge)
    path = path_through(regression, NONE, length=max(defaults.SECOND_SIZES))
    return np.asarray(path.order, dtype=np.intp)


@dataclass(frozen=True)
class Links:
    """Every sample beside its nearest landmarks, in a hat metric."""

    operator: DataOperator
    links: Any  # blocks of (nearest landmarks, weights) beside the parts of the table

    @classmethod
    def to(
        cls,
        operator: DataOperator,
        support: np.ndarray | None,
        directions: np.ndarray,
        points: np.ndarray,
        settings: Settings,
    ) -> "Links":
        """Return the links of all samples to landmarks at ``points`` = Z_S ``directions``."""
        by_angle = points.shape[1] >= defaults.FEW_DIRECTIONS
        points = unit_rows(points) if by_angle else points
        shared = (support, directions, points.astype(np.float32), settings.n_neighbors, by_angle)
        return cls(operator, operator.parts().map(nearest_landmarks, shared=shared))

    @classmethod
    def by_features(
        cls,
        operator: DataOperator,
        Z: np.ndarray,
        order: np.ndarray,
        labels: np.ndarray,
        settings: Settings,
    ) -> "Links":
        """Return the links of all samples to some rows (or means of rows), whose labels are known.

        Of the hat metrics of the first selected columns the one counts in which neighbours among
        these rows predict one another's labels best.
        """
        best, most = None, -1.0
        for size in second_sizes(operator.shape[1]):
            chosen = Z[:, :size]
            energy, V = np.linalg.eigh(chosen.T @ chosen)
            kept = energy > 1e-10 * energy[-1]
            directions = V[:, kept] / np.sqrt(energy[kept] + settings.shrinkage * energy.mean())
            distances = hat_distances(chosen @ directions)
            found = graph_of_neighbours(*nearest_neighbours(distances, settings.n_neighbors))
            accuracy = vote_accuracy(found, labels)
            if accuracy > most:
                best, most = (order[:size], directions, chosen @ directions), accuracy
        assert best is not None
        return cls.to(operator, *best, settings)

    def vote(self, labels: np.ndarray, n_clusters: int) -> np.ndarray:
        """Return the labels that most of the landmarks of every sample have."""
        parts = self.operator.parts()
        votes = np.eye(n_clusters)[labels]
        found = parts.map(vote, self.links, shared=(votes,), table=False)
        return np.asarray(parts.gather(found)).astype(np.intp)

    def nearest_labels(self, labels: np.ndarray) -> np.ndarray:
        """Return the labels (m x n) of the nearest landmark, for every hypothesis."""
        return labels[:, self.nearest()]

    def nearest(self) -> np.ndarray:
        """Return the nearest landmark of every sample."""
        parts = self.operator.parts()
        found = parts.gather(parts.map(first_link, self.links, table=False))
        return np.asarray(found).astype(np.intp)


def columns_at(part: DataOperator, rows: np.ndarray, support: np.ndarray) -> np.ndarray:
    """Return some columns of those of the listed rows that are in the part."""
    own = rows[(rows >= part.first_row) & (rows < part.first_row + part.shape[0])]
    local = part.at_rows(part.place(own - part.first_row))
    return to_numpy(local.columns(part.place(support)))


def coordinates_at(part: DataOperator, rows: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Return the coordinates of those of the listed rows that are in the part."""
    own = rows[(rows >= part.first_row) & (rows < part.first_row + part.shape[0])]
    local = part.at_rows(part.place(own - part.first_row))
    return to_numpy(local.matmul(part.place(directions)))


def first_link(part: DataOperator, links: tuple[Array, Array]) -> Array:
    """Return the nearest landmark of every row."""
    return links[0][:, 0]
