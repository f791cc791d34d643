"""The regression term  f(W) = 1/2 ||ZW - Y||^2 + (mu/2) ||W||^2  (eq. objofW, with a ridge).

Both classes split an evaluation into the one expensive product, ``image(W)``, and what follows
from it cheaply, so that a solver can reuse the product of a step it accepted.
"""

from typing import Protocol

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array, namespace_of


class Datafit(Protocol):
    """What a first-order solver needs to know of f."""

    def image(self, W: Array, *, live: Array | None = None) -> Array:
        """Return the product that value and gradient share; ``live``: rows that are not zero."""

    def value(self, W: Array, image: Array) -> float:
        """Return f(W)."""

    def gradient(self, W: Array, image: Array) -> Array:
        """Return the gradient of f at W."""


class LeastSquares:
    """f through products with the table: O(n d c) each. For d of the order of n, or larger."""

    def __init__(self, operator: DataOperator, target: Array, *, ridge: float = 0.0) -> None:
        self.operator, self.target, self.ridge = operator, target, ridge

    def image(self, W: Array, *, live: Array | None = None) -> Array:
        """Return ZW."""
        return self.operator.matmul(W, live=live)

    def value(self, W: Array, image: Array) -> float:
        """Return f(W), given image = ZW."""
        loss = 0.5 * square(image - self.target)
        return loss + 0.5 * self.ridge * square(W) if self.ridge else loss

    def gradient(self, W: Array, image: Array) -> Array:
        """Return Z'(ZW - Y) + mu W, given image = ZW."""
        gradient = self.operator.rmatmul(image - self.target)
        return gradient + self.ridge * W if self.ridge else gradient


class GramLeastSquares:
    """f through Z'Z and Z'Y, computed once: O(d^2 c) each, whatever n. For n much larger than d."""

    def __init__(self, operator: DataOperator, target: Array, *, ridge: float = 0.0) -> None:
        self.ridge = ridge
        self.gram = operator.gram()
        self.correlation = operator.rmatmul(target)
        self.constant = 0.5 * square(target)

    def image(self, W: Array, *, live: Array | None = None) -> Array:
        """Return Z'Z W."""
        return self.gram @ W

    def value(self, W: Array, image: Array) -> float:
        """Return f(W), given image = Z'Z W."""
        xp = namespace_of(W)
        cross = float(xp.sum(W * (0.5 * image - self.correlation)))
        return self.constant + cross + 0.5 * self.ridge * square(W)

    def gradient(self, W: Array, image: Array) -> Array:
        """Return Z'Z W - Z'Y + mu W, given image = Z'Z W."""
        return image - self.correlation + self.ridge * W


def least_squares(operator: DataOperator, target: Array, *, ridge: float = 0.0) -> Datafit:
    """Return the cheaper of the two forms of the same function for the shape of the table."""
    n, d = operator.shape
    form = GramLeastSquares if n > 4 * d and d <= 2000 else LeastSquares
    return form(operator, target, ridge=ridge)


def square(A: Array) -> float:
    """Return ||A||_F^2."""
    return float(namespace_of(A).sum(A * A))
