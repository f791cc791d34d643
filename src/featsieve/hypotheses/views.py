"""What a hypothesis is made of: a view of the samples, and clusters of it.

The hat metric evens out the directions of a table, and shows clusters in which many columns take
part; few informative columns drown in it, and show in plain distances, in few principal components,
or in columns that are chosen before (``families.py``).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.linalg import inverse_shifted
from featsieve.arrays.namespace import Array, hosted, to_numpy
from featsieve.arrays.threads import in_turn
from featsieve.graphs.affinity import SharedNeighbours, links, mutual_graph
from featsieve.graphs.coordinates import (
    hat_coordinates,
    hat_directions,
    mean_energy,
    unit_rows,
)
from featsieve.graphs.distances import (
    GivenDistances,
    PointDistances,
    hat_distances,
    nearest_neighbours,
)
from featsieve.graphs.kmeans import kmeans
from featsieve.graphs.spectral_labels import spectral_points

# Relative error of the eigenvectors of a hypothesis: k-means needs no better ones.
ROUGH = 1e-3


@dataclass(frozen=True)
class Neighbourhood:
    """How many neighbours of every sample count, and how they make a graph."""

    size: int
    graph: Callable[[np.ndarray], sp.csr_array | SharedNeighbours]
    most: float  # of all other samples: if all are neighbours of all, the graph says nothing

    def among(self, n_samples: int) -> int:
        """Return how many neighbours count in a table of so many samples."""
        return max(1, min(self.size, int(self.most * (n_samples - 1))))


def neighbourhoods(n_neighbors: int) -> tuple[Neighbourhood, Neighbourhood]:
    """Return a small one and a large one: a thin graph is filled in, a dense one thinned out."""
    few, many = defaults.LARGEST_LISTS
    small = Neighbourhood(n_neighbors, SharedNeighbours, few)
    return small, Neighbourhood(2 * n_neighbors, mutual_graph, many)


@dataclass(frozen=True)
class View:
    """Distances of the samples, and directions that link the parts of a graph in pieces."""

    distances: GivenDistances
    bridge: Callable[[], np.ndarray]

    def cuts_of_some(
        self, n_clusters: int, rng: np.random.Generator, *neighbours: Neighbourhood
    ) -> list[np.ndarray]:
        """Return what :meth:`cuts` does, by landmarks of its own where there are many samples.

        The others take the label of the nearest landmark. Graphs of fewer samples show less: this
        is for views that show the clusters well.
        """
        n, count = len(self.distances.rounding), defaults.CUT_LANDMARKS
        count = max(count, defaults.LANDMARKS_PER_CLUSTER * n_clusters)
        if n <= count:
            return self.cuts(n_clusters, rng, *neighbours)
        rows = np.sort(rng.choice(n, count, replace=False))
        bridge, nearest = self.bridge, self.distances.nearest(rows)
        some = View(self.distances.among(rows), lambda: bridge()[rows])
        return [labels[nearest] for labels in some.cuts(n_clusters, rng, *neighbours)]

    def cuts(
        self,
        n_clusters: int,
        rng: np.random.Generator,
        *neighbours: Neighbourhood,
        n_starts: int = defaults.HYPOTHESIS_STARTS,
    ) -> list[np.ndarray]:
        """Return a spectral clustering for each neighbourhood, from one search."""
        sizes = [one.among(len(self.distances.rounding)) for one in neighbours]
        indices, squares = nearest_neighbours(self.distances, max(sizes))
        found = []
        for one, size in zip(neighbours, sizes, strict=True):
            graph, n_pieces = one.graph(indices[:, :size]), 0
            # rows that list nothing but their own copies are hardly a part of the graph
            alone = np.flatnonzero(squares[:, size - 1] <= self.distances.rounding)
            if len(alone):
                copies = links(indices[:, :size])[alone][:, alone]
                n_pieces = connected_components(copies, directed=False)[0]
            with in_turn():
                points = spectral_points(
                    graph,
                    n_clusters,
                    random_state=rng,
                    bridge=self.bridge,
                    n_pieces=n_pieces,
                    tol=ROUGH,
                )
                found.append(kmeans(points, n_clusters, rng, n_starts=n_starts))
        return found


def wide_gram(operator: DataOperator) -> Array | None:
    """Return K = ZZ' of a table with no fewer columns than samples, None of others."""
    n, d = operator.shape
    return operator.sample_gram() if n <= min(d, defaults.LARGEST_EXACT_DIRECTIONS) else None


