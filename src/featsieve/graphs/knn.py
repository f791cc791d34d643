"""k-nearest-neighbour graphs, built in row blocks: no n x n array."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array, on_host, to_numpy
from featsieve.graphs.device_neighbours import device_candidates, device_rows
from featsieve.graphs.nearest import entries_below, sorted_by_distance, upper_bounds

# Elements of a block of the distance matrix that may exist at one time (8 MiB of float64).
BLOCK_ELEMENTS = 2**20
# ... and of one in single precision (32 MiB).
ROUGH_ELEMENTS = 2**23
# ... but at least this many rows: a block reads all samples once.
FEWEST_ROWS = 64
# Single precision is of no use where it leaves more than this share of the samples in question.
MOST_CANDIDATES = 0.1
# Smallest weight of an edge: a neighbour stays a neighbour however unequal the local scales are.
SMALLEST_WEIGHT = 1e-13
# Distances that differ by less than this, relative to the squared lengths they come from, tie.
ROUNDING = {"float32": 1e-5, "float64": 1e-12}
# In fewer dimensions than this, samples are compared by distance instead of angle.
FEW_DIRECTIONS = 10


def nearest_neighbours(
    distances: Callable[[int, int], np.ndarray],
    n_samples: int,
    n_neighbors: int,
    *,
    rounding: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return (indices, squared distances) of the nearest other samples, nearest first.

    Distances that differ by no more than rounding are equal, and the lower index comes first: in
    tables of counts or 0/1 entries most distances tie, and the memory order of the table must not
    decide between them.

    Parameters
    ----------
    distances : callable
        ``distances(start, stop)`` returns squared distances of samples start..stop to all samples,
        as a new array. :class:`PointDistances` are first looked at in single precision.
    n_samples, n_neighbors : int
    rounding : ndarray of shape (n_samples,), optional
        Error of the distances of every sample (default: what ``distances.rounding`` says).
    """
    k = min(n_neighbors, n_samples - 1)
    error = getattr(distances, "rounding", np.zeros(n_samples)) if rounding is None else rounding
    indices = np.empty((n_samples, k), dtype=np.intp)
    squares = np.empty((n_samples, k))
    rough = RoughDistances(distances) if isinstance(distances, PointDistances) else None
    step = block_rows(n_samples) if rough is None else block_rows(n_samples, ROUGH_ELEMENTS)
    elsewhere = getattr(distances, "elsewhere", False)
    step = device_rows(n_samples) if elsewhere else step
    for start in range(0, n_samples, step):
        stop = min(start + step, n_samples)
        near = None
        if elsewhere:
            near = _device_neighbours(distances, (start, stop), k, error[start:stop])
        if rough is not None:
            near = _rough_neighbours(rough, (start, stop), k, error[start:stop])
        if near is None:
            near = _exact_neighbours(distances(start, stop), start, k, error[start:stop])
        indices[start:stop], squares[start:stop] = near
    return indices, np.maximum(squares, 0.0)


