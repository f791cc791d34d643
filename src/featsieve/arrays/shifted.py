"""A table whose columns are shifted: non-negative columns for methods that factorise."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from featsieve.arrays.namespace import is_dask_array, is_sparse, namespace_of, to_numpy
from featsieve.arrays.operator import DataOperator


@dataclass(frozen=True)
class ShiftedTable:
    """Products with Z + 1s', Z being the table of an operator, without forming it.

    Arguments and results are NumPy arrays.
    """

    operator: DataOperator
    shift: np.ndarray

    def matmul(self, B: np.ndarray) -> np.ndarray:
        """Return (Z + 1s') B."""
        operator = self.operator
        product = operator.matmul(operator.xp.asarray(B, device=operator.device))
        return to_numpy(product) + self.shift @ B

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        """Return (Z + 1s')' R."""
        operator = self.operator
        product = operator.rmatmul(operator.xp.asarray(R, device=operator.device))
        return to_numpy(product) + np.outer(self.shift, R.sum(axis=0))

    @cached_property
    def row_norms(self) -> np.ndarray:
        """The squared norms of the rows: ||z_i||^2 + 2 z_i's + ||s||^2."""
        operator, s = self.operator, self.shift
        plain = to_numpy(operator.row_norms())
        cross = operator.matmul(operator.xp.asarray(s[:, None], device=operator.device))
        return np.maximum(plain + 2.0 * to_numpy(cross)[:, 0] + s @ s, 0.0)


def unshifted(operator: DataOperator) -> ShiftedTable:
    """Return the operator's own table."""
    return ShiftedTable(operator, np.zeros(operator.shape[1]))


def shifted_to_zero(operator: DataOperator, X: Any) -> ShiftedTable:
    """Return the operator's columns shifted to minimum 0, whatever they were centred on.

    ``X`` is the table that the operator was made from: z = (x - mean)/scale is smallest where x
    is. The entries of a sparse table that are not stored count as zeros.
    """
    if is_dask_array(X):
        from featsieve.arrays.dask_table import column_minima

        smallest = column_minima(X)
    elif is_sparse(X):
        smallest = X.min(axis=0).toarray().ravel().astype(np.float64)
    else:
        smallest = to_numpy(namespace_of(X).min(X, axis=0)).astype(np.float64)
    distance = to_numpy(operator.original_mean) - smallest
    return ShiftedTable(operator, distance * to_numpy(operator.inverse_scale))