def hat_view(
    operator: DataOperator, n_clusters: int, *, shrinkage: float = 1.0, gram: Array | None = None
) -> View:
    """Return the view in the metric of the ridge hat matrix P of all columns.

    Wide tables need no eigenvectors: P = K (K + mI)^(-1) = I - m (K + mI)^(-1), K = ZZ' (``gram``
    where it is known).
    """
    gram = wide_gram(operator) if gram is None else gram
    if gram is None:
        E = hosted(hat_coordinates(operator, shrinkage=shrinkage, n_directions=2 * n_clusters))
        return View(hat_distances(E), lambda: to_numpy(unit_rows(E)))
    xp, n, m = operator.xp, operator.shape[0], shrinkage * mean_energy(operator)
    P = xp.eye(n, dtype=xp.float64, device=operator.device) - m * inverse_shifted(gram, m)
    if n > defaults.FEW_DIRECTIONS:  # as hat_distances
        length = xp.sqrt(xp.clip(xp.linalg.diagonal(P), min=1e-300))
        P = P / length[:, None] / length[None, :]
    return View(GivenDistances(P), lambda: _factor(to_numpy(P)))


@dataclass(frozen=True)
class HatMetrics:
    """The hat metrics of a tall table: of all columns, and of random halves of them.

    Samples are compared in Z A, for each of the ``directions`` A. One Gram matrix, of all samples,
    serves every half; the samples that are compared may be few of them, or means of some.
    """

    directions: list[np.ndarray]
    place: Callable[[np.ndarray], Array]  # beside the table

    @classmethod
    def of(
        cls,
        operator: DataOperator,
        n_clusters: int,
        rng: np.random.Generator,
        *,
        n_splits: int,
        shrinkage: float = 1.0,
    ) -> "HatMetrics | None":
        """Return the metrics of a table, or None if its Gram matrix would be too large."""
        n, d = operator.shape
        if d > min(n, defaults.LARGEST_EXACT_DIRECTIONS):
            return None
        directions = partial(
            hat_directions, operator, shrinkage=shrinkage, n_directions=2 * n_clusters
        )
        found = [directions(columns=half) for half in halves(operator, rng, n_splits)]
        return cls(found, operator.place)

    def views(self, product: Callable[[np.ndarray], np.ndarray]) -> list[View]:
        """Return the views of samples, given what multiplies them by a matrix."""
        ends = np.cumsum([A.shape[1] for A in self.directions])[:-1]
        points = np.split(product(np.hstack(self.directions)), ends, axis=1)
        return [View(hat_distances(self.place(E)), partial(unit_rows, E)) for E in points]


def halves(operator: DataOperator, rng: np.random.Generator, n_splits: int) -> Iterator[np.ndarray]:
    """Yield the columns that vary, and two halves of them for each split."""
    varying = np.flatnonzero(to_numpy(operator.varies))
    yield varying
    for _ in range(n_splits if len(varying) > 1 else 0):
        yield from operator.scale.halves(varying, rng, -(-len(varying) // 2))


def product(operator: DataOperator, A: np.ndarray) -> np.ndarray:
    """Return Z A, on the host."""
    return to_numpy(operator.matmul(operator.place(A)))


def rows_of_product(operator: DataOperator, rows: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Return some rows of Z A."""
    parts = operator.parts()
    return np.asarray(parts.gather(parts.map(_rows_of_product, shared=(rows, A))))


def _rows_of_product(part: DataOperator, rows: np.ndarray, A: np.ndarray) -> np.ndarray:
    """Return those of the rows that are in the part."""
    own = rows[(rows >= part.first_row) & (rows < part.first_row + part.shape[0])]
    local = part.at_rows(part.place(own - part.first_row))
    return product(local, A)


def plain_view(points: Array) -> View:
    """Return the view in Euclidean distances, of points about the origin."""
    host = partial(to_numpy, points)
    return View(PointDistances(points), lambda: host() / max(np.linalg.norm(host()), 1e-300))


def _factor(P: np.ndarray) -> np.ndarray:
    """Return E with E E' = P."""
    energy, U = np.linalg.eigh(P)
    return U * np.sqrt(np.maximum(energy, 0.0))
