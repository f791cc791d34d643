"""k-nearest-neighbour graphs, built in row blocks: no n x n array."""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import to_numpy

# Elements of a block of the distance matrix that may exist at one time (8 MiB of float64).
BLOCK_ELEMENTS = 2**20
# ... but at least this many rows: a block reads all samples once.
FEWEST_ROWS = 64
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
        ``distances(start, stop)`` returns squared distances of samples start..stop to all samples.
    n_samples, n_neighbors : int
    rounding : ndarray of shape (n_samples,), optional
        Error of the distances of every sample (default: what ``distances.rounding`` says).
    """
    k = min(n_neighbors, n_samples - 1)
    error = getattr(distances, "rounding", np.zeros(n_samples)) if rounding is None else rounding
    indices = np.empty((n_samples, k), dtype=np.intp)
    squares = np.empty((n_samples, k))
    step = max(FEWEST_ROWS, BLOCK_ELEMENTS // n_samples)
    for start in range(0, n_samples, step):
        stop = min(start + step, n_samples)
        block = distances(start, stop)
        block[np.arange(stop - start), np.arange(start, stop)] = np.inf
        nearest = np.argpartition(block, k - 1, axis=1)[:, :k]
        # argpartition leaves open which of several equally distant samples make the cut.
        last = np.take_along_axis(block, nearest, axis=1).max(axis=1)
        equal = error[start:stop] + ROUNDING["float64"] * last
        reach = last + equal
        for row in np.flatnonzero(np.count_nonzero(block <= reach[:, None], axis=1) > k):
            near = np.flatnonzero(block[row] <= reach[row])
            nearest[row] = near[_order(block[row, near], near, equal[row])[:k]]
        found = np.take_along_axis(block, nearest, axis=1)
        order = np.argsort(found, axis=1)
        indices[start:stop] = np.take_along_axis(nearest, order, axis=1)
        squares[start:stop] = np.take_along_axis(found, order, axis=1)
        gaps = np.diff(squares[start:stop], axis=1)
        for row in start + np.flatnonzero((gaps <= equal[:, None]).any(axis=1)):
            order = _order(squares[row], indices[row], equal[row - start])
            indices[row], squares[row] = indices[row, order], squares[row, order]
    return indices, np.maximum(squares, 0.0)


def _order(found: np.ndarray, indices: np.ndarray, equal: float) -> np.ndarray:
    """Return the order by distance, then index; gaps up to ``equal`` are none."""
    order = np.argsort(found, kind="stable")
    group = np.concatenate([[0], np.cumsum(np.diff(found[order]) > equal)])
    return order[np.lexsort((indices[order], group))]


def hat_distances(E: np.ndarray) -> Callable[[int, int], np.ndarray]:
    """Return the block function of the squared distances between samples in hat coordinates.

    D_ij = 2 - 2 cos(e_i, e_j), which is robust to outlying samples; in fewer dimensions than
    ``FEW_DIRECTIONS`` the angle alone forgets too much, and D_ij = ||e_i - e_j||^2.
    """
    squares = np.einsum("ij,ij->i", E, E)
    if E.shape[1] >= FEW_DIRECTIONS:
        E = E / np.sqrt(np.where(squares > 0.0, squares, 1.0))[:, None]
        squares = np.ones(len(E))
    return lambda start, stop: squares[start:stop, None] + squares - 2.0 * (E[start:stop] @ E.T)


class EuclideanDistances:
    """The block function of the squared distances between rows of an operator.

    Attributes
    ----------
    rounding : ndarray of shape (n_samples,)
        How far a distance to a near sample may be off: ||x||^2 - 2 x'y + ||y||^2 cancels.
    """

    def __init__(self, operator: DataOperator) -> None:
        self.operator = operator.centred()  # or the origin costs digits
        self.squares = to_numpy(self.operator.row_norms())
        self.rounding = ROUNDING[self.operator.product_precision] * self.squares

    def __call__(self, start: int, stop: int) -> np.ndarray:
        """Return the distances of samples start..stop to all samples."""
        products = to_numpy(self.operator.row_products(start, stop))
        squares = self.squares
        return np.maximum(squares[start:stop, None] + squares[None, :] - 2.0 * products, 0.0)


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
    n = operator.shape[0]
    squared = euclidean_distances(operator)
    total = 0.0

    def summed(start: int, stop: int) -> np.ndarray:
        nonlocal total
        block = squared(start, stop)
        distance = np.sqrt(block)
        distance[np.arange(stop - start), np.arange(start, stop)] = 0.0
        total += float(distance.sum())
        return block

    indices, squares = nearest_neighbours(summed, n, n_neighbors, rounding=squared.rounding)
    t = total / n**2 or 1.0  # zero where all samples coincide
    return symmetric_graph(indices, np.maximum(np.exp(-squares / (2.0 * t * t)), SMALLEST_WEIGHT))


def symmetric_graph(indices: np.ndarray, weight: np.ndarray) -> sp.csr_array:
    """Return max(A, A') of the directed neighbour lists."""
    n, k = indices.shape
    row = np.repeat(np.arange(n), k)
    A = sp.csr_array((weight.ravel(), (row, indices.ravel())), shape=(n, n))
    return sp.csr_array(A.maximum(A.T))
