"""The inverse that a row-sparse projection needs, by conjugate gradients: products alone.

With N = E^(1/2) M E^(1/2) / gamma, M = Z'LZ and E = diag(e) (see sparse_projection.py),

    gamma (M + gamma E^(-1))^(-1) = E^(1/2) (I + N)^(-1) E^(1/2),

and a product with I + N takes two with the table and one with L, all sparse where these are. After
a few steps of reweighting nearly all e_j are tiny. The preconditioner inverts the block of the
other, live rows A and leaves the rest alone: diag((I + N_AA)^(-1), I). As N is positive
semidefinite, the preconditioned matrix has a condition number of at most (1 + r)^2,

    r = sqrt(delta) + delta,   delta = ||N_BB|| <= sum_{j in B} N_jj,   B the rows not in A,

so that t steps reduce the error to 2 (r/(2 + r))^t: about six for fifteen digits in late steps.
Without live rows the condition number is at most 1 + ||N||. :meth:`ProductForm.plan` takes the
live rows for which the expected cost is least.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from featsieve.arrays import DataOperator
from featsieve.arrays.leading_eigenvectors import TOLERANCE, basis_size, leading_eigenvectors
from featsieve.arrays.namespace import Array, sparse_product, to_numpy
from featsieve.solvers.conjugate_gradients import conjugate_gradients

# Products with a float32 table carry no more digits than this.
SINGLE_TOLERANCE = 1e-6
# The residual of a solve, relative to the tolerance of Lanczos.
SHARE_OF_TOLERANCE = 0.01
MAX_STEPS = 1000
# At most as many live rows, nor more than this share of the smaller side of the table.
MOST_LIVE, LARGEST_SHARE = 1000, 1 / 3
# The plan tries the live rows that leave a sum of N_jj of at most these.
LEVELS = 10.0 ** np.arange(2, -11, -1)
POWER_STEPS = 8
# Costs are counted in multiply-adds of a product with a sparse table or a vector (about 1 ns). A
# multiply-add between matrices costs less; the array calls of one product cost as many.
BLOCKED, CALLS = 0.05, 1e5
# Conjugate gradients take about this share of the steps that the bound allows, and hardly fewer
# steps than this.
SHARE_OF_BOUND, FEWEST_STEPS = 0.5, 4.0


@dataclass(frozen=True)
class Plan:
    """How to solve with I + N: the live rows, and what it takes."""

    live: np.ndarray
    n_steps: float  # of one solve, at most
    cost: float  # of all eigenvectors, to be expected


class TableForm:
    """M through products with the table and L."""

    def __init__(self, operator: DataOperator, L: sp.csr_array) -> None:
        self.operator, self.xp, self.L = operator, operator.xp, L
        single = operator.dtype == self.xp.float32
        self.tolerance = SINGLE_TOLERANCE if single else TOLERANCE

    def scatter(self, W: Array) -> float:
        """Return tr((ZW)'L(ZW))."""
        fitted = self.operator.matmul(W)
        return float(self.xp.sum(fitted * self.smoothed(fitted)))

    @cached_property
    def smoothed(self) -> Callable[[Array], Array]:
        """The function Y -> LY."""
        return sparse_product(self.L, self.operator.inverse_scale)


class ProductForm(TableForm):
    """The inverse through conjugate gradients; no matrix is larger than the live block."""

    def leading(
        self, inverse: Array, gamma: float, *, start: Array, count: int
    ) -> tuple[np.ndarray, Array]:
        """Run Lanczos as the best plan says."""
        plan = self.plan(inverse, gamma, count)
        return self.follow(plan, inverse, gamma, start=start, count=count)

    def follow(
        self, plan: Plan, inverse: Array, gamma: float, *, start: Array, count: int
    ) -> tuple[np.ndarray, Array]:
        """Run Lanczos on E^(1/2) (I + N)^(-1) E^(1/2)."""
        root = self.xp.sqrt(inverse)[:, None]
        product, precondition = self.system(plan.live, inverse, gamma)
        accuracy = SHARE_OF_TOLERANCE * self.tolerance

        def apply(v: Array) -> Array:
            found, _ = conjugate_gradients(
                product, precondition, root * v, tol=accuracy, max_steps=MAX_STEPS
            )
            return root * found

        return leading_eigenvectors(
            apply, start, count, n_guards=int(count > 1), tolerance=self.tolerance
        )

    def system(
        self, live: np.ndarray, inverse: Array, gamma: float
    ) -> tuple[Callable[[Array], Array], Callable[[Array], Array]]:
        """Return the products with I + N, and with the preconditioner."""
        operator, xp = self.operator, self.xp
        root = xp.sqrt(inverse / safe_gamma(gamma, to_numpy(inverse) * self.roughness))[:, None]
        rows = xp.asarray(live, device=operator.device)
        Z = operator.columns(rows) * xp.take(root, rows, axis=0).T
        block = Z.T @ self.smoothed(Z)
        eye = xp.eye(len(live), dtype=xp.float64, device=operator.device)
        block = xp.linalg.inv(eye + 0.5 * (block + block.T))

        def product(v: Array) -> Array:
            return v + root * operator.rmatmul(self.smoothed(operator.matmul(root * v)))

        # The place of a row in the block; behind its end, where there is a zero, for the others.
        place = np.full(operator.shape[1], len(live))
        place[live] = np.arange(len(live))
        inside, place = operator.place(place < len(live))[:, None], operator.place(place)

        def precondition(r: Array) -> Array:
            solved = xp.concat([block @ xp.take(r, rows, axis=0), xp.zeros_like(r[:1, :])], axis=0)
            return xp.where(inside, xp.take(solved, place, axis=0), r)

        return product, precondition

    def cost(self, count: int, *, n_steps: float = FEWEST_STEPS, n_live: int = 0) -> float:
        """Return the cost of ``count`` eigenvectors, each product with a solve of ``n_steps``."""
        n, d = self.operator.shape
        block = n_live * (n + self.L.nnz) + BLOCKED * (n * n_live**2 + n_live**3)
        step = CALLS + 2.0 * self.operator.n_stored + self.L.nnz + 10.0 * d + n_live**2
        return block + basis_size(count, d) * n_steps * step

    def plan(self, inverse: Array, gamma: float, count: int) -> Plan:
        """Return the live rows that make ``count`` eigenvectors cheapest."""
        n, d = self.operator.shape
        diagonal = to_numpy(inverse) * self.roughness
        diagonal = diagonal / safe_gamma(gamma, diagonal)
        order = np.argsort(-diagonal, kind="stable")
        # left[q]: the sum of N_jj over all rows but the q largest
        left = np.append(np.cumsum(diagonal[order][::-1])[::-1], 0.0)
        counts = np.unique([0, *(int(np.argmax(left <= level)) for level in LEVELS)])
        counts = counts[counts <= min(MOST_LIVE, LARGEST_SHARE * min(n, d))]
        norm = min(self._norm(inverse, gamma), float(left[0]))
        plans = []
        for q in counts:
            excess = np.sqrt(1.0 + norm) - 1.0  # r without live rows
            if q > 0:
                excess = min(excess, np.sqrt(left[q]) + left[q])
            n_steps = largest_steps(excess, SHARE_OF_TOLERANCE * self.tolerance)
            cost = self.cost(count, n_steps=SHARE_OF_BOUND * n_steps, n_live=int(q))
            plans.append(Plan(np.sort(order[:q]), n_steps, cost))
        return min(plans, key=lambda plan: plan.cost)

    @cached_property
    def roughness(self) -> np.ndarray:
        """The diagonal of M."""
        return np.maximum(to_numpy(self.operator.column_forms(self.L)), 0.0)

    def _norm(self, inverse: Array, gamma: float) -> float:
        """Estimate ||N|| by a few steps of the power method."""
        product, _ = self.system(np.zeros(0, dtype=np.intp), inverse, gamma)
        xp, d = self.xp, self.operator.shape[1]
        v = xp.asarray(
            np.random.default_rng(0).standard_normal((d, 1)), device=self.operator.device
        )
        length = 0.0
        for _ in range(POWER_STEPS):
            v = v / (float(xp.linalg.vector_norm(v)) or 1.0)
            v = product(v) - v
            length = float(xp.linalg.vector_norm(v))
        return length


def largest_steps(excess: float, tol: float) -> float:
    """Return t with 2 (r/(2 + r))^t = tol, at least 1; (1 + r)^2 is the condition number."""
    return max(1.0, float(np.log(2.0 / tol) / np.log1p(2.0 / max(excess, 1e-300))))


def safe_gamma(gamma: float, diagonal: np.ndarray) -> float:
    """Return gamma, or what rounding would swallow of a matrix with this diagonal if more."""
    floor = len(diagonal) * np.finfo(np.float64).eps * float(diagonal.max(initial=0.0))
    return max(gamma, floor)
