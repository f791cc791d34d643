"""The data operator of a scipy.sparse table: centring and scaling without densifying."""

from functools import cached_property
from typing import Any

import array_api_compat.numpy as xnp
import numpy as np
import scipy.sparse as sp

from featsieve.arrays.operator import DataOperator


class SparseOperator(DataOperator):
    """:class:`~featsieve.arrays.DataOperator` for scipy.sparse.

    The non-zeros stay as they are; the mean enters every product as a rank-one correction, so that
    the only dense arrays are the arguments, the results and the requested blocks.
    """

    def _set_table(self, X: Any) -> None:
        self.xp = xnp
        self.device = "cpu"
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
        # csr_array(...) shares the non-zeros where it can; nothing of the caller's X is written to.
        table = sp.csr_array(X).astype(dtype, copy=False)
        if not table.has_canonical_format:  # an entry may be stored in several pieces
            table = table.copy()
            table.sum_duplicates()
        self._X = table
        self.n_stored = self._X.nnz
        self.dtype = self._X.dtype

    @cached_property
    def _by_column(self) -> sp.csc_array:
        return self._X.tocsc()

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

    def _dot(self, W: np.ndarray) -> np.ndarray:
        return (self._X @ W.astype(self.dtype, copy=False)).astype(np.float64, copy=False)

    def _tdot(self, R: np.ndarray) -> np.ndarray:
        return (self._X.T @ R.astype(self.dtype, copy=False)).astype(np.float64, copy=False)

    def _dot_columns(self, indices: np.ndarray, W: np.ndarray) -> np.ndarray:
        part = self._by_column[:, indices] @ W.astype(self.dtype, copy=False)
        return part.astype(np.float64, copy=False)

    def columns(self, indices: np.ndarray) -> np.ndarray:
        """Return Z[:, indices], dense (ask for few)."""
        raw = _dense(self._by_column[:, indices])
        return (raw - self.mean[indices]) * self.inverse_scale[indices]

    def rows(self, start: int, stop: int) -> np.ndarray:
        """Return Z[start:stop], dense (ask for few)."""
        return (_dense(self._X[start:stop]) - self.mean) * self.inverse_scale

    def _row_norms(self) -> np.ndarray:
        """Return the squared norms of the rows of Z."""
        # ||x_i - m||^2 = sum over stored (x^2 - 2 x m) + ||m||^2, everything scaled.
        weight = self.inverse_scale**2
        X = self._X
        data = X.data.astype(np.float64, copy=False)
        terms = (data**2 - 2.0 * data * self.mean[X.indices]) * weight[X.indices]
        sums = np.add.reduceat(np.append(terms, 0.0), X.indptr[:-1]) * (np.diff(X.indptr) > 0)
        return np.maximum(sums + np.sum(self.mean**2 * weight), 0.0)

    def _gram(self) -> np.ndarray:
        """Return Z'Z = D (X'X - n m m') D."""
        raw = _dense(self._X.T @ self._X)
        raw -= self.shape[0] * np.outer(self.mean, self.mean)
        return self.inverse_scale[:, None] * raw * self.inverse_scale[None, :]

    def sample_gram(self) -> np.ndarray:
        """Return ZZ' = Y Y' - (Y s) 1' - 1 (Y s)' + s's 11', with Y = X D and s = D m."""
        Y = self._X @ sp.dia_array((self.inverse_scale[None, :], [0]), shape=(self.shape[1],) * 2)
        s = self.inverse_scale * self.mean
        cross = Y @ s
        return _dense(Y @ Y.T) - cross[:, None] - cross[None, :] + s @ s


def _dense(A: Any) -> np.ndarray:
    """Return a small sparse block as a float64 array."""
    return A.toarray().astype(np.float64, copy=False)
