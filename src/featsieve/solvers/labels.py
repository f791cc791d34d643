"""The published label step: a multiplicative update of F under an orthogonality penalty."""

from dataclasses import dataclass

import numpy as np

from featsieve.solvers.nonnegative_labels import unit_columns
from featsieve.terms.entropy_graph import UniformGraph
from featsieve.validation import check_option

FORMULAS = ("code", "paper")


@dataclass(frozen=True)
class MultiplicativeLabels:
    """F <- F * (nu F + Q) / (P F + nu F F'F), then columns to unit length (eq. slutonofF).

    The paper prints P = H/2 + alpha L_S and Q = HXW/2 (eq. PQ); the authors' code uses twice that.
    With nu = 1e8 an entry moves by about 1e-8, and a zero stays zero: the labels are frozen at
    their first value. A smaller nu lets them move, and can then make the printed numerator
    negative; such entries are set to zero, which is where F >= 0 wants them.

    Parameters
    ----------
    alpha : float
        Weight of the graph.
    orthogonality : float
        nu.
    formula : {"code", "paper"}
        Which of the two versions.
    """

    alpha: float
    orthogonality: float = 1e8
    formula: str = "code"

    def __post_init__(self) -> None:
        check_option("formula", self.formula, FORMULAS)

    def update(self, F: np.ndarray, fitted: np.ndarray, graph: UniformGraph) -> np.ndarray:
        """Return the next F, given HXW and the graph of the current F."""
        # Algorithm 2, line 4: P F (with L_S) and Q
        factor = 1.0 if self.formula == "code" else 0.5
        P_F = factor * ((F - F.mean(axis=0)) + 2.0 * self.alpha * graph.laplacian_product(F))
        numerator = self.orthogonality * F + factor * fitted
        # Algorithm 2, line 5: F by eq. slutonofF
        denominator = P_F + self.orthogonality * (F @ (F.T @ F))
        safe = np.where(denominator > 0.0, denominator, 1.0)
        ratio = np.where((denominator > 0.0) & (numerator > 0.0), numerator / safe, 0.0)
        return unit_columns(F * ratio)
