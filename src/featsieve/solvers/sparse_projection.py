"""A row-sparse projection of least scatter, by reweighting.

    min_W  tr(W'MW) + gamma sum_j sqrt(||w_j||^2 + eps),   W'W = I_m,   M = Z'LZ,

with L a sparse positive semidefinite matrix of the samples. The penalty lies below its quadratic
majoriser (see terms/norms.py), and with that in its place the problem is an eigenproblem:
W holds the eigenvectors of the m smallest eigenvalues of P = M + gamma E^(-1), E = diag(e) being
the inverse weights of the rows. They are the leading ones of gamma P^(-1), which needs no division
by an e_j that has become tiny, and has two forms:

    gram form    gamma E^(1/2) (E^(1/2) M E^(1/2) + gamma I_d)^(-1) E^(1/2)              d <= n
    sample form  E - E Z'T Z E,    T = (gamma I_n + L Z E Z')^(-1) L                     d > n

The sample form is never written down: Lanczos multiplies with it. A column that does not vary gets
e_j = 0 and so a zero row of W. (It would otherwise come first: it has no scatter.)
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.leading_eigenvectors import TOLERANCE, leading_eigenvectors
from featsieve.arrays.namespace import Array, sparse_product, to_numpy
from featsieve.solvers.block_problem import BlockProblem
from featsieve.terms.norms import inverse_weights, smoothed_norm

INITS = ("roughness", "identity")
# Products with a float32 table carry no more digits than this.
SINGLE_TOLERANCE = 1e-6
# Up to this many features all eigenvectors of the gram form are computed at once.
LARGEST_FULL = 256
# Lanczos looks at P less a multiple of I that leaves this share of its smallest diagonal entry.
UNSHIFTED = 0.1


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

    def leading(
        self, inverse: Array, gamma: float, *, start: Array, count: int
    ) -> tuple[np.ndarray, Array]:
        """Return the largest eigenvalues of gamma (M + gamma E^(-1))^(-1), and eigenvectors."""
        raise NotImplementedError

    @cached_property
    def smoothed(self) -> Callable[[Array], Array]:
        """The function Y -> LY."""
        return sparse_product(self.L, self.operator.inverse_scale)


class GramForm(TableForm):
    """M as a d x d matrix, computed once."""

    def __init__(self, operator: DataOperator, L: sp.csr_array) -> None:
        super().__init__(operator, L)
        self.M = operator.quadratic(L)
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
        shift = safe_gamma(gamma, to_numpy(xp.linalg.diagonal(A)))
        A = gamma * root[:, None] * xp.linalg.inv(A + shift * self.eye) * root[None, :]
        A = 0.5 * (A + A.T)
        if A.shape[0] > max(LARGEST_FULL, 5 * count):
            return leading_eigenvectors(lambda v: A @ v, start, count, n_guards=int(count > 1))
        theta, vectors = xp.linalg.eigh(A)
        return to_numpy(theta)[::-1][:count], xp.flip(vectors, axis=1)[:, :count]


class SampleForm(TableForm):
    """M through products with the table; the inverse through an n x n matrix, in every step."""

    def leading(
        self, inverse: Array, gamma: float, *, start: Array, count: int
    ) -> tuple[np.ndarray, Array]:
        """Run Lanczos; a product costs two with the table and one of size n."""
        operator, xp = self.operator, self.xp
        A = self.smoothed(operator.sample_gram(inverse))
        eye = xp.eye(A.shape[0], dtype=xp.float64, device=operator.device)
        shift = safe_gamma(gamma, to_numpy(xp.linalg.diagonal(A)))
        T = xp.linalg.solve(A + shift * eye, self.smoothed(eye))
        T = 0.5 * (T + T.T)

        def apply(v: Array) -> Array:
            scaled = inverse[:, None] * v
            return scaled - inverse[:, None] * operator.rmatmul(T @ operator.matmul(scaled))

        return leading_eigenvectors(
            apply, start, count, n_guards=int(count > 1), tolerance=self.tolerance
        )


@dataclass(frozen=True)
class ProjectionState:
    """The variables: W, and the weights that the next one will be found with."""

    inverse: Array  # e_j of the rows
    W: Array | None = None
    value: float = float("inf")
    gap: float = 1.0  # smallest relative eigengap (lam_{m+1} - lam_m)/lam_{m+1} of all steps


@dataclass(frozen=True)
class SparseProjection(BlockProblem[ProjectionState]):
    """The problem; a step reweights, until the value stands still."""

    operator: DataOperator
    laplacian: sp.csr_array
    n_components: int
    gamma: float
    form: str = "auto"  # "gram" or "sample"
    init: str = "roughness"

    blocks = ("projection",)

    @cached_property
    def quadratic(self) -> TableForm:
        """M, in the chosen form."""
        (n, d), form = self.operator.shape, self.form
        if form == "auto":
            form = "sample" if d > n else "gram"
        forms = {"gram": GramForm, "sample": SampleForm}
        return forms[form](self.operator, self.laplacian)

    @cached_property
    def varies(self) -> Array:
        """1 where a column varies, 0 elsewhere."""
        return self.operator.xp.astype(self.operator.varies, self.operator.xp.float64)

    @cached_property
    def noise(self) -> Array:
        """What lets Lanczos see directions that the last W does not contain."""
        d = self.operator.shape[1]
        noise = self.operator.place(np.random.default_rng(0).standard_normal(d))
        return self.varies * noise / float(d) ** 0.5

    def start(self) -> ProjectionState:
        """Return the first state, with the weights e of the rows that ``init`` says."""
        rough = roughness(self.operator, self.laplacian)
        inverse = first_inverse_weights(rough, self.init, self.n_components)
        return ProjectionState(self.varies * self.operator.place(inverse))

    def objective(self, state: ProjectionState) -> float:
        """Return tr(W'MW) + gamma ||W||_{2,1}, smoothed."""
        return state.value

    def update_projection(self, state: ProjectionState) -> ProjectionState:
        """Take the best W for the weights of the rows, then the weights of that W."""
        operator, xp, m, gamma = self.operator, self.operator.xp, self.n_components, self.gamma
        d = operator.shape[1]
        # The last W is nearly the next.
        first = self.noise if state.W is None else xp.sum(state.W, axis=1) + 1e-3 * self.noise
        # Subtracting gamma s I from P keeps its eigenvectors, and moves small eigenvalues apart.
        s = (1.0 - UNSHIFTED) / float(xp.max(state.inverse))
        theta, vectors = self.quadratic.leading(
            state.inverse / (1.0 - s * state.inverse), gamma, start=first, count=min(m + 1, d)
        )
        W = self.varies[:, None] * vectors[:, :m]
        gap = min(state.gap, _relative_gap(theta, s)) if m < d else 1.0
        varying = operator.place(np.flatnonzero(to_numpy(operator.varies)))
        value = self.quadratic.scatter(W) + gamma * smoothed_norm(xp.take(W, varying, axis=0))
        # No descent, by rounding or because Lanczos missed a repeated eigenvalue: stay.
        if state.W is not None and not value < state.value:
            return replace(state, gap=gap)
        return ProjectionState(self.varies * inverse_weights(W), W, value, gap)


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
    power = np.log(defaults.FIRST_WEIGHT_SPREAD) / distance if distance > 0.0 else 1.0
    smooth = np.log(median) - np.log(np.maximum(rough, np.finfo(np.float64).tiny))
    smooth *= np.clip(power, 1.0, defaults.FIRST_WEIGHT_POWER)
    largest = defaults.FIRST_WEIGHT_LOG
    return np.exp(np.clip(smooth, -largest, largest))


def safe_gamma(gamma: float, diagonal: np.ndarray) -> float:
    """Return gamma, or what rounding would swallow of a matrix with this diagonal if more."""
    floor = len(diagonal) * np.finfo(np.float64).eps * float(diagonal.max(initial=0.0))
    return max(gamma, floor)


def _relative_gap(theta: np.ndarray, s: float) -> float:
    """Return (lam_{m+1} - lam_m)/lam_{m+1}, the eigenvalues being lam = gamma (1/theta + s)."""
    last, beyond = float(theta[-2]), max(float(theta[-1]), 0.0)
    if last <= 0.0:
        return 1.0  # all directions that vary are among the m
    return 1.0 - (beyond + s * beyond * last) / (last + s * beyond * last)
