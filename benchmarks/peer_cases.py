"""The comparisons of peers.py: which of our estimators against which function of which package.

A peer is called as it is installed. Where it cannot run, or cannot be told the number of
iterations, the smallest intervention that gets a comparison is made here, and named in ``shim``.
"""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import scale

import featsieve
import real_data
from featsieve.datasets import make_planted

NEIGHBOURS = 5
ALPHA = BETA = 1.0
ORTHOGONALITY = 1e8
GAMMA = 0.1  # of UDFS: the row sparsity, and the ridge of the local scatters
REAL = ("brain", "lung", "warpPIE10P", "ORL")


@dataclass(frozen=True)
class Table:
    """A data set, standardised, with the graph and the first labels that both sides are given."""

    name: str
    X: np.ndarray
    n_clusters: int
    affinity: sp.csr_matrix  # heat kernel on 5 neighbours, symmetric, no self loops
    bandwidth: float  # its t: exp(-d^2 / (2 t^2))
    labels: np.ndarray  # k-means

    @property
    def varies(self) -> np.ndarray:
        """Mask of the columns that vary."""
        return np.ptp(self.X, axis=0) > 0.0

    def all_rows(self, W: np.ndarray) -> np.ndarray:
        """Return W with a row of zeros for every column that does not vary."""
        full = np.zeros((self.X.shape[1], W.shape[1]))
        full[self.varies] = W
        return full

    @property
    def n_selected(self) -> int:
        """The number of features that MCFS is asked for: within reach of LARS without a ridge."""
        n, d = self.X.shape
        return max(min(50, d // 10, n // 2), 2)


def prepare(name: str, X: np.ndarray, n_clusters: int) -> Table:
    """Standardise a table; add the graph and the labels."""
    X = scale(X)
    X.setflags(write=False)  # neither side may change its input
    distances = euclidean_distances(X)
    t = float(distances.mean())
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :NEIGHBOURS]
    rows = np.repeat(np.arange(len(X)), NEIGHBOURS)
    weights = np.exp(-(distances[rows, nearest.ravel()] ** 2) / (2.0 * t * t))
    directed = sp.csr_matrix((weights, (rows, nearest.ravel())), shape=2 * (len(X),))
    labels = KMeans(n_clusters, n_init=10, random_state=0).fit_predict(X)
    return Table(name, X, n_clusters, directed.maximum(directed.T).tocsr(), t, labels)


def raw_tables(sets: tuple[str, ...] | None = None) -> Iterator[tuple[str, np.ndarray, int]]:
    """Yield (name, X, number of clusters); the real ones where FEATSIEVE_DATA names them."""
    found: dict[str, Callable[[], tuple[np.ndarray, int]]] = {
        "digits": lambda: (load_digits().data[:300], 10),
        "tall": lambda: (_planted(1000, 1000), 5),
        "wide": lambda: (_planted(100, 5000), 5),
    }
    if real_data.folder() is not None:
        found |= {name: lambda name=name: _real(name) for name in REAL}
    for name, load in found.items():
        if sets is None or name in sets:
            yield (name, *load())


def _planted(n: int, d: int) -> np.ndarray:
    return make_planted(n, d, n_informative=d // 10, n_clusters=5, random_state=0).X


def _real(name: str) -> tuple[np.ndarray, int]:
    X, y = real_data.load(name)
    return X, len(np.unique(y))


class Budget:
    """Says when a peer's iterations end: after ``most``, or when the next would pass ``seconds``.

    Asked at the end of every iteration but the first.
    """

    def __init__(self, most: int, seconds: float = math.inf) -> None:
        self.most = most
        self.seconds = seconds
        self.done = 1
        self._start = self._last = time.perf_counter()

    def spent(self) -> bool:
        """Count one more iteration; True ends the peer's loop."""
        self.done += 1
        now = time.perf_counter()
        late = (now - self._start) + (now - self._last) > self.seconds
        self._last = now
        return self.done >= self.most or late


class _Math:
    """Stands for the module ``math`` where a peer's stopping rule is fabs(change) < 1e-3."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget

    def fabs(self, _: float) -> float:
        return 0.0 if self.budget.spent() else math.inf


class _Tolerance:
    """Stands for a tolerance: ``change < tolerance`` asks the budget."""

    __array_ufunc__ = None  # lets NumPy scalars leave the comparison to __gt__

    def __init__(self, budget: Budget) -> None:
        self.budget = budget

    def __lt__(self, other: float) -> bool:  # the peer's check that it is not negative
        return False

    def __gt__(self, change: float) -> bool:
        return self.budget.spent()


@dataclass(frozen=True)
class Comparison:
    """One method in two implementations.

    ``ours`` returns scores, larger is better; ``theirs`` returns what the peer does, which
    ``scores`` turns into scores as the peer itself would rank, and ``repaired`` into scores as the
    method says.
    """

    method: str
    peer: str
    ours: Callable[[Table, int], np.ndarray]
    theirs: Callable[[Table, Budget], np.ndarray]
    scores: Callable[[np.ndarray], np.ndarray]
    repaired: Callable[[np.ndarray], np.ndarray] | None = None
    iterative: bool = False
    shim: str = ""  # what was needed to run the peer
    differs: str = ""  # why its ranking must differ


def of_order(order: np.ndarray) -> np.ndarray:
    """Return scores that rank the features as listed, best first."""
    scores = np.empty(len(order))
    scores[np.asarray(order, dtype=int)] = np.arange(len(order), 0, -1)
    return scores


def of_order_reversed(order: np.ndarray) -> np.ndarray:
    """Return scores that rank the features as listed, worst first."""
    return -of_order(order)


def row_lengths(W: np.ndarray) -> np.ndarray:
    """Return the lengths of the rows of W, the score of the regression methods."""
    return np.sqrt(np.sum(np.asarray(W) ** 2, axis=1))


def largest(W: np.ndarray) -> np.ndarray:
    """Return max_k a_kj."""
    return W.max(axis=1)


def largest_share(W: np.ndarray) -> np.ndarray:
    """Return max_k |a_kj| / ||a_k||, the score of MCFS."""
    length = np.linalg.norm(W, axis=0)
    return np.max(np.abs(W) / np.where(length > 0.0, length, 1.0), axis=1)


# --- ours -----------------------------------------------------------------------------------------


def our_laplacian_score(table: Table, _: int) -> np.ndarray:
    return featsieve.LaplacianScore(affinity=table.affinity).fit(table.X).scores_


def our_spec(table: Table, _: int) -> np.ndarray:
    return featsieve.SPEC(affinity=table.affinity, scale="raw").fit(table.X).scores_


def our_spec_on_all_pairs(table: Table, _: int) -> np.ndarray:
    """Use the graph of ITMO_FS: the heat kernel between all pairs, self loops included."""
    squares = euclidean_distances(table.X, squared=True)
    kernel = np.exp(squares / (-2.0 * table.bandwidth**2))
    return featsieve.SPEC(affinity=kernel, scale="raw").fit(table.X).scores_


def our_mcfs(table: Table, _: int) -> np.ndarray:
    return _mcfs(table, table.affinity)


def our_mcfs_with_graph(table: Table, _: int) -> np.ndarray:
    return _mcfs(table, "heat")


def _mcfs(table: Table, affinity: Any) -> np.ndarray:
    sieve = featsieve.MCFS(
        table.n_clusters + 1,  # as many functions as clusters
        n_features_to_select=table.n_selected,
        ridge=1e-3,
        affinity=affinity,
        n_neighbors=NEIGHBOURS,
        scale="raw",
    )
    return sieve.fit(table.X).scores_


def our_udfs(table: Table, iterations: int) -> np.ndarray:
    sieve = featsieve.UDFS(
        table.n_clusters,
        gamma=GAMMA,
        local_ridge=GAMMA,
        init="identity",
        n_neighbors=NEIGHBOURS,
        scale="raw",
        max_iter=iterations,
        tol=0.0,
    )
    return sieve.fit(table.X).scores_


def our_ndfs(table: Table, iterations: int) -> np.ndarray:
    return _ndfs(table, iterations, table.affinity)


def our_ndfs_with_graph(table: Table, iterations: int) -> np.ndarray:
    return _ndfs(table, iterations, "heat")


def _ndfs(table: Table, iterations: int, affinity: Any) -> np.ndarray:
    sieve = featsieve.NDFS(
        table.n_clusters,
        alpha=ALPHA,
        beta=BETA,
        orthogonality=ORTHOGONALITY,
        init=table.labels,
        affinity=affinity,
        n_neighbors=NEIGHBOURS,
        scale="raw",
        max_iter=iterations,
        tol=0.0,
    )
    return sieve.fit(table.X).scores_


# --- skfeature-chappers ---------------------------------------------------------------------------


def sk_laplacian_score(table: Table, _: Budget) -> np.ndarray:
    from skfeature.function.similarity_based.lap_score import lap_score

    return lap_score(table.X, W=table.affinity, mode="index")


def sk_spec(table: Table, _: Budget) -> np.ndarray:
    from skfeature.function.similarity_based.SPEC import spec

    return spec(table.X, W=table.affinity, style=0, mode="index")


def sk_mcfs(table: Table, _: Budget) -> np.ndarray:
    from skfeature.function.sparse_learning_based.MCFS import mcfs

    return mcfs(
        table.X,
        n_selected_features=table.n_selected,
        W=table.affinity,
        n_clusters=table.n_clusters,
        mode="raw",
    )


def sk_udfs(table: Table, budget: Budget) -> np.ndarray:
    module = import_module("skfeature.function.sparse_learning_based.UDFS")
    X = table.X[:, table.varies]
    with patch.object(module, "math", _Math(budget)):
        W = module.udfs(X, gamma=GAMMA, k=NEIGHBOURS, n_clusters=table.n_clusters, mode="raw")
    return table.all_rows(W)


def sk_ndfs(table: Table, budget: Budget) -> np.ndarray:
    module = import_module("skfeature.function.sparse_learning_based.NDFS")

    given = SimpleNamespace(fit=lambda X: None, labels_=table.labels)
    library = SimpleNamespace(cluster=SimpleNamespace(KMeans=lambda **_: given))
    with patch.object(module, "math", _Math(budget)), patch.object(module, "sklearn", library):
        return module.ndfs(
            table.X,
            W=table.affinity,
            alpha=ALPHA,
            beta=BETA,
            gamma=ORTHOGONALITY,
            n_clusters=table.n_clusters,
            mode="raw",
        )


# --- ITMO_FS --------------------------------------------------------------------------------------


@contextmanager
def _eigh_with_eigvals(module: Any) -> Iterator[None]:
    """Give a module the argument ``eigvals`` back, which SciPy 1.14 removed from eigh."""

    def eigh(*args: Any, eigvals: Any = None, **kwargs: Any) -> Any:
        return scipy.linalg.eigh(*args, subset_by_index=eigvals, **kwargs)

    with patch.object(module, "eigh", eigh):
        yield


def itmo_laplacian_score(table: Table, _: Budget) -> np.ndarray:
    from ITMO_FS.filters.univariate import laplacian_score

    return laplacian_score(table.X, None, weights=table.affinity.toarray())


def itmo_spec(table: Table, _: Budget) -> np.ndarray:
    from ITMO_FS.filters.sparse import SPEC

    peer = SPEC(
        p=table.X.shape[1],
        k=table.n_clusters,
        gamma=lambda x: x,
        sigma=table.bandwidth / math.sqrt(2.0),
        phi_type=2,
    )
    return peer.run(table.X, np.array([None]))


def itmo_mcfs(table: Table, _: Budget) -> np.ndarray:
    module = import_module("ITMO_FS.filters.sparse.MCFS")
    peer = module.MCFS(
        table.n_selected,
        k=table.n_clusters,
        p=NEIGHBOURS,
        scheme="heat",
        sigma=table.bandwidth * math.sqrt(2.0),
    )
    with _eigh_with_eigvals(module):
        return peer.run(table.X)


def itmo_udfs(table: Table, budget: Budget) -> np.ndarray:
    module = import_module("ITMO_FS.filters.sparse.UDFS")
    peer = module.UDFS(
        p=table.n_selected,
        c=table.n_clusters,
        k=NEIGHBOURS,
        gamma=GAMMA,
        l=GAMMA,
        epsilon=_Tolerance(budget),
    )
    with _eigh_with_eigvals(module):
        return table.all_rows(peer.run(table.X[:, table.varies]))


def itmo_ndfs(table: Table, budget: Budget) -> np.ndarray:
    from ITMO_FS.filters.sparse import NDFS

    peer = NDFS(
        p=NEIGHBOURS,
        c=table.n_clusters,
        alpha=ALPHA,
        beta=BETA,
        gamma=ORTHOGONALITY,
        sigma=table.bandwidth * math.sqrt(2.0),
        epsilon=_Tolerance(budget),
    )
    return peer.run(table.X, table.labels)


SKFEATURE, ITMO = "skfeature", "ITMO_FS"
CONSTANTS = "columns that do not vary, which it ranks first, are left out"
COUNTED = "its stopping rule is replaced by a number of iterations"

COMPARISONS = (
    Comparison("LaplacianScore", SKFEATURE, our_laplacian_score, sk_laplacian_score, of_order),
    Comparison("LaplacianScore", ITMO, our_laplacian_score, itmo_laplacian_score, np.negative),
    Comparison(
        "SPEC",
        SKFEATURE,
        our_spec,
        sk_spec,
        of_order,
        of_order_reversed,
        differs="it sorts phi2, of which small is good, in descending order (repaired: ascending)",
    ),
    Comparison(
        "SPEC",
        ITMO,
        our_spec_on_all_pairs,
        itmo_spec,
        np.negative,
        shim="crashes without y: AttributeError, 'bool' object has no attribute 'any'; runs with "
        "y=[None]. Takes no graph: both sides build the heat kernel of all pairs",
    ),
    Comparison(
        "MCFS",
        SKFEATURE,
        our_mcfs,
        sk_mcfs,
        largest,
        largest_share,
        differs="it takes max_k a_kj without the absolute value and without unit a_k (repaired: "
        "with both); it counts steps of LARS, not of the lasso, which also drops features; and of "
        "a graph in several parts it drops an arbitrary eigenvector",
    ),
    Comparison(
        "MCFS",
        ITMO,
        our_mcfs_with_graph,
        itmo_mcfs,
        largest,
        largest_share,
        shim="crashes: TypeError, eigh() got an unexpected keyword argument 'eigvals' (given "
        "back), and with the default scheme='dot' AttributeError (run with 'heat'). Takes no "
        "graph: both sides build one of 5 neighbours",
        differs="as skfeature's; and its graph has self loops and counts mutual neighbours twice, "
        "and its first target is the constant eigenvector",
    ),
    Comparison(
        "UDFS",
        SKFEATURE,
        our_udfs,
        sk_udfs,
        row_lengths,
        iterative=True,
        shim=f"{COUNTED}; {CONSTANTS}",
        differs="its matrix M is wrong: every local block is added at the place of the first "
        "samples' neighbours",
    ),
    Comparison(
        "UDFS",
        ITMO,
        our_udfs,
        itmo_udfs,
        row_lengths,
        iterative=True,
        shim="crashes: TypeError, eigh() got an unexpected keyword argument 'eigvals' (given "
        f"back); {COUNTED}; {CONSTANTS}",
        differs="for d > n the first step, from D = I, returns an arbitrary basis of a null space",
    ),
    Comparison(
        "NDFS",
        SKFEATURE,
        our_ndfs,
        sk_ndfs,
        row_lengths,
        iterative=True,
        shim="crashes if given F0: UnboundLocalError, n_clusters; its k-means is replaced by the "
        f"given labels; {COUNTED}",
    ),
    Comparison(
        "NDFS",
        ITMO,
        our_ndfs_with_graph,
        itmo_ndfs,
        row_lengths,
        iterative=True,
        shim="takes no graph, and uses p, the number of features to select, as number of "
        f"neighbours (set to 5): both sides build their graph; {COUNTED}",
    ),
)
