"""The label hypotheses of a fit: stages, and landmarks where there are many samples.

    1. families of views of the whole table (``hypotheses/families.py``), the features for them
    2. views of the first of these features: where most of the gain is; where the hat family is not
       credible again, for the features of all stages so far, as long as agreement rises

All stages are the target of the features, and their consensus are the clusters.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from featsieve import defaults
from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.namespace import (
    Array,
    hosted,
    pick_columns,
    row_squares,
    stable_order,
    take_rows,
    to_numpy,
)
from featsieve.arrays.threads import one_thread, run_all
from featsieve.graphs.affinity import self_tuning_graph
from featsieve.graphs.coordinates import hat_directions, principal_coordinates, unit_rows
from featsieve.graphs.distances import hat_distances
from featsieve.graphs.kmeans import fill_empty, kmeans
from featsieve.graphs.landmarks import cell_sums, nearest_landmarks, vote
from featsieve.graphs.spectral_labels import by_first_sample
from featsieve.graphs.views import vote_accuracy
from featsieve.hypotheses.families import (
    Belief,
    HatFamily,
    first_hypotheses,
    second_hypotheses,
    second_sizes,
)
from featsieve.hypotheses.lone import lone_columns
from featsieve.hypotheses.pool import Pool
from featsieve.hypotheses.views import (
    HatMetrics,
    View,
    hat_view,
    neighbourhoods,
    rows_of_product,
)
from featsieve.jasfs.problem import summed
from featsieve.solvers.row_sparse import mean_column_norm
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
    n_jobs: int
    codes: np.ndarray | None = None  # the batches that the table was corrected for

    @property
    def n_splits(self) -> int:
        """How often the columns are split: two halves each, beside all columns and ranks."""
        if self.n_hypotheses == "auto":
            return defaults.HAT_SPLITS
        return max(1, (int(self.n_hypotheses) - 2) // 2)

    @property
    def several(self) -> bool:
        """Whether there are several hypotheses."""
        return self.start is None and self.n_hypotheses != 1


@dataclass(frozen=True)
class Found:
    """What is known of the labels before the features are chosen."""

    pool: Pool  # the target
    labels: np.ndarray  # the consensus
    certainty: np.ndarray  # of every sample
    belief: Belief
    n_landmarks: int = 0
    lone: tuple[int, ...] = ()  # columns that the hypotheses were formed without


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
    some = hosted(take_rows(X, rows))
    given = settings
    if settings.codes is not None:
        settings = replace(settings, codes=settings.codes[rows])
    small = as_operator(some, scale=operator.scale)
    first, metrics = None, None
    if settings.several:
        metrics = HatMetrics.of(
            operator, c, rng, n_splits=settings.n_splits, shrinkage=settings.shrinkage
        )
        views = None
        if metrics is not None:
            views = metrics.views(partial(rows_of_product, operator, rows))
        first = first_stage(some, small, settings, rng, views)
        if lone := lone_columns(small, first[0].labels, rng, settings.codes):
            return without(lone, find_labels, X, operator, given, rng)
    # cells that hold enough rows are worth their means, where these fit into memory
    many = n >= defaults.ROWS_PER_CELL * defaults.N_CELLS
    many = many and operator.shape[1] <= defaults.LARGEST_EXACT_DIRECTIONS
    if many and (first is None or first[1].credible):
        support = None if first is None else best_features(small, first[0], settings)
        fewest = max(defaults.N_CELLS, defaults.LANDMARKS_PER_CLUSTER * c)
        centres = np.sort(rng.choice(rows, min(count, fewest), replace=False))
        means = cells(operator, centres, settings, support)
        small = as_operator(hosted(operator.place(means)), scale=operator.scale)
        if first is not None and metrics is not None:
            family = HatFamily(c, settings.n_neighbors, settings.shrinkage)
            views = metrics.views(means.__matmul__)
            tasks, on_host = family.view_tasks(views, rng), views[0].distances.on_host
            cut = run_all(tasks, n_jobs=settings.n_jobs, on_host=on_host)
            first = Pool.of([one for labels in cut for one in labels], c), first[1]
        found = few_samples(means, small, settings, rng, first=first, order=support)
        order = best_features(small, found.pool, settings) if support is None else support
        Z = means[:, order]
    else:
        found = few_samples(some, small, settings, rng, first=first)
        order = best_features(small, found.pool, settings)
        parts = operator.parts()
        Z = np.asarray(parts.gather(parts.map(columns_at, shared=(rows, order))))
    links = Links.by_features(operator, Z, order, found.labels, settings)
    consensus = by_first_sample(fill_empty(links.vote(found.labels, c), c))
    if not settings.several:
        pool = Pool.of([consensus], c)
        return Found(pool, consensus, np.ones(n), found.belief, len(Z))
    nearest = links.nearest()
    certainty = found.pool.certainty(consensus, nearest)
    pool = found.pool.at(nearest)
    return Found(pool, consensus, certainty, found.belief, len(Z))


def cells(
    operator: DataOperator, rows: np.ndarray, settings: Settings, support: np.ndarray | None
) -> np.ndarray:
    """Return means of the samples that are nearest to each of some rows.

    In the hat metric of a ``support``, or of all columns. Clusters that show in it show more
    clearly in these means.
    """
    directions = hat_directions(
        operator,
        shrinkage=settings.shrinkage,
        n_directions=2 * settings.n_clusters,
        columns=support,
    )
    points = rows_of_product(operator, rows, directions)
    links = Links.to(operator, None, directions, points, n_neighbors=1)
    sums, sizes = operator.parts().total(cell_sums, links.links, shared=(len(rows),))
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
    order: np.ndarray | None = None,
) -> Found:
    """Return the hypotheses of a table whose samples can all be compared; some may be known."""
    c, k = settings.n_clusters, settings.n_neighbors
    if not settings.several:
        if settings.start == "k-means":
            labels = kmeans(
                to_numpy(principal_coordinates(operator)[0]),
                c,
                rng,
                n_starts=defaults.KMEANS_STARTS,
            )
        else:
            view = hat_view(operator, c, shrinkage=settings.shrinkage)
            labels = view.cuts(c, rng, neighbourhoods(k)[0], n_starts=defaults.KMEANS_STARTS)[0]
        return single(by_first_sample(labels), settings)
    pool, belief = first or first_stage(X, operator, settings, rng)
    if first is None and (lone := lone_columns(operator, pool.labels, rng, settings.codes)):
        return without(lone, few_samples, X, operator, settings, rng)
    root, stages, everything = float(np.sqrt(operator.shape[0])), [pool], pool
    n_varying = int(to_numpy(operator.varies).sum())
    while len(stages) < defaults.MOST_STAGES:
        if order is None:
            order = best_features(operator, everything, settings)

        def columns(count: int, order: np.ndarray = order) -> Array:
            return hosted(operator.columns(operator.place(order[:count]))) * root

        found = second_hypotheses(
            columns,
            n_varying,
            c,
            rng,
            n_neighbors=k,
            shrinkage=settings.shrinkage,
            n_jobs=settings.n_jobs,
            on_host=operator.on_host,
        )
        rises = found.agreement() > stages[-1].agreement()
        stages.append(found)
        everything = Pool.joined(stages)
        if belief.credible or not rises:
            break
        order = None
    labels = everything.consensus(rng)
    return Found(everything, labels, everything.certainty(labels), belief)


def first_stage(
    X: Any,
    operator: DataOperator,
    settings: Settings,
    rng: np.random.Generator,
    views: list[View] | None = None,
) -> tuple[Pool, Belief]:
    """Return the hypotheses of views of the whole table, and how far each family is believed."""
    named = ("n_splits", "n_neighbors", "shrinkage", "codes", "n_jobs")
    options = {name: getattr(settings, name) for name in named}
    return first_hypotheses(X, operator, settings.n_clusters, rng, views=views, **options)


def without(
    columns: list[int],
    find: Callable[..., Found],
    X: Any,
    operator: DataOperator,
    settings: Settings,
    rng: np.random.Generator,
) -> Found:
    """Return what is found in a table without some columns."""
    kept = np.delete(np.arange(operator.shape[1]), columns)
    X = pick_columns(X, kept)
    found = find(X, as_operator(X, scale=operator.scale.at(kept)), settings, rng)
    return replace(found, lone=(*columns, *kept[list(found.lone)].tolist()))


def best_features(operator: DataOperator, pool: Pool, settings: Settings) -> np.ndarray:
    """Return the features that the second stage looks at, best first.

    They need not be exact: the target is reduced to its leading directions, and only columns that
    explain much of it by themselves are compared in full.
    """
    target = operator.place(pool.target(most=2 * pool.n_clusters))
    ridge = settings.ridge * mean_column_norm(operator)
    length = max(defaults.SECOND_SIZES)
    kept = np.arange(operator.shape[1])
    most = defaults.SCREENED_PER_FEATURE * length
    if len(kept) > most and operator.sparse is None:  # sparse columns are cheap, and stay sparse
        alone = row_squares(operator.rmatmul(target)) / (ridge + operator.column_norms())
        kept = np.sort(stable_order(to_numpy(alone))[:most])
        operator = as_operator(operator.columns(operator.place(kept)), scale="none")
    regression = summed(operator, to_numpy(operator.rmatmul(target)), ridge=ridge)
    path = path_through(regression, NONE, length=length)
    return kept[np.asarray(path.order, dtype=np.intp)]


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
        *,
        n_neighbors: int,
    ) -> "Links":
        """Return the links of all samples to landmarks at ``points`` = Z_S ``directions``."""
        by_angle = points.shape[1] >= defaults.FEW_DIRECTIONS
        points = unit_rows(points) if by_angle else points
        shared = (support, directions, points.astype(np.float32), n_neighbors, by_angle)
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
            with one_thread():  # small products
                energy, V = np.linalg.eigh(chosen.T @ chosen)
                kept = energy > 1e-10 * energy[-1]
                directions = V[:, kept] / np.sqrt(energy[kept] + settings.shrinkage * energy.mean())
                distances = hat_distances(operator.place(chosen @ directions))
                found = self_tuning_graph(distances, n_neighbors=settings.n_neighbors)
            accuracy = vote_accuracy(found, labels)
            if accuracy > most:
                best, most = (order[:size], directions, chosen @ directions), accuracy
        assert best is not None
        return cls.to(operator, *best, n_neighbors=settings.n_neighbors)

    def vote(self, labels: np.ndarray, n_clusters: int) -> np.ndarray:
        """Return the labels that most of the landmarks of every sample have."""
        parts = self.operator.parts()
        votes = np.eye(n_clusters)[labels]
        found = parts.map(vote, self.links, shared=(votes,), table=False)
        return np.asarray(parts.gather(found)).astype(np.intp)

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


def first_link(part: DataOperator, links: tuple[Array, Array]) -> Array:
    """Return the nearest landmark of every row."""
    return links[0][:, 0]
