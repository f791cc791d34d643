"""The data as an operator: products with the centred, scaled table."""

from typing import Any

from featsieve.arrays.dense import DenseOperator
from featsieve.arrays.namespace import is_dask_array, is_sparse
from featsieve.arrays.operator import DataOperator
from featsieve.arrays.scale import ColumnScale
from featsieve.arrays.sparse import SparseOperator

__all__ = ["ColumnScale", "DataOperator", "DenseOperator", "SparseOperator", "as_operator"]


def as_operator(X: Any, *, scale: str | ColumnScale = "none", center: bool = True) -> DataOperator:
    """Return the :class:`DataOperator` for a dense array, a scipy.sparse matrix or a dask.array."""
    if is_dask_array(X):
        from featsieve.arrays.dask import DaskOperator

        return DaskOperator(X, scale=scale, center=center)
    return (SparseOperator if is_sparse(X) else DenseOperator)(X, scale=scale, center=center)
