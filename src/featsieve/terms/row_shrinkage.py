"""The l2,1 norm  ||W||_{2,1} = sum_j ||w_j||, smoothed, and its quadratic majoriser.

sqrt(||w||^2 + eps) <= q ||w||^2 + const with q = 1/(2 sqrt(||w'||^2 + eps)), touching at w = w':
minimising with the right-hand side in its place (iteratively reweighted least squares) lowers the
smoothed norm in every step. Solvers work with 1/q, which stays finite when a row vanishes.
"""

from featsieve.arrays.namespace import Array, namespace_of
from featsieve.terms.row_sparsity import row_norms

# Keeps a row that has become zero able to return; the value of the published MATLAB programs. It
# is absolute: for columns in units so large that ||w||^2 falls below it, the norm is a ridge.
SMOOTHING = 2.2204e-16


def smoothed_norm(W: Array) -> float:
    """Return sum_j sqrt(||w_j||^2 + eps)."""
    xp = namespace_of(W)
    return float(xp.sum(xp.sqrt(row_norms(W) + SMOOTHING)))


def inverse_weights(W: Array) -> Array:
    """Return 1/q_j = 2 sqrt(||w_j||^2 + eps) for every row."""
    return 2.0 * namespace_of(W).sqrt(row_norms(W) + SMOOTHING)
