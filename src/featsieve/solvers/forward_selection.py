"""Ridge forward selection: the nested path of supports, one exact best addition at a time.

With S selected and K_S = I + Z_S Z_S'/mu, adding column j lowers the objective by

    gain_j = 1/2 ||c_j||^2 / (mu + q_j),   c_j = z_j' K_S^(-1) Y,   q_j = z_j' K_S^(-1) z_j,

exactly: no refit is needed to compare candidates. After adding j with v = Z' K_S^(-1) z_j and
delta = mu + v_j, everything is updated in O(d c):  C -= v c_j/delta,  q -= v^2/delta.

The *sample form* gets v from u = K_S^(-1) z_j in R^n as Z'u; the *Gram form* from column j of Z'Z
in R^d. They are the same numbers; which is cheaper depends on the shape of the table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Protocol

import array_api_extra as xpx
import numpy as np

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array, minus_outer, row_squares, stable_order, to_numpy
from featsieve.solvers.protocol import Status
from featsieve.solvers.row_sparse import RowSparseRegression
from featsieve.solvers.sparse_form import SparseForm

FORMS = ("auto", "sample", "gram", "prefetch", "sparse")

# Gains closer than this (relatively) are ties, and the lower index wins, so that the order does not
# hang on the last bits of a sum. float32 tables carry fewer digits.
TIE = {"float32": 1e-5, "float64": 1e-7}
# A column that keeps less than this share of its length has become dependent on the selected ones.
DEPENDENT = 1e-8
# The Gram matrix is formed up to this many columns (200 MB).
LARGEST_GRAM = 5000
# Tables larger than this (elements) are read once per batch of columns, not once per column.
LARGEST_REREAD = 2**22
# ... unless there are so few samples that the d x k vectors of the Gram form exceed the table.
FEW_SAMPLES = 1000
BATCH = 32


@dataclass(frozen=True, eq=False)
class SelectionPath:
    """Nested supports of every size, from one run of forward selection.

    Attributes
    ----------
    order : int array of shape (n_steps,)
        Features in the order in which they entered: the support of size k is ``order[:k]``.
    half_gains : float array of shape (n_steps,)
        How much the objective without its sparsity term fell when each entered.
    sparsity : float array of shape (n_steps,)
        The largest lambda that still selects each of them (running minimum of the half gains).
    loss : float array of shape (n_steps + 1,)
        1/2 ||ZW - Y||^2 + (mu/2)||W||^2 at the best W on every support, from the empty one on.
    curve : CriterionCurve or None
        The label-free criterion that chose the number of features, if one did.
    """

    order: np.ndarray
    half_gains: np.ndarray
    loss: np.ndarray
    curve: Any = None

    @property
    def sparsity(self) -> np.ndarray:
        """The largest lambda that still selects each feature of the path."""
        return np.minimum.accumulate(self.half_gains)

    def n_features_at(self, sparsity: float) -> int:
        """Return how many features a value of lambda selects."""
        return int(np.count_nonzero(self.sparsity >= sparsity))

    def support_at(self, n_features: int) -> np.ndarray:
        """Return the sorted indices of the first ``n_features`` features of the path."""
        if not 0 <= n_features <= len(self.order):
            raise ValueError(
                f"n_features must be between 0 and {len(self.order)}, the length of this path, "
                f"got {n_features}. Fit with a larger n_features_to_select or path_length."
            )
        return np.sort(self.order[:n_features])


class Form(Protocol):
    """Where v = Z' K_S^(-1) z_j comes from."""

    def direction(self, j: int, gains: Array) -> Array:
        """Return v for column j; ``gains`` says which columns may be wanted next."""

    def add(self, delta: float) -> None:
        """Take the column of the last :meth:`direction` into S."""


class SampleForm:
    """v = Z'u, u = z_j - U diag(1/delta) U'z_j: one product with the table per step."""

    def __init__(self, operator: DataOperator) -> None:
        self.operator = operator
        self.basis = _Columns(operator)

    def direction(self, j: int, gains: Array) -> Array:
        """Return Z'u for u = K_S^(-1) z_j."""
        operator = self.operator
        z = operator.columns(operator.xp.asarray([j], device=operator.device))[:, 0]
        self.last = self.basis.project_out(z, z)
        return operator.rmatmul(self.last[:, None])[:, 0]

    def add(self, delta: float) -> None:
        """Keep u."""
        self.basis.append(self.last, delta)


