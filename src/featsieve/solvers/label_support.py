"""Pseudo-labels and the few features that predict them, found in turn: what AUFS and UGFS share.

    min  sum_i phi(||W'z_i + b - f_i||) + alpha tr(F'LF) + lam ||W||_{2,0} + mu ||W||^2
         + nu/2 ||F'F - I||^2      over F >= 0,

with phi the adaptive loss, or the square where sigma is infinite. Given the samples' weights omega,
which make the weighted square a majoriser of phi, the best W on a support is a ridge regression on
columns centred with the weights; a new support is taken only if it beats the present one. F
descends by projected Newton steps. So the objective falls in every block.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.derived import WeightedOperator
from featsieve.arrays.namespace import to_numpy
from featsieve.graphs.affinity import smoothness
from featsieve.solvers.alternate import relative_change
from featsieve.solvers.block_problem import BlockProblem
from featsieve.solvers.nonnegative_labels import orthogonality_gap
from featsieve.solvers.projected_labels import LabelProblem, ProjectedNewton
from featsieve.solvers.protocol import Status, run
from featsieve.solvers.row_sparse import RowSparseRegression
from featsieve.solvers.supports import NONE, exchange_support, find_support
from featsieve.terms.adaptive_loss import adaptive_loss, adaptive_weights
from featsieve.terms.norms import square

# Changes of an objective below this share of ||F||^2 = c are rounding, however small it is itself.
ROUNDING = 1e-14


@dataclass(frozen=True)
class SupportState:
    """The variables of the alternation."""

    F: np.ndarray
    W: np.ndarray
    b: np.ndarray
    support: np.ndarray
    fitted: np.ndarray  # ZW + 1b'
    searched: np.ndarray | None = None  # the labels for which a support was last sought anew
    labels_converged: bool = True  # whether the last label step went to its end


@dataclass(frozen=True)
class SupportProblem(BlockProblem[SupportState]):
    """What is minimised."""

    operator: DataOperator
    laplacian: sp.csr_array
    alpha: float
    sigma: float = inf
    ridge: float = 0.0
    sparsity: float = 0.0
    n_features: int | None = None
    orthogonality: float = 0.0
    exchanges: bool = False  # whether to exchange features once forward selection has ended

    blocks = ("features", "labels")

    def start(self, F: np.ndarray) -> SupportState:
        """Return the labels F without any feature: W = 0, b the column means."""
        b = F.mean(axis=0)
        W = np.zeros((self.operator.shape[1], F.shape[1]))
        return SupportState(F, W, b, NONE, np.tile(b, (len(F), 1)))

    def objective(self, state: SupportState) -> float:
        """Return the objective with its ridge and the penalty for F'F = I."""
        residual = state.fitted - state.F
        if self.sigma == inf:
            loss = square(residual)
        else:
            loss = float(adaptive_loss(row_lengths(residual), self.sigma).sum())
        return (
            loss
            + self.alpha * smoothness(self.laplacian, state.F)
            + self.ridge * square(state.W)
            + self.sparsity * len(state.support)
            + 0.5 * self.orthogonality * orthogonality_gap(state.F)
        )

    def weights(self, state: SupportState) -> np.ndarray:
        """Return the weights of the samples' squared residuals."""
        if self.sigma == inf:
            return np.ones(len(state.F))
        return adaptive_weights(row_lengths(state.fitted - state.F), self.sigma)

    def mean(self, F: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the column means with weights of the rows."""
        return F.mean(axis=0) if self.sigma == inf else (weights @ F) / weights.sum()

    def regression(self, F: np.ndarray, weights: np.ndarray) -> RowSparseRegression:
        """Return half the majoriser as a problem of W, with b eliminated by weighted centring."""
        operator, target = self.operator, F - self.mean(F, weights)
        if self.sigma != inf:
            operator = WeightedOperator(operator, operator.place(weights))
            target = np.sqrt(weights)[:, None] * target
        return RowSparseRegression(
            operator,
            operator.place(target),
            ridge=self.ridge,
            sparsity=0.5 * self.sparsity,
            n_features=self.n_features,
        )

    def status(self, state: SupportState, history: Sequence[float], tol: float) -> Status | None:
        """End where the objective hardly changes, or where the price pays for no feature."""
        if len(history) < 2:
            return None
        if len(state.support) == 0:
            return Status.STATIONARY
        rounding = abs(history[-1] - history[-2]) <= ROUNDING * state.F.shape[1]
        done = state.labels_converged and (rounding or relative_change(history) < tol)
        return Status.CONVERGED if done else None

    def update_features(self, state: SupportState) -> SupportState:
        """Find a support and its W and b for the weighted squared loss.

        With exchanges, a support is sought anew only once the labels have moved.
        """
        operator, searched = self.operator, state.searched
        weights = self.weights(state)
        regression = self.regression(state.F, weights)
        if self.exchanges:
            fresh = searched is None
            if searched is not None:
                fresh = square(state.F - searched) > defaults.LABELS_MOVED * square(searched)
            support = exchange_support(regression, known=state.support, fresh=fresh)
            searched = state.F if fresh else searched
        else:
            support, _ = find_support(regression, known=state.support)
        W = regression.weights(support)
        image = to_numpy(operator.matmul(operator.place(W), live=operator.place(support)))
        b = self.mean(state.F - image, weights)
        return replace(state, W=W, b=b, support=support, fitted=image + b, searched=searched)

    def update_labels(self, state: SupportState) -> SupportState:
        """Minimise the majoriser of the objective over F."""
        weights = self.weights(state)
        A = sp.csr_array(sp.diags_array(weights) + self.alpha * self.laplacian)
        linear = weights[:, None] * state.fitted
        step = LabelProblem(A, linear, self.orthogonality)
        solution = run(ProjectedNewton(state.F), step, max_iter=defaults.MAX_LABEL_STEPS)
        return replace(state, F=solution.state.F, labels_converged=solution.status.success)


def row_lengths(R: np.ndarray) -> np.ndarray:
    """Return the lengths of the rows."""
    return np.sqrt(np.einsum("ij,ij->i", R, R))
