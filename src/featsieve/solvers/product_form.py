"""The inverse that a row-sparse projection needs, by conjugate gradients: products alone.

With N = E^(1/2) M E^(1/2) / gamma, M = Z'LZ and E = diag(e) (see sparse_projection.py),

    gamma (M + gamma E^(-1))^(-1) = E^(1/2) (I + N)^(-1) E^(1/2),

and a product with I + N takes two with the table and one with L, all sparse where these are. After
a few steps of reweighting nearly all e_j are tiny. The preconditioner inverts the block of the
other, live rows A and leaves the rest alone: diag((I + N_AA)^(-1), I). As N is positive
semidefinite, the preconditioned matrix has a condition number of at most (1 + r)^2,

    r = sqrt(delta) + delta,   delta = ||N_BB|| <= sum_{j in B} N_jj,   B the rows not in A,

so that t steps reduce the error to 2 (r/(2 + r))^t: about six for fifteen digits in late steps.
Without live rows the condition number is at most 1 + ||N||.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from featsieve.arrays import DataOperator
from featsieve.arrays.leading_eigenvectors import TOLERANCE, leading_eigenvectors
from featsieve.arrays.namespace import Array, sparse_product, to_numpy
from featsieve.solvers.conjugate_gradients import conjugate_gradients

# Products with a float32 table carry no more digits than this.
SINGLE_TOLERANCE = 1e-6
# The residual of a solve, relative to the tolerance of Lanczos.
SHARE_OF_TOLERANCE = 0.01
MAX_STEPS = 1000
# Live rows are those of the largest N_jj, until the others sum to this, but at most so many, nor
# more than this share of the smaller side of the table.
DEAD = 1e-2
MOST_LIVE, LARGEST_SHARE = 1000, 1 / 3


class TableForm:
    """M through products with the table and L."""

    def __init__(self, operator: DataOperator, L: sp.csr_array) -> None:
        self.operator, self.xp, self.L = operator, operator.xp, L
        single = operator.dtype == self.xp.float32
        self.tolerance = SINGLE_TOLERANCE if single else TOLERANCE

    def scatter(self, W: Array) -> float:
        """Return tr((ZW)'L(ZW))."""
        fitted = self.operator.matmul(W)
        return float(self.xp.sum(fitted * self.smoothed(fitted)))

    def leading(
        self, inverse: Array, gamma: float, *, start: Array, count: int
    ) -> tuple[np.ndarray, Array]:
        """Return the largest eigenvalues of gamma (M + gamma E^(-1))^(-1), and eigenvectors."""
        raise NotImplementedError

    @cached_property
    def smoothed(self) -> Callable[[Array], Array]:
        """The function Y -> LY."""
        return sparse_product(self.L, self.operator.inverse_scale)


class ProductForm(TableForm):
    """The inverse through conjugate gradients; no matrix is larger than the live block."""

    def leading(
        self, inverse: Array, gamma: float, *, start: Array, count: int
    ) -> tuple[np.ndarray, Array]:
        """Run Lanczos on E^(1/2) (I + N)^(-1) E^(1/2)."""
        root = self.xp.sqrt(inverse)[:, None]
        product, precondition = self.system(self.live_rows(inverse, gamma), inverse, gamma)
        accuracy = SHARE_OF_TOLERANCE * self.tolerance

        def apply(v: Array) -> Array:
            found, _ = conjugate_gradients(
                product, precondition, root * v, tol=accuracy, max_steps=MAX_STEPS
            )
            return root * found

        return leading_eigenvectors(
            apply, start, count, n_guards=int(count > 1), tolerance=self.tolerance
        )

    def system(
        self, live: np.ndarray, inverse: Array, gamma: float
    ) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
        """Return the products with I + N, and with the preconditioner."""
        operator, xp = self.operator, self.xp
        root = xp.sqrt(inverse / safe_gamma(gamma, to_numpy(inverse) * self.roughness))[:, None]
        rows = xp.asarray(live, device=operator.device)
        Z = operator.columns(rows) * xp.take(root, rows, axis=0).T
        block = Z.T @ self.smoothed(Z)
        eye = xp.eye(len(live), dtype=xp.float64, device=operator.device)
        block = xp.linalg.inv(eye + 0.5 * (block + block.T))

        def product(v: Array) -> Array:
            return v + root * operator.rmatmul(self.smoothed(operator.matmul(root * v)))

        # The place of a row in the block; behind its end, where there is a zero, for the others.
        place = np.full(operator.shape[1], len(live))
        place[live] = np.arange(len(live))
        inside, place = operator.place(place < len(live))[:, None], operator.place(place)

        def precondition(r: Array) -> Array:
            solved = xp.concat([block @ xp.take(r, rows, axis=0), xp.zeros_like(r[:1, :])], axis=0)
            return xp.where(inside, xp.take(solved, place, axis=0), r)

        return product, precondition

    def live_rows(self, inverse: Array, gamma: float) -> np.ndarray:
        """Return the rows whose block the preconditioner inverts; none where that is no gain."""
        diagonal = to_numpy(inverse) * self.roughness
        diagonal = diagonal / safe_gamma(gamma, diagonal)
        order = np.argsort(-diagonal, kind="stable")
        # left[q]: the sum of N_jj over all rows but the q largest
        left = np.append(np.cumsum(diagonal[order][::-1])[::-1], 0.0)
        most = min(MOST_LIVE, int(LARGEST_SHARE * min(self.operator.shape)))
        count = min(int(np.argmax(left <= DEAD)), most)
        r = np.sqrt(left[count]) + left[count]
        return np.sort(order[:count]) if (1.0 + r) ** 2 < 1.0 + left[0] else order[:0]

    @cached_property
    def roughness(self) -> np.ndarray:
        """The diagonal of M."""
        return np.maximum(to_numpy(self.operator.column_forms(self.L)), 0.0)


def safe_gamma(gamma: float, diagonal: np.ndarray) -> float:
    """Return gamma, or what rounding would swallow of a matrix with this diagonal if more."""
    floor = len(diagonal) * np.finfo(np.float64).eps * float(diagonal.max(initial=0.0))
    return max(gamma, floor)
