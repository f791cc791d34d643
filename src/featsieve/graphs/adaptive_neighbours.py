"""Adaptive neighbours: every sample spreads a weight of 1 over its nearest neighbours.

    min_s  sum_j d_j s_j + a s_j^2,   s >= 0,  sum s = 1,

is the projection of -d/(2a) onto the simplex. With d_1 <= d_2 <= ... the minimiser has exactly k
non-zeros, s_j = (d_{k+1} - d_j)/(k d_{k+1} - sum_{t<=k} d_t), for a = half that denominator.
"""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from featsieve.arrays.leading_eigenvectors import leading_eigenvectors
from featsieve.graphs.affinity import laplacian
from featsieve.graphs.distances import Distances, nearest_neighbours
from featsieve.terms.simplex import project_rows

# Distances whose relative differences are on average no larger are equal.
TIE = 1e-10
# Costs of joining two groups that differ less, relatively and against the largest, are equal.
EQUAL_COST, COST_ROUNDING = 1e-9, 1e-14
# An edge up to this weight is none.
SMALLEST_EDGE = 1e-12
# Up to this many samples the eigenvectors come from a dense solver.
LARGEST_DENSE = 1000
# Lanczos on a large graph: distances of the embedding need no more digits.
TOLERANCE = 1e-8


def first_neighbours(
    distances: Distances, n_neighbors: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the k nearest neighbours (n x k indices), their weights, and the mean of a.

    k is ``n_neighbors``, or less where there are not as many other samples, and one beyond.
    """
    indices, squares = nearest_neighbours(distances, n_neighbors + 1)
    if squares.shape[1] == 1:  # two samples
        return indices, np.ones_like(squares), float(squares.mean()) or 1.0
    weights, a = first_weights(squares)
    return indices[:, :-1], weights, a


def first_weights(squares: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the weights of the k nearest neighbours, and the mean of a over the samples."""
    k = squares.shape[1] - 1
    beyond = squares[:, k:]
    nearer = np.maximum(beyond - squares[:, :k], 0.0)
    below = nearer.sum(axis=1, keepdims=True)
    tied = below <= TIE * k * beyond
    weights = np.where(tied, 1.0 / k, nearer / np.where(tied, 1.0, below))
    a = 0.5 * float(below.mean())
    return weights, a if a > 0.0 else float(squares.mean()) or 1.0


def best_weights(costs: np.ndarray, a: float) -> np.ndarray:
    """Return the rows s that minimise sum_j costs_j s_j + a s_j^2 on the simplex."""
    return project_rows(costs / (-2.0 * a))


def pair_distances(points: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return ||y_i - y_j||^2 for the neighbours j in row i of indices, shape (n, k)."""
    squares = np.empty(indices.shape)
    for column, neighbour in enumerate(indices.T):  # n x m temporaries instead of n x k x m
        gap = points - points[neighbour]
        squares[:, column] = np.einsum("ij,ij->i", gap, gap)
    return squares


def mean_graph(indices: np.ndarray, weights: np.ndarray) -> sp.csr_array:
    """Return (S + S')/2 of the directed weights, without the edges that rounding has left."""
    n, k = indices.shape
    row = np.repeat(np.arange(n), k)
    S = sp.csr_array((weights.ravel(), (row, indices.ravel())), shape=(n, n))
    S = sp.csr_array(0.5 * (S + S.T))
    S.data[S.data <= SMALLEST_EDGE] = 0.0
    S.eliminate_zeros()
    return S


def parts(S: sp.csr_array) -> tuple[int, np.ndarray]:
    """Return the number of connected components of a graph, and the component of every sample."""
    count, component = connected_components(S, directed=False)
    return int(count), component


def join_parts(
    component: np.ndarray, points: np.ndarray, count: int, *, key: np.ndarray
) -> np.ndarray:
    """Return ``count`` groups of whole components: those that lie close are joined."""
    sizes = np.bincount(component).astype(np.float64)
    order = np.argsort(np.bincount(component, weights=key) / sizes, kind="stable")
    sizes = sizes[order]
    place = np.argsort(order)[component]
    member = sp.csr_array((1.0 / sizes[place], (place, np.arange(len(place)))))
    means = member @ (points - points.mean(axis=0))
    squares = pair_distances(means, np.tile(np.arange(len(sizes)), (len(sizes), 1)))
    costs = squares / (1.0 / sizes[:, None] + 1.0 / sizes)
    rounding = COST_ROUNDING * costs.max()
    np.fill_diagonal(costs, np.inf)
    group = np.arange(len(sizes))
    for _ in range(len(sizes) - count):
        equal = costs <= (1.0 + EQUAL_COST) * costs.min() + rounding
        a, b = divmod(int(equal.argmax()), len(sizes))
        # The cost of joining a third group to both, from those to each (Lance and Williams).
        both = (sizes[a] + sizes) * costs[a] + (sizes[b] + sizes) * costs[b]
        costs[a] = (both - sizes * costs[a, b]) / (sizes[a] + sizes[b] + sizes)
        costs[b] = np.inf
        costs[a, a] = np.inf
        costs[:, a], costs[:, b] = costs[a], costs[b]
        sizes[a] += sizes[b]
        group[group == b] = a
    return np.unique(group, return_inverse=True)[1][place]


def smooth_vectors(S: sp.csr_array, count: int) -> np.ndarray:
    """Return eigenvectors of the ``count`` smallest eigenvalues of Deg - S, orthonormal columns.

    The null space is known, one indicator per component; on a large graph Lanczos looks for the
    others beside it. (With more components than ``count`` the eigenvectors are not unique: see
    :func:`join_parts`.)
    """
    n = S.shape[0]
    L = laplacian(S)
    if n <= LARGEST_DENSE or 3 * count > n:
        return np.linalg.eigh(L.toarray())[1][:, :count]
    n_parts, component = parts(S)
    root = 1.0 / np.sqrt(np.bincount(component))
    known = sp.csc_array((root[component], (np.arange(n), component)), shape=(n, n_parts))
    if n_parts >= count:
        return known[:, :count].toarray()
    top = 2.0 * float(L.diagonal().max())  # at least the largest eigenvalue, by Gershgorin

    def apply(v: np.ndarray) -> np.ndarray:
        v = v - known @ (known.T @ v)
        v = top * v - L @ v
        return v - known @ (known.T @ v)

    start = np.random.default_rng(0).standard_normal(n)
    _, vectors = leading_eigenvectors(apply, start, count - n_parts, tolerance=TOLERANCE)
    return np.hstack([known.toarray(), vectors])