def block_rows(n_samples: int, elements: int | None = None) -> int:
    """Return how many rows of the distance matrix make a block."""
    return max(FEWEST_ROWS, (elements or BLOCK_ELEMENTS) // n_samples)


def _exact_neighbours(
    block: np.ndarray, start: int, k: int, error: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the neighbours of the samples whose distances are the rows of a block."""
    own = np.arange(len(block))
    block[own, start + own] = np.inf
    minima, bound = upper_bounds(block, k)
    rows, columns = entries_below(block, minima, _reach(bound, error))
    return _choose(rows, columns, block[rows, columns], k, error)


def _rough_neighbours(
    rough: "RoughDistances", inside: tuple[int, int], k: int, error: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the neighbours of some samples, or None where single precision tells too little."""
    start, stop = inside
    block = rough(start, stop)
    own = np.arange(stop - start)
    block[own, start + own] = np.inf
    minima, bound = upper_bounds(block, k)
    # Twice the error: of the entry, and of the bound that it is compared with.
    own_square = rough.exact.squares[start:stop] / rough.unit
    reach = _reach(bound + own_square, error / rough.unit)
    limit = reach - own_square + 2.0 * rough.error[start:stop]
    if np.count_nonzero(minima <= limit[:, None]) > MOST_CANDIDATES * minima.size:
        return None
    rows, columns = entries_below(block, minima, limit)
    return _choose(rows, columns, rough.exact.of_pairs(start + rows, columns), k, error)


def _device_neighbours(
    distances: Any, inside: tuple[int, int], k: int, error: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the neighbours of some samples of a table on another device."""
    found = device_candidates(distances, *inside, k=k, error=error, relative=ROUNDING["float64"])
    return _choose(*found, k, error)


def _reach(last: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Return how far a sample may be that ties with the last neighbour."""
    return last + (error + ROUNDING["float64"] * np.maximum(last, 0.0))


def _choose(
    rows: np.ndarray, columns: np.ndarray, squares: np.ndarray, k: int, error: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the k nearest of the candidates of every row; there are some more than k."""
    order = np.lexsort((squares, rows))
    last = squares[order][np.searchsorted(rows[order], np.arange(len(error))) + k - 1]
    equal = error + ROUNDING["float64"] * np.maximum(last, 0.0)
    kept = squares <= (last + equal)[rows]
    return sorted_by_distance(rows[kept], columns[kept], squares[kept], equal=equal, k=k)


class PointDistances:
    """The block function of the squared distances between the rows of an array."""

    def __init__(self, points: np.ndarray, squares: np.ndarray | None = None) -> None:
        self.points = points
        self.squares = _squared_lengths(points) if squares is None else squares
        self.rounding = ROUNDING["float64"] * self.squares

    def __call__(self, start: int, stop: int) -> np.ndarray:
        """Return the distances of samples start..stop to all samples."""
        points = self.points.astype(np.float64, copy=False)
        products = points[start:stop] @ points.T
        return _distances_of_products(products, self.squares[start:stop], self.squares)

    def of_pairs(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Return the distances of the samples i to the samples j, pair by pair."""
        found = np.empty(len(i))
        step = max(1, BLOCK_ELEMENTS // max(1, self.points.shape[1]))
        for start in range(0, len(i), step):
            a, b = i[start : start + step], j[start : start + step]
            left, right = self.points[a], self.points[b]
            products = np.einsum("ij,ij->i", left, right, dtype=np.float64)
            found[start : start + step] = self.squares[a] + self.squares[b] - 2.0 * products
        return np.maximum(found, 0.0, out=found)


class RoughDistances:
    """Distances in single precision, less the sample's own squared length, with an error bound."""

    def __init__(self, exact: PointDistances) -> None:
        self.exact = exact
        n, r = exact.points.shape
        self.unit = float(exact.squares.max()) or 1.0
        # ||y||^2 - 2 x'y = (x, 1)'(-2y, ||y||^2): one product.
        self.points = np.empty((n, r + 1), dtype=np.float32)
        np.multiply(exact.points, self.unit**-0.5, out=self.points[:, :r], casting="same_kind")
        self.points[:, r] = -0.5 * exact.squares / self.unit
        length = np.sqrt(exact.squares / self.unit)
        # Sums of r + 1 rounded products of rounded numbers, all of size up to 2 |x| + 1.
        self.error = (r + 8) * float(np.finfo(np.float32).eps) * (2.0 * length + 1.0)

    def __call__(self, start: int, stop: int) -> np.ndarray:
        """Return the distances of samples start..stop to all samples."""
        rows = self.points[start:stop] * np.float32(-2.0)
        rows[:, -1] = -2.0
        return rows @ self.points.T


def _squared_lengths(points: np.ndarray) -> np.ndarray:
    """Return the squared lengths of the rows, in float64."""
    return np.einsum("ij,ij->i", points, points, dtype=np.float64)


def _distances_of_products(
    products: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """Return ||x||^2 + ||y||^2 - 2 x'y, not negative, in the place of the products x'y."""
    if products.dtype != np.float64 or not products.flags.writeable:
        products = products.astype(np.float64)
    products *= -2.0
    products += columns
    products += rows[:, None]
    return np.maximum(products, 0.0, out=products)


def hat_distances(E: np.ndarray) -> PointDistances:
    """Return the block function of the squared distances between samples in hat coordinates.

    D_ij = 2 - 2 cos(e_i, e_j), which is robust to outlying samples; in fewer dimensions than
    ``FEW_DIRECTIONS`` the angle alone forgets too much, and D_ij = ||e_i - e_j||^2.
    """
    squares = _squared_lengths(E)
    if E.shape[1] < FEW_DIRECTIONS:
        return PointDistances(E, squares)
    length = np.sqrt(np.where(squares > 0.0, squares, 1.0)).astype(E.dtype, copy=False)
    return PointDistances(E / length[:, None], np.ones(len(E)))


class EuclideanDistances:
    """The block function of the squared distances between rows of an operator."""

    def __init__(self, operator: DataOperator) -> None:
        self.operator = operator.centred()  # or the origin costs digits
        self.elsewhere = not on_host(self.operator.inverse_scale)
        self.squares = to_numpy(self.operator.row_norms())
        self.rounding = ROUNDING[self.operator.product_precision] * self.squares

    def __call__(self, start: int, stop: int) -> np.ndarray:
        """Return the distances of samples start..stop to all samples."""
        products = to_numpy(self.operator.row_products(start, stop))
        return _distances_of_products(products, self.squares[start:stop], self.squares)

    def on_device(self, start: int, stop: int) -> Array:
        """Return the same, where the table is."""
        lengths = self.operator.row_norms()
        products = self.operator.row_products(start, stop)
        squares = lengths[start:stop, None] + lengths[None, :] - 2.0 * products
        return self.operator.xp.clip(squares, min=0.0)


class SummedDistances:
    """A block function that adds up the distances it hands out, for their mean over all pairs."""

    def __init__(self, squared: EuclideanDistances) -> None:
        self.squared, self.rounding, self.total = squared, squared.rounding, 0.0
        self.elsewhere = squared.elsewhere

    def __call__(self, start: int, stop: int) -> np.ndarray:
        """Return the squared distances of samples start..stop to all samples."""
        block = self.squared(start, stop)
        own = np.arange(stop - start)
        block[own, start + own] = 0.0
        self.total += float(np.sqrt(block).sum())
        return block

    def on_device(self, start: int, stop: int) -> Array:
        """Return the same, where the table is."""
        block, xp = self.squared.on_device(start, stop), self.squared.operator.xp
        diagonal = xp.linalg.diagonal(block, offset=start)
        self.total += float(xp.sum(xp.sqrt(block)) - xp.sum(xp.sqrt(diagonal)))
        return block

    @property
    def mean(self) -> float:
        """The mean distance of all pairs, the zero diagonal included; 1 where all coincide."""
        return self.total / len(self.rounding) ** 2 or 1.0


def euclidean_distances(operator: DataOperator) -> EuclideanDistances:
    """Return the block function of the squared distances between rows of an operator."""
    return EuclideanDistances(operator)


def self_tuning_graph(
    distances: Callable[[int, int], np.ndarray], n_samples: int, *, n_neighbors: int = 5
) -> sp.csr_array:
    """Return a_ij = exp(-D_ij/(sigma_i sigma_j)) on the nearest neighbours, symmetrised by maximum.

    sigma_i is the distance to the last of the neighbours: dense and sparse regions get graphs of
    the same connectivity.
    """
    indices, squares = nearest_neighbours(distances, n_samples, n_neighbors)
    sigma = np.sqrt(squares[:, -1])
    largest = float(sigma.max())
    sigma = np.maximum(sigma, 1e-6 * largest if largest > 0.0 else 1.0)  # coinciding samples
    weight = np.exp(-squares / (sigma[:, None] * sigma[indices]))
    return symmetric_graph(indices, np.maximum(weight, SMALLEST_WEIGHT))


def heat_kernel_graph(operator: DataOperator, *, n_neighbors: int = 5) -> sp.csr_array:
    """Return the graph the authors start from: exp(-||x_i - x_j||^2/(2 t^2)) on nearest neighbours.

    t is the mean distance over all pairs, the zero diagonal included; symmetrised by maximum.
    """
    distances = SummedDistances(euclidean_distances(operator))
    indices, squares = nearest_neighbours(distances, operator.shape[0], n_neighbors)
    t = distances.mean
    return symmetric_graph(indices, np.maximum(np.exp(-squares / (2.0 * t * t)), SMALLEST_WEIGHT))


def symmetric_graph(indices: np.ndarray, weight: np.ndarray) -> sp.csr_array:
    """Return max(A, A') of the directed neighbour lists."""
    n, k = indices.shape
    row = np.repeat(np.arange(n), k)
    A = sp.csr_array((weight.ravel(), (row, indices.ravel())), shape=(n, n))
    return sp.csr_array(A.maximum(A.T))
