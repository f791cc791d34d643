"""Local learning: how badly the label of a sample is predicted from those of its neighbours.

The prediction is a kernel ridge regression on the k nearest samples N of sample i,

    a_i = k_i' (K_i + lam I)^(-1),   K_i = (kernel of the neighbours),   k_i = (kernel to i),

and the regulariser is  sum_i ||g_i - a_i G||^2 = tr(G'LG),  L = (I - A)'(I - A). The kernel is
exp(-d^2/(2 t^2)) with t the mean distance between samples.
"""

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.graphs.distances import EuclideanDistances, SummedDistances, entries_by_blocks
from featsieve.graphs.knn import nearest_neighbours


def local_learning_laplacian(
    operator: DataOperator, *, n_neighbors: int = 5, ridge: float = defaults.LOCAL_RIDGE
) -> sp.csr_array:
    """Return L = (I - A)'(I - A): positive semidefinite, with at most n (k + 1)^2 entries."""
    A = local_predictors(operator, n_neighbors=n_neighbors, ridge=ridge)
    error = sp.csr_array(sp.eye_array(A.shape[0]) - A)
    return sp.csr_array(error.T @ error)


def local_predictors(
    operator: DataOperator, *, n_neighbors: int = 5, ridge: float = defaults.LOCAL_RIDGE
) -> sp.csr_array:
    """Return A: row i holds the weights with which the neighbours of i predict it.

    Two passes over blocks of the distance matrix: one finds the neighbours and the mean distance,
    one the distances of the neighbours among themselves.
    """
    n = operator.shape[0]
    distances = SummedDistances(operator)
    indices, to_sample = nearest_neighbours(distances, n_neighbors)
    t = distances.mean
    k = indices.shape[1]
    pairs = np.repeat(indices, k, axis=1).ravel(), np.tile(indices, k).ravel()
    squared = EuclideanDistances(operator)
    block = squared if operator.on_host else squared.on_device
    among = entries_by_blocks(operator, block, pairs)
    among[pairs[0] == pairs[1]] = 0.0  # exactly: the kernel of a sample with itself is 1
    among = among.reshape(n, k, k)
    K = np.exp(-among / (2.0 * t * t)) + ridge * np.eye(k)
    weights = np.linalg.solve(K, np.exp(-to_sample / (2.0 * t * t))[:, :, None])
    rows = np.repeat(np.arange(n), k)
    return sp.csr_array((weights.ravel(), (rows, indices.ravel())), shape=(n, n))
