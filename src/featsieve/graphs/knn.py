"""k-nearest-neighbour graphs."""

import numpy as np
import scipy.sparse as sp

from featsieve.arrays import DataOperator
from featsieve.graphs.distances import Distances, SummedDistances, tie_width
from featsieve.graphs.nearest import sorted_by_distance

# Smallest weight of an edge: a neighbour stays a neighbour however unequal the local scales are.
SMALLEST_WEIGHT = 1e-13


def nearest_neighbours(distances: Distances, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (indices, squared distances) of the nearest other samples, nearest first.

    Distances that differ by no more than rounding are equal, and the lower index comes first: in
    tables of counts or 0/1 entries most distances tie, and the memory order of the table must not
    decide between them.

    Parameters
    ----------
    distances : Distances
        Such as ``EuclideanDistances(operator)`` of :mod:`featsieve.graphs.distances`.
    n_neighbors : int
        At most all other samples.
    """
    n = len(distances.rounding)
    k = min(n_neighbors, n - 1)
    indices, squares = np.empty((n, k), dtype=np.intp), np.empty((n, k))
    step = distances.block_rows
    for start in range(0, n, step):
        stop = min(start + step, n)
        rows, columns, found = distances.candidates(start, stop, k=k)
        error = distances.rounding[start:stop]
        order = np.lexsort((found, rows))
        last = found[order][np.searchsorted(rows[order], np.arange(len(error))) + k - 1]
        equal = tie_width(last, error)
        kept = found <= (last + equal)[rows]
        indices[start:stop], squares[start:stop] = sorted_by_distance(
            rows[kept], columns[kept], found[kept], equal=equal, k=k
        )
    return indices, np.maximum(squares, 0.0)


def self_tuning_graph(distances: Distances, *, n_neighbors: int = 5) -> sp.csr_array:
    """Return a_ij = exp(-D_ij/(sigma_i sigma_j)) on the nearest neighbours, symmetrised by maximum.

    sigma_i is the distance to the last of the neighbours: dense and sparse regions get graphs of
    the same connectivity.
    """
    indices, squares = nearest_neighbours(distances, n_neighbors)
    sigma = np.sqrt(squares[:, -1])
    largest = float(sigma.max())
    sigma = np.maximum(sigma, 1e-6 * largest if largest > 0.0 else 1.0)  # coinciding samples
    weight = np.exp(-squares / (sigma[:, None] * sigma[indices]))
    return symmetric_graph(indices, np.maximum(weight, SMALLEST_WEIGHT))


def heat_kernel_graph(operator: DataOperator, *, n_neighbors: int = 5) -> sp.csr_array:
    """Return the graph the authors start from: exp(-||x_i - x_j||^2/(2 t^2)) on nearest neighbours.

    t is the mean distance over all pairs, the zero diagonal included; symmetrised by maximum.
    """
    distances = SummedDistances(operator)
    indices, squares = nearest_neighbours(distances, n_neighbors)
    t = distances.mean
    return symmetric_graph(indices, np.maximum(np.exp(-squares / (2.0 * t * t)), SMALLEST_WEIGHT))


def symmetric_graph(indices: np.ndarray, weight: np.ndarray) -> sp.csr_array:
    """Return max(A, A') of the directed neighbour lists."""
    n, k = indices.shape
    row = np.repeat(np.arange(n), k)
    A = sp.csr_array((weight.ravel(), (row, indices.ravel())), shape=(n, n))
    return sp.csr_array(A.maximum(A.T))
