"""The inverse Gram matrix of a set of features that grows and shrinks.

For the Gram matrix K of the set, a square M with M'M = K^(-1) is kept. With q the products of a new
feature with the set, κ its own square, z = K^(-1)q and δ = κ - q'z, appending it adds one row,

    (-z', 1)/sqrt(δ),

and removing feature i takes one reflection H that turns column i of M into a multiple of the last
unit vector; the last row of HM and column i are then left out. Both cost O(size²), and
reflections lose no digits.
"""

import numpy as np

# A feature that keeps less than this share of its square is dependent on the set.
DEPENDENT = 1e-12


class InverseFactor:
    """The factor M of one set."""

    def __init__(self, capacity: int = 16) -> None:
        self._store = np.zeros((capacity, capacity))
        self.size = 0

    @property
    def M(self) -> np.ndarray:  # noqa: N802  (a matrix)
        """The factor."""
        return self._store[: self.size, : self.size]

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return K^(-1) right."""
        M = self.M
        return (M @ right) @ M

    def append(self, cross: np.ndarray, square: float) -> bool:
        """Add a feature with products q and square κ; return False if it depends on the set."""
        t = self.M @ cross
        gap = square - float(t @ t)  # q'z = ||Mq||²
        if gap <= DEPENDENT * square:
            return False
        self.extend(t @ self.M, gap)
        return True

    def extend(self, z: np.ndarray, gap: float) -> None:
        """Add a feature of which z = K^(-1)q and δ are known."""
        size = self.size
        if size == len(self._store):
            larger = np.zeros((max(16, 2 * size), max(16, 2 * size)))
            larger[:size, :size] = self._store
            self._store = larger
        self._store[size, :size] = -(gap**-0.5) * z
        self._store[size, size] = gap**-0.5
        self.size = size + 1

    def remove(self, slot: int) -> None:
        """Take a feature out; the last one moves into its place."""
        last, M = self.size - 1, self.M
        axis = M[:, slot].copy()
        axis[last] += np.copysign(np.sqrt(axis @ axis), axis[last])
        M -= np.multiply.outer(axis, (2.0 / (axis @ axis)) * (axis @ M))
        M[:, slot] = M[:, last]
        M[:, last] = 0.0  # its row is written before it is read again
        self.size = last
