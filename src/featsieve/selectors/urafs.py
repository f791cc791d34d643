"""URAFS: features that predict orthonormal labels on a graph that adapts to the labels.

With A = Z'Z + lam Q, Q = diag(q), the W-step has the closed form (C = Z'F)

    W = V G^(-1/2),   V = A^(-1) C,   G = C'A^(-1)C = F'ZV,                    W'AW = I,

so that V is a reweighted ridge regression of F and no d x d root is needed. With W eliminated the
objective depends on q through  -2 tr G(q)^(1/2) + (lam/4) sum_j 1/q_j. G(q)^(-1) is the smallest
Y'AY over Y'C = I, hence concave in q, and so is -tr G^(1/2): its tangent bounds it from above, and
the bound is least at q_j = 1/(2 ||w_j G^(1/4)||). The published q_j = 1/(2 ||w_j||) forgets that
the constraint moves with Q; it minimises -log det G(q) + (lam/4) sum_j 1/q_j instead.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment

from featsieve import defaults
from featsieve.arrays.linalg import polar
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.base import estimator
from featsieve.graphs.spectral_labels import kmeans_labels
from featsieve.selectors.common import Start
from featsieve.selectors.label_regression import (
    LabelRegression,
    LabelRegressionSelector,
    LabelState,
)
from featsieve.solvers.reweighted_ridge import ReweightedRidge
from featsieve.terms.entropy_graph import UniformGraph
from featsieve.terms.norms import SMOOTHING, inverse_weights, square
from featsieve.terms.orthogonality import indicator, normalised_indicator
from featsieve.validation import nonnegative, positive

# Added to the eigenvalues of G, which are at most 1: a direction of F that no column predicts gets
# weight zero instead of a random one, and the objective stays smooth.
RIDGE = 1e-12
# Added to the bound of the curvature, as a share of it: keeps F determined along directions which
# neither the graph nor the data pull at.
MARGIN = 1e-6
# The exponent of S beyond which it is the identity to the last bit.
LARGEST_GAMMA = 1e100


@estimator
class URAFS(LabelRegressionSelector):
    """Generalised uncorrelated regression with an adaptive graph.

    Orthonormal pseudo-labels F, a row-sparse regression W that predicts them by uncorrelated
    components, and a dense similarity graph S of maximal entropy on the labels [1]_:

        min  ||XW + 1b' - F||² + λ ||W||_{2,1} + α Σ_ij (||f_i - f_j||² s_ij + 2β s_ij log s_ij)
        W'(X'HX + λQ)W = I,  F'F = I,  S1 = 1,  S ≥ 0,

    with H the centring matrix and Q = diag(1/(2||w_j||)). The score of a feature is the length of
    its row of W.

    Parameters
    ----------
    %(n_clusters, n_features_to_select)s
    alpha : float, default=0.1
        α, weight of the graph. The graph sees only F, not the data: with large values the labels
        stay where they started.
    beta : float, default=0.1
        Entropy of the graph in units of c/n: the β of the formula is ``beta * n_clusters /
        n_samples``. As F'F = I, squared distances between rows of F are of the order 2c/n; so much
        larger values make S uniform, much smaller ones the identity, and neither is a graph.
    sparsity : float, default=10.0
        λ, row sparsity.
    %(init)s
    %(spectral_neighbors, scale)s
        The intercept b centres: "none" and "raw" are the same here.
    %(max_iter)s
        (Row sparsity comes slowly, by reweighting.)
    %(tol, callback, verbose, random_state)s
    %(constraints)s

    Attributes
    ----------
    %(coef_)s
        (F and W are determined up to a common rotation of their columns: it is the one that brings
        F nearest to the indicator of ``labels_``.)
    labels_ : ndarray of shape (n_samples,)
        Pseudo-label of every sample: k-means of the rows of F, which is not non-negative. Labels
        given as ``init`` keep their numbers (those of the best overlap).
    %(scores_, selection)s
    objective_ : ndarray of shape (`n_iter_`,)
        The objective after every iteration (see Notes).
    %(outcome, n_clusters_, automatic, input)s

    See Also
    --------
    JASFS : The same graph with non-negative labels and exact row sparsity.
    NDFS : Non-negative labels that are smooth on the graph of the data.

    Notes
    -----
    Q is a variable of its own: the penalty is λ Σ_j (q_j ||w_j||² + 1/(4 q_j)), the published one
    where q_j = 1/(2||w_j||) and larger elsewhere. (In the paper Q follows W; the constraint moves
    with it, and the objective can rise.) ``objective_`` is the objective with this penalty (norms
    smoothed to sqrt(||w||² + 2.2e-16)); it never rises.

    Deviations from public code, and why. F starts from k-means labels, as in comparisons of these
    methods, and Q from the identity; the program draws both at random. The constant vector, which
    belongs to the span of every label matrix, stays in the span of F, and W gets no column for it:
    left to itself, that direction ends in noise that rounding decides. F is updated from where it
    is, with an η that is an upper bound of the curvature, and S with every step; the program
    restarts from a random F in every iteration, takes 4 steps and an η that may be too small. A
    direction that no column predicts gets weight zero; the program completes it at random. The
    stopping rule is relative; the program stops at a change of 0.1. The program's β is
    ``beta * n_clusters / n_samples`` here.

    Cost per iteration: two regressions, O(n²d + n³) for d > n, O(d³ + ndc) for d ≤ n, and a few
    times O(n²c) for the labels; memory O(nd + min(n, d)²): S is not stored
    (of up to 2048 samples for a moment).

    When not to use it: for very many samples (the graph is dense). The graph does not see the data:
    it can only sharpen labels. A very large λ lets all weights vanish (there is a warning), and F
    with them.

    References
    ----------
    .. [1] X. Li, H. Zhang, R. Zhang, Y. Liu and F. Nie, "Generalized uncorrelated regression with
       adaptive graph for unsupervised feature selection", IEEE TNNLS 30(5), 2019.

    Examples
    --------
    %(example)s
    """

    alpha: float = 0.1
    beta: float = 0.1
    sparsity: float = 10.0
    init: Any = "k-means"
    max_iter: int = 500

    _checks: ClassVar = {"alpha": nonnegative, "beta": positive, "sparsity": positive}
    _centres = True

    def _label_matrix(self, start: Start) -> np.ndarray:
        """Return orthonormal columns, without the constant one."""
        return centred_frame(normalised_indicator(start.labels, start.n_clusters))

    def _problem(self, start: Start, F: np.ndarray) -> "URAFSProblem":
        """Return the objective."""
        return URAFSProblem(
            operator=start.operator,
            alpha=self.alpha,
            beta=self.beta * start.n_clusters / start.X.shape[0],
            sparsity=self.sparsity,
        )

    def _set_labels(self, start: Start, problem: Any, state: Any) -> tuple[Any, bool]:
        """Set the labels; return W with the rotation that brings F nearest to them."""
        W, n = to_numpy(state.W), len(state.F)
        F = np.hstack([np.full((n, 1), 1.0 / np.sqrt(n)), state.F])
        W = np.hstack([np.zeros((W.shape[0], 1)), W])
        self.labels_ = label_rows(F, start)
        return W @ polar(F.T @ normalised_indicator(self.labels_, start.n_clusters)), False


def centred_frame(F: np.ndarray) -> np.ndarray:
    """Return c - 1 orthonormal centred columns that span HF as well as so many can."""
    return np.linalg.svd(F - F.mean(axis=0), full_matrices=False)[0][:, : F.shape[1] - 1]


def label_rows(F: np.ndarray, start: Start) -> np.ndarray:
    """Return k-means labels of the rows of F, numbered to overlap most with given ones."""
    c = start.n_clusters
    if c == 1:
        return np.zeros(F.shape[0], dtype=np.intp)
    labels = kmeans_labels(F, c, random_state=start.random_state)
    if not start.given:
        return labels
    overlap = indicator(labels, c).T @ indicator(start.labels, c)
    return linear_sum_assignment(-overlap)[1][labels]


@dataclass(frozen=True)
class URAFSState(LabelState):
    """The variables; F is centred, without the constant column.

    ``fitted`` is minus half the gradient, in F, of the terms with W: XW.
    """

    graph: Any = None  # of F


@dataclass(frozen=True, kw_only=True)
class URAFSProblem(LabelRegression[URAFSState]):
    """The objective with Q as a variable; the operator is centred, ``beta`` that of the paper."""

    alpha: float
    beta: float
    sparsity: float

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
        graph = -2.0 * self.alpha * self.beta * state.graph.log_partition()
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
        V, fitted = ridge.solve(self.operator.place(F), self.sparsity, inverse=inverse)
        fitted = to_numpy(fitted)
        G = F.T @ fitted
        energy, basis = np.linalg.eigh(0.5 * (G + G.T))
        energy = np.maximum(energy, 0.0) + RIDGE
        root = (basis / np.sqrt(energy)) @ basis.T
        turned = self.operator.place(basis / energy**0.25)  # W G^(1/4) = V G^(-1/4)
        pull = (fitted + RIDGE * F) @ root
        return V @ self.operator.place(root), pull - pull.mean(axis=0), inverse_weights(V @ turned)

    def update_labels(self, state: URAFSState) -> URAFSState:
        """Update S and F in turn: S is a function of F, renewed for every step of F.

        With F'F = I the objective is a constant plus tr(F'(A - eta I)F) - 2 tr(F'B), which is
        concave for eta >= lambda_max(A): polar(eta F - AF + B) minimises its tangent. Here
        A = H + 2 alpha L, HF = F, and B = XW.
        """
        F, graph = state.F, state.graph
        for _ in range(defaults.URAFS_LABEL_STEPS):
            graph = graph or UniformGraph(F, self.gamma)
            bound = 2.0 * float(np.max(graph.degree - graph.r))  # of L; s_ii = r_i
            eta = (1.0 + MARGIN) * (1.0 + 2.0 * self.alpha * bound)
            F = polar(eta * F - (F + 2.0 * self.alpha * graph.product) + state.fitted)
            graph = None
        F = F - F.mean(axis=0)  # rounding only: every term of a step is centred
        return replace(state, F=F, graph=UniformGraph(F, self.gamma))
