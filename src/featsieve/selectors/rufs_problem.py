"""What RUFS minimises, and the steps that never raise it.

    J = sum_i ||x_i - g_i F|| + nu tr(G'LG) + alpha sum_i ||z_i W - g_i|| + beta sum_j ||w_j||
        + zeta/4 ||G'G - I||^2 + mu sum_il g_il + phi sum_j ||F_.j||,      G >= 0, F >= 0,

z_i being samples as the regression sees them, x_i the same with columns shifted to minimum 0. All
lengths are smoothed, sqrt(||.||^2 + small), so that J has a gradient and its majorisers no pole.
In the code the labels G are ``state.F``, as in the other methods, and F' is ``state.basis``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.arrays.derived import ShiftedTable
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.graphs.affinity import smoothness, split_by_sign
from featsieve.selectors.label_regression import LabelRegression, LabelState
from featsieve.solvers.alternate import relative_change
from featsieve.solvers.nonnegative_labels import (
    fixed_length_step,
    majorised_step,
    orthogonality_gap,
)
from featsieve.solvers.reweighted_ridge import ReweightedRidge
from featsieve.terms.row_shrinkage import inverse_weights, smoothed_norm
from featsieve.terms.row_sparsity import row_norms

# Squares of the lengths below which a residual counts as zero: of the regression, whose targets are
# of order 1, and of the reconstruction, relative to the samples' mean squared length. The latter
# comes out of a difference of squares, which in float32 keeps fewer digits.
REGRESSION = 1e-12
RECONSTRUCTION = {"float32": 1e-6, "float64": 1e-12}


@dataclass(frozen=True)
class RUFSState(LabelState):
    """The variables, with the products of the table that belong to them."""

    basis: Any = None  # F', d x c
    images: Any = None  # XF', n x c
    before: float = 0.0  # the terms with W where the iteration began


@dataclass(frozen=True, kw_only=True)
class RUFSProblem(LabelRegression[RUFSState]):
    """J by majorisation: every block minimises an upper bound, so that J never rises."""

    table: ShiftedTable  # X; the operator is Z
    laplacian: sp.csr_array
    nu: float
    alpha: float
    beta: float
    orthogonality: float  # zeta
    label_penalty: float  # mu
    basis_penalty: float  # phi

    blocks = ("weights", "labels", "basis")

    def start(self, F: np.ndarray) -> RUFSState:
        """Return labels with their ridge regression and the (scaled) means of their clusters."""
        ridge = ReweightedRidge(self.operator, self.form)
        W, fitted = ridge.solve(self.on_device(F), self.beta / self.alpha, inverse=self.ones)
        # (G'G)^(-1) G'X where columns of G do not overlap
        basis = np.maximum(self.table.rmatmul(F / np.maximum(row_norms(F.T), 1e-300)), 0.0)
        return RUFSState(
            F, inverse_weights(W), W, to_numpy(fitted), basis, self.table.matmul(basis)
        )

    # Terms ------------------------------------------------------------------------------------

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

    def reconstruction_value(self, G: np.ndarray, basis: np.ndarray, images: np.ndarray) -> float:
        """Return the terms of J that contain F."""
        error = float(np.sum(self.reconstruction_lengths(G, basis, images)))
        return error + self.basis_penalty * float(np.sum(self.basis_lengths(basis)))

    def regression_value(self, G: np.ndarray, W: Array, fitted: np.ndarray) -> float:
        """Return the terms of J that contain W."""
        error = float(np.sum(self.regression_lengths(G, fitted)))
        return self.alpha * error + self.beta * smoothed_norm(W)

    def label_value(self, G: np.ndarray) -> float:
        """Return the terms of J that contain nothing but G."""
        return (
            self.nu * smoothness(self.laplacian, G)
            + 0.25 * self.orthogonality * orthogonality_gap(G)
            + self.label_penalty * float(np.sum(G))
        )

    def value(self, state: RUFSState) -> float:
        """Return J."""
        return (
            self.reconstruction_value(state.F, state.basis, state.images)
            + self.regression_value(state.F, state.W, state.fitted)
            + self.label_value(state.F)
        )

    # Steps ------------------------------------------------------------------------------------

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
        return self.regress(state, state.F, rho, sample_weights=self.on_device(q))

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

    @cached_property
    def signs(self) -> tuple[sp.csr_array, sp.csr_array]:
        """The positive and the negative part of the Laplacian."""
        return split_by_sign(self.laplacian)

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

    def converged(self, state: RUFSState, history: Sequence[float], tol: float) -> bool:
        """Say whether neither J nor its part with W, which is often far smaller, changes."""
        after = self.regression_value(state.F, state.W, state.fitted)
        return max(relative_change(history), relative_change((state.before, after))) < tol
