"""The entropy of the symmetrised graph from products with the kernel, to a certified error.

T = (S + S')/2 has t_ij = K_ij (r_i + r_j)/2. With a_i = log r_i

    log t_ij = -gamma ||f_i - f_j||^2 + (a_i + a_j)/2 + log cosh((a_i - a_j)/2),

in which only the last summand is no sum of products of functions of i and of j. It is smooth: its
interpolant in a_i at m Chebyshev points is a sum of m such products, and as it is analytic up to
the distance pi from the real line, m of a few tens reach rounding (Bernstein ellipse).
"""

from typing import Protocol

import numpy as np

# Largest error of a logarithm from the interpolation.
INTERPOLATION_ERROR = 1e-14
# Half the height of the ellipse on which log cosh(x/2) is bounded: its poles are pi away.
HEIGHT = 3.0


class Products(Protocol):
    """Anything that multiplies by K."""

    def matmul(self, M: np.ndarray) -> np.ndarray:
        """Return K M."""


def mean_entropy(kernel: Products, r: np.ndarray, *, F: np.ndarray, gamma: float) -> float:
    """Return sum t_ij log t_ij with t_ij = K_ij (r_i + r_j)/2, K symmetric.

    The error is at most ``INTERPOLATION_ERROR`` times sum t_ij, and what an error of the
    products makes of it: an entry of K that is wrong by e contributes e r_i |log t_ij|.
    """
    n = F.shape[0]
    a = np.log(r)
    a = a - a.mean()
    shift = float(np.mean(np.log(r)))
    squares = np.einsum("ij,ij->i", F, F)
    basis, values = log_cosh_products(a)
    # Each column of K [1, a, |f|^2, F, values] meets what depends on i.
    product = kernel.matmul(np.column_stack([np.ones(n), a, squares, F, values]))
    total, along, lengths = product[:, 0], product[:, 1], product[:, 2]
    c = F.shape[1]
    distances = squares * total + lengths - 2.0 * np.einsum("ij,ij->i", F, product[:, 3 : 3 + c])
    logarithms = (0.5 * a + shift) * total + 0.5 * along
    logarithms += np.einsum("ij,ij->i", basis, product[:, 3 + c :])
    # sum_ij K_ij (r_i + r_j)/2 log t_ij = sum_ij K_ij r_i log t_ij: log t and K are symmetric.
    return float(r @ (logarithms - gamma * distances))


def log_cosh_products(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (B, V), n x m, with (BV')_ij = log cosh((a_i - a_j)/2) to INTERPOLATION_ERROR."""
    middle, half = 0.5 * (a.max() + a.min()), 0.5 * (a.max() - a.min())
    m = n_points(half)
    angles = (np.arange(m) + 0.5) * (np.pi / m)
    nodes = middle + half * np.cos(angles)
    x = np.clip((a - middle) / half, -1.0, 1.0) if half > 0.0 else np.zeros_like(a)
    # Lagrange functions of the nodes x_k: (2/m) sum_q' T_q(x_k) T_q(x), the first term halved.
    polynomials = np.cos(np.arange(m)[None, :] * np.arccos(x)[:, None])
    weights = (2.0 / m) * np.cos(np.arange(m)[:, None] * angles[None, :])
    weights[0] *= 0.5
    gap = np.abs(nodes[None, :] - a[:, None])
    values = 0.5 * gap + np.log1p(np.exp(-gap)) - np.log(2.0)  # no overflow
    return polynomials @ weights, values


def n_points(half: float) -> int:
    """Return how many Chebyshev points interpolate log cosh on [-half, half] well enough.

    A function bounded by M on the ellipse of parameter rho is interpolated by m points with an
    error of at most 4 M rho^(1 - m)/(rho - 1).
    """
    if half == 0.0:
        return 1
    ratio = HEIGHT / half
    rho = ratio + np.sqrt(ratio**2 + 1.0)
    # |log cosh(w)| with w = (x + iy)/2: |x| is at most the ellipse's width and the interval's.
    width = 0.5 * half * (rho + 1.0 / rho) + half
    real = max(0.5 * width + np.log(2.0), -np.log(np.cos(0.5 * HEIGHT)))
    bound = np.hypot(real, 0.5 * np.pi)
    return int(
        np.ceil(1.0 + np.log(4.0 * bound / ((rho - 1.0) * INTERPOLATION_ERROR)) / np.log(rho))
    )
