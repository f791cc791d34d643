"""Preconditioned conjugate gradients for several right-hand sides at once."""

from collections.abc import Callable

from featsieve.arrays.namespace import Array, namespace_of


def conjugate_gradients(
    product: Callable[[Array], Array],
    precondition: Callable[[Array], Array],
    B: Array,
    *,
    tol: float,
    max_steps: int,
    start: Array | None = None,
) -> tuple[Array, int]:
    """Return X with ||product(x) - b|| <= tol ||b|| for every column, and the number of steps."""
    xp = namespace_of(B)
    X = xp.zeros_like(B) if start is None else start
    R = B if start is None else B - product(X)
    enough = tol**2 * xp.sum(B * B, axis=0)
    P = S = precondition(R)
    slope = xp.sum(R * S, axis=0)
    n_steps = 0
    while n_steps < max_steps and bool(xp.any(xp.sum(R * R, axis=0) > enough)):
        Q = product(P)
        step = slope / _positive(xp.sum(P * Q, axis=0))
        X, R = X + step * P, R - step * Q
        S = precondition(R)
        before, slope = slope, xp.sum(R * S, axis=0)
        P = S + (slope / _positive(before)) * P
        n_steps += 1
    return X, n_steps


def _positive(a: Array) -> Array:
    """Return a with 1 where it is not positive: for columns that are solved already."""
    xp = namespace_of(a)
    return xp.where(a > 0.0, a, xp.ones_like(a))
