"""How solvers see the data: a handful of products with the centred, scaled table."""

from featsieve.arrays.operator import DataOperator, DenseOperator, as_operator
from featsieve.arrays.sparse import SparseOperator

__all__ = ["DataOperator", "DenseOperator", "SparseOperator", "as_operator"]
