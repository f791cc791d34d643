"""RUFS: features that predict cluster labels, with losses that outlying samples cannot dominate.

The regression sees samples z_i, the reconstruction x_i, the same with columns shifted to minimum 0.
All lengths are smoothed, sqrt(||.||^2 + small), so that J has a gradient and its majorisers no
pole. In the code the labels G are ``state.F``, as in the other methods, and F' is ``state.basis``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.derived import ShiftedTable, shifted_to_zero
from featsieve.arrays.namespace import Array
from featsieve.base import estimator
from featsieve.graphs.affinity import smoothness
from featsieve.graphs.local_models import local_learning_laplacian
from featsieve.selectors.common import Start
from featsieve.selectors.label_regression import (
    LabelState,
    NonnegativeLabelSelector,
    NonnegativeRegression,
)
from featsieve.solvers.alternate import relative_change
from featsieve.solvers.nonnegative_labels import (
    fixed_length_step,
    majorised_step,
    orthogonality_gap,
    unit_columns,
)
from featsieve.solvers.protocol import Status
from featsieve.terms.norms import row_norms, smoothed_norm
from featsieve.validation import nonnegative

# Squares of the lengths below which a residual counts as zero: of the regression, whose targets are
# of order 1, and of the reconstruction, relative to the samples' mean squared length. The latter
# comes out of a difference of squares, which in float32 keeps fewer digits.
REGRESSION = 1e-12
RECONSTRUCTION = {"float32": 1e-6, "float64": 1e-12}


@estimator
class RUFS(NonnegativeLabelSelector):
    """Robust unsupervised feature selection.

    Non-negative labels G that (nearly) orthonormal clusters and their basis F reconstruct the table
    with, that neighbours predict, and that a row-sparse regression W predicts from the features,
    found in turn [1]_:

        min  ||X - GF||_{2,1} + ν tr(G'LG) + α ||XW - G||_{2,1} + β ||W||_{2,1}
             + ¼ζ ||G'G - I||² + μ ||G||_1 + φ Σ_j ||F_.j||,      G ≥ 0, F ≥ 0.

    tr(G'LG) is the error of predicting labels from those of the neighbours by kernel ridge
    regression; μ = 0.1 and φ = 1e-4 are not in the paper's problem, but in its program. The l2,1
    norm sums the lengths of rows, of samples in both losses: a sample that fits badly counts with
    its distance, not with its square. The score of a feature is the length of its row of W.

    Parameters
    ----------
    %(n_clusters, n_features_to_select)s
    nu : float, default=1.0
        ν, weight of the neighbours. While ζ freezes G it acts through the stopping rule alone.
    alpha : float, default=1.0
        α, weight of the regression. Only β/α matters while ζ freezes G.
    beta : float or "auto", default="auto"
        β, row sparsity. From α max_j ||x_j'U|| on, U being G with rows of unit length, all weights
        vanish (there is a warning); "auto" is the share of that for the first labels which NDFS
        takes.
    orthogonality : float, default=1e7
        ζ. The published value practically freezes the labels at their start. With values up to 1e6
        the first G is softened, and labels do move once ζ is of the order of the other terms.
    %(init, affinity)s
        The graph is that of ``init="spectral"`` and of ``beta="auto"``; nothing else uses it.
    %(n_neighbors, scale)s
        Published is "raw": the regression has no intercept, and lengths of rows of W depend on
        units. The reconstruction by F ≥ 0 and G ≥ 0 needs non-negative numbers: it sees the columns
        shifted to minimum 0, or for "raw" as they are, where only positive entries can be fitted.
    %(max_iter)s
        (Published: 10.)
    tol : float, default=1e-5
        Relative change of the objective, and of its part with W alone, that ends them.
    %(callback, verbose, random_state)s
    %(constraints)s

    Attributes
    ----------
    %(coef_, beta_)s
    basis_ : ndarray of shape (n_clusters, `n_features_in_`)
        F, for the columns that the reconstruction sees.
    sample_weights_ : ndarray of shape (n_samples,)
        1/||x_i - g_iF||, scaled to at most 1: small for outlying samples.
    %(labels_, scores_, selection)s
    objective_ : ndarray of shape (`n_iter_`,)
        The objective after every iteration, with lengths smoothed to sqrt(||.||² + small).
    %(outcome, n_clusters_, automatic, input)s

    See Also
    --------
    RSFS : Robust in single entries of the labels instead of in samples.
    NDFS : Squared losses.

    Notes
    -----
    Deviations from the paper and public code, and why. The blocks are solved by reweighted least
    squares (W), multiplicative steps that minimise an upper bound (G, without and with the length
    of its columns held) and exact minimisation of one row after the other (F): the objective never
    rises, at the published ζ it ends lower, and the answer does not hang on the order of the
    samples, as it does where line searches decide when to stop. G starts with columns of unit
    length: from the 0/1 indicator of the public program the first line searches throw the labels
    away. Residuals are smoothed; there, a sample that is fitted exactly gives 0/0. Local learning
    uses the full kernel of the neighbours, with which the ridge regressions are positive definite;
    public code takes it from the sparse graph with zero diagonal, with which they are not.

    Cost per iteration: three regressions of O(n²d + n³) for d > n, O(nd² + d³) for d ≤ n, plus
    O(ndc); memory O(nd + min(n, d)²). Sparse tables stay sparse: the shift is a rank-one term.

    When not to use it: if the first clustering is wrong, nothing corrects it (see ζ). Its losses
    forgive samples that fit badly, not samples with extreme features, to which W can bend. And for
    n much larger than d its regressions, whose weights change, cost more than those of NDFS.

    References
    ----------
    .. [1] M. Qian and C. Zhai, "Robust unsupervised feature selection", IJCAI 2013.

    Examples
    --------
    %(example)s
    """

    nu: float = 1.0
    orthogonality: float = 1e7

    _checks: ClassVar = {**NonnegativeLabelSelector._checks, "nu": nonnegative}

    def _graph(self, operator: DataOperator) -> sp.csr_array | None:
        """Return the graph, if the first labels or the penalty need it."""
        spectral = isinstance(self.init, str) and self.init == "spectral"
        return super()._graph(operator) if spectral or isinstance(self.beta, str) else None

    def _problem(self, start: Start, F: np.ndarray) -> "RUFSProblem":
        """Return the objective."""
        operator = start.operator
        table = ShiftedTable(operator, np.zeros(operator.shape[1]))
        if self.scale != "raw":
            table = shifted_to_zero(operator, start.X)
        L = local_learning_laplacian(operator, n_neighbors=self.n_neighbors)
        return RUFSProblem(table=table, laplacian=L, nu=self.nu, **self._terms(start))

    def _slope(self, F: np.ndarray) -> np.ndarray:
        """Return half the slope of the loss at W = 0."""
        return 0.5 * self.alpha * unit_columns(F.T).T

    def _set_labels(self, start: Start, problem: Any, state: Any) -> tuple[Any, bool]:
        """Set the labels, their basis, and how well it fits the samples."""
        self.basis_ = state.basis.T
        lengths = problem.reconstruction_lengths(state.F, state.basis, state.images)
        self.sample_weights_ = lengths.min() / lengths
        return super()._set_labels(start, problem, state)


@dataclass(frozen=True)
class RUFSState(LabelState):
    """The variables, with the products of the table that belong to them."""

    basis: Any = None  # F', d x c
    images: Any = None  # XF', n x c
    before: float = 0.0  # the terms with W where the iteration began


@dataclass(frozen=True, kw_only=True)
class RUFSProblem(NonnegativeRegression[RUFSState]):
    """J by majorisation: every block minimises an upper bound, so that J never rises."""

    table: ShiftedTable  # X; the operator is Z
    nu: float
    label_penalty: float = defaults.RUFS_LABEL_PENALTY  # mu
    basis_penalty: float = defaults.RUFS_BASIS_PENALTY  # phi

    blocks = ("weights", "labels", "basis")

    def start(self, F: np.ndarray) -> RUFSState:
        """Return labels with their ridge regression and the (scaled) means of their clusters."""
        state = self.regress(RUFSState(F, self.ones), F, self.beta / self.alpha)
        # (G'G)^(-1) G'X where columns of G do not overlap
        basis = np.maximum(self.table.rmatmul(F / np.maximum(row_norms(F.T), 1e-300)), 0.0)
        return replace(state, basis=basis, images=self.table.matmul(basis))

    @cached_property
    def smoothing(self) -> float:
        """What is added to squared lengths in the units of the reconstructed table."""
        single = self.operator.dtype == self.operator.xp.float32
        share = RECONSTRUCTION["float32" if single else "float64"]
        return max(share * float(self.table.row_norms.mean()), np.finfo(np.float64).tiny)

    def reconstruction_lengths(
        self, G: np.ndarray, basis: np.ndarray, images: np.ndarray
    ) -> np.ndarray:
        """Return ||x_i - g_i F|| = sqrt(||x_i||^2 - 2 g_i.(XF')_i + g_i FF' g_i')."""
        inner = np.einsum("ij,ij->i", G, G @ (basis.T @ basis) - 2.0 * images)
        return np.sqrt(np.maximum(self.table.row_norms + inner, 0.0) + self.smoothing)

    def regression_lengths(self, G: np.ndarray, fitted: np.ndarray) -> np.ndarray:
        """Return ||z_i W - g_i||."""
        return np.sqrt(row_norms(fitted - G) + REGRESSION)

    def basis_lengths(self, basis: np.ndarray) -> np.ndarray:
        """Return ||F_.j||."""
        return np.sqrt(row_norms(basis) + self.smoothing)

    def regression_value(self, G: np.ndarray, W: Array, fitted: np.ndarray) -> float:
        """Return the terms of J that contain W."""
        error = float(np.sum(self.regression_lengths(G, fitted)))
        return self.alpha * error + self.beta * smoothed_norm(W)

    def value(self, state: RUFSState) -> float:
        """Return J."""
        G, basis = state.F, state.basis
        return (
            float(np.sum(self.reconstruction_lengths(G, basis, state.images)))
            + self.basis_penalty * float(np.sum(self.basis_lengths(basis)))
            + self.regression_value(G, state.W, state.fitted)
            + self.nu * smoothness(self.laplacian, G)
            + 0.25 * self.orthogonality * orthogonality_gap(G)
            + self.label_penalty * float(np.sum(G))
        )

    def update_weights(self, state: RUFSState) -> RUFSState:
        """Take a few reweighted steps."""
        before = self.regression_value(state.F, state.W, state.fitted)
        state = replace(state, before=before)
        for _ in range(defaults.RUFS_PASSES):
            trial = self.weights_step(state)
            value = self.regression_value(trial.F, trial.W, trial.fitted)
            if not value < before:
                break  # as good as rounding allows
            state, before = trial, value
        return state

    def weights_step(self, state: RUFSState) -> RUFSState:
        """Minimise alpha sum_i ||z_i W - g_i||^2/(2 r_i) + beta sum_j ||w_j||^2/e_j."""
        q = 0.5 / self.regression_lengths(state.F, state.fitted)
        rho = self.beta / self.alpha
        return self.regress(state, state.F, rho, sample_weights=self.operator.place(q))

    def update_labels(self, state: RUFSState) -> RUFSState:
        """Take a few majorised steps, each with one that trades length inside the columns of G.

        The second step, which the penalty cannot slow down, does not see what it does to overlaps
        of columns: it must lower J.
        """
        half = 0.5 * self.orthogonality  # zeta/4 ||G'G - I||^2 is half/2 ||G'G - I||^2
        for _ in range(defaults.RUFS_PASSES):
            state = replace(state, F=majorised_step(state.F, *self.pulls(state), half))
            trial = replace(state, F=fixed_length_step(state.F, *self.pulls(state)))
            state = trial if self.value(trial) < self.value(state) else state
        return state

    def pulls(self, state: RUFSState) -> tuple[np.ndarray, np.ndarray]:
        """Return what raises and what lowers the entries of G, without the penalty.

        The parts by sign of A = p FF' + nu L + alpha q I and B = p XF' + alpha q ZW - mu/2; p and q
        are half the inverse residuals.
        """
        positive, negative = self.signs
        G, images, fitted = state.F, state.images, state.fitted
        p = 0.5 / self.reconstruction_lengths(G, state.basis, images)[:, None]
        q = 0.5 * self.alpha / self.regression_lengths(G, fitted)[:, None]
        attraction = (
            p * np.maximum(images, 0.0) + self.nu * (negative @ G) + q * np.maximum(fitted, 0.0)
        )
        repulsion = (
            p * (G @ (state.basis.T @ state.basis) + np.maximum(-images, 0.0))
            + self.nu * (positive @ G)
            + q * (G + np.maximum(-fitted, 0.0))
            + 0.5 * self.label_penalty
        )
        return attraction, repulsion

    def update_basis(self, state: RUFSState) -> RUFSState:
        """Minimise sum_i p_i ||x_i - g_i F||^2 + phi sum_j ||F_.j||^2/(2 f_j), one row at a time.

        Row l, the others standing still, is max(0, (N - HF + diag(H)F)_l)/(H_ll + phi/(2f)) with
        N = G'PX and H = G'PG; all rows at once where the columns of G do not overlap.
        """
        G, basis = state.F, state.basis.copy()
        weighted = G * (0.5 / self.reconstruction_lengths(G, basis, state.images))[:, None]
        N, H = self.table.rmatmul(weighted), weighted.T @ G
        shrinkage = 0.5 * self.basis_penalty / self.basis_lengths(basis)
        for row in range(G.shape[1]):
            above = N[:, row] - basis @ H[:, row] + H[row, row] * basis[:, row]
            below = H[row, row] + shrinkage
            basis[:, row] = np.maximum(above, 0.0) / np.where(below > 0.0, below, 1.0)
        return replace(state, basis=basis, images=self.table.matmul(basis))

    def status(self, state: RUFSState, history: Sequence[float], tol: float) -> Status | None:
        """End where neither J nor its part with W, which is often far smaller, changes."""
        after = self.regression_value(state.F, state.W, state.fitted)
        change = max(relative_change(history), relative_change((state.before, after)))
        return Status.CONVERGED if change < tol else None
