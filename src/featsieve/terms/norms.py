"""Norms of matrices, and of their rows.

||W||_{2,0} is the number of rows that are not zero, that of the selected features. The l2,1 norm
||W||_{2,1} = sum_j ||w_j|| is smoothed, and has a quadratic majoriser:

    sqrt(||w||^2 + eps) <= q ||w||^2 + const with q = 1/(2 sqrt(||w'||^2 + eps)),

touching at w = w'. Minimising with the right-hand side in its place (iteratively reweighted least
squares) lowers the smoothed norm in every step. Solvers work with 1/q, which stays finite when a
row vanishes.
"""

from featsieve.arrays.namespace import Array, namespace_of

# Keeps a row that has become zero able to return; the value of the published MATLAB programs. It
# is absolute: for columns in units so large that ||w||^2 falls below it, the norm is a ridge.
SMOOTHING = 2.2204e-16


def square(A: Array) -> float:
    """Return ||A||_F^2."""
    return float(namespace_of(A).sum(A * A))


def row_norms(V: Array) -> Array:
    """Return the squared length of every row; equal rows get equal lengths, to the last bit."""
    return namespace_of(V).sum(V * V, axis=1)


def row_support(W: Array) -> Array:
    """Return the mask of the non-zero rows (exactly non-zero: no tolerance)."""
    return namespace_of(W).any(W != 0, axis=1)


def count_rows(W: Array) -> int:
    """Return ||W||_{2,0}."""
    xp = namespace_of(W)
    return int(xp.sum(xp.astype(row_support(W), xp.int64)))


def smoothed_norm(W: Array) -> float:
    """Return sum_j sqrt(||w_j||^2 + eps)."""
    xp = namespace_of(W)
    return float(xp.sum(xp.sqrt(row_norms(W) + SMOOTHING)))


def inverse_weights(W: Array) -> Array:
    """Return 1/q_j = 2 sqrt(||w_j||^2 + eps) for every row."""
    return 2.0 * namespace_of(W).sqrt(row_norms(W) + SMOOTHING)
