"""Solve (R Z E Z' R + rho I) V = T from products with the table: no n x n and no d x d matrix.

Conjugate gradients, all targets at once. The preconditioner takes R = I, and only the features
that matter most: with B = Z_L E_L^(1/2) of the features L of the largest e_j ||z_j||^2,

    (B B' + rho I)^(-1) = (I - B (B'B + rho I)^(-1) B')/rho.

As the alternation concentrates the weights e on few features, few steps remain to be done. At its
start, with equal weights, the steps end before the solution is exact.
"""

from collections.abc import Callable

import numpy as np

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array, to_numpy

# Features in the preconditioner.
N_LEADING = 300
# Residual, relative to the target, at which a solution counts as exact, and the most steps.
TOLERANCE = 1e-6
MOST_STEPS = 50


def solve_implicitly(
    operator: DataOperator,
    target: Array,
    rho: float,
    *,
    inverse: Array,
    root: Array,
    start: Array | None = None,
) -> Array:
    """Return V."""
    xp = operator.xp
    precondition = _preconditioner(operator, inverse, rho=rho)

    def product(V: Array) -> Array:
        inner = inverse[:, None] * operator.rmatmul(root * V)
        return root * operator.matmul(inner) + rho * V

    V = xp.zeros_like(target) if start is None else start
    R = target if start is None else target - product(V)
    enough = TOLERANCE**2 * xp.sum(target * target, axis=0)
    P = S = precondition(R)
    slope = xp.sum(R * S, axis=0)
    for _ in range(MOST_STEPS):
        if not bool(xp.any(xp.sum(R * R, axis=0) > enough)):
            break
        Q = product(P)
        curvature = xp.sum(P * Q, axis=0)
        step = slope / xp.where(curvature > 0.0, curvature, xp.ones_like(curvature))
        V = V + step * P
        R = R - step * Q
        S = precondition(R)
        before, slope = slope, xp.sum(R * S, axis=0)
        P = S + (slope / xp.where(before > 0.0, before, xp.ones_like(before))) * P
    return V


def _preconditioner(
    operator: DataOperator, inverse: Array, *, rho: float
) -> Callable[[Array], Array]:
    """Return the function T -> (B B' + rho I)^(-1) T."""
    xp = operator.xp
    energy = to_numpy(inverse * operator.column_norms())
    count = min(N_LEADING, len(energy))
    leading = np.sort(np.argpartition(-energy, count - 1)[:count])
    features = xp.asarray(leading, device=operator.device)
    factor = xp.sqrt(xp.take(inverse, features))[:, None]
    gram = factor * operator.columns_gram(features) * factor.T
    eye = xp.eye(count, dtype=gram.dtype, device=operator.device)
    inner = xp.linalg.inv(gram + rho * eye)

    def precondition(T: Array) -> Array:
        along = factor * (inner @ (factor * operator.columns_rmatmul(features, T)))
        return (T - operator.columns_matmul(features, along)) / rho

    return precondition