class GramForm:
    """v = G_j - V diag(1/delta) V_j': no product with the table once column j of G is known.

    With ``batch`` 0 the whole Gram matrix is formed. Otherwise its columns are fetched when they
    are needed, ``batch`` at a time, the most promising ones together: exact, in few passes.
    """

    def __init__(self, operator: DataOperator, *, batch: int = 0) -> None:
        self.operator, self.batch = operator, batch
        self.basis = _Columns(operator)
        self.gram = operator.gram() if batch == 0 else None
        self.fetched: dict[int, Array] = {}
        self.n_passes = 0

    def direction(self, j: int, gains: Array) -> Array:
        """Return the residual Gram column of j."""
        column = self.gram[j, :] if self.gram is not None else self._fetch(j, gains)
        self.last = self.basis.project_out(column, self.basis.row(j), by_coefficient=True)
        return self.last

    def add(self, delta: float) -> None:
        """Keep v."""
        self.basis.append(self.last, delta)

    def _fetch(self, j: int, gains: Array) -> Array:
        if j not in self.fetched:
            ranked = stable_order(to_numpy(gains))
            wanted = [j] + [int(i) for i in ranked[: self.batch] if int(i) != j]
            wanted = [i for i in wanted if i not in self.fetched][: self.batch]
            xp = self.operator.xp
            block = self.operator.gram_columns(xp.asarray(wanted, device=self.operator.device))
            for position, i in enumerate(wanted):  # copies: a view would keep the whole block
                self.fetched[i] = xp.asarray(block[:, position], copy=True)
            self.n_passes += 1
        return self.fetched.pop(j)


class _Columns:
    """Vectors with their pivots; subtracts from a vector its part along them."""

    def __init__(self, operator: DataOperator) -> None:
        self.xp, self.device = operator.xp, operator.device
        self.count = 0
        self.pivots: list[float] = []
        self.store: Array = None

    def append(self, vector: Array, pivot: float) -> None:
        if self.store is None or self.count == self.store.shape[0]:
            room = max(16, 2 * self.count)
            store = self.xp.empty((room, vector.shape[0]), dtype=vector.dtype, device=self.device)
            if self.count:
                store = xpx.at(store)[: self.count, :].set(self.store)
            self.store = store
        self.store = xpx.at(self.store)[self.count, :].set(vector)
        self.pivots.append(pivot)
        self.count += 1

    def row(self, j: int) -> Array:
        """Return entry j of every vector."""
        return None if self.count == 0 else self.store[: self.count, j]

    def project_out(self, vector: Array, against: Array, *, by_coefficient: bool = False) -> Array:
        """Return vector - sum_s b_s <b_s, against>/delta_s; the products may be given instead."""
        if self.count == 0:
            return vector
        B = self.store[: self.count, :]
        coefficients = against if by_coefficient else B @ against
        pivots = self.xp.asarray(self.pivots, dtype=vector.dtype, device=self.device)
        return vector - (coefficients / pivots) @ B


@dataclass
class ForwardState:
    """What forward selection knows after some steps."""

    correlation: Array  # C = Z' K_S^(-1) Y
    leftover: Array  # q
    length: Array  # ||z_j||^2
    available: Array  # columns that may still enter
    form: Form
    loss: list[float]
    order: list[int] = field(default_factory=list)
    half_gains: list[float] = field(default_factory=list)
    candidates: Array = None  # half gain of every column, -1 where it may not enter


