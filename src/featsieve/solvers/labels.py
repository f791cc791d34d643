"""The published label step: a multiplicative update of F under an orthogonality penalty."""

import numpy as np

from featsieve.solvers.nonnegative_labels import unit_columns
from featsieve.terms.entropy_graph import UniformGraph

FORMULAS = ("code", "paper")


def multiplicative_step(
    F: np.ndarray,
    fitted: np.ndarray,
    graph: UniformGraph,
    *,
    alpha: float,
    orthogonality: float,
    formula: str = "code",
) -> np.ndarray:
    """Return F * (nu F + Q) / (P F + nu F F'F), columns to unit length (eq. slutonofF).

    ``fitted`` is HXW, ``graph`` that of F, and nu is ``orthogonality``. The paper prints
    P = H/2 + alpha L_S and Q = HXW/2 (eq. PQ); the authors' code uses twice that. With nu = 1e8 an
    entry moves by about 1e-8, and a zero stays zero: the labels are frozen at their first value. A
    smaller nu lets them move, and can then make the printed numerator negative; such entries are
    set to zero, which is where F >= 0 wants them.
    """
    # Algorithm 2, line 4: P F (with L_S) and Q
    factor = 1.0 if formula == "code" else 0.5
    P_F = factor * ((F - F.mean(axis=0)) + 2.0 * alpha * graph.laplacian_product(F))
    numerator = orthogonality * F + factor * fitted
    # Algorithm 2, line 5: F by eq. slutonofF
    denominator = P_F + orthogonality * (F @ (F.T @ F))
    safe = np.where(denominator > 0.0, denominator, 1.0)
    ratio = np.where((denominator > 0.0) & (numerator > 0.0), numerator / safe, 0.0)
    return unit_columns(F * ratio)
