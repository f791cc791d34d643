"""The two alternations of URAFS: one whose objective never rises, and the published one.

With A = Z'Z + lam Q, Q = diag(q), the W-step has the closed form (C = Z'F)

    W = V G^(-1/2),   V = A^(-1) C,   G = C'A^(-1)C = F'ZV,                    W'AW = I,

so that V is a reweighted ridge regression of F and no d x d root is needed. With W eliminated the
objective depends on q through  -2 tr G(q)^(1/2) + (lam/4) sum_j 1/q_j. G(q)^(-1) is the smallest
Y'AY over Y'C = I, hence concave in q, and so is -tr G^(1/2): its tangent bounds it from above, and
the bound is least at q_j = 1/(2 ||w_j G^(1/4)||). The published q_j = 1/(2 ||w_j||) forgets that
the constraint moves with Q; it minimises -log det G(q) + (lam/4) sum_j 1/q_j instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from featsieve.arrays import DataOperator
from featsieve.arrays.linalg import inverse_root
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.solvers.alternate import Alternation, Block, relative_change
from featsieve.solvers.protocol import Callback, Solution, Status, run
from featsieve.solvers.reweighted_ridge import ReweightedRidge
from featsieve.solvers.stiefel import power_estimate, power_iterations, random_frame
from featsieve.terms.entropy_graph import BlockedKernel, UniformGraph, kernel_of
from featsieve.terms.regression import square
from featsieve.terms.row_shrinkage import SMOOTHING, inverse_weights
from featsieve.terms.row_sparsity import row_norms

# Added to the eigenvalues of G, which are at most 1: a direction of F that no column predicts gets
# weight zero instead of a random one, and the objective stays smooth.
RIDGE = 1e-12
# Power iterations of the labels in one iteration: they settle long before the weights do. The
# published program takes 4 from a new start.
LABEL_STEPS = 3
PUBLISHED_STEPS = 4
# Added to the bound of the curvature, as a share of it: keeps F determined along directions which
# neither the graph nor the data pull at.
MARGIN = 1e-6
# The exponent of S beyond which it is the identity to the last bit.
LARGEST_GAMMA = 1e100


@dataclass(frozen=True)
class URAFSProblem:
    """What URAFS minimises; the operator is centred, ``beta`` is the literal one of the paper."""

    operator: DataOperator
    alpha: float
    beta: float
    sparsity: float
    form: str = "auto"  # of the regression: see ReweightedRidge

    @property
    def gamma(self) -> float:
        """The exponent of S: s_ij ~ exp(-gamma ||f_i - f_j||^2)."""
        return min(0.5 / self.beta, LARGEST_GAMMA)

    def objective(self, state: "SafeState") -> float:
        """Return ||H(XW - F)||^2 + lam sum (q ||w||^2 + 1/(4q)) + the graph at its best S.

        W'AW = I turns the terms in W into c' + ||HF||^2 - 2 tr(F'XW), c' columns of F. The norms
        are smoothed (||w||^2 + eps), and so is G.
        """
        if state.graph is None:
            return float("inf")
        xp = self.operator.xp
        F, e = state.F, state.inverse
        loss = F.shape[1] + square(F) - 2.0 * float(np.sum(F * state.pull))
        shrinkage = 0.25 * float(xp.sum(e)) + SMOOTHING * float(xp.sum(1.0 / e))
        graph = -2.0 * self.alpha * self.beta * state.graph.log_partition
        return loss + self.sparsity * shrinkage + graph

    def published_objective(self, state: "PublishedState") -> float:
        """Return what the authors' program logs: Q from before the W-step, S from before F."""
        if state.graph is None:
            return float("inf")
        xp = self.operator.xp
        F, graph = state.F, state.graph
        loss = square(to_numpy(state.fitted) - (F - F.mean(axis=0)))
        loss += self.sparsity * float(xp.sum(row_norms(state.W) / state.before))
        entropy = graph.symmetric_entropy()
        return loss + 2.0 * self.alpha * (graph.smoothness(F) + self.beta * entropy)


@dataclass(frozen=True)
class LabelGraph:
    """S at its optimum for F, seen by the label step: two products with the n x n kernel."""

    product: np.ndarray
    log_partition: float
    bound: float

    @classmethod
    def of(cls, F: np.ndarray, gamma: float) -> "LabelGraph":
        """Return the graph of F: z, KF and, with S = diag(1/z) K, S'1 and S'F."""
        kernel = kernel_of(F, gamma)
        right = np.hstack([np.ones((F.shape[0], 1)), F])
        if isinstance(kernel, BlockedKernel):
            forward, backward = _one_pass(kernel, right)
        else:
            forward = kernel.matmul(right)
            backward = kernel.matmul(right / forward[:, :1])
        z = forward[:, 0]
        degree = 0.5 * (1.0 + backward[:, 0])
        product = degree[:, None] * F - 0.5 * (forward[:, 1:] / z[:, None] + backward[:, 1:])
        bound = 2.0 * float(np.max(degree - 1.0 / z))  # s_ii = 1/z_i
        return cls(product, float(np.sum(np.log(z))), bound)


def _one_pass(kernel: BlockedKernel, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return K [1, F] and S' [1, F], which add up over blocks of rows: every block is made once."""
    forward, backward = np.empty_like(right), np.zeros_like(right)
    for start in range(0, right.shape[0], kernel.step):
        inside = slice(start, start + kernel.step)
        K = kernel.rows(start)
        forward[inside] = K @ right
        backward += K.T @ (right[inside] / forward[inside, :1])
    return forward, backward


@dataclass(frozen=True)
class SafeState:
    """The variables of the alternation; F is centred: the constant column is left out."""

    F: np.ndarray
    inverse: Array  # 1/q_j
    graph: LabelGraph | None = None  # of F
    W: Array | None = None
    pull: np.ndarray | None = None  # minus half the gradient, in F, of the terms with W: XW


def safe_weights(
    problem: URAFSProblem, F: np.ndarray, inverse: Array
) -> tuple[Array, np.ndarray, Array]:
    """Return the best W for F and Q, its pull on F, and the inverse weights 2 ||w_j G^(1/4)||.

    With G + delta I in place of G, everything holds as if Z had further columns sqrt(delta) I with
    q = 1/lam: the pull on F gains delta F G^(-1/2).
    """
    operator, xp = problem.operator, problem.operator.xp
    ridge = ReweightedRidge(operator, problem.form)
    target = xp.asarray(F, device=operator.device)
    V, fitted = ridge.solve(target, problem.sparsity, inverse=inverse)
    fitted = to_numpy(fitted)
    G = F.T @ fitted
    energy, basis = np.linalg.eigh(0.5 * (G + G.T))
    energy = np.maximum(energy, 0.0) + RIDGE
    root = (basis / np.sqrt(energy)) @ basis.T
    turned = xp.asarray(basis / energy**0.25, device=operator.device)  # W G^(1/4) = V G^(-1/4)
    W = V @ xp.asarray(root, device=operator.device)
    pull = (fitted + RIDGE * F) @ root
    return W, pull - pull.mean(axis=0), inverse_weights(V @ turned)


def solve_safe(
    problem: URAFSProblem,
    F: np.ndarray,
    *,
    max_iter: int = 500,
    tol: float = 1e-5,
    callback: Callback[SafeState] | None = None,
) -> Solution[SafeState]:
    """Run the alternation from centred orthonormal labels F and Q = I."""
    operator, xp = problem.operator, problem.operator.xp
    alpha, gamma = problem.alpha, problem.gamma

    def start(problem: URAFSProblem) -> SafeState:
        ones = xp.ones(operator.shape[1], dtype=xp.float64, device=operator.device)
        return SafeState(F, inverse=ones)

    def update_weights(problem: URAFSProblem, state: SafeState) -> SafeState:
        # F has changed: the tangent in q belongs to the W that is best for it.
        inverse = safe_weights(problem, state.F, state.inverse)[2]
        W, pull, _ = safe_weights(problem, state.F, inverse)
        return replace(state, W=W, pull=pull, inverse=inverse)

    def update_labels(problem: URAFSProblem, state: SafeState) -> SafeState:
        """Update S and F in turn: S is a function of F, renewed for every step of F."""

        def curvature(F: np.ndarray) -> tuple[np.ndarray, float]:
            known = F is state.F and state.graph is not None
            graph = state.graph if known else LabelGraph.of(F, gamma)
            assert graph is not None
            # A = H + 2 alpha L, and HF = F
            eta = (1.0 + MARGIN) * (1.0 + 2.0 * alpha * graph.bound)
            return F + 2.0 * alpha * graph.product, eta

        assert state.pull is not None
        F = power_iterations(state.F, state.pull, curvature, n_steps=LABEL_STEPS)
        F = F - F.mean(axis=0)  # rounding only: every term of a step is centred
        return replace(state, F=F, graph=LabelGraph.of(F, gamma))

    def stop(state: SafeState, history: Sequence[float]) -> Status | None:
        return Status.CONVERGED if relative_change(history) < tol else None

    solver = Alternation(
        start=start,
        blocks=(Block("weights", update_weights), Block("graph and labels", update_labels)),
        value=URAFSProblem.objective,
        stop=stop,
    )
    return run(solver, problem, max_iter=max_iter, callback=callback)


@dataclass(frozen=True)
class PublishedState:
    """The variables of the published alternation."""

    F: np.ndarray
    inverse: Array  # 1/q_j of the current W
    before: Array | None = None  # 1/q_j with which it was computed
    graph: UniformGraph | None = None
    W: Array | None = None
    fitted: Array | None = None  # XW


def solve_published(
    problem: URAFSProblem,
    F: np.ndarray,
    *,
    random_state: np.random.RandomState,
    max_iter: int = 500,
    tol: float = 1e-5,
    callback: Callback[PublishedState] | None = None,
) -> Solution[PublishedState]:
    """Run the authors' alternation from orthonormal labels F and Q = I: S, W, Q, F, once each."""
    operator, xp = problem.operator, problem.operator.xp
    ridge = ReweightedRidge(operator, problem.form)

    def start(problem: URAFSProblem) -> PublishedState:
        ones = xp.ones(operator.shape[1], dtype=xp.float64, device=operator.device)
        return PublishedState(F, inverse=ones)

    def update_graph(problem: URAFSProblem, state: PublishedState) -> PublishedState:
        return replace(state, graph=UniformGraph(state.F, problem.gamma))

    def update_weights(problem: URAFSProblem, state: PublishedState) -> PublishedState:
        centred = state.F - state.F.mean(axis=0)
        target = xp.asarray(centred, device=operator.device)
        V, fitted = ridge.solve(target, problem.sparsity, inverse=state.inverse)
        root = xp.asarray(inverse_root(centred.T @ to_numpy(fitted)), device=operator.device)
        W = V @ root
        return replace(
            state, W=W, fitted=fitted @ root, before=state.inverse, inverse=inverse_weights(W)
        )

    def update_labels(problem: URAFSProblem, state: PublishedState) -> PublishedState:
        graph = state.graph
        assert graph is not None

        def multiply(F: np.ndarray) -> np.ndarray:
            return F - F.mean(axis=0) + 2.0 * problem.alpha * graph.laplacian_product(F)

        # A random start and an eta that may be too small: not a descent step.
        n, c = state.F.shape
        eta = power_estimate(multiply, n, random_state=random_state)
        F = power_iterations(
            random_frame(n, c, random_state=random_state),
            to_numpy(state.fitted),
            lambda F: (multiply(F), eta),
            n_steps=PUBLISHED_STEPS,
        )
        return replace(state, F=F)

    def stop(state: PublishedState, history: Sequence[float]) -> Status | None:
        return Status.CONVERGED if relative_change(history) < tol else None

    solver = Alternation(
        start=start,
        blocks=(
            Block("graph", update_graph),
            Block("weights", update_weights),
            Block("labels", update_labels),
        ),
        value=URAFSProblem.published_objective,
        stop=stop,
    )
    return run(solver, problem, max_iter=max_iter, callback=callback)
