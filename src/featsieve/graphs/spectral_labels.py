"""First pseudo-labels: k-means in the leading eigenvectors of a neighbour graph."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator

from featsieve import defaults
from featsieve.arrays.linalg import largest_by_lanczos, largest_eigenpairs
from featsieve.graphs.affinity import SharedNeighbours, degrees, normalised_adjacency
from featsieve.graphs.coordinates import unit_rows
from featsieve.graphs.kmeans import fill_empty, fitted_kmeans, kmeans

# Up to this many samples the eigenvectors come from a dense solver.
LARGEST_DENSE = 1000
# Rough ones come from Lanczos sooner.
LARGEST_DENSE_ROUGH = 400
# Lanczos is no use for a large share of the spectrum: then up to this many.
LARGEST_DENSE_ANYWAY = 5000
# Tolerance of eigenvectors that clusters are found in, and where Lanczos does not converge.
ROUGH = 1e-3


def spectral_labels(
    graph: sp.csr_array | SharedNeighbours,
    n_clusters: int,
    *,
    random_state: np.random.RandomState,
    bridge: np.ndarray | None = None,
) -> np.ndarray:
    """Cluster the samples of a graph: k-means on its :func:`spectral_points`."""
    points = spectral_points(graph, n_clusters, random_state=random_state, bridge=bridge)
    return kmeans_labels(points, n_clusters, random_state=random_state)


def spectral_points(
    graph: sp.csr_array | SharedNeighbours,
    n_clusters: int,
    **search: Any,
) -> np.ndarray:
    """Return the :func:`_leading_eigenvectors` of Deg^(-1/2) A Deg^(-1/2), rows of unit length."""
    adjacency, root = graph, np.sqrt(degrees(graph))
    if not isinstance(graph, SharedNeighbours):  # whose degrees are one
        adjacency = normalised_adjacency(graph)
    return unit_rows(_leading_eigenvectors(adjacency, root, n_clusters, **search))


class SpectralClusterings:
    """Spectral clusterings of one graph for many numbers of clusters, from one rough decomposition.

    (Two, where the graph is not connected: see :func:`spectral_labels`.)
    """

    def __init__(
        self,
        graph: sp.csr_array,
        most: int,
        *,
        random_state: np.random.RandomState,
        bridge: np.ndarray | None = None,
    ) -> None:
        adjacency, root = normalised_adjacency(graph), np.sqrt(degrees(graph))
        self.random_state = random_state
        n_components = connected_components(adjacency, directed=False)[0]
        self.n_bridged = 0 if bridge is None else min(n_components, most)
        counts = {most} if self.n_bridged < 2 else {most, self.n_bridged}
        self.vectors = {
            count: _leading_eigenvectors(
                adjacency, root, count, random_state=random_state, bridge=bridge, tol=ROUGH
            )
            for count in counts
        }

    def labels(self, n_clusters: int) -> np.ndarray:
        """Return the labels for a number of clusters."""
        bridged = n_clusters <= self.n_bridged and self.n_bridged in self.vectors
        vectors = self.vectors[self.n_bridged if bridged else max(self.vectors)]
        # The dense solver lists the largest eigenvalue last, Lanczos first.
        rising = _takes_dense(*vectors.shape, rough=True)
        leading = vectors[:, -n_clusters:] if rising else vectors[:, :n_clusters]
        rng = np.random.default_rng(self.random_state.randint(np.iinfo(np.int32).max))
        return by_first_sample(kmeans(unit_rows(leading), n_clusters, rng))


def laplacian_labels(
    graph: sp.csr_array, n_clusters: int, *, random_state: np.random.RandomState
) -> np.ndarray:
    """Cluster the samples of a graph as the authors' code does.

    Rows of the graph are normalised, T = S + S'; k-means on the eigenvectors of the ``n_clusters``
    smallest eigenvalues of diag(T1) - T, rows not normalised.
    """
    S = sp.csr_array(sp.diags_array(1.0 / np.maximum(degrees(graph), 1e-300)) @ graph)
    T = sp.csr_array(S + S.T)
    total = degrees(T)
    # The smallest of diag(T1) - T are the largest of T + shift - diag(T1).
    shifted = sp.csr_array(T + sp.diags_array(total.max() - total))
    constant = np.ones(graph.shape[0])
    vectors = _leading_eigenvectors(shifted, constant, n_clusters, random_state=random_state)
    return kmeans_labels(vectors, n_clusters, random_state=random_state)


def kmeans_labels(
    points: np.ndarray,
    n_clusters: int,
    *,
    random_state: np.random.RandomState,
) -> np.ndarray:
    """Return the best of some k-means runs, clusters numbered by their first sample."""
    seed = random_state.randint(np.iinfo(np.int32).max)
    model = fitted_kmeans(points, n_clusters, n_init=defaults.KMEANS_STARTS, random_state=seed)
    return by_first_sample(fill_empty(model.labels_, n_clusters))


def by_first_sample(labels: np.ndarray) -> np.ndarray:
    """Renumber clusters 0, 1, .. in the order in which they appear."""
    n = len(labels)
    first = np.full(int(labels.max()) + 1, n)
    first[labels[::-1]] = np.arange(n)[::-1]  # of several assignments the last one counts
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first, kind="stable")] = np.arange(len(first))
    return rank[labels]


def _takes_dense(n: int, count: int, *, rough: bool = False) -> bool:
    """Say whether so many eigenvectors come from the dense solver, largest last."""
    return n <= (LARGEST_DENSE_ROUGH if rough else LARGEST_DENSE) or (
        count > n // 3 and n <= LARGEST_DENSE_ANYWAY
    )


def _leading_eigenvectors(
    A: sp.csr_array | SharedNeighbours,
    null: np.ndarray,
    count: int,
    *,
    random_state: Any,
    bridge: np.ndarray | Callable[[], np.ndarray] | None = None,
    n_pieces: int = 0,
    tol: float = 0.0,
) -> np.ndarray:
    """Return the eigenvectors of the ``count`` largest eigenvalues of a graph matrix.

    The leading eigenvalue repeats once per connected component C, with the known eigenvectors
    ``null`` restricted to C. Lanczos misses repeated eigenvalues, so they are written down, and it
    is run on the matrix without them. Where there are as many components as vectors, or more, or as
    many pieces that are next to components, which of them belong together is not in the graph:
    0.1 E E' is then added, E being ``bridge``. With ``tol`` above 0 the vectors are as rough as
    that (``random_state`` draws where Lanczos starts).
    """
    n = A.shape[0]
    links = A.factor if isinstance(A, SharedNeighbours) else A  # of the same components
    n_components, component = connected_components(links, directed=False)
    link = bridge if max(n_components, n_pieces) >= count else None
    if callable(link):
        link = link()
    if _takes_dense(n, count, rough=tol > 0.0):
        matrix = A.toarray()
        if link is not None:
            matrix += defaults.BRIDGE_WEIGHT * (link @ link.T)
        if tol > 0.0:
            matrix = matrix.astype(np.float32)  # takes half of the time
        return largest_eigenpairs(matrix, count)[1].astype(np.float64, copy=False)

    known = sp.csc_array((null, (np.arange(n), component)), shape=(n, n_components))
    length = np.sqrt(np.bincount(component, weights=null**2))
    known = known @ sp.diags_array(1.0 / np.where(length > 0.0, length, 1.0))
    if link is not None:
        known = known[:, :0]
    elif n_components >= count:
        largest = np.argsort(-np.bincount(component), kind="stable")[:count]
        return known[:, largest].toarray()
    written = known.toarray()  # fewer columns than are wanted
    top = float(degrees(A).max()) + 1.0

    def product(x: np.ndarray) -> np.ndarray:
        x = x.ravel()
        y = A @ x - written @ (top * (x @ written))
        return y if link is None else y + defaults.BRIDGE_WEIGHT * (link @ (link.T @ x))

    start = random_state.uniform(-1.0, 1.0, n)
    operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
    k = count - written.shape[1]
    try:
        energy, vectors = largest_by_lanczos(operator, k, start, tol=tol)
    except ArpackNoConvergence:
        # A flat spectrum. Clusters need no more than rough vectors.
        energy, vectors = largest_by_lanczos(operator, k, start, ncv=min(n, 4 * k + 100), tol=ROUGH)
    return np.hstack([written, vectors[:, np.argsort(-energy)]])
