"""One step of l2,1-regularised least squares by reweighting, exact for either shape of the table.

    min_W  sum_i p_i ||z_i W - t_i||^2 + rho sum_j ||w_j||^2 / e_j

with E = diag(e) the inverse weights of the rows and P = diag(p) weights of the samples. The two
forms are the same W:

    gram form    W = E^(1/2) (E^(1/2) Z'PZ E^(1/2) + rho I_d)^(-1) E^(1/2) Z'P T     d <= n
    sample form  W = E Z' (Z E Z' + rho P^(-1))^(-1) T                               d > n

The sample form never sees a d x d matrix. Where both are too large to be formed, the system of the
sample form is solved from products with Z by conjugate gradients. Their preconditioner leaves the
weights of the samples out and takes only the features that matter most: with B = Z_L E_L^(1/2) of
the features L of the largest e_j ||z_j||^2,

    (B B' + rho I)^(-1) = (I - B (B'B + rho I)^(-1) B')/rho.

As the alternation concentrates the weights e on few features, few steps remain to be done. At its
start, with equal weights, the steps end before the solution is exact.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from featsieve.arrays import DataOperator
from featsieve.arrays.linalg import solve_shifted
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.solvers.conjugate_gradients import conjugate_gradients
from featsieve.terms.norms import row_norms

# Matrices of the smaller side of the table are formed up to this size (200 MB).
LARGEST_FORMED = 5000

# A rho below this power of the table's precision, as a share of the largest entry of the matrix,
# costs a plain solve too many digits (1e-6 for float64, 3e-3 for float32).
NEGLIGIBLE = 0.375
# Conjugate gradients: features in the preconditioner, the residual (relative to the target) at
# which a solution counts as exact, and the most steps.
N_LEADING, TOLERANCE, MOST_STEPS = 300, 1e-6, 50


@dataclass(frozen=True)
class ReweightedRidge:
    """Ridge regressions on one table with a penalty of its own for every row of W."""

    operator: DataOperator  # Z, n x d
    form: str = "auto"  # "gram", "sample" or "implicit"; "auto": whose matrix is smaller, or none
    _last: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def solve(
        self, target: Array, rho: float, *, inverse: Array, sample_weights: Array | None = None
    ) -> tuple[Array, Array]:
        """Return W and ZW for targets T, with inverse weights e of the rows."""
        n, d = self.operator.shape
        form = self.form
        if form == "auto":
            form = "sample" if d > n else "gram"
            if min(n, d) > LARGEST_FORMED and rho > 0.0:
                form = "implicit"
        forms = {"gram": self._gram_form, "sample": self._sample_form}
        solve = forms.get(form, self._implicit_form)
        return solve(target, rho, inverse, sample_weights)

    def _implicit_form(
        self, target: Array, rho: float, inverse: Array, p: Array | None
    ) -> tuple[Array, Array]:
        operator, xp = self.operator, self.operator.xp
        ones = xp.ones(operator.shape[0], dtype=xp.float64, device=operator.device)
        root = xp.sqrt(ones if p is None else p)[:, None]

        def product(V: Array) -> Array:
            inner = inverse[:, None] * operator.rmatmul(root * V)
            return root * operator.matmul(inner) + rho * V

        V, _ = conjugate_gradients(
            product,
            _preconditioner(operator, inverse, rho=rho),
            root * target,
            tol=TOLERANCE,
            max_steps=MOST_STEPS,
            start=self._last.get("V"),
        )
        self._last["V"] = V  # where the next solution begins
        W = inverse[:, None] * operator.rmatmul(root * V)
        return W, operator.matmul(W)

    def _sample_form(
        self, target: Array, rho: float, inverse: Array, p: Array | None
    ) -> tuple[Array, Array]:
        # With R = P^(1/2):  W = E Z'R (R ZEZ' R + rho I)^(-1) R T.
        operator, xp = self.operator, self.operator.xp
        A = operator.sample_gram(inverse)
        root = xp.ones_like(A[:, :1]) if p is None else xp.sqrt(p)[:, None]
        if p is not None:
            A = root * A * root.T
        right = root * target
        precision = float(xp.finfo(operator.dtype).eps)
        if rho > precision**NEGLIGIBLE * float(xp.max(xp.linalg.diagonal(A))):
            V = solve_shifted(A, rho * xp.ones_like(root[:, 0]), right)
        else:
            # What of T lies outside the span of Z (its mean, at least) would be divided by rho
            # only to be cancelled by Z'V = 0: it is left out.
            energy, basis = xp.linalg.eigh(A)
            live = energy > A.shape[0] * precision * energy[-1]
            divisor = xp.where(live, energy + rho, xp.ones_like(energy))
            V = basis @ (xp.where(live, 1.0 / divisor, 0.0)[:, None] * (basis.T @ right))
        W = inverse[:, None] * operator.rmatmul(root * V)
        return W, operator.matmul(W)

    def _gram_form(
        self, target: Array, rho: float, inverse: Array, p: Array | None
    ) -> tuple[Array, Array]:
        operator, xp = self.operator, self.operator.xp
        gram = operator.gram() if p is None else operator.weighted_gram(p)
        root = xp.sqrt(inverse)
        A = root[:, None] * gram * root[None, :]
        weighted = target if p is None else p[:, None] * target
        right = root[:, None] * operator.rmatmul(weighted)
        W = root[:, None] * solve_shifted(A, rho * xp.ones_like(root), right)
        return W, operator.matmul(W)


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


def largest_penalty(operator: DataOperator, target: Array) -> float:
    """Return 2 max_j ||z_j'T||: W = 0 minimises ||ZW - T||^2 + rho ||W||_{2,1} from this rho on."""
    xp = operator.xp
    return 2.0 * float(xp.sqrt(xp.max(row_norms(operator.rmatmul(target)))))
