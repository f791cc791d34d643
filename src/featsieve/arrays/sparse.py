"""The data operator of a scipy.sparse table: centring and scaling without densifying."""

from typing import Any

import array_api_compat.numpy as xnp
import numpy as np
import scipy.sparse as sp

from featsieve.arrays.batch_table import SparseInBatches, canonical
from featsieve.arrays.operator import LARGEST_OFFSET, RawOperator


class SparseOperator(RawOperator):
    """:class:`~featsieve.arrays.DataOperator` for scipy.sparse, also if shifted within batches.

    The stored entries S stay as they are. With B the batches of the rows, O their offsets, m the
    means and D the scales of the columns, Z = (S + BM)D, M = O - 1m': every product is one with a
    sparse table and a correction of rank b. Without batches B = 1 and M = -m'.
    """

    def _set_table(self, X: Any) -> None:
        self.xp, self.device = xnp, "cpu"
        dtype = np.dtype(X.dtype if X.dtype in (np.float32, np.float64) else np.float64)
        # canonical shares the non-zeros where it can; nothing of the caller's X is written to.
        if isinstance(X, SparseInBatches):
            self._X = SparseInBatches(canonical(X.stored), X.offsets, X.codes)
        else:
            table = canonical(X)
            # astype would copy the indices too
            self._X = table if table.dtype == dtype else _with_data(table, table.data.astype(dtype))
        self.n_stored, self.dtype = self._X.nnz, dtype

    @property
    def sparse(self) -> "SparseOperator":
        """The operator itself: its columns are best kept as their stored entries."""
        return self

    @property
    def _by_column(self) -> Any:
        return self.once("by_column", self._X.tocsc)

    @property
    def _codes(self) -> np.ndarray | None:
        """The batch of every row, None without batches."""
        return getattr(self._X, "codes", None)

    @property
    def _indicator(self) -> sp.csr_array:
        """B', of one row per batch."""
        known = isinstance(self._X, SparseInBatches)
        return self._X.indicator if known else sp.csr_array(np.ones((1, self.shape[0])))

    @property
    def _shift(self) -> np.ndarray:
        """M, of one row per batch."""
        return np.atleast_2d(getattr(self._X, "offsets", 0.0) - self.mean)

    @property
    def _entry_batch(self) -> Any:
        """The batch of every stored entry."""
        return 0 if self._codes is None else np.repeat(self._codes, np.diff(self._X.stored.indptr))

    def _to_rows(self, products: np.ndarray) -> np.ndarray:
        """Return PB', P having a column per batch; without batches one that broadcasts."""
        return products if self._codes is None else products[:, self._codes]

    def _column_statistics(self) -> tuple[np.ndarray, np.ndarray]:
        (n, d), S, batch = self.shape, _stored(self._X), self._entry_batch
        columns, data = S.indices, S.data.astype(np.float64, copy=False)
        sizes = np.diff(self._indicator.indptr)
        offsets = getattr(self._X, "offsets", np.zeros((1, d)))
        mean = (np.bincount(columns, weights=data, minlength=d) + sizes @ offsets) / n
        # sum (x - m)^2 over the stored entries, plus (o - m)^2 for every other one.
        gap = offsets - mean
        stored = np.bincount(batch * d + columns, minlength=gap.size).reshape(gap.shape)
        spread = np.bincount(columns, weights=(data + gap[batch, columns]) ** 2, minlength=d)
        return mean, spread + np.sum((sizes[:, None] - stored) * gap**2, axis=0)

    def _guard_offset(self, deviation: np.ndarray) -> None:
        # A mean far above the deviation leaves no room for zeros: the column is stored in full,
        # and can be centred in place of its entries.
        if self._codes is not None:
            return
        limit = LARGEST_OFFSET[str(self.dtype)]
        stored = np.bincount(self._X.indices, minlength=self.shape[1])
        far = self.varies & (np.abs(self.mean) > limit * deviation) & (stored == self.shape[0])
        if far.any():
            shift = np.where(far, self.mean, 0.0)
            data = (self._X.data - shift[self._X.indices]).astype(self.dtype)
            self._X = _with_data(self._X, data)
            left = np.bincount(self._X.indices, weights=data, minlength=self.shape[1])
            share = 0.0 if self._is_part else 1.0 / self.shape[0]  # a part does not know
            self.mean = np.where(far, share * left, self.mean)

    def _dot(self, W: np.ndarray) -> np.ndarray:
        return (self._X @ W.astype(self.dtype, copy=False)).astype(np.float64, copy=False)

    def _tdot(self, R: np.ndarray) -> np.ndarray:
        # The long side d stays contiguous: what follows runs along it.
        return self._transposed(self._X, R).astype(np.float64, order="F", copy=False)

    def _transposed(self, table: Any, R: np.ndarray) -> np.ndarray:
        """Return X'R of some columns."""
        R = R.astype(self.dtype, copy=False)
        return table.T @ R if self._codes is None else table.rmatmul(R)

    def _dot_columns(self, indices: np.ndarray, W: np.ndarray) -> np.ndarray:
        part = self._by_column[:, indices] @ W.astype(self.dtype, copy=False)
        return part.astype(np.float64, copy=False)

    def columns(self, indices: np.ndarray) -> np.ndarray:
        """Return Z[:, indices], dense (ask for few)."""
        raw = _dense(self._by_column[:, indices])
        return (raw - self.mean[indices]) * self.inverse_scale[indices]

    def columns_gram(self, indices: np.ndarray) -> np.ndarray:
        """Return Z_S'Z_S: a sparse product and a correction."""
        S = _stored(self._by_column[:, indices])
        return self._gram(S, self._shift[:, indices], self.inverse_scale[indices])

    def weighted_gram(self, weights: np.ndarray | None) -> np.ndarray:
        """Return Z' diag(weights) Z."""
        return self._gram(_stored(self._X), self._shift, self.inverse_scale, weights)

    def _gram(
        self, S: Any, M: np.ndarray, scale: np.ndarray, weights: np.ndarray | None = None
    ) -> np.ndarray:
        """Return D (S'PS + (S'PB)M + M'(S'PB)' + M'(B'PB)M) D, P = diag(weights)."""
        S = S.astype(np.float64, copy=False)
        p = np.ones(self.shape[0]) if weights is None else weights
        PB = sp.csr_array(self._indicator.multiply(p)).T
        cross = _dense(S.T @ PB) @ M
        product = _dense(S.T @ (S if weights is None else sp.diags_array(p) @ S))
        product += cross + cross.T + (M.T * (self._indicator @ p)) @ M
        return scale[:, None] * product * scale[None, :]

    def columns_matmul(self, indices: np.ndarray, W: np.ndarray) -> np.ndarray:
        """Return Z_S W without a dense Z_S."""
        W = self.inverse_scale[indices][:, None] * W
        return self._dot_columns(indices, W) - self.mean[indices] @ W

    def columns_rmatmul(self, indices: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Return Z_S'R without a dense Z_S."""
        product = self._transposed(self._by_column[:, indices], R)
        product = product - np.outer(self.mean[indices], R.sum(axis=0))
        return self.inverse_scale[indices][:, None] * product

    def rows(self, start: int, stop: int) -> np.ndarray:
        """Return Z[start:stop], dense (ask for few)."""
        return (_dense(self._X[start:stop]) - self.mean) * self.inverse_scale

    @property
    def _scaled(self) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
        """Y = SD, N = MD and YN', so that ZZ' = YY' + (YN')B' + B(YN')' + BNN'B'."""
        return self.once("scaled", self._rescale)

    def _rescale(self) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
        S = _stored(self._X)
        Y = _with_data(S, S.data * self.inverse_scale[S.indices]) if self._rescales else S
        if Y.dtype != np.float64:
            Y = _with_data(Y, Y.data.astype(np.float64))
        N = self._shift * self.inverse_scale
        return Y, N, Y @ N.T

    def row_products(self, start: int, stop: int) -> np.ndarray:
        """Return Z[start:stop] Z': a sparse product and a correction."""
        Y, N, cross = self._scaled
        own = slice(None) if self._codes is None else self._codes[start:stop]
        product = _dense(Y[start:stop] @ self.once("transposed", self._transpose))
        product += self._to_rows(cross[start:stop] + (N @ N.T)[own])
        product += cross[:, own].T
        return product

    def _transpose(self) -> sp.csr_array:
        """Return Y' by rows: a product of two tables stored by rows needs no conversion."""
        S = _stored(self._by_column)
        scale = np.repeat(self.inverse_scale, np.diff(S.indptr))
        return sp.csr_array((S.data * scale, S.indices, S.indptr), shape=self.shape[::-1])

    def _row_norms(self) -> np.ndarray:
        """Return the squared norms of the rows of Z."""
        # ||s_i + M_b||^2 = sum over stored (s^2 + 2 s M_b) + ||M_b||^2, everything scaled.
        weight, M = self.inverse_scale**2, self._shift
        S = _stored(self._X)
        data = S.data.astype(np.float64, copy=False)
        terms = (data**2 + 2.0 * data * M[self._entry_batch, S.indices]) * weight[S.indices]
        sums = np.add.reduceat(np.append(terms, 0.0), S.indptr[:-1]) * (np.diff(S.indptr) > 0)
        return np.maximum(sums + self._to_rows((M**2 @ weight)[None, :])[0], 0.0)

    def sample_gram(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Return Z diag(weights) Z'."""
        if weights is None:
            return self.row_products(0, self.shape[0])
        Y, N, _ = self._scaled
        own = slice(None) if self._codes is None else self._codes
        cross = Y @ (N * weights).T
        product = _dense(Y @ sp.diags_array(weights) @ Y.T)
        return product + self._to_rows(cross + ((N * weights) @ N.T)[own]) + cross[:, own].T

    def column_forms(self, A: Any) -> np.ndarray:
        """Return y_j'Ay_j + 2 N_j'B'Ay_j + N_j'(B'AB)N_j, with z_j = y_j + BN_j."""
        Y, N, _ = self._scaled
        if not sp.issparse(A):
            A = sp.diags_array(np.asarray(A, dtype=np.float64))
        AB = _dense(A @ self._indicator.T)
        inner = np.asarray(Y.multiply(A @ Y).sum(axis=0)).ravel()
        return inner + np.sum(N * (2.0 * (Y.T @ AB).T + (self._indicator @ AB) @ N), axis=0)

    def quadratic(self, A: sp.csr_array) -> np.ndarray:
        """Return Z'AZ: a sparse product and a correction."""
        Y, N, _ = self._scaled
        AB = _dense(A @ self._indicator.T)
        cross = (Y.T @ AB) @ N
        product = _dense(Y.T @ (A @ Y)) + cross + cross.T + N.T @ (self._indicator @ AB) @ N
        return 0.5 * (product + product.T)


def _stored(table: Any) -> Any:
    """Return the stored entries of a table."""
    return table.stored if isinstance(table, SparseInBatches) else table


def _with_data(X: sp.csr_array, data: np.ndarray) -> sp.csr_array:
    """Return the table with other values in the same places, which are shared."""
    return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)


def _dense(A: Any) -> np.ndarray:
    """Return a small sparse block as a float64 array."""
    return A.toarray().astype(np.float64, copy=False)
