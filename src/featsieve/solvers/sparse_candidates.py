"""The candidates of a LARS path over a sparse table: the pool and the active features stay sparse.

Of an active feature the path stores its index only; the products come from the stored entries.
"""

import numpy as np
import scipy.sparse as sp

from featsieve.arrays.namespace import to_numpy
from featsieve.arrays.sparse import ChosenColumns, SparseOperator
from featsieve.solvers import lars_candidates
from featsieve.solvers.lars_candidates import Columns, PoolCandidates


class SparseColumns(Columns):
    """Products of the columns of a sparse table."""

    operator: SparseOperator

    def __init__(self, operator: SparseOperator) -> None:
        self.operator = operator
        self.norms = np.sqrt(to_numpy(operator.column_norms()))
        self.table = None

    def some(self, features: np.ndarray) -> "SomeColumns":
        """Return the function r -> Z_S'r."""
        return SomeColumns(self.operator, features)


class SomeColumns:
    """Z_S' of a fixed set of columns, as a function of a vector."""

    def __init__(self, operator: SparseOperator, features: np.ndarray) -> None:
        self.rows: sp.csr_array = sp.csr_array(operator.sparse_columns(features).T)
        self.mean, self.scale = operator.mean[features], operator.inverse_scale[features]

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        """Return Z_S'r."""
        return self.scale * (self.rows @ vector - self.mean * vector.sum())


class SparseCandidates(PoolCandidates):
    """Watch the features closest to entering; read the table when others could be first."""

    columns: SparseColumns

    def __init__(self, columns: SparseColumns, y: np.ndarray) -> None:
        self.active = ChosenColumns(columns.operator)
        self.slot = np.zeros(len(columns.norms), dtype=np.intp)  # of a feature among these
        super().__init__(columns, y)
        self.width = 1

    def _pool_size(self, n_samples: int) -> int:
        """Return how many candidates to watch: they are sparse, and their share is what limits."""
        return int(lars_candidates.SHARE * len(self.columns.norms))

    def _load(self, pool: np.ndarray) -> None:
        self.some = self.columns.some(pool)

    def _pool_products(self, vector: np.ndarray) -> np.ndarray:
        return self.some(vector)

    def _row(self, feature: int) -> np.ndarray:
        return np.array([float(feature)])

    def products(self, rows: np.ndarray, feature: int, row: np.ndarray) -> tuple[np.ndarray, float]:
        """Return inner products of columns of Z."""
        self._follow(rows)
        z = self.active.column(feature)
        cross = self.active.rmatmul(z) if len(self.active) else np.zeros(0)
        return cross[self._order(rows)], float(z @ z)

    def image(self, g: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return Z_A g."""
        self._follow(rows)
        weights = np.empty(len(g))
        weights[self._order(rows)] = g
        return self.active.matmul(weights)

    def correlations(self, features: np.ndarray, rows: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return z_j'(y - Za) of the active features."""
        return self.active.rmatmul(self.y - self.image(a, rows))[self._order(rows)]

    def _follow(self, rows: np.ndarray) -> None:
        """Make the chosen columns those of the path's active features."""
        if len(rows) == len(self.active):
            return
        wanted = rows[:, 0].astype(np.intp).tolist()
        inside = set(wanted)
        for j in [j for j in self.active.features if j not in inside]:
            self.active.remove(j)
        known = set(self.active.features)
        for j in wanted:
            if j not in known:
                self.active.append(j)
        self.slot[self.active.features] = np.arange(len(self.active))

    def _order(self, rows: np.ndarray) -> np.ndarray:
        """Return where the path's active features lie among the chosen columns."""
        return self.slot[rows[:, 0].astype(np.intp)]
