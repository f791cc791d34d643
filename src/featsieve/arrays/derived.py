"""Tables that are derived from another operator's, without forming them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import array_api_compat.numpy as xnp
import numpy as np
from sklearn.utils import gen_batches

from featsieve.arrays.batch_table import SparseInBatches
from featsieve.arrays.namespace import Array, is_dask_array, is_sparse, namespace_of, to_numpy
from featsieve.arrays.operator import BLOCK_ELEMENTS, DataOperator

# A weighted spread below this share of the sum of squares it is the difference of is rounding.
NEGLIGIBLE = {"float32": 1e-6, "float64": 1e-14}


class WeightedOperator(DataOperator):
    """Weighted samples:  Z~ = diag(sqrt(w)) (Z - 1 m'),  m = Z'w / sum(w).

    A least-squares problem with weighted samples and an intercept is an ordinary one in Z~: the
    weighted means m are what the intercept removes. Both corrections are of rank one, so that every
    product is one product of the operator underneath, of any kind. The columns keep the scale that
    it gives them; ``inverse_scale`` is 1 and ``original_mean`` 0, because Z~ itself is the table
    here. ``center`` holds m.
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

    def rmatmul(self, R: Array) -> Array:
        """Return Z~' R."""
        R = self.root[:, None] * R
        along = (self.xp.sum(R, axis=0)[:, None] * self.center[None, :]).T
        return self.inverse_scale[:, None] * (self.base.rmatmul(R) - along)

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

    def weighted_gram(self, weights: Array | None) -> Array:
        """Return Z~' diag(p) Z~ = Z'PZ - s m' - m s' + sum(p) m m' with P = diag(p w), s = Z'P1."""
        p = self.weights if weights is None else weights * self.weights
        m = self.center
        s = self.base.rmatmul(p[:, None])[:, 0]
        cross = s[:, None] * m[None, :]
        constant = float(self.xp.sum(p)) * (m[:, None] * m[None, :])
        return self.base.weighted_gram(p) - cross - cross.T + constant


@dataclass(frozen=True)
class ShiftedTable:
    """Products with Z + 1s' for NumPy arrays, Z the table of an operator, without forming it."""

    operator: DataOperator
    shift: np.ndarray

    def matmul(self, B: np.ndarray) -> np.ndarray:
        """Return (Z + 1s') B."""
        product = self.operator.matmul(self.operator.place(B))
        return to_numpy(product) + self.shift @ B

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        """Return (Z + 1s')' R."""
        product = self.operator.rmatmul(self.operator.place(R))
        return to_numpy(product) + np.outer(self.shift, R.sum(axis=0))

    @cached_property
    def row_norms(self) -> np.ndarray:
        """The squared norms of the rows: ||z_i||^2 + 2 z_i's + ||s||^2."""
        operator, s = self.operator, self.shift
        plain = to_numpy(operator.row_norms())
        cross = operator.matmul(operator.place(s[:, None]))
        return np.maximum(plain + 2.0 * to_numpy(cross)[:, 0] + s @ s, 0.0)


def shifted_to_zero(operator: DataOperator, X: Any) -> ShiftedTable:
    """Return the operator's columns shifted to minimum 0, whatever they were centred on.

    ``X`` is the table that the operator was made from: z = (x - mean)/scale is smallest where x
    is. The entries of a sparse table that are not stored count as zeros.
    """
    if is_dask_array(X):
        from featsieve.arrays.dask import moments_of

        smallest = moments_of(X).smallest
    elif isinstance(X, SparseInBatches):
        by_column = X.tocsc()
        blocks = gen_batches(X.shape[1], max(1, BLOCK_ELEMENTS // X.shape[0]))
        smallest = np.concatenate([by_column[:, part].toarray().min(axis=0) for part in blocks])
    elif is_sparse(X):
        smallest = X.min(axis=0).toarray().ravel().astype(np.float64)
    else:
        smallest = to_numpy(namespace_of(X).min(X, axis=0)).astype(np.float64)
    distance = to_numpy(operator.original_mean) - smallest
    return ShiftedTable(operator, distance * to_numpy(operator.inverse_scale))


class ColumnGram:
    """What a search for columns asks of a :class:`~featsieve.arrays.DataOperator`, as NumPy.

    Forward selection makes many small steps on d x c numbers. On a device each of them costs
    several launches, and takes longer than on the processor: so the Gram matrix comes to the host.
    """

    xp = xnp
    device = "cpu"

    def __init__(self, operator: DataOperator) -> None:
        self.shape, self.n_stored = operator.shape, operator.n_stored
        single = operator.dtype == operator.xp.float32
        self.dtype: Any = np.dtype(np.float32 if single else np.float64)
        self.varies = to_numpy(operator.varies)
        self._norms = to_numpy(operator.column_norms())
        self._gram = to_numpy(operator.gram())

    def column_norms(self) -> np.ndarray:
        """Return the squared norms of the columns."""
        return self._norms

    def gram(self) -> np.ndarray:
        """Return Z'Z."""
        return self._gram

    def place(self, values: np.ndarray) -> np.ndarray:
        """Return the values, which are on the host already."""
        return np.asarray(values)
