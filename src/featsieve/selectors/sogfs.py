"""SOGFS: a sparse projection, and the graph of the samples on which it is smooth, found in turn."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.base import estimator
from featsieve.graphs.adaptive_neighbours import (
    best_weights,
    first_neighbours,
    join_parts,
    mean_graph,
    pair_distances,
    parts,
    smooth_vectors,
)
from featsieve.graphs.affinity import laplacian
from featsieve.graphs.distances import EuclideanDistances, PointDistances, nearest_neighbours
from featsieve.graphs.spectral_labels import by_first_sample, kmeans_labels
from featsieve.selectors.projection import ProjectionSelector, count_varying
from featsieve.solvers.block_problem import BlockProblem, solve
from featsieve.solvers.protocol import Status
from featsieve.solvers.sparse_projection import SparseProjection
from featsieve.terms import normalised_indicator
from featsieve.validation import positive_integer, warn

# The weight of the rank condition is doubled up to this multiple of its first value.
LARGEST_GROWTH = 1e8
# A graph none of whose edges differs by more from the last one, and from that without the rank
# condition, stands still.
STANDSTILL = 1e-8


@estimator
class SOGFS(ProjectionSelector):
    """Structured optimal graph feature selection.

    A sparse orthonormal projection W, and a graph S with c connected components on which the
    projected samples are smooth, found in turn [1]_:

        min  Σ_ij (||x_iW - x_jW||² s_ij + a s_ij²) + 2γ ||W||_{2,1} + 2 lam tr(F'LF),
        S1 = 1,  S ≥ 0,  W'W = I,  F'F = I,

    L being the Laplacian of (S + S')/2. The last term is 0 exactly if the graph has c components;
    lam is doubled while there are fewer, halved while there are more. The score of a feature is
    the length of its row of W.

    Parameters
    ----------
    n_clusters : int or "auto", default=8
        Number of clusters c, the components of the graph: at most half the samples, because a
        component has at least two. (If not, the graph gets that many, with a warning.)
    %(n_features_to_select)s
    n_components : int or None, default=None
        m, the columns of W, fewer than the features that vary. None: as many as features are to be
        selected. With fewer, a large γ leaves weights to fewer features than that.
    gamma : float or "auto", default="auto"
        γ, row sparsity. "auto" is a multiple of the mean roughness x_j'Lx_j of the columns on the
        first graph, hence independent of units; it is so large that m features keep weights, all
        about equally. Public code scales columns to unit length: its γ times n_samples is this one
        for ``scale="unit"``. The paper's γ is twice that of the code.
    %(first_weights)s
    %(n_neighbors, scale)s
        Published is "unit", up to a factor.
    max_iter : int, default=50
        Most iterations, each with one graph, one W and one F.
    max_inner_iter : int, default=100
        Most steps of the search for W.
    tol : float, default=1e-5
        Relative change of the objective of W that ends them.
    %(callback, verbose)s
    %(constraints)s

    Attributes
    ----------
    coef_ : ndarray of shape (`n_features_in_`, `n_components_`)
        W, in the units of X.
    labels_ : ndarray of shape (n_samples,)
        Component of every sample in the graph. Where there are more than c, those that lie close
        in the projection are joined (Ward's rule for whole components); where there are fewer,
        k-means of F.
    affinity_ : scipy.sparse.csr_array of shape (n_samples, n_samples)
        The learned graph (S + S')/2.
    n_parts_ : int
        Number of its connected components: c, unless the iterations were too few, or neighbours
        too few to tie the samples together (both with a warning).
    gamma_ : float
        γ that was used.
    n_components_ : int
        m that was used.
    %(eigengap_, scores_, selection)s
    objective_ : ndarray of shape (`n_iter_`,)
        tr(W'X'LXW) + γ ||W||_{2,1} at the end of every iteration (with ||w|| smoothed to
        sqrt(||w||² + 2.2e-16)). Graph, neighbours and lam change in between, so it may rise;
        within the search for one W it does not.
    %(outcome, n_clusters_, automatic, input)s

    See Also
    --------
    UDFS : The same projection on a matrix of local discriminants that is given.
    NDFS : Pseudo-labels that are predicted, instead of a projection that is smooth.

    Notes
    -----
    Deviations from the paper and public code, and why. The first weights (see ``init``) and m (see
    ``n_components``). Columns that do not vary are left out: they are perfectly smooth and would
    come first. Components are counted on the graph, not by thresholds on eigenvalues; lam is
    capped. Equally distant neighbours share their weight equally, where the code divides by zero,
    and copies of a sample are neighbours. A first graph with more than c components leaves F
    undecided: it gets the indicators of whole components, joined as in ``labels_``; the iterations
    also end when such a graph stands still. The search for W ends by the relative change. The whole
    objective is not monotone, because S is made symmetric, and lam and the lists of neighbours
    change.

    Cost: O(n²d) for the first neighbours; per iteration O(n²m + nk(m + c)) for the graph, O(n³)
    (n ≤ 1000; Lanczos beyond) for F, and per step of the search for W O(n²d + n³ + dm² + ndm) for
    d > n, O(d³) for d ≤ n; memory O(nd + dm + min(n, d)²).

    When not to use it: W'W = I does not keep the projected samples apart. With more features than
    samples and a small γ, W finds directions in which all samples coincide. The order within the
    selected features says little (see γ).

    References
    ----------
    .. [1] F. Nie, W. Zhu and X. Li, "Unsupervised feature selection with structured graph
       optimization", AAAI 2016.

    Examples
    --------
    %(example)s
    """

    n_components: int | None = None
    max_iter: int = 50
    max_inner_iter: int = 100

    _follows_count = True
    _checks: ClassVar = {
        **ProjectionSelector._checks,
        "n_components": lambda name, value: value is None or positive_integer(name, value),
        "max_inner_iter": positive_integer,
    }

    def _fit(self, X: Any) -> None:
        """Find graph and projection, and the features it uses."""
        operator = self._operator(X)
        n_selected = self._n_to_select()
        self.n_clusters_ = n_possible_clusters(self._count_clusters(X), X.shape[0])
        self._progress.step("finding the neighbours")
        neighbours, weights, a = first_neighbours(EuclideanDistances(operator), self.n_neighbors)
        S = mean_graph(neighbours, weights)
        if self.n_components is None:
            self.n_components_ = min(n_selected, max(count_varying(operator) - 1, 1))
        else:
            self.n_components_ = self._n_columns("n_components", self.n_components, operator)
        problem = SOGFSProblem(
            operator,
            n_clusters=self.n_clusters_,
            n_components=self.n_components_,
            gamma=self._resolve_gamma(defaults.SOGFS_GAMMA, laplacian(S), operator),
            neighbours=neighbours,
            smoothing=a,
            init=self.init,
            max_inner_iter=self.max_inner_iter,
            tol=self.tol,
        )
        state = self._alternate(problem, problem.start(S), "graph and projection")
        self._warn_of_parts(state)
        self.n_parts_, self.affinity_ = state.n_parts, state.S
        self.labels_ = graph_labels(problem, state)
        self._set_projection(operator, laplacian(state.S), state, n_selected)

    def _warn_of_parts(self, state: "SOGFSState") -> None:
        """Warn of a graph that more iterations would not mend."""
        if state.n_parts_free <= self.n_clusters_ or self.status_ is Status.STOPPED:
            return
        n_parts = state.n_parts
        warn(
            f"The graph falls into {n_parts} parts, more than n_clusters={self.n_clusters_}, even "
            "without the condition on their number: samples of different parts are not among each "
            "other's neighbours, and more iterations would not change that. Raise n_neighbors, or "
            f"n_clusters up to {n_parts}. labels_ joins the parts that lie close.",
            ConvergenceWarning,
        )


@dataclass(frozen=True)
class SOGFSState:
    """The variables of the alternation."""

    S: sp.csr_array  # the symmetric graph
    lam: float
    n_parts: int
    n_parts_free: int = 0  # of the graph without the rank condition (lam = 0), where n_parts > c
    stands_still: bool = False  # that graph is S, and S is the last one
    F: Array = None  # n x c
    n_graphs: int = 0  # that have been learned
    W: Array | None = None
    gap: float = 1.0
    value: float = float("inf")  # of the last search for W


@dataclass(frozen=True)
class SOGFSProblem(BlockProblem[SOGFSState]):
    """Graph, projection and embedding; it ends when the graph has the wanted components."""

    operator: DataOperator
    n_clusters: int
    n_components: int
    gamma: float  # of the code: half the paper's
    neighbours: np.ndarray  # the first lists, n x k
    smoothing: float  # a
    init: str = "roughness"
    max_inner_iter: int = 100
    tol: float = 1e-5  # of a search for W

    blocks = ("graph", "weights", "embedding")

    def start(self, S: sp.csr_array) -> SOGFSState:
        """Return the first state on a symmetric graph S."""
        state = self.update_weights(SOGFSState(S, lam=self.smoothing, n_parts=parts(S)[0]))
        if state.n_parts > self.n_clusters:
            F = normalised_indicator(joined_labels(self, state), self.n_clusters)
        else:
            F = smooth_vectors(S, self.n_clusters)
        return replace(state, F=F)

    def objective(self, state: SOGFSState) -> float:
        """Return the last value of the last search for W."""
        return state.value

    def status(self, state: SOGFSState, history: Sequence[float], tol: float) -> Status | None:
        """Return how the iterations end here, or None to go on."""
        if state.n_parts == self.n_clusters and state.n_graphs > 1:
            return Status.CONVERGED
        if state.stands_still and state.n_graphs > defaults.SOGFS_FIXED_LISTS:
            return Status.STATIONARY
        return None

    def projection(self, S: sp.csr_array) -> SparseProjection:
        """Return the problem of W on a graph."""
        L, m = laplacian(S), self.n_components
        return SparseProjection(self.operator, L, m, self.gamma, init=self.init)

    def update_graph(self, state: SOGFSState) -> SOGFSState:
        """Take the best graph on the lists of neighbours."""
        points = to_numpy(self.operator.matmul(state.W))
        near, a = self.neighbours, self.smoothing
        if state.n_graphs >= defaults.SOGFS_FIXED_LISTS:
            centred = PointDistances(points - points.mean(axis=0))
            near = nearest_neighbours(centred, near.shape[1])[0]
        rough = pair_distances(points, near)
        costs = rough + state.lam * pair_distances(state.F, near)
        graph = mean_graph(near, best_weights(costs, a))
        n_parts, n_parts_free, still = parts(graph)[0], 0, False
        if n_parts > self.n_clusters:
            free = mean_graph(near, best_weights(rough, a))
            n_parts_free = parts(free)[0]
            still = max(abs(graph - other).max() for other in (free, state.S)) <= STANDSTILL
        return replace(
            state,
            S=graph,
            n_parts=n_parts,
            n_parts_free=n_parts_free,
            stands_still=bool(still),
            n_graphs=state.n_graphs + 1,
        )

    def update_weights(self, state: SOGFSState) -> SOGFSState:
        """Search for W on the graph."""
        problem = self.projection(state.S)
        found = solve(problem, problem.start(), max_iter=self.max_inner_iter, tol=self.tol).state
        return replace(state, W=found.W, gap=min(state.gap, found.gap), value=found.value)

    def update_embedding(self, state: SOGFSState) -> SOGFSState:
        """Take the best F, and the next weight of the rank condition."""
        c = self.n_clusters
        if state.n_parts > c:  # too many: this graph's F would not tie them together again
            return replace(state, lam=0.5 * state.lam)
        largest = LARGEST_GROWTH * self.smoothing
        lam = min(2.0 * state.lam, largest) if state.n_parts < c else state.lam
        return replace(state, F=smooth_vectors(state.S, c), lam=lam)


def graph_labels(problem: SOGFSProblem, state: SOGFSState) -> np.ndarray:
    """Return the components of the graph, joined where they are too many; else k-means of F."""
    n_clusters = problem.n_clusters
    n_parts, component = parts(state.S)
    if n_parts == n_clusters:
        return by_first_sample(component)
    if n_parts > n_clusters:
        return by_first_sample(joined_labels(problem, state))
    return kmeans_labels(state.F, n_clusters, random_state=np.random.RandomState(0))


def joined_labels(problem: SOGFSProblem, state: SOGFSState) -> np.ndarray:
    """Return c groups of whole components that lie close in the projection."""
    points = to_numpy(problem.operator.matmul(state.W))
    # XWW'1, a sum over the features: it knows neither the order of samples and columns, nor a
    # rotation of W.
    key = points @ to_numpy(state.W).sum(axis=0)
    return join_parts(parts(state.S)[1], points, problem.n_clusters, key=key)


def n_possible_clusters(n_clusters: int, n_samples: int) -> int:
    """Return n_clusters, or as many components of two samples as there can be if fewer."""
    largest = n_samples // 2
    if n_clusters > largest:
        warn(
            f"n_clusters={n_clusters} is more than half of n_samples={n_samples}, but a component "
            f"of the graph has at least two samples: it gets {largest}. Choose n_clusters of at "
            f"most {largest}."
        )
    return min(n_clusters, largest)
