"""Graphs of nearest neighbours of the samples, and their Laplacians. All sparse.

Label hypotheses are cut from :class:`SharedNeighbours` and :func:`mutual_graph`, which use the
order of the distances alone; :func:`self_tuning_graph` is the prior of the graph S of JASFS; the
compared methods take :func:`sample_graph`.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import as_numpy, is_sparse
from featsieve.graphs.distances import (
    Distances,
    EuclideanDistances,
    SummedDistances,
    nearest_neighbours,
)
from featsieve.validation import check_option

AFFINITIES = ("heat", "binary")
# Smallest weight of an edge: a neighbour stays a neighbour however unequal the local scales are.
SMALLEST_WEIGHT = 1e-13


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


class SharedNeighbours:
    """A = M L^(-1) M'/(k + 1), M the 0/1 matrix of every sample's neighbours and itself.

    L = diag(M'1). Samples are linked as far as they list the same ones, each of which counts less
    the more list it: in many dimensions some samples (hubs) are neighbours of very many. All
    degrees are one, and the cut is that of the bipartite graph of samples and lists (Dhillon 2001).
    A hub would fill the matrix, so only its ``factor`` M (L (k + 1))^(-1/2) is there.
    """

    def __init__(self, indices: np.ndarray) -> None:
        n, k = indices.shape
        lists = np.column_stack([np.arange(n), indices]).ravel()
        weight = 1.0 / np.sqrt((k + 1.0) * np.bincount(lists, minlength=n))
        ends = np.arange(0, n * (k + 1) + 1, k + 1)
        self.shape = (n, n)
        self.factor = sp.csr_array((weight[lists], lists, ends), shape=(n, n))
        self.transposed = sp.csr_array(self.factor.T)

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.factor @ (self.transposed @ x))

    def toarray(self) -> np.ndarray:
        """Return all of it."""
        return np.asarray((self.factor @ self.transposed).toarray())


def mutual_graph(indices: np.ndarray) -> sp.csr_array:
    """Return the graph of all neighbours, in which those that list each other count most."""
    A = links(indices)
    A = sp.csr_array(A + A.T)
    A.data[A.data > 1.0] = defaults.MUTUAL_WEIGHT
    return A


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
    A = links(indices, weight)
    return sp.csr_array(A.maximum(A.T))


def links(indices: np.ndarray, weight: np.ndarray | None = None) -> sp.csr_array:
    """Return the directed neighbour lists as a matrix, of ones unless there are weights."""
    n, k = indices.shape
    weight = np.ones(n * k) if weight is None else weight.ravel()
    return sp.csr_array((weight, indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))


def sample_graph(operator: DataOperator, affinity: Any, *, n_neighbors: int = 5) -> sp.csr_array:
    """Return the affinity matrix S of the samples."""
    if not isinstance(affinity, str):
        return _given_affinity(affinity, operator.shape[0])
    check_option("affinity", affinity, AFFINITIES)
    if affinity == "heat":
        return heat_kernel_graph(operator, n_neighbors=n_neighbors)
    indices, squares = nearest_neighbours(EuclideanDistances(operator), n_neighbors)
    return symmetric_graph(indices, np.ones_like(squares))


def _given_affinity(affinity: Any, n_samples: int) -> sp.csr_array:
    """Return a user's affinity matrix as CSR, or say what is wrong with it."""
    hint = "affinity must be 'heat', 'binary', or a symmetric, non-negative (n_samples, n_samples)"
    try:
        S = affinity if is_sparse(affinity) else as_numpy(affinity).astype(np.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{hint} matrix; got {type(affinity).__name__}.") from error
    if S.ndim != 2 or S.shape != (n_samples, n_samples):
        raise ValueError(f"{hint} matrix, here {(n_samples, n_samples)}; got shape {S.shape}.")
    S = sp.csr_array(S, dtype=np.float64)
    if not S.has_canonical_format:
        S = S.copy()  # the caller's
        S.sum_duplicates()
    smallest, largest = S.data.min(initial=np.inf), S.data.max(initial=0.0)
    if not (smallest >= 0.0 and largest < np.inf):  # NaN is neither
        raise ValueError(f"{hint} matrix; got negative or non-finite entries.")
    if smallest == 0.0:
        S = S.copy()
        S.eliminate_zeros()
    if largest == 0.0:
        raise ValueError(f"{hint} matrix; got one without any edge.")
    if abs(S - S.T).max() > 1e-10 * largest:
        raise ValueError(f"{hint} matrix; got one that is not symmetric: pass (S + S.T) / 2.")
    return S


def degrees(S: sp.csr_array | SharedNeighbours) -> np.ndarray:
    """Return the row sums of a graph."""
    return np.asarray(S @ np.ones(S.shape[1]))


def normalised_adjacency(S: sp.csr_array) -> sp.csr_array:
    """Return Deg^(-1/2) S Deg^(-1/2); rows of samples without an edge are zero."""
    degree = degrees(S)
    root = np.where(degree > 0.0, 1.0 / np.sqrt(np.where(degree > 0.0, degree, 1.0)), 0.0)
    data = S.data * np.repeat(root, np.diff(S.indptr)) * root[S.indices]
    return sp.csr_array((data, S.indices, S.indptr), shape=S.shape)


def laplacian(S: sp.csr_array) -> sp.csr_array:
    """Return Deg - S."""
    return sp.csr_array(sp.diags_array(degrees(S)) - S)


def normalised_laplacian(S: sp.csr_array) -> sp.csr_array:
    """Return I - Deg^(-1/2) S Deg^(-1/2)."""
    return sp.csr_array(sp.eye_array(S.shape[0]) - normalised_adjacency(S))


def row_normalised_laplacian(S: sp.csr_array) -> sp.csr_array:
    """Return diag(T1) - T, T = P + P', with P the graph with rows summing to 1.

    tr(F'LF) = sum_ij p_ij ||f_i - f_j||^2.
    """
    degree = degrees(S)
    P = sp.diags_array(1.0 / np.where(degree > 0.0, degree, 1.0)) @ S
    return laplacian(sp.csr_array(P + P.T))


def smoothness(L: sp.csr_array, F: np.ndarray) -> float:
    """Return tr(F'LF)."""
    return float(np.sum(F * (L @ F)))


def split_by_sign(L: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Return L^+ and L^-, both non-negative, with L = L^+ - L^-."""
    positive, negative = L.copy(), L.copy()
    positive.data = np.maximum(L.data, 0.0)
    negative.data = np.maximum(-L.data, 0.0)
    return positive, negative


def modularity(graph: sp.csr_array, labels: np.ndarray) -> np.ndarray:
    """Return Q = sum_ij a_ij [same cluster]/(2m) - sum_k (degree of cluster k/(2m))^2.

    ``labels`` holds one clustering, or one per row; Q has no axis, or one.
    """
    edges = sp.coo_array(graph)
    degree = degrees(graph)
    total = degree.sum()
    runs = np.atleast_2d(labels)
    values = np.empty(len(runs))
    for i, run in enumerate(runs):
        inside = edges.data[run[edges.row] == run[edges.col]].sum() / total
        values[i] = inside - np.sum((np.bincount(run, weights=degree) / total) ** 2)
    return values.reshape(np.shape(labels)[:-1])
