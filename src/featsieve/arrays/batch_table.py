"""A sparse table whose columns are shifted within batches of rows, without densifying."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True, eq=False)
class SparseInBatches:
    """The table x_ij = s_ij + o_bj, b the batch of row i: X = S + BO, B the batches of the rows."""

    stored: Any  # S, by rows or by columns, in float64
    offsets: np.ndarray  # O, of one row per batch
    codes: np.ndarray  # batch of every row

    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        """Samples and features."""
        return self.stored.shape

    @property
    def dtype(self) -> np.dtype:
        """Type of the stored entries."""
        return self.stored.dtype

    @property
    def nnz(self) -> int:
        """Stored entries."""
        return self.stored.nnz

    @property
    def data(self) -> np.ndarray:
        """Values of the stored entries."""
        return self.stored.data

    @cached_property
    def indicator(self) -> sp.csr_array:
        """B', of shape (n_batches, n_samples)."""
        n = len(self.codes)
        shape = (len(self.offsets), n)
        return sp.csr_array((np.ones(n), (self.codes, np.arange(n))), shape=shape)

    def __getitem__(self, key: Any) -> "SparseInBatches":
        """Return rows, or (rows, columns), given as slices or indices."""
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        stored = self.stored if _is_all(rows) else self.stored[rows]
        stored = stored if _is_all(columns) else stored[:, columns]
        return SparseInBatches(stored, self.offsets[:, columns], self.codes[rows])

    def __matmul__(self, W: np.ndarray) -> np.ndarray:
        """Return X W = SW + B(OW)."""
        return self.stored @ W + (self.offsets @ W)[self.codes]

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        """Return X'R = S'R + O'(B'R)."""
        return self.stored.T @ R + self.offsets.T @ (self.indicator @ R)

    def toarray(self) -> np.ndarray:
        """Return the table, dense (ask for few rows or columns)."""
        return self.stored.toarray() + self.offsets[self.codes]

    def tocsc(self) -> "SparseInBatches":
        """Return the table with S stored by columns."""
        return SparseInBatches(self.stored.tocsc(), self.offsets, self.codes)

    def astype(self, dtype: Any, copy: bool = True) -> "SparseInBatches":
        """Return the table with S in another type."""
        return SparseInBatches(self.stored.astype(dtype, copy=copy), self.offsets, self.codes)

    def beside(self, other: "SparseInBatches") -> "SparseInBatches":
        """Return the columns of two tables of the same rows."""
        return SparseInBatches(
            sp.hstack([self.stored, other.stored], format="csr"),
            np.hstack([self.offsets, other.offsets]),
            self.codes,
        )


def canonical(X: Any) -> sp.csr_array:
    """Return a sparse table by rows, without entries that are stored in several pieces."""
    table = sp.csr_array(X)
    if not table.has_canonical_format:
        table = table.copy()
        table.sum_duplicates()
    return table


def _is_all(key: Any) -> bool:
    """Say whether all rows, or columns, are asked for."""
    return isinstance(key, slice) and key == slice(None)
