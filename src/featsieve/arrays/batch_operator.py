"""The data operator of a sparse table that is shifted within batches."""

from typing import Any

import array_api_compat.numpy as xnp
import numpy as np
import scipy.sparse as sp

from featsieve.arrays.batch_table import SparseInBatches
from featsieve.arrays.operator import RawOperator


class BatchOperator(RawOperator):
    """:class:`~featsieve.arrays.DataOperator` for X = S + BO, S sparse, B the batches of the rows.

    With D the scales and m the means of the columns, Z = Y + BN, Y = SD sparse and N = (O - 1m')D
    of b rows: every product is one with a sparse table, and a correction of rank b.
    """

    _X: SparseInBatches

    def _set_table(self, X: SparseInBatches) -> None:
        self.xp, self.device, self.dtype = xnp, "cpu", np.dtype(np.float64)
        self._X, self.n_stored = X.astype(np.float64, copy=False), X.nnz

    @property
    def sparse(self) -> Any:
        """The operator itself: its columns are best kept as their stored entries."""
        return self

    @property
    def _by_column(self) -> SparseInBatches:
        return self.once("by_column", self._X.tocsc)

    def _column_statistics(self) -> tuple[np.ndarray, np.ndarray]:
        X, (n, d) = self._X, self.shape
        sizes = np.bincount(X.codes, minlength=len(X.offsets))
        table = X.stored.tocsr()
        batch, columns = np.repeat(X.codes, np.diff(table.indptr)), table.indices
        mean = (np.bincount(columns, weights=table.data, minlength=d) + sizes @ X.offsets) / n
        # sum (x - m)^2 over the stored entries, plus (o - m)^2 for every other one.
        gap = X.offsets - mean
        inside = np.bincount(columns, (table.data + gap[batch, columns]) ** 2, minlength=d)
        left = sizes[:, None] - X.stored_in_batches()
        return mean, inside + np.sum(left * gap**2, axis=0)

    def _dot(self, W: np.ndarray) -> np.ndarray:
        return self._X @ W

    def _tdot(self, R: np.ndarray) -> np.ndarray:
        return np.asfortranarray(self._X.rmatmul(R))  # what follows runs along d

    def _dot_columns(self, indices: np.ndarray, W: np.ndarray) -> np.ndarray:
        return self._by_column[:, indices] @ W

    def columns(self, indices: np.ndarray) -> np.ndarray:
        """Return Z[:, indices], dense (ask for few)."""
        raw = self._by_column[:, indices].toarray()
        return (raw - self.mean[indices]) * self.inverse_scale[indices]

    def columns_matmul(self, indices: np.ndarray, W: np.ndarray) -> np.ndarray:
        """Return Z_S W without a dense Z_S."""
        W = self.inverse_scale[indices][:, None] * W
        return self._dot_columns(indices, W) - self.mean[indices] @ W

    def columns_rmatmul(self, indices: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Return Z_S'R without a dense Z_S."""
        product = self._by_column[:, indices].rmatmul(R)
        product = product - np.outer(self.mean[indices], R.sum(axis=0))
        return self.inverse_scale[indices][:, None] * product

    def rows(self, start: int, stop: int) -> np.ndarray:
        """Return Z[start:stop], dense (ask for few)."""
        return (self._X[start:stop].toarray() - self.mean) * self.inverse_scale

    @property
    def _scaled(self) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
        """Y, N and YN'."""
        return self.once("scaled", self._rescale)

    def _rescale(self) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
        Y = sp.csr_array(self._X.stored @ sp.diags_array(self.inverse_scale))
        N = (self._X.offsets - self.mean) * self.inverse_scale
        return Y, N, Y @ N.T

    def row_products(self, start: int, stop: int) -> np.ndarray:
        """Return Z[start:stop] Z', of ZZ' = YY' + (YN')B' + B(YN')' + BNN'B'."""
        (Y, N, cross), codes = self._scaled, self._X.codes
        some = codes[start:stop]
        product = (Y[start:stop] @ Y.T).toarray()
        product += cross[start:stop][:, codes]
        product += cross[:, some].T
        product += (N @ N.T)[some][:, codes]
        return product

    def sample_gram(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Return Z diag(weights) Z'."""
        whole = weights is None
        return self.row_products(0, self.shape[0]) if whole else super().sample_gram(weights)

    def weighted_gram(self, weights: np.ndarray | None) -> np.ndarray:
        """Return Z'PZ = Y'PY + (Y'PB)N + N'(Y'PB)' + N'(B'PB)N, P = diag(weights)."""
        Y, N, _ = self._scaled
        p = np.ones(self.shape[0]) if weights is None else weights
        PB = sp.csr_array(self._X.indicator.multiply(p)).T
        cross = (Y.T @ PB) @ N
        total = np.bincount(self._X.codes, weights=p, minlength=len(N))
        product = (Y.T @ (sp.diags_array(p) @ Y)).toarray()
        return product + cross + cross.T + (N.T * total) @ N
