"""NDFS: features that predict non-negative spectral pseudo-labels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.base import UnsupervisedSelector
from featsieve.docstrings import fill_doc
from featsieve.graphs.affinity import (
    normalised_laplacian,
    sample_graph,
    smoothness,
    split_by_sign,
)
from featsieve.graphs.initial_labels import first_labels
from featsieve.graphs.spectral_labels import by_first_sample
from featsieve.selectors.penalties import resolve_penalty, warn_large_penalty
from featsieve.solvers.alternate import Alternation, Block, relative_change
from featsieve.solvers.nonnegative_labels import (
    first_label_matrix,
    label_of_row,
    majorised_step,
    orthogonality_gap,
    unit_columns,
)
from featsieve.solvers.protocol import Callback, Solution, Status, run
from featsieve.solvers.reweighted_ridge import ReweightedRidge
from featsieve.terms.orthogonality import indicator, normalised_indicator
from featsieve.terms.regression import square
from featsieve.terms.row_shrinkage import SMOOTHING, inverse_weights, smoothed_norm
from featsieve.validation import (
    check_auto_number,
    check_callback,
    check_number,
    check_option,
)

UPDATES = ("safe", "paper")


@fill_doc
class NDFS(UnsupervisedSelector):
    """Nonnegative discriminative feature selection.

    Pseudo-labels F that are smooth on the neighbour graph, non-negative and (nearly) orthonormal,
    and a row-sparse regression W that predicts them, found in turn [1]_:

        min  tr(F'LF) + α (||XW - F||² + β ||W||_{2,1}) + ½γ ||F'F - I||²,   F ≥ 0,

    L being the normalised Laplacian. The score of a feature is the length of its row of W.

    Parameters
    ----------
    %(n_clusters, n_features_to_select)s
    alpha : float, default=1.0
        α, weight of the regression against the graph. While γ freezes F it acts
        through the stopping rule alone.
    beta : float or "auto", default="auto"
        β, row sparsity. From 2 max_j ||x_j'F|| on, all weights vanish (there is a warning); "auto"
        is half of that, for the first labels. Small values keep one feature of a redundant group,
        and in wide tables fit the noise of the labels.
    orthogonality : float, default=1e8
        γ. The published value practically freezes the labels at their start, so that NDFS is a
        group lasso on the first clustering. With values up to 1e6 the first F is softened, and
        labels do move once γ is of the order of the other terms (1 to 10); far below them F itself
        vanishes (there is a warning).
    update : {"safe", "paper"}, default="safe"
        Label step. "safe" minimises an upper bound of the objective, which therefore never rises.
        "paper" is the published rule; it can make F negative, and the objective rise.
    %(init, affinity, n_neighbors, scale)s
        Published is "raw": the regression has no intercept, and lengths of rows of W depend on
        units.
    %(max_iter, tol, callback, verbose, random_state)s

    Attributes
    ----------
    %(coef_)s
    beta_ : float
        The β that was used.
    %(labels_, scores_, selection, objective_, outcome, n_clusters_, automatic, input)s

    See Also
    --------
    RSFS : The same with labels that may be wrong.
    JASFS : Exact row sparsity and labels that move.

    Notes
    -----
    Deviations from the paper and public code, and why. The label step is split by sign and
    minimises a majoriser; F starts on the normalised indicator, and its columns are not rescaled
    after each step, which would let the objective rise (``update="paper"`` does all of it as
    published, from a 0/1 indicator). Columns are standardised unless ``scale="raw"``.
    scikit-feature's NDFS subtracts a wrong Laplacian (degrees along the wrong axis); γ = 1e9 hides
    it there.

    Cost per iteration: O(n²d + n³) for d > n, O(d³ + ndc) for d ≤ n, plus O(nkc); memory
    O(nd + min(n, d)²). Where n and d both exceed 5000 the regression is solved by conjugate
    gradients instead, in a few products with the table and O((n + d)c) memory. The n × n matrix M
    of the paper is never formed: MF = LF + α(F - XW).

    When not to use it: if the first clustering is wrong, nothing corrects it (see γ).

    References
    ----------
    .. [1] Z. Li, Y. Yang, J. Liu, X. Zhou and H. Lu, "Unsupervised feature selection using
       nonnegative spectral analysis", AAAI 2012.

    Examples
    --------
    >>> from featsieve import NDFS
    >>> from featsieve.datasets import make_planted
    >>> planted = make_planted(n_samples=120, n_features=50, n_informative=10, random_state=0)
    >>> sieve = NDFS(n_clusters=4, n_features_to_select=10, random_state=0).fit(planted.X)
    >>> int((sieve.support_ & planted.informative).sum())
    10
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        n_features_to_select: int | float | str = 0.1,
        alpha: float = 1.0,
        beta: float | str = "auto",
        orthogonality: float = 1e8,
        update: str = "safe",
        init: Any = "spectral",
        affinity: Any = "heat",
        n_neighbors: int = 5,
        scale: str = "unit",
        max_iter: int = 200,
        tol: float = 1e-5,
        callback: Any = None,
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_features_to_select = n_features_to_select
        self.alpha = alpha
        self.beta = beta
        self.orthogonality = orthogonality
        self.update = update
        self.init = init
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.callback = callback
        self.verbose = verbose
        self.random_state = random_state

    def _fit(self, X: Any) -> None:
        """Find pseudo-labels and the features that predict them."""
        operator = self._operator(X)
        n_selected = self._n_to_select()
        n_clusters = self._count_clusters(X)
        random_state = check_random_state(self.random_state)
        self._progress.step("finding the first labels")
        S = sample_graph(operator, self.affinity, n_neighbors=self.n_neighbors)
        labels, given = first_labels(
            self.init, X, operator, n_clusters, graph=S, random_state=random_state
        )
        self.beta_ = resolve_penalty(self.beta, operator, normalised_indicator(labels, n_clusters))
        problem = NDFSProblem(
            operator,
            laplacian=normalised_laplacian(S),
            alpha=self.alpha,
            beta=self.beta_,
            orthogonality=self.orthogonality,
        )
        F = (
            first_label_matrix(labels, n_clusters, orthogonality=self.orthogonality)
            if self.update == "safe"
            else indicator(labels, n_clusters)
        )
        self._progress.step(f"labels and features in turn, at most {self.max_iter} times")
        solution = solve_ndfs(
            problem,
            F,
            update=self.update,
            max_iter=self.max_iter,
            tol=self.tol,
            callback=self._progress.watch(self.callback),
        )
        state = solution.state
        self._set_outcome(solution)
        warned = warn_large_penalty("beta", self.beta_, operator, state.F)
        labels = label_of_row(state.F, to_numpy(state.fitted))
        self.labels_ = labels if given else by_first_sample(labels)
        self._set_weights(operator, state.W, n_selected, warned=warned)

    def _check_parameters(self) -> None:
        """Refuse values that cannot be meant."""
        check_option("update", self.update, UPDATES)
        check_number("alpha", self.alpha, low=0.0, strict=True)
        check_auto_number("beta", self.beta, low=0.0)
        check_number("orthogonality", self.orthogonality, low=0.0)
        check_number("n_neighbors", self.n_neighbors, low=1, integer=True)
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_number("tol", self.tol, low=0.0)
        check_callback(self.callback)


@dataclass(frozen=True)
class NDFSProblem:
    """What NDFS minimises."""

    operator: DataOperator
    laplacian: sp.csr_array
    alpha: float
    beta: float
    orthogonality: float
    form: str = "auto"  # of the regression: see ReweightedRidge

    def objective(self, state: "NDFSState") -> float:
        """Return tr(F'LF) + alpha (||XW - F||^2 + beta ||W||_{2,1}) + gamma/2 ||F'F - I||^2."""
        if state.W is None:
            return float("inf")
        F = state.F
        regression = square(to_numpy(state.fitted) - F) + self.beta * smoothed_norm(state.W)
        penalty = 0.5 * self.orthogonality * orthogonality_gap(F)
        return smoothness(self.laplacian, F) + self.alpha * regression + penalty


@dataclass(frozen=True)
class NDFSState:
    """The variables of the alternation."""

    F: np.ndarray
    inverse: Array  # 1/q_j of the rows of W
    W: Array | None = None
    fitted: Array | None = None  # XW


def solve_ndfs(
    problem: NDFSProblem,
    F: np.ndarray,
    *,
    inverse: float = 1.0,
    update: str = "safe",
    max_iter: int = 200,
    tol: float = 1e-5,
    callback: Callback[NDFSState] | None = None,
) -> Solution[NDFSState]:
    """Run the alternation from the labels F and equal weights of the rows (D = I/inverse)."""
    operator, xp = problem.operator, problem.operator.xp
    ridge = ReweightedRidge(operator, problem.form)
    positive, negative = split_by_sign(problem.laplacian)
    alpha, gamma = problem.alpha, problem.orthogonality

    def start(problem: NDFSProblem) -> NDFSState:
        ones = xp.ones(operator.shape[1], dtype=xp.float64, device=operator.device)
        return NDFSState(F, inverse=inverse * ones)

    def update_weights(problem: NDFSProblem, state: NDFSState) -> NDFSState:
        target = xp.asarray(state.F, device=operator.device)
        W, fitted = ridge.solve(target, problem.beta, inverse=state.inverse)
        return replace(state, W=W, fitted=fitted, inverse=inverse_weights(W))

    def update_labels(problem: NDFSProblem, state: NDFSState) -> NDFSState:
        F, V = state.F, to_numpy(state.fitted)
        attraction = negative @ F + alpha * np.maximum(V, 0.0)
        repulsion = positive @ F + alpha * F + alpha * np.maximum(-V, 0.0)
        return replace(state, F=majorised_step(F, attraction, repulsion, gamma))

    def update_labels_as_published(problem: NDFSProblem, state: NDFSState) -> NDFSState:
        F, V = state.F, to_numpy(state.fitted)
        M_F = problem.laplacian @ F + alpha * (F - V)
        below = M_F + gamma * (F @ (F.T @ F)) + SMOOTHING
        return replace(state, F=unit_columns(F * (gamma * F + SMOOTHING) / below))

    def stop(state: NDFSState, history: Sequence[float]) -> Status | None:
        return Status.CONVERGED if relative_change(history) < tol else None

    label_step = update_labels if update == "safe" else update_labels_as_published
    solver = Alternation(
        start=start,
        blocks=(Block("weights", update_weights), Block("labels", label_step)),
        value=NDFSProblem.objective,
        stop=stop,
    )
    return run(solver, problem, max_iter=max_iter, callback=callback)
