"""Forward selection over a sparse table: K_S^(-1) z_j from the few entries of the selected columns.

With K_S = I + Z_S Z_S'/mu and w = (Z_S'Z_S + mu I)^(-1) Z_S'z_j, K_S^(-1) z_j = z_j - Z_S w. The
selected columns are kept sparse, and of the k x k matrix a square M with M'M its inverse: adding a
column with delta = mu + z_j'K_S^(-1)z_j appends the row (-w', 1)/sqrt(delta).
A step costs the entries of Z_S, k^2, and one product with the table; no dense n x k array exists.
"""

import numpy as np

from featsieve.arrays.namespace import Array
from featsieve.arrays.sparse import ChosenColumns, SparseOperator


class SparseForm:
    """v = Z'u, u = K_S^(-1) z_j, for a ridge mu > 0 (see ``forward_selection.py``)."""

    def __init__(self, operator: SparseOperator) -> None:
        self.operator = operator
        self.chosen = ChosenColumns(operator)
        self.inverse = np.zeros((0, 0))  # M, with room to grow

    def direction(self, j: int, gains: Array) -> np.ndarray:
        """Return Z'u for u = K_S^(-1) z_j."""
        k = len(self.chosen)
        u = self.chosen.column(j)
        self.last, self.weights = j, np.zeros(k)
        if k > 0:
            M = self.inverse[:k, :k]
            self.weights = (M @ self.chosen.rmatmul(u)) @ M
            u -= self.chosen.matmul(self.weights)
        return self.operator.rmatmul(u[:, None])[:, 0]

    def add(self, delta: float) -> None:
        """Take the column of the last :meth:`direction` into S."""
        k = len(self.chosen)
        if k == len(self.inverse):
            larger = np.zeros((max(16, 2 * k), max(16, 2 * k)))
            larger[:k, :k] = self.inverse
            self.inverse = larger
        self.inverse[k, :k] = -self.weights * delta**-0.5
        self.inverse[k, k] = delta**-0.5
        self.chosen.append(self.last)
