"""RSFS: features that predict spectral pseudo-labels of which some entries may be wrong."""

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
    row_normalised_laplacian,
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
)
from featsieve.solvers.protocol import Callback, Solution, Status, run
from featsieve.solvers.reweighted_ridge import ReweightedRidge
from featsieve.terms.orthogonality import indicator, normalised_indicator
from featsieve.terms.regression import square
from featsieve.terms.row_shrinkage import SMOOTHING, inverse_weights, smoothed_norm
from featsieve.terms.row_sparsity import row_norms
from featsieve.validation import (
    check_auto_number,
    check_callback,
    check_number,
    check_option,
)

UPDATES = ("safe", "paper")


@fill_doc
class RSFS(UnsupervisedSelector):
    """Robust spectral feature selection.

    Pseudo-labels F that are smooth on the neighbour graph, non-negative and (nearly) orthonormal,
    and a row-sparse regression W that predicts them up to sparse errors Z, found in turn [1]_:

        min  tr(F'LF) + α ||F - XW - Z||² + β ||W||_{2,1} + ν ||Z||_1 + ½γ ||F'F - I||²,   F ≥ 0.

    Minimised over Z, the middle terms are a Huber loss of the residuals: quadratic up to ν/(2α),
    linear beyond, so that a sample with a wrong label pulls less. L is the Laplacian of the graph
    with rows summing to one. The score of a feature is the length of its row of W.

    Parameters
    ----------
    %(n_clusters, n_features_to_select)s
    alpha : float, default=1.0
        α, weight of the regression against the graph. While γ freezes F, only β/α and ν/α matter.
    beta : float or "auto", default="auto"
        β, row sparsity. From 2α max_j ||x_j'C|| on, C being F clipped at ±ν/(2α), all weights
        vanish (there is a warning); "auto" is half of that, for the first labels.
    nu : float or "auto", default="auto"
        ν, price of an error. With ν/(2α) above the largest residual all of Z is 0 and RSFS is
        NDFS; the smaller ν, the more of the labels is taken for errors, and the weights vanish
        with it. "auto" is α sqrt(c/n): errors begin at half the mean height of a label in F.
    orthogonality : float, default=1e8
        γ. The published value practically freezes the labels at their start. With values up to
        1e6 the first F is softened, and labels do move once γ is of the order of the other terms.
    update : {"safe", "paper"}, default="safe"
        Label step. "safe" minimises an upper bound of the objective, which therefore never rises.
        "paper" is the published step, objective and stopping rule, from a 0/1 indicator.
    %(init, affinity, n_neighbors, scale)s
        Published is "raw": the regression has no intercept, and lengths of rows of W depend on
        units.
    %(max_iter)s
        (Published: 20.)
    %(tol)s
        (Published: 1e-3.)
    %(callback, verbose, random_state)s

    Attributes
    ----------
    %(coef_)s
    beta_, nu_ : float
        The β and ν that were used.
    noise_ : ndarray of shape (n_samples, n_clusters)
        Z, the errors of the labels; columns as in ``coef_``. Samples with long rows are those
        whose label the features contradict.
    %(labels_, scores_, selection)s
    objective_ : ndarray of shape (`n_iter_`,)
        The objective after every iteration (with ||w|| smoothed to sqrt(||w||² + 2.2e-16)); for
        ``update="paper"`` the published one, which penalises the lengths of the rows of F'F - I.
    %(outcome, n_clusters_, automatic, input)s

    See Also
    --------
    NDFS : The same without errors (ν → ∞), with another Laplacian.
    RUFS : Robust in the samples instead of in single entries of the labels.

    Notes
    -----
    Deviations from the paper and public code, and why. The label step minimises a majoriser; F
    starts on the normalised indicator, and its columns are not rescaled after each step, which
    would let the objective rise. The penalty is the squared Frobenius norm that the step is
    derived from. The authors' program records the lengths of the rows of F'F - I instead, and
    stops at the first increase; ``update="paper"`` does all of that, from the 0/1 indicator.
    Columns are standardised unless ``scale="raw"``. The authors cluster the eigenvectors of L for
    the first labels; here it is normalised spectral clustering. Their abstract speaks of a robust
    local-learning Laplacian; their program has the plain row-normalised graph, as here.

    Cost per iteration: O(n²d + n³) for d > n, O(d³ + ndc) for d ≤ n, plus O(nkc); memory
    O(nd + min(n, d)²).

    When not to use it: if most of the first clustering is wrong, Z cannot tell; and with a large
    ν it is only a slower way to say NDFS.

    References
    ----------
    .. [1] L. Shi, L. Du and Y.-D. Shen, "Robust spectral learning for unsupervised feature
       selection", ICDM 2014.

    Examples
    --------
    >>> from featsieve import RSFS
    >>> from featsieve.datasets import make_planted
    >>> planted = make_planted(n_samples=120, n_features=50, n_informative=10, random_state=0)
    >>> sieve = RSFS(n_clusters=4, n_features_to_select=10, random_state=0).fit(planted.X)
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
        nu: float | str = "auto",
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
        self.nu = nu
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
        """Find pseudo-labels, their errors, and the features that predict them."""
        operator = self._operator(X)
        n_selected = self._n_to_select()
        n_clusters = self._count_clusters(X)
        random_state = check_random_state(self.random_state)
        self._progress.step("finding the first labels")
        S = sample_graph(operator, self.affinity, n_neighbors=self.n_neighbors)
        labels, given = first_labels(
            self.init, X, operator, n_clusters, graph=S, random_state=random_state
        )
        self.nu_ = self._resolve_nu(X.shape[0], n_clusters)
        slope = self._slope(normalised_indicator(labels, n_clusters))
        self.beta_ = resolve_penalty(self.beta, operator, slope)
        problem = RSFSProblem(
            operator,
            laplacian=row_normalised_laplacian(S),
            alpha=self.alpha,
            beta=self.beta_,
            nu=self.nu_,
            orthogonality=self.orthogonality,
        )
        F = (
            first_label_matrix(labels, n_clusters, orthogonality=self.orthogonality)
            if self.update == "safe"
            else indicator(labels, n_clusters)
        )
        self._progress.step(f"labels and features in turn, at most {self.max_iter} times")
        solution = solve_rsfs(
            problem,
            F,
            update=self.update,
            max_iter=self.max_iter,
            tol=self.tol,
            callback=self._progress.watch(self.callback),
        )
        state = solution.state
        self._set_outcome(solution)
        warned = warn_large_penalty(
            "beta", self.beta_, operator, state.F, slope=self._slope(state.F)
        )
        labels = label_of_row(state.F, state.fitted)
        self.labels_ = labels if given else by_first_sample(labels)
        self.noise_ = state.Z
        self._set_weights(operator, state.W, n_selected, warned=warned)

    def _resolve_nu(self, n_samples: int, n_clusters: int) -> float:
        """Return nu as a number; "auto" is alpha times the height of a label, 1/sqrt(n/c)."""
        if isinstance(self.nu, str):
            return self.alpha * float(np.sqrt(n_clusters / n_samples))
        return float(self.nu)

    def _slope(self, F: np.ndarray) -> np.ndarray:
        """Return half the slope of the Huber loss at W = 0, the best W once beta reaches it."""
        threshold = self.nu_ / (2.0 * self.alpha)
        return self.alpha * np.clip(F, -threshold, threshold)

    def _check_parameters(self) -> None:
        """Refuse values that cannot be meant."""
        check_option("update", self.update, UPDATES)
        check_number("alpha", self.alpha, low=0.0, strict=True)
        check_auto_number("beta", self.beta, low=0.0)
        check_auto_number("nu", self.nu, low=0.0)
        check_number("orthogonality", self.orthogonality, low=0.0)
        check_number("n_neighbors", self.n_neighbors, low=1, integer=True)
        check_number("max_iter", self.max_iter, low=1, integer=True)
        check_number("tol", self.tol, low=0.0)
        check_callback(self.callback)


@dataclass(frozen=True)
class RSFSProblem:
    """What RSFS minimises."""

    operator: DataOperator
    laplacian: sp.csr_array
    alpha: float
    beta: float
    nu: float
    orthogonality: float
    form: str = "auto"  # of the regression: see ReweightedRidge

    @property
    def threshold(self) -> float:
        """nu/(2 alpha): residuals up to here are not errors."""
        return self.nu / (2.0 * self.alpha)

    def objective(self, state: "RSFSState") -> float:
        """Return the objective, with the squared Frobenius norm as penalty."""
        return (
            self._without_penalties(state)
            + self.beta * smoothed_norm(state.W)
            + 0.5 * self.orthogonality * orthogonality_gap(state.F)
        )

    def published_objective(self, state: "RSFSState") -> float:
        """Return what the authors' program records: gamma/2 times the row lengths of F'F - I."""
        gap = state.F.T @ state.F - np.eye(state.F.shape[1])
        return (
            self._without_penalties(state)
            + self.beta * float(np.sum(np.sqrt(row_norms(to_numpy(state.W)))))
            + 0.5 * self.orthogonality * float(np.sum(np.sqrt(row_norms(gap))))
        )

    def _without_penalties(self, state: "RSFSState") -> float:
        F, Z = state.F, state.Z
        loss = square(F - state.fitted - Z)
        noise = float(np.sum(np.abs(Z)))
        return smoothness(self.laplacian, F) + self.alpha * loss + self.nu * noise


@dataclass(frozen=True)
class RSFSState:
    """The variables of the alternation."""

    F: np.ndarray
    Z: np.ndarray
    W: Array
    fitted: np.ndarray  # XW
    inverse: Array  # 1/q_j of the rows of W


def solve_rsfs(
    problem: RSFSProblem,
    F: np.ndarray,
    *,
    update: str = "safe",
    max_iter: int = 200,
    tol: float = 1e-5,
    callback: Callback[RSFSState] | None = None,
) -> Solution[RSFSState]:
    """Run the alternation from the labels F, Z = 0, W = 0 and equal weights of the rows of W."""
    operator, xp = problem.operator, problem.operator.xp
    ridge = ReweightedRidge(operator, problem.form)
    positive, negative = split_by_sign(problem.laplacian)
    alpha, gamma = problem.alpha, problem.orthogonality

    def start(problem: RSFSProblem) -> RSFSState:
        d, c = operator.shape[1], F.shape[1]
        W = xp.zeros((d, c), dtype=xp.float64, device=operator.device)
        ones = xp.ones(d, dtype=xp.float64, device=operator.device)
        zeros = np.zeros_like(F)
        return RSFSState(F, Z=zeros, W=W, fitted=zeros, inverse=ones)

    def update_weights(problem: RSFSProblem, state: RSFSState) -> RSFSState:
        target = xp.asarray(state.F - state.Z, device=operator.device)
        W, fitted = ridge.solve(target, problem.beta / alpha, inverse=state.inverse)
        return replace(state, W=W, fitted=to_numpy(fitted), inverse=inverse_weights(W))

    def update_noise(problem: RSFSProblem, state: RSFSState) -> RSFSState:
        # argmin alpha (r - z)^2 + nu |z|: the residual, soft-thresholded
        return replace(state, Z=soft_threshold(state.F - state.fitted, problem.threshold))

    def pulls(state: RSFSState) -> tuple[np.ndarray, np.ndarray]:
        """Return the terms that raise and that lower the entries of F, without the penalty."""
        F, target = state.F, state.fitted + state.Z
        attraction = negative @ F + alpha * np.maximum(target, 0.0)
        repulsion = positive @ F + alpha * F + alpha * np.maximum(-target, 0.0)
        return attraction, repulsion

    def update_labels(problem: RSFSProblem, state: RSFSState) -> RSFSState:
        return replace(state, F=majorised_step(state.F, *pulls(state), gamma))

    def update_labels_as_published(problem: RSFSProblem, state: RSFSState) -> RSFSState:
        return replace(state, F=published_step(state.F, *pulls(state), gamma))

    def converged(state: RSFSState, history: Sequence[float]) -> Status | None:
        return Status.CONVERGED if relative_change(history) < tol else None

    def stop_as_published(state: RSFSState, history: Sequence[float]) -> Status | None:
        # (old - new)/new < tol, with its sign: an increase ends the run too
        ends = len(history) > 1 and history[-2] - history[-1] < tol * history[-1]
        return Status.CONVERGED if ends else None

    safe = update == "safe"
    solver = Alternation(
        start=start,
        blocks=(
            Block("weights", update_weights),
            Block("noise", update_noise),
            Block("labels", update_labels if safe else update_labels_as_published),
        ),
        value=RSFSProblem.objective if safe else RSFSProblem.published_objective,
        stop=converged if safe else stop_as_published,
    )
    return run(solver, problem, max_iter=max_iter, callback=callback)


def soft_threshold(R: np.ndarray, threshold: float) -> np.ndarray:
    """Return sign(r) max(|r| - threshold, 0)."""
    return R - np.clip(R, -threshold, threshold)


def published_step(
    F: np.ndarray, attraction: np.ndarray, repulsion: np.ndarray, orthogonality: float
) -> np.ndarray:
    """Return F sqrt(a/(b + q)) with columns of unit length: the authors' label step."""
    above = attraction + orthogonality * F + SMOOTHING
    below = repulsion + orthogonality * (F @ (F.T @ F)) + SMOOTHING
    F = F * np.sqrt(above / below)
    return F / np.sqrt(np.einsum("ij,ij->j", F, F) + SMOOTHING)
