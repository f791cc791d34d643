"""Weighted samples:  Z~ = diag(sqrt(w)) (Z - 1 m'),  m = Z'w / sum(w),  without forming it.

A least-squares problem with weighted samples and an intercept is an ordinary one in Z~: the
weighted means m are what the intercept removes. Both corrections are of rank one, so that every
product is one product of the operator underneath, dense or sparse.
"""

from functools import cached_property

import numpy as np
import scipy.sparse as sp

from featsieve.arrays.namespace import Array, to_numpy
from featsieve.arrays.operator import DataOperator

# A weighted spread below this share of the sum of squares it is the difference of is rounding.
NEGLIGIBLE = {"float32": 1e-6, "float64": 1e-14}


class WeightedOperator(DataOperator):
    """:class:`DataOperator` of another operator's table with weighted, re-centred samples.

    The columns keep the scale that the operator underneath gives them; ``inverse_scale`` is 1 and
    ``original_mean`` 0, because Z~ itself is the table here. ``center`` holds m.
    """

    base: DataOperator

    def __init__(self, base: DataOperator, weights: Array) -> None:
        self.weights = weights
        self.root = base.xp.sqrt(weights)
        super().__init__(base, center=False)

    def _set_table(self, X: DataOperator) -> None:
        self.base = X
        self.xp, self.device, self.dtype = X.xp, X.device, X.dtype
        self.n_stored = X.n_stored
        self.total = float(self.xp.sum(self.weights))
        self.center = X.rmatmul(self.weights[:, None])[:, 0] / self.total

    def _column_statistics(self) -> tuple[Array, Array]:
        # sum_i w_i (z_ij - m_j)^2 = z_j' diag(w) z_j - total m_j^2; the means of Z~ count as 0.
        xp = self.xp
        squares = self.base.column_forms(to_numpy(self.weights))
        spread = squares - self.total * self.center**2
        rounding = NEGLIGIBLE["float32" if self.dtype == xp.float32 else "float64"] * squares
        varies = xp.logical_and(self.base.varies, spread > rounding)
        return xp.zeros_like(spread), xp.where(varies, spread, xp.zeros_like(spread))

    def matmul(self, W: Array, *, live: Array | None = None) -> Array:
        """Return Z~ W; ``live`` may list the rows of W that are not zero."""
        shift = self.center @ W
        return self.root[:, None] * (self.base.matmul(W, live=live) - shift[None, :])

    def _dot(self, W: Array) -> Array:
        return self.matmul(W)

    def _tdot(self, R: Array) -> Array:
        R = self.root[:, None] * R
        return self.base.rmatmul(R) - (self.xp.sum(R, axis=0)[:, None] * self.center[None, :]).T

    def _dot_columns(self, indices: Array, W: Array) -> Array:
        return self.columns(indices) @ W

    def columns(self, indices: Array) -> Array:
        """Return Z~[:, indices]."""
        xp = self.xp
        centred = self.base.columns(indices) - xp.take(self.center, indices)[None, :]
        # As in the products: a column that does not vary is zero, not rounding.
        return self.root[:, None] * centred * xp.take(self.inverse_scale, indices)[None, :]

    def rows(self, start: int, stop: int) -> Array:
        """Return Z~[start:stop]."""
        centred = self.base.rows(start, stop) - self.center[None, :]
        return self.root[start:stop, None] * centred * self.inverse_scale[None, :]

    def row_products(self, start: int, stop: int) -> Array:
        """Return Z~[start:stop] Z~'."""
        a = self._along_center
        inner = self.base.row_products(start, stop) - a[start:stop, None] - a[None, :]
        inner = inner + self.xp.sum(self.center * self.center)
        return self.root[start:stop, None] * inner * self.root[None, :]

    @cached_property
    def _along_center(self) -> Array:
        """Z m, the part of every sample along the centre."""
        return self.base.matmul(self.center[:, None])[:, 0]

    def weighted_gram(self, weights: Array | None) -> Array:
        """Return Z~' diag(p) Z~ = Z'PZ - s m' - m s' + sum(p) m m' with P = diag(p w), s = Z'P1."""
        p = self.weights if weights is None else weights * self.weights
        m = self.center
        s = self.base.rmatmul(p[:, None])[:, 0]
        cross = s[:, None] * m[None, :]
        constant = float(self.xp.sum(p)) * (m[:, None] * m[None, :])
        return self.base.weighted_gram(p) - cross - cross.T + constant

    def sample_gram(self, weights: Array | None = None) -> Array:
        """Return Z~ diag(e) Z~'."""
        m = self.center if weights is None else weights * self.center
        a = self.base.matmul(m[:, None])[:, 0]
        inner = self.base.sample_gram(weights) - a[:, None] - a[None, :]
        inner = inner + self.xp.sum(m * self.center)
        return self.root[:, None] * inner * self.root[None, :]

    def column_forms(self, A: sp.csr_array) -> Array:
        """Return z~_j' A z~_j for every column."""
        B, B_one, total = self._between_roots(A)
        along = self.base.rmatmul(B_one[:, None])[:, 0]
        return self.base.column_forms(B) - 2.0 * self.center * along + total * self.center**2

    def quadratic(self, A: sp.csr_array) -> Array:
        """Return Z~'AZ~."""
        B, B_one, total = self._between_roots(A)
        cross = self.base.rmatmul(B_one[:, None]) @ self.center[None, :]
        constant = total * (self.center[:, None] * self.center[None, :])
        return self.base.quadratic(B) - cross - cross.T + constant

    def _between_roots(self, A: sp.csr_array) -> tuple[sp.csr_array, Array, float]:
        """Return B = diag(sqrt(w)) A diag(sqrt(w)), B1 and 1'B1."""
        scaling = sp.diags_array(to_numpy(self.root))
        B = sp.csr_array(scaling @ A @ scaling)
        B_one = np.asarray(B.sum(axis=1)).ravel()
        return B, self.xp.asarray(B_one, device=self.device), float(B_one.sum())
