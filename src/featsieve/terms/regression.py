"""The size of a residual."""

from featsieve.arrays.namespace import Array, namespace_of


def square(A: Array) -> float:
    """Return ||A||_F^2."""
    return float(namespace_of(A).sum(A * A))
