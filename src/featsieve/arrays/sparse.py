"""The data operator of a scipy.sparse table: centring and scaling without densifying."""

from typing import Any

import array_api_compat.numpy as xnp
import numpy as np
import scipy.sparse as sp

from featsieve.arrays.operator import LARGEST_OFFSET, RawOperator


class SparseOperator(RawOperator):
    """:class:`~featsieve.arrays.DataOperator` for scipy.sparse.

    The non-zeros stay as they are; the mean enters every product as a rank-one correction, so that
    the only dense arrays are the arguments, the results and the requested blocks.
    """

    def _set_table(self, X: Any) -> None:
        self.xp = xnp
        self.device = "cpu"
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
        # csr_array(...) shares the non-zeros where it can; nothing of the caller's X is written to.
        table = sp.csr_array(X)
        if not table.has_canonical_format:  # an entry may be stored in several pieces
            table = table.copy()
            table.sum_duplicates()
        if table.dtype != dtype:  # astype would copy the indices too
            table = _with_data(table, table.data.astype(dtype))
        self._X = table
        self.n_stored = self._X.nnz
        self.dtype = self._X.dtype

    @property
    def sparse(self) -> "SparseOperator":
        """The operator itself: its columns are best kept as their stored entries."""
        return self

    @property
    def _by_column(self) -> sp.csc_array:
        return self.once("by_column", self._X.tocsc)

    def _column_statistics(self) -> tuple[np.ndarray, np.ndarray]:
        n, d = self.shape
        X = self._X
        columns = X.indices
        data = X.data.astype(np.float64, copy=False)
        mean = np.bincount(columns, weights=data, minlength=d) / n
        # sum (x - m)^2 over the stored entries, plus m^2 for every zero.
        stored = np.bincount(columns, minlength=d)
        spread = np.bincount(columns, weights=(data - mean[columns]) ** 2, minlength=d)
        return mean, spread + (n - stored) * mean**2

    def _guard_offset(self, deviation: np.ndarray) -> None:
        # A mean far above the deviation leaves no room for zeros: the column is stored in full,
        # and can be centred in place of its entries.
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
        product = self._X.T @ R.astype(self.dtype, copy=False)
        # The long side d stays contiguous: what follows runs along it.
        return product.astype(np.float64, order="F", copy=False)

    def _dot_columns(self, indices: np.ndarray, W: np.ndarray) -> np.ndarray:
        part = self._by_column[:, indices] @ W.astype(self.dtype, copy=False)
        return part.astype(np.float64, copy=False)

    def columns(self, indices: np.ndarray) -> np.ndarray:
        """Return Z[:, indices], dense (ask for few)."""
        raw = _dense(self._by_column[:, indices])
        return (raw - self.mean[indices]) * self.inverse_scale[indices]

    def columns_gram(self, indices: np.ndarray) -> np.ndarray:
        """Return Z_S'Z_S: a sparse product and a rank-one correction."""
        X = self._by_column[:, indices].astype(np.float64, copy=False)
        mean, scale = self.mean[indices], self.inverse_scale[indices]
        product = _dense(X.T @ X)
        sums = X.T @ np.ones(self.shape[0])
        product -= np.outer(sums, mean) + np.outer(mean, sums - self.shape[0] * mean)
        return product * np.outer(scale, scale)

    def columns_matmul(self, indices: np.ndarray, W: np.ndarray) -> np.ndarray:
        """Return Z_S W without a dense Z_S."""
        W = self.inverse_scale[indices][:, None] * W
        return self._dot_columns(indices, W) - self.mean[indices] @ W

    def columns_rmatmul(self, indices: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Return Z_S'R without a dense Z_S."""
        product = self._by_column[:, indices].T @ R.astype(self.dtype, copy=False)
        product = product - np.outer(self.mean[indices], R.sum(axis=0))
        return self.inverse_scale[indices][:, None] * product

    def rows(self, start: int, stop: int) -> np.ndarray:
        """Return Z[start:stop], dense (ask for few)."""
        return (_dense(self._X[start:stop]) - self.mean) * self.inverse_scale

    def row_products(self, start: int, stop: int) -> np.ndarray:
        """Return Z[start:stop] Z': a sparse product and a rank-one correction."""
        Y, s, cross = self._scaled
        product = _dense(Y[start:stop] @ self.once("transposed", self._transpose))
        product -= cross[start:stop, None] - s @ s
        product -= cross[None, :]
        return product

    def _transpose(self) -> sp.csr_array:
        """Return Y' by rows: a product of two tables stored by rows needs no conversion."""
        X = self._by_column
        scale = np.repeat(self.inverse_scale, np.diff(X.indptr))
        return sp.csr_array((X.data * scale, X.indices, X.indptr), shape=self.shape[::-1])

    @property
    def _scaled(self) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
        """Y = X D, s = D m and Y s, so that ZZ' = YY' - (Ys)1' - 1(Ys)' + s's 11'."""
        return self.once("scaled", self._rescale)

    def _rescale(self) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
        X = self._X
        Y = _with_data(X, X.data * self.inverse_scale[X.indices]) if self._rescales else X
        if Y.dtype != np.float64:
            Y = _with_data(Y, Y.data.astype(np.float64))
        s = self.inverse_scale * self.mean
        return Y, s, Y @ s

    def _row_norms(self) -> np.ndarray:
        """Return the squared norms of the rows of Z."""
        # ||x_i - m||^2 = sum over stored (x^2 - 2 x m) + ||m||^2, everything scaled.
        weight = self.inverse_scale**2
        X = self._X
        data = X.data.astype(np.float64, copy=False)
        terms = (data**2 - 2.0 * data * self.mean[X.indices]) * weight[X.indices]
        sums = np.add.reduceat(np.append(terms, 0.0), X.indptr[:-1]) * (np.diff(X.indptr) > 0)
        return np.maximum(sums + np.sum(self.mean**2 * weight), 0.0)

    def weighted_gram(self, weights: np.ndarray | None) -> np.ndarray:
        """Return Z' diag(weights) Z = D (X'PX - X'p m' - m p'X + sum(p) m m') D."""
        X = self._X.astype(np.float64, copy=False)
        p = np.ones(self.shape[0]) if weights is None else weights
        raw = _dense(X.T @ (X if weights is None else sp.diags_array(p) @ X))
        cross = np.outer(X.T @ p, self.mean)
        raw -= cross + cross.T - p.sum() * np.outer(self.mean, self.mean)
        return self.inverse_scale[:, None] * raw * self.inverse_scale[None, :]

    def sample_gram(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Return Z diag(weights) Z'."""
        if weights is None:
            return self.row_products(0, self.shape[0])
        Y, s, _ = self._scaled
        product = _dense(Y @ sp.diags_array(weights) @ Y.T)
        cross = Y @ (weights * s)
        return product - cross[:, None] - cross[None, :] + s @ (weights * s)

    def column_forms(self, A: Any) -> np.ndarray:
        """Return y_j'Ay_j - 2 s_j 1'Ay_j + s_j^2 1'A1, with z_j = y_j - s_j 1."""
        Y, s, _ = self._scaled
        if not sp.issparse(A):
            A = sp.diags_array(np.asarray(A, dtype=np.float64))
        A_one = np.asarray(A.sum(axis=1)).ravel()
        inner = np.asarray(Y.multiply(A @ Y).sum(axis=0)).ravel()
        return inner - 2.0 * s * (Y.T @ A_one) + s**2 * A_one.sum()

    def quadratic(self, A: sp.csr_array) -> np.ndarray:
        """Return Z'AZ: a sparse product and rank-one corrections."""
        Y, s, _ = self._scaled
        A_one = np.asarray(A.sum(axis=1)).ravel()
        cross = np.outer(Y.T @ A_one, s)
        product = _dense(Y.T @ (A @ Y)) - cross - cross.T + A_one.sum() * np.outer(s, s)
        return 0.5 * (product + product.T)


def _with_data(X: sp.csr_array, data: np.ndarray) -> sp.csr_array:
    """Return the table with other values in the same places, which are shared."""
    return sp.csr_array((data, X.indices, X.indptr), shape=X.shape)


def _dense(A: Any) -> np.ndarray:
    """Return a small sparse block as a float64 array."""
    return A.toarray().astype(np.float64, copy=False)
