"""What RUFS minimises, and the state that its solvers pass on.

    J = sum_i ||x_i - g_i F|| + nu tr(G'LG) + alpha sum_i ||z_i W - g_i|| + beta sum_j ||w_j||
        + zeta/4 ||G'G - I||^2 + mu sum_il g_il + phi sum_j ||F_.j||,      G >= 0, F >= 0,

z_i being samples as the regression sees them, x_i the same with columns shifted to minimum 0. All
lengths are smoothed, sqrt(||.||^2 + small), so that J has a gradient and its majorisers no pole.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from featsieve.arrays import DataOperator
from featsieve.arrays.derived import ShiftedTable
from featsieve.arrays.namespace import Array
from featsieve.graphs.affinity import smoothness
from featsieve.solvers.nonnegative_labels import orthogonality_gap
from featsieve.terms.row_shrinkage import smoothed_norm
from featsieve.terms.row_sparsity import row_norms

# Squares of the lengths below which a residual counts as zero: of the regression, whose targets are
# of order 1, and of the reconstruction, relative to the samples' mean squared length. The latter
# comes out of a difference of squares, which in float32 keeps fewer digits.
REGRESSION = 1e-12
RECONSTRUCTION = {"float32": 1e-6, "float64": 1e-12}


@dataclass(frozen=True)
class RUFSState:
    """The variables, with the products of the table that belong to them."""

    G: np.ndarray  # labels, n x c
    basis: np.ndarray  # F', d x c
    images: np.ndarray  # XF', n x c
    W: Array  # d x c
    fitted: np.ndarray  # ZW, n x c


@dataclass(frozen=True)
class RUFSProblem:
    """J, its parts, and the residual lengths that weight the samples."""

    operator: DataOperator  # Z
    table: ShiftedTable  # X
    laplacian: sp.csr_array
    nu: float
    alpha: float
    beta: float
    orthogonality: float  # zeta
    label_penalty: float  # mu
    basis_penalty: float  # phi
    form: str = "auto"  # of the regression: see ReweightedRidge

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

    def objective(self, state: RUFSState) -> float:
        """Return J."""
        return (
            self.reconstruction_value(state.G, state.basis, state.images)
            + self.regression_value(state.G, state.W, state.fitted)
            + self.label_value(state.G)
        )
