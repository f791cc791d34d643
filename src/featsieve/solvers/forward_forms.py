"""Where forward selection gets v = Z' K_S^(-1) z_j from, with K_S = I + Z_S Z_S'/mu.

The *sample form* gets v from u = K_S^(-1) z_j in R^n as Z'u; the *Gram form* from column j of Z'Z
in R^d; the *sparse form* from the few entries of the selected columns. They are the same numbers;
which is cheapest depends on the shape and the kind of the table.
"""

from typing import Protocol

import numpy as np

from featsieve.arrays import DataOperator, SparseOperator
from featsieve.arrays.namespace import Array, stable_order, to_numpy
from featsieve.solvers.inverse_factor import InverseFactor

# The Gram matrix is formed up to this many columns (200 MB).
LARGEST_GRAM = 5000
# Tables larger than this (elements) are read once per batch of columns, not once per column.
LARGEST_REREAD = 2**22
# ... unless there are so few samples that the d x k vectors of the Gram form exceed the table.
FEW_SAMPLES = 1000
BATCH = 32


class Form(Protocol):
    """Where v = Z' K_S^(-1) z_j comes from."""

    def direction(self, j: int, gains: Array) -> Array:
        """Return v for column j; ``gains`` says which columns may be wanted next."""

    def add(self, delta: float) -> None:
        """Take the column of the last :meth:`direction` into S."""


def choose_form(operator: DataOperator, ridge: float) -> Form:
    """Return the cheapest form for a table."""
    n, d = operator.shape
    if d <= n and d <= LARGEST_GRAM:
        return GramForm(operator)
    if operator.sparse is not None and ridge > 0.0:
        return SparseForm(operator.sparse)
    if operator.n_stored <= LARGEST_REREAD or n <= FEW_SAMPLES:
        return SampleForm(operator)
    return GramForm(operator, batch=BATCH)


class Vectors:
    """Vectors over the roots of their pivots; subtracts from a vector its part along them."""

    def __init__(self, operator: DataOperator) -> None:
        self.xp, self.device = operator.xp, operator.device
        self.count = 0
        self.store: Array = None

    @property
    def rows(self) -> Array:
        """The vectors so far, one in every row."""
        return self.store[: self.count, :]

    def append(self, vector: Array, pivot: float) -> None:
        """Keep a vector."""
        if self.store is None or self.count == self.store.shape[0]:
            shape = (max(16, 2 * self.count), vector.shape[0])
            store = self.xp.empty(shape, dtype=vector.dtype, device=self.device)
            if self.count:
                store[: self.count, :] = self.store
            self.store = store
        self.store[self.count, :] = vector * pivot**-0.5
        self.count += 1


class SampleForm:
    """v = Z'u, u = z_j - U diag(1/delta) U'z_j: one product with the table per step."""

    def __init__(self, operator: DataOperator) -> None:
        self.operator = operator
        self.basis = Vectors(operator)

    def direction(self, j: int, gains: Array) -> Array:
        """Return Z'u for u = K_S^(-1) z_j."""
        operator, basis = self.operator, self.basis
        z = operator.columns(operator.xp.asarray([j], device=operator.device))[:, 0]
        self.last = z - (basis.rows @ z) @ basis.rows if basis.count else z
        return operator.rmatmul(self.last[:, None])[:, 0]

    def add(self, delta: float) -> None:
        """Keep u."""
        self.basis.append(self.last, delta)


class GramForm:
    """v = G_j - V diag(1/delta) V_j': no product with the table once column j of G is known.

    With ``batch`` 0 the whole Gram matrix is formed. Otherwise its columns are fetched when they
    are needed, ``batch`` at a time, the most promising ones together: exact, in few passes.
    """

    def __init__(self, operator: DataOperator, *, batch: int = 0) -> None:
        self.operator, self.batch = operator, batch
        self.basis = Vectors(operator)
        self.gram = operator.gram() if batch == 0 else None
        self.fetched: dict[int, Array] = {}

    def direction(self, j: int, gains: Array) -> Array:
        """Return the residual Gram column of j."""
        column = self.gram[j, :] if self.gram is not None else self._fetch(j, gains)
        basis = self.basis
        self.last = column - basis.rows[:, j] @ basis.rows if basis.count else column
        return self.last

    def add(self, delta: float) -> None:
        """Keep v."""
        self.basis.append(self.last, delta)

    def _fetch(self, j: int, gains: Array) -> Array:
        if j not in self.fetched:
            ranked = stable_order(to_numpy(gains))
            wanted = [j] + [int(i) for i in ranked[: self.batch] if int(i) != j]
            wanted = [i for i in wanted if i not in self.fetched][: self.batch]
            xp = self.operator.xp
            block = self.operator.gram_columns(xp.asarray(wanted, device=self.operator.device))
            for position, i in enumerate(wanted):  # copies: a view would keep the whole block
                self.fetched[i] = xp.asarray(block[:, position], copy=True)
        return self.fetched.pop(j)


class SparseForm:
    """v = Z'u, u = z_j - Z_S w, w = (Z_S'Z_S + mu I)^(-1) Z_S'z_j, with sparse columns Z_S.

    A step costs the entries of Z_S, k^2, and one product with the table; no dense n x k array
    exists. It needs a ridge mu > 0.
    """

    def __init__(self, operator: SparseOperator) -> None:
        self.operator = operator
        self.features: list[int] = []
        self.inverse = InverseFactor()

    def direction(self, j: int, gains: Array) -> np.ndarray:
        """Return Z'u for u = K_S^(-1) z_j."""
        operator, chosen = self.operator, np.array(self.features, dtype=np.intp)
        u = operator.columns(np.array([j]))
        self.last, self.weights = j, np.zeros(0)
        if self.features:
            self.weights = self.inverse.solve(operator.columns_rmatmul(chosen, u)[:, 0])
            u -= operator.columns_matmul(chosen, self.weights[:, None])
        return operator.rmatmul(u)[:, 0]

    def add(self, delta: float) -> None:
        """Take the column of the last :meth:`direction` into S."""
        self.inverse.extend(self.weights, delta)
        self.features.append(self.last)
