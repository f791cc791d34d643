"""A row-sparse projection of least scatter, by reweighting.

    min_W  tr(W'MW) + gamma sum_j sqrt(||w_j||^2 + eps),   W'W = I_m,   M = Z'LZ,

with L a sparse positive semidefinite matrix of the samples. The penalty lies below its quadratic
majoriser (see terms/row_shrinkage.py), and with that in its place the problem is an eigenproblem:
W holds the eigenvectors of the m smallest eigenvalues of P = M + gamma E^(-1), E = diag(e) being
the inverse weights of the rows. They are the leading ones of gamma P^(-1), which needs no division
by an e_j that has become tiny, and has two forms:

    gram form    gamma E^(1/2) (E^(1/2) M E^(1/2) + gamma I_d)^(-1) E^(1/2)              d <= n
    sample form  E - E Z'R (R'Z E Z'R + gamma I_r)^(-1) R'Z E,    L = RR', r < n         d > n

The sample form is never written down: Lanczos multiplies with it. A column that does not vary gets
e_j = 0 and so a zero row of W. (It would otherwise come first: it has no scatter.)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.solvers.alternate import Alternation, Block, relative_change
from featsieve.solvers.leading_eigenvectors import TOLERANCE, leading_eigenvectors
from featsieve.solvers.protocol import Callback, Solution, Status, run
from featsieve.terms.row_shrinkage import inverse_weights, smoothed_norm
from featsieve.validation import check_option

FORMS = ("auto", "gram", "sample")
INITS = ("roughness", "identity")
# Eigenvalues of L below this share of the largest are zero.
RANK = 1e-12
# Up to this many features all eigenvectors of the gram form are computed at once.
LARGEST_FULL = 256
# The first weights: see first_inverse_weights. Bounds of p, and of |log e|.
SPREAD, STEEPEST, LARGEST_WEIGHT = 3.0, 100.0, 5.0
# Lanczos looks at P less a multiple of I that leaves this share of its smallest diagonal entry.
UNSHIFTED = 0.1
# Products with a float32 table carry no more digits than this.
SINGLE_TOLERANCE = 1e-6


class QuadraticForm(Protocol):
    """What the solver needs to know of M."""

    def scatter(self, W: Array) -> float:
        """Return tr(W'MW)."""

    def leading(
        self, inverse: Array, gamma: float, *, start: Array, count: int
    ) -> tuple[np.ndarray, Array]:
        """Return the largest eigenvalues of gamma (M + gamma E^(-1))^(-1), and eigenvectors."""


class GramForm:
    """M as a d x d matrix, computed once."""

    def __init__(self, operator: DataOperator, L: sp.csr_array) -> None:
        self.xp, self.M = operator.xp, operator.quadratic(L)
        self.eye = self.xp.eye(operator.shape[1], dtype=self.xp.float64, device=operator.device)

    def scatter(self, W: Array) -> float:
        """Return tr(W'MW)."""
        return float(self.xp.sum(W * (self.M @ W)))

    def leading(
        self, inverse: Array, gamma: float, *, start: Array, count: int
    ) -> tuple[np.ndarray, Array]:
        """Form the inverse; all its eigenvectors where d is small, the leading ones by Lanczos."""
        xp = self.xp
        root = xp.sqrt(inverse)
        A = root[:, None] * self.M * root[None, :]
        A = gamma * root[:, None] * xp.linalg.inv(A + _shift(A, gamma) * self.eye) * root[None, :]
        A = 0.5 * (A + A.T)
        if A.shape[0] > max(LARGEST_FULL, 5 * count):
            return leading_eigenvectors(lambda v: A @ v, start, count, n_guards=int(count > 1))
        theta, vectors = xp.linalg.eigh(A)
        return to_numpy(theta)[::-1][:count], xp.flip(vectors, axis=1)[:, :count]


class SampleForm:
    """M through products with the table, and the factor R of L (n x r, computed once)."""

    def __init__(self, operator: DataOperator, L: sp.csr_array) -> None:
        self.operator, self.xp, self.L = operator, operator.xp, L
        energy, basis = np.linalg.eigh(L.toarray())
        kept = energy > RANK * max(float(energy[-1]), 0.0)
        factor = basis[:, kept] * np.sqrt(energy[kept])
        self.R = self.xp.asarray(factor, device=operator.device)
        single = operator.dtype == self.xp.float32
        self.tolerance = SINGLE_TOLERANCE if single else TOLERANCE

    def scatter(self, W: Array) -> float:
        """Return tr((ZW)'L(ZW))."""
        fitted = to_numpy(self.operator.matmul(W))
        return float(np.sum(fitted * (self.L @ fitted)))

    def leading(
        self, inverse: Array, gamma: float, *, start: Array, count: int
    ) -> tuple[np.ndarray, Array]:
        """Run Lanczos; a product costs two with the table and three of size n."""
        operator, xp, R = self.operator, self.xp, self.R
        A = R.T @ operator.sample_gram(inverse) @ R
        eye = xp.eye(A.shape[0], dtype=xp.float64, device=operator.device)
        core = xp.linalg.inv(0.5 * (A + A.T) + _shift(A, gamma) * eye)

        def apply(v: Array) -> Array:
            scaled = inverse[:, None] * v
            inside = R.T @ operator.matmul(scaled)
            return scaled - inverse[:, None] * operator.rmatmul(R @ (core @ inside))

        return leading_eigenvectors(
            apply, start, count, n_guards=int(count > 1), tolerance=self.tolerance
        )


@dataclass(frozen=True)
class SparseProjection:
    """The problem.

    Parameters
    ----------
    operator : DataOperator
        Z, n x d.
    laplacian : sparse array of shape (n, n)
        L, positive semidefinite.
    n_components : int
        m, at most the number of columns that vary.
    gamma : float
        Weight of the rows' lengths, above 0.
    form : {"auto", "gram", "sample"}
        "auto" takes the one whose matrix is smaller.
    """

    operator: DataOperator
    laplacian: sp.csr_array
    n_components: int
    gamma: float
    form: str = "auto"

    def __post_init__(self) -> None:
        check_option("form", self.form, FORMS)

    @cached_property
    def quadratic(self) -> QuadraticForm:
        """M, in the chosen form."""
        n, d = self.operator.shape
        wide = d > n if self.form == "auto" else self.form == "sample"
        form = SampleForm if wide else GramForm
        return form(self.operator, self.laplacian)

    @cached_property
    def varies(self) -> Array:
        """1 where a column varies, 0 elsewhere."""
        return self.operator.xp.astype(self.operator.varies, self.operator.xp.float64)

    def objective(self, state: "ProjectionState") -> float:
        """Return tr(W'MW) + gamma ||W||_{2,1}, smoothed."""
        return state.value


@dataclass(frozen=True)
class ProjectionState:
    """The variables: W, and the weights that the next one will be found with."""

    inverse: Array  # e_j of the rows
    W: Array | None = None
    value: float = float("inf")
    gap: float = 1.0  # smallest relative eigengap (lam_{m+1} - lam_m)/lam_{m+1} of all steps


def roughness(operator: DataOperator, L: sp.csr_array) -> np.ndarray:
    """Return z_j'Lz_j of every column, the diagonal of M."""
    return np.maximum(to_numpy(operator.column_forms(L)), 0.0)


def first_inverse_weights(rough: np.ndarray, init: str, n_components: int) -> np.ndarray:
    """Return the e_j of the first step: 1, or more for smooth columns.

    With e = 1 and d > n the smallest eigenvalue of P repeats d - rank(M) times, and which of its
    eigenvectors come out is an accident of the order of the columns. e_j = (median/M_jj)^p decides
    it in favour of smooth columns. p = 1 where they differ enough for Lanczos to tell the m
    smoothest from the others, else what makes the m-th weigh three times the median.
    """
    varying = np.sort(rough[rough > 0.0])
    if init == "identity" or len(varying) == 0:
        return np.ones_like(rough)
    median = float(np.median(varying))
    distance = np.log(median) - np.log(varying[min(n_components, len(varying) - 1)])
    power = np.log(SPREAD) / distance if distance > 0.0 else 1.0
    smooth = np.log(median) - np.log(np.maximum(rough, np.finfo(np.float64).tiny))
    smooth *= np.clip(power, 1.0, STEEPEST)
    return np.exp(np.clip(smooth, -LARGEST_WEIGHT, LARGEST_WEIGHT))


def solve_projection(
    problem: SparseProjection,
    inverse: np.ndarray,
    *,
    max_iter: int = 100,
    tol: float = 1e-5,
    callback: Callback[ProjectionState] | None = None,
) -> Solution[ProjectionState]:
    """Reweight from inverse weights e of the rows until the value changes by less than ``tol``."""
    operator, xp = problem.operator, problem.operator.xp
    m, gamma = problem.n_components, problem.gamma
    d = operator.shape[1]
    noise = xp.asarray(np.random.default_rng(0).standard_normal(d), device=operator.device)
    noise = problem.varies * noise / float(d) ** 0.5

    def start(problem: SparseProjection) -> ProjectionState:
        return ProjectionState(problem.varies * xp.asarray(inverse, device=operator.device))

    def update(problem: SparseProjection, state: ProjectionState) -> ProjectionState:
        # The last W is nearly the next. The noise lets Lanczos see what it does not contain.
        first = noise if state.W is None else xp.sum(state.W, axis=1) + 1e-3 * noise
        # Subtracting gamma s I from P keeps its eigenvectors, and moves small eigenvalues apart.
        s = (1.0 - UNSHIFTED) / float(xp.max(state.inverse))
        theta, vectors = problem.quadratic.leading(
            state.inverse / (1.0 - s * state.inverse), gamma, start=first, count=min(m + 1, d)
        )
        W = problem.varies[:, None] * vectors[:, :m]
        gap = min(state.gap, _relative_gap(theta, s)) if m < d else 1.0
        value = float(problem.quadratic.scatter(W) + gamma * smoothed_norm(W[operator.varies, :]))
        # No descent, by rounding or because Lanczos missed a repeated eigenvalue: stay.
        if state.W is not None and not value < state.value:
            return ProjectionState(state.inverse, state.W, state.value, gap)
        return ProjectionState(problem.varies * inverse_weights(W), W, value, gap)

    def stop(state: ProjectionState, history: Sequence[float]) -> Status | None:
        return Status.CONVERGED if relative_change(history) < tol else None

    solver = Alternation(
        start=start,
        blocks=(Block("projection", update),),
        value=SparseProjection.objective,
        stop=stop,
    )
    return run(solver, problem, max_iter=max_iter, callback=callback)


def _relative_gap(theta: np.ndarray, s: float) -> float:
    """Return (lam_{m+1} - lam_m)/lam_{m+1}, the eigenvalues being lam = gamma (1/theta + s)."""
    last, beyond = float(theta[-2]), max(float(theta[-1]), 0.0)
    return 1.0 - (beyond + s * beyond * last) / (last + s * beyond * last)


def _shift(A: Array, gamma: float) -> float:
    """Return gamma, or what rounding of A would swallow if that is more."""
    diagonal = to_numpy(A).diagonal()
    floor = A.shape[0] * np.finfo(np.float64).eps * float(diagonal.max(initial=0.0))
    return max(gamma, floor)