class ForwardSelection:
    """Solver of :class:`RowSparseRegression` that adds the best feature until none pays.

    It stops at the problem's ``n_features``, or when the next half gain is below its ``sparsity``
    or its ``least_share`` of what the selected features explain.
    A finished state can be run on (with a problem that allows more) to extend the path.

    Parameters
    ----------
    form : {"auto", "sample", "gram", "prefetch", "sparse"}
        How Z' K_S^(-1) z_j is computed. The result does not depend on it. "sparse" is for
        scipy.sparse tables and a ridge above 0.
    """

    def __init__(self, *, form: str = "auto") -> None:
        if form not in FORMS:
            raise ValueError(f"form must be one of {FORMS}, got {form!r}.")
        self.form = form

    def init(self, problem: RowSparseRegression) -> ForwardState:
        """Return the state of the empty support."""
        operator, xp = problem.operator, problem.operator.xp
        length = operator.column_norms()
        state = ForwardState(
            correlation=problem.correlation(),
            leftover=length,
            length=length,
            available=xp.asarray(operator.varies, copy=True),
            form=self._choose_form(operator, problem.ridge),
            loss=[0.5 * problem.energy()],
        )
        return self._rate(problem, state)

    def step(self, problem: RowSparseRegression, state: ForwardState) -> ForwardState:
        """Add the column of the largest gain (the lowest index among ties)."""
        return self.add(problem, state, self.best(problem, state))

    def best(
        self,
        problem: RowSparseRegression,
        state: ForwardState,
        *,
        among: np.ndarray | None = None,
    ) -> int:
        """Return the column of the largest gain, or its place in a list; the first of ties."""
        operator, xp = problem.operator, problem.operator.xp
        gains = state.candidates
        if among is not None:
            gains = xp.take(gains, operator.place(among), axis=0)
        tie = TIE["float32" if operator.dtype == xp.float32 else "float64"]
        best = float(xp.max(gains))
        return int(xp.argmax(xp.astype(gains >= best - tie * abs(best), xp.int8)))

    def add(self, problem: RowSparseRegression, state: ForwardState, j: int) -> ForwardState:
        """Add column j, whether or not it is the best one."""
        xp = problem.operator.xp
        half_gain = float(state.candidates[j])
        if not isfinite(half_gain):
            raise FloatingPointError(
                f"The gain of feature {j} is {half_gain}: the table's values are too large or too "
                "far from zero for its precision. Rescale or centre the columns first."
            )
        v = state.form.direction(j, state.candidates)
        delta = problem.ridge + max(float(v[j]), 0.0)
        state.form.add(delta)
        state.correlation = minus_outer(state.correlation, v, state.correlation[j, :] / delta)
        state.leftover = xp.clip(state.leftover - v * v / delta, min=0.0)
        state.available = xpx.at(state.available, j).set(False)
        state.order.append(j)
        state.half_gains.append(half_gain)
        state.loss.append(state.loss[-1] - half_gain)
        return self._rate(problem, state)

    def objective(self, problem: RowSparseRegression, state: ForwardState) -> float:
        """Return the loss on the current support, plus its sparsity term."""
        return state.loss[-1] + problem.sparsity * len(state.order)

    def terminate(
        self, problem: RowSparseRegression, state: ForwardState, history: Sequence[float]
    ) -> Status | None:
        """End at k features, or when no addition pays."""
        if len(state.order) >= problem.limit:
            return Status.CONVERGED
        best = float(problem.operator.xp.max(state.candidates))
        explained = state.loss[0] - state.loss[-1]
        worthwhile = best >= max(0.0, problem.sparsity, problem.least_share * explained)
        return None if worthwhile else Status.CONVERGED

    def path(self, state: ForwardState) -> SelectionPath:
        """Return what the run found, as NumPy arrays."""
        return SelectionPath(
            order=np.asarray(state.order, dtype=np.intp),
            half_gains=np.asarray(state.half_gains),
            loss=np.asarray(state.loss),
        )

    def _choose_form(self, operator: DataOperator, ridge: float) -> Form:
        n, d = operator.shape
        form = self.form
        if form == "auto":
            if d <= n and d <= LARGEST_GRAM:
                form = "gram"
            elif operator.sparse is not None and ridge > 0.0:
                form = "sparse"
            elif operator.n_stored <= LARGEST_REREAD or n <= FEW_SAMPLES:
                form = "sample"
            else:
                form = "prefetch"
        if form == "sparse":
            if operator.sparse is None or ridge == 0.0:
                raise ValueError('form="sparse" needs a scipy.sparse table and a ridge above 0.')
            return SparseForm(operator.sparse)
        if form == "sample":
            return SampleForm(operator)
        return GramForm(operator, batch=0 if form == "gram" else BATCH)

    def _rate(self, problem: RowSparseRegression, state: ForwardState) -> ForwardState:
        """Compute the half gain of every column that may enter."""
        xp = problem.operator.xp
        if problem.ridge == 0.0:
            independent = state.leftover > DEPENDENT * state.length
            state.available = xp.logical_and(state.available, independent)
        denominator = xp.where(state.available, problem.ridge + state.leftover, 1.0)
        gain = 0.5 * row_squares(state.correlation) / denominator
        state.candidates = xp.where(state.available, gain, xp.full_like(gain, -1.0))
        return state
