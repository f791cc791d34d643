"""What URAFS minimises, by steps that never raise it, and as published.

With A = Z'Z + lam Q, Q = diag(q), the W-step has the closed form (C = Z'F)

    W = V G^(-1/2),   V = A^(-1) C,   G = C'A^(-1)C = F'ZV,                    W'AW = I,

so that V is a reweighted ridge regression of F and no d x d root is needed. With W eliminated the
objective depends on q through  -2 tr G(q)^(1/2) + (lam/4) sum_j 1/q_j. G(q)^(-1) is the smallest
Y'AY over Y'C = I, hence concave in q, and so is -tr G^(1/2): its tangent bounds it from above, and
the bound is least at q_j = 1/(2 ||w_j G^(1/4)||). The published q_j = 1/(2 ||w_j||) forgets that
the constraint moves with Q; it minimises -log det G(q) + (lam/4) sum_j 1/q_j instead.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from featsieve import defaults
from featsieve.arrays.linalg import inverse_root
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.selectors.label_regression import LabelRegression, LabelState
from featsieve.solvers.reweighted_ridge import ReweightedRidge
from featsieve.solvers.stiefel import power_estimate, power_iterations, random_frame
from featsieve.terms.entropy_graph import BlockedKernel, UniformGraph, kernel_of
from featsieve.terms.regression import square
from featsieve.terms.row_shrinkage import SMOOTHING, inverse_weights
from featsieve.terms.row_sparsity import row_norms

# Added to the eigenvalues of G, which are at most 1: a direction of F that no column predicts gets
# weight zero instead of a random one, and the objective stays smooth.
RIDGE = 1e-12
# Added to the bound of the curvature, as a share of it: keeps F determined along directions which
# neither the graph nor the data pull at.
MARGIN = 1e-6
# The exponent of S beyond which it is the identity to the last bit.
LARGEST_GAMMA = 1e100


@dataclass(frozen=True)
class URAFSState(LabelState):
    """The variables; F is centred, without the constant column, unless as published.

    ``fitted`` is minus half the gradient, in F, of the terms with W: XW.
    """

    graph: Any = None  # of F
    before: Array = None  # 1/q_j with which W was computed (as published)


@dataclass(frozen=True, kw_only=True)
class URAFSProblem(LabelRegression[URAFSState]):
    """The objective with Q as a variable; the operator is centred, ``beta`` that of the paper."""

    alpha: float
    beta: float
    sparsity: float
    random_state: Any = None

    state_type = URAFSState

    @property
    def gamma(self) -> float:
        """The exponent of S: s_ij ~ exp(-gamma ||f_i - f_j||^2)."""
        return min(0.5 / self.beta, LARGEST_GAMMA)

    def value(self, state: URAFSState) -> float:
        """Return ||H(XW - F)||^2 + lam sum (q ||w||^2 + 1/(4q)) + the graph at its best S.

        W'AW = I turns the terms in W into c' + ||HF||^2 - 2 tr(F'XW), c' columns of F. The norms
        are smoothed (||w||^2 + eps), and so is G.
        """
        xp = self.operator.xp
        F, e = state.F, state.inverse
        loss = F.shape[1] + square(F) - 2.0 * float(np.sum(F * state.fitted))
        shrinkage = 0.25 * float(xp.sum(e)) + SMOOTHING * float(xp.sum(1.0 / e))
        graph = -2.0 * self.alpha * self.beta * state.graph.log_partition
        return loss + self.sparsity * shrinkage + graph

    def update_weights(self, state: URAFSState) -> URAFSState:
        """Update Q and W: F has changed, and the tangent in q belongs to the best W for it."""
        inverse = self.best_weights(state.F, state.inverse)[2]
        W, pull, _ = self.best_weights(state.F, inverse)
        return replace(state, W=W, fitted=pull, inverse=inverse)

    def best_weights(self, F: np.ndarray, inverse: Array) -> tuple[Array, np.ndarray, Array]:
        """Return the best W for F and Q, its pull on F, and the inverse weights 2 ||w_j G^(1/4)||.

        With G + delta I in place of G, everything holds as if Z had further columns sqrt(delta) I
        with q = 1/lam: the pull on F gains delta F G^(-1/2).
        """
        ridge = ReweightedRidge(self.operator, self.form)
        V, fitted = ridge.solve(self.on_device(F), self.sparsity, inverse=inverse)
        fitted = to_numpy(fitted)
        G = F.T @ fitted
        energy, basis = np.linalg.eigh(0.5 * (G + G.T))
        energy = np.maximum(energy, 0.0) + RIDGE
        root = (basis / np.sqrt(energy)) @ basis.T
        turned = self.on_device(basis / energy**0.25)  # W G^(1/4) = V G^(-1/4)
        pull = (fitted + RIDGE * F) @ root
        return V @ self.on_device(root), pull - pull.mean(axis=0), inverse_weights(V @ turned)

    def update_labels(self, state: URAFSState) -> URAFSState:
        """Update S and F in turn: S is a function of F, renewed for every step of F."""

        def curvature(F: np.ndarray) -> tuple[np.ndarray, float]:
            known = F is state.F and state.graph is not None
            graph = state.graph if known else LabelGraph.of(F, self.gamma)
            # A = H + 2 alpha L, and HF = F
            eta = (1.0 + MARGIN) * (1.0 + 2.0 * self.alpha * graph.bound)
            return F + 2.0 * self.alpha * graph.product, eta

        F = power_iterations(state.F, state.fitted, curvature, n_steps=defaults.URAFS_LABEL_STEPS)
        F = F - F.mean(axis=0)  # rounding only: every term of a step is centred
        return replace(state, F=F, graph=LabelGraph.of(F, self.gamma))


class PublishedURAFS(URAFSProblem):
    """The authors' alternation: S, W with Q, F from a random start, once each."""

    blocks = ("graph", "weights", "labels")

    def value(self, state: URAFSState) -> float:
        """Return what the authors' program logs: Q from before the W-step, S from before F."""
        F, graph = state.F, state.graph
        loss = square(state.fitted - (F - F.mean(axis=0)))
        loss += self.sparsity * float(self.operator.xp.sum(row_norms(state.W) / state.before))
        entropy = graph.symmetric_entropy()
        return loss + 2.0 * self.alpha * (graph.smoothness(F) + self.beta * entropy)

    def update_graph(self, state: URAFSState) -> URAFSState:
        """Take the best S."""
        return replace(state, graph=UniformGraph(state.F, self.gamma))

    def update_weights(self, state: URAFSState) -> URAFSState:
        """Take the best W for Q, then Q of that W."""
        centred = state.F - state.F.mean(axis=0)
        V, fitted = self.ridge.solve(self.on_device(centred), self.sparsity, inverse=state.inverse)
        fitted = to_numpy(fitted)
        root = inverse_root(centred.T @ fitted)
        W = V @ self.on_device(root)
        return replace(
            state, W=W, fitted=fitted @ root, before=state.inverse, inverse=inverse_weights(W)
        )

    def update_labels(self, state: URAFSState) -> URAFSState:
        """Take power steps from a random F, with an eta that may be too small: no descent step."""
        n, c = state.F.shape

        def multiply(F: np.ndarray) -> np.ndarray:
            return F - F.mean(axis=0) + 2.0 * self.alpha * state.graph.laplacian_product(F)

        eta = power_estimate(multiply, n, random_state=self.random_state)
        F = power_iterations(
            random_frame(n, c, random_state=self.random_state),
            state.fitted,
            lambda F: (multiply(F), eta),
            n_steps=defaults.URAFS_PUBLISHED_STEPS,
        )
        return replace(state, F=F)


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
