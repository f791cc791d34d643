"""Spectral embedding: the smooth, non-constant functions on a graph of the samples."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator

from featsieve.arrays.linalg import largest_by_lanczos, largest_eigenpairs
from featsieve.graphs.affinity import degrees, normalised_adjacency

# Up to this many samples, or for more than this share of the spectrum, the solver is a dense one.
LARGEST_DENSE = 150
LARGEST_SHARE = 0.2
# Edges whose normalised weight is below this do not connect: they move an eigenvalue 1 by as much.
NO_EDGE = 1e-12
# Eigenvalues closer than this are equal.
EQUAL = 1e-8
# Tolerance of the look for eigenvalues that Lanczos has missed.
ROUGH = 1e-4
# Eigenvalues of the adjacency below this say nothing about neighbours: their vectors are discarded.
SMALLEST = 1e-6


def leading_eigenpairs(
    S: sp.csr_array, count: int, *, whole_clusters: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ``count`` leading eigenvalues and eigenvectors of a graph after the trivial pair.

    The eigenvalue 1 repeats once per connected component, and its eigenvectors are known. They are
    written down such that each separates one component from all smaller ones, the largest first.
    The others are found on the matrix without them. There are as many pairs as samples with an
    edge, less one; no more are returned.
    """
    n = S.shape[0]
    degree = degrees(S)
    linked = np.flatnonzero(degree > 0.0)
    N = normalised_adjacency(S)
    if len(linked) < n:
        N = sp.csr_array(N[linked][:, linked])
    most = len(linked) - 1
    count = min(count, most)
    if count == 0:
        return np.zeros(0), np.zeros((n, 0))
    known = component_vectors(N, np.sqrt(degree[linked]), None if whole_clusters else count)
    asked = count
    while True:
        # One more than wanted shows whether the last eigenvalue is repeated.
        asked = min(asked + whole_clusters, most)
        values, vectors = _largest(N, known, asked - (known.shape[1] - 1))
        values = np.concatenate([np.ones(known.shape[1] - 1), values])
        if not whole_clusters:
            break
        end = int(np.count_nonzero(values >= values[count - 1] - EQUAL))
        if end < len(values) or len(values) == most:
            count = end
            break
        asked *= 2
    full = np.zeros((n, count))
    full[linked] = _signed(np.hstack([known[:, 1:], vectors])[:, :count])
    return values[:count], full


def spectral_embedding(S: sp.csr_array, n_vectors: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Y and λ: the smoothest non-trivial solutions of L y = λ Deg y, with Y' Deg Y = I.

    λ = 1 - μ for an eigenvalue μ of the normalised adjacency. Solutions with |μ| < 1e-6 are left
    out (unless all are), so there may be fewer than ``n_vectors``.
    """
    values, vectors = leading_eigenpairs(S, n_vectors)
    kept = np.abs(values) >= SMALLEST
    if not kept.any():
        kept[:] = True
    degree = degrees(S)
    root = np.sqrt(np.where(degree > 0.0, degree, 1.0))
    return vectors[:, kept] / root[:, None], 1.0 - values[kept]


def component_vectors(N: sp.csr_array, root: np.ndarray, most: int | None = None) -> np.ndarray:
    """Return an orthonormal basis of the eigenvalue 1: the trivial vector, then contrasts.

    ``root`` is Deg^(1/2) 1, all positive. Contrast i is proportional to ``root`` on the i-th
    largest component and on all smaller ones, with opposite signs, and zero on the larger ones. At
    most ``most`` of them are returned.
    """
    strong = N.copy()
    strong.data = np.where(N.data > NO_EDGE, N.data, 0.0)
    strong.eliminate_zeros()
    n_components, component = connected_components(strong, directed=False)
    mass = np.bincount(component, weights=root**2)
    order = np.argsort(-np.bincount(component), kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(n_components)
    after = mass[order][::-1].cumsum()[::-1]  # of a component and all smaller ones
    n_contrasts = n_components - 1 if most is None else min(most, n_components - 1)
    basis = np.empty((len(root), n_contrasts + 1))
    basis[:, 0] = root / np.sqrt(after[0])
    for i, own in enumerate(mass[order][:n_contrasts]):
        smaller = after[i + 1]
        inside = np.where(rank == i, np.sqrt(smaller / own), -np.sqrt(own / smaller))
        factor = np.where(rank < i, 0.0, inside) / np.sqrt(own + smaller)
        basis[:, i + 1] = factor[component] * root
    return basis


def _largest(N: sp.csr_array, known: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenpairs of N orthogonal to known eigenvectors of the eigenvalue 1."""
    n = N.shape[0]
    if count <= 0:
        return np.zeros(0), np.zeros((n, 0))
    if n > LARGEST_DENSE and count <= LARGEST_SHARE * n:
        try:
            return _lanczos(N, known, count)
        except ArpackNoConvergence:
            pass
    # 1 becomes -2, below all others.
    matrix = N.toarray() - 3.0 * (known @ known.T)
    values, vectors = largest_eigenpairs(matrix, count)
    return values[::-1], vectors[:, ::-1]


def _lanczos(N: sp.csr_array, known: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenpairs by Lanczos, and look whether it has missed a repeated one."""
    n = N.shape[0]
    start = np.random.default_rng(0).uniform(-1.0, 1.0, n)

    def pairs(known: np.ndarray, count: int, tol: float) -> tuple[np.ndarray, np.ndarray]:
        rows = np.ascontiguousarray(known.T)

        def product(x: np.ndarray) -> np.ndarray:
            x = x.ravel()
            return N @ x - 3.0 * ((rows @ x) @ rows)

        operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
        return largest_by_lanczos(operator, count, start, tol=tol)

    values, vectors = pairs(known, count, 0.0)
    while True:
        # A rough vector has an eigenvalue that is exact to the square of its error.
        found = np.hstack([known, vectors])
        if pairs(found, 1, ROUGH)[0][0] <= values.min() + EQUAL:
            break
        missed, more = pairs(found, 1, 0.0)
        keep = np.argsort(-values, kind="stable")[: count - 1]
        values = np.append(values[keep], missed)
        vectors = np.linalg.qr(np.hstack([vectors[:, keep], more]))[0]
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def _signed(vectors: np.ndarray) -> np.ndarray:
    """Return the vectors with the sign that makes their largest entry positive."""
    if vectors.shape[1] == 0:
        return vectors
    # The first of entries that are equal up to rounding: the sign is then the same every time.
    size = np.abs(vectors)
    first = (size >= size.max(axis=0) * (1.0 - EQUAL)).argmax(axis=0)
    return vectors * np.where(vectors[first, np.arange(vectors.shape[1])] < 0.0, -1.0, 1.0)
