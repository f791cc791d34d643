"""Columns of a sparse table that are chosen one by one, kept sparse and together."""

import numpy as np
import scipy.sparse as sp

from featsieve.arrays.sparse import SparseOperator


class ChosenColumns:
    """Z_S for a set S that grows and shrinks, as products with its few stored entries."""

    def __init__(self, operator: SparseOperator) -> None:
        self.operator = operator
        self.features: list[int] = []
        self.ends = [0]  # where the entries of each column end
        self.rows = np.empty(0, dtype=np.int32)
        self.values = np.empty(0)
        self._table: sp.csc_array | None = None

    def __len__(self) -> int:
        return len(self.features)

    def column(self, j: int) -> np.ndarray:
        """Return z_j."""
        rows, values = self.operator.stored_column(j)
        z = np.zeros(self.operator.shape[0])
        z[rows] = values
        z -= self.operator.mean[j]
        z *= self.operator.inverse_scale[j]
        return z

    def append(self, j: int) -> None:
        """Choose a column."""
        rows, values = self.operator.stored_column(j)
        start, stop = self.ends[-1], self.ends[-1] + len(rows)
        if stop > len(self.rows):
            room = max(2 * len(self.rows), stop)
            self.rows, self.values = np.resize(self.rows, room), np.resize(self.values, room)
        self.rows[start:stop], self.values[start:stop] = rows, values
        self.ends.append(stop)
        self.features.append(j)
        self._table = None

    def remove(self, j: int) -> None:
        """Give a column back; those after it move up."""
        place = self.features.index(j)
        start, stop, end = self.ends[place], self.ends[place + 1], self.ends[-1]
        for entries in (self.rows, self.values):
            entries[start : end - (stop - start)] = entries[stop:end].copy()
        del self.features[place]
        self.ends = [*self.ends[: place + 1], *(e - (stop - start) for e in self.ends[place + 2 :])]
        self._table = None

    def matmul(self, w: np.ndarray) -> np.ndarray:
        """Return Z_S w."""
        mean, scale = self._shift()
        w = scale * w
        return self.table @ w - mean @ w

    def rmatmul(self, r: np.ndarray) -> np.ndarray:
        """Return Z_S'r."""
        mean, scale = self._shift()
        return scale * (self.table.T @ r - mean * r.sum())

    @property
    def table(self) -> sp.csc_array:
        """X_S."""
        if self._table is None:
            end = self.ends[-1]
            parts = (self.values[:end], self.rows[:end], np.array(self.ends, dtype=np.int32))
            self._table = sp.csc_array(parts, shape=(self.operator.shape[0], len(self)))
        return self._table

    def _shift(self) -> tuple[np.ndarray, np.ndarray]:
        """Return means and inverse scales of the chosen columns."""
        return self.operator.mean[self.features], self.operator.inverse_scale[self.features]
