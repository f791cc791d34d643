"""Quadratic problems with orthonormal columns:  min tr(F'AF) - 2 tr(F'B),  F'F = I.

The generalised power iteration F <- polar(eta F - AF + B) minimises the linear upper bound of the
objective at F: with F'F = I it is a constant plus tr(F'(A - eta I)F) - 2 tr(F'B), which is concave
if eta >= lambda_max(A). Then no step raises the objective; with a smaller eta a step can.
"""

from collections.abc import Callable

import numpy as np

from featsieve.arrays.linalg import polar

# AF at F, and an eta for the step from there.
Curvature = Callable[[np.ndarray], tuple[np.ndarray, float]]


def power_iterations(
    F: np.ndarray, B: np.ndarray, curvature: Curvature, *, n_steps: int
) -> np.ndarray:
    """Return F after some generalised power iterations.

    A may itself depend on F if tr(F'A(F0)F) bounds the true term from above, up to a constant, and
    touches it at F0: the bound of every step is then one of the true objective.
    """
    for _ in range(n_steps):
        product, eta = curvature(F)
        F = polar(eta * F - product + B)
    return F


def random_frame(n: int, c: int, *, random_state: np.random.RandomState) -> np.ndarray:
    """Return an orthonormal basis of the columns of a random matrix (uniform entries)."""
    return np.linalg.qr(random_state.uniform(size=(n, c)))[0]


def power_estimate(
    multiply: Callable[[np.ndarray], np.ndarray],
    n: int,
    *,
    random_state: np.random.RandomState,
    n_steps: int = 10,
) -> float:
    """Return |v'Av| after a few power iterations from a random v: at most max |lambda(A)|."""
    v = random_state.uniform(size=(n, 1))
    v /= np.linalg.norm(v)
    for _ in range(n_steps):
        product = multiply(v)
        length = float(np.linalg.norm(product))
        if length == 0.0:
            return 0.0
        v = product / length
    return abs(float(np.sum(v * multiply(v))))
