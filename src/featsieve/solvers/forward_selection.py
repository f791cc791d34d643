"""Ridge forward selection: the nested path of supports, one exact best addition at a time.

With S selected and K_S = I + Z_S Z_S'/mu, adding column j lowers the objective by

    gain_j = 1/2 ||c_j||^2 / (mu + q_j),   c_j = z_j' K_S^(-1) Y,   q_j = z_j' K_S^(-1) z_j,

exactly: no refit is needed to compare candidates. After adding j with v = Z' K_S^(-1) z_j and
delta = mu + v_j, everything is updated in O(d c):  C -= v c_j/delta,  q -= v^2/delta.

Where v comes from is the matter of ``forward_forms.py``.

Columns G that are bought together (``offer.py``) lower it by

    gain_G = 1/2 <C_G, (mu I + Z_G' K_S^(-1) Z_G)^(-1) C_G>,

and of units with prices the one of the largest gain per price is bought, as long as it is paid for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array, minus_outer, row_squares, to_numpy
from featsieve.solvers.forward_forms import Form, choose_form
from featsieve.solvers.offer import ROUNDING
from featsieve.solvers.protocol import Status
from featsieve.solvers.row_sparse import RowSparseRegression

# Gains closer than this (relatively) are ties, and the lower index wins, so that the order does not
# hang on the last bits of a sum. float32 tables carry fewer digits.
TIE = {"float32": 1e-5, "float64": 1e-7}
# A column that keeps less than this share of its length has become dependent on the selected ones.
DEPENDENT = 1e-8


@dataclass(frozen=True, eq=False)
class SelectionPath:
    """Nested supports of every size, from one run of forward selection.

    Attributes
    ----------
    order : int array of shape (n_steps,)
        Features in the order in which they entered: the support of size k is ``order[:k]``.
    half_gains : float array of shape (n_steps,)
        How much the objective without its sparsity term fell when each entered; of columns that
        have a price, or were bought together, that of all of them for a unit of their price.
    sparsity : float array of shape (n_steps,)
        The largest lambda that still selects each of them (running minimum of the half gains; of
        features that are kept in any case, what the best of the others is worth, or more).
    loss : float array of shape (n_steps + 1,)
        1/2 ||ZW - Y||^2 + (mu/2)||W||^2 at the best W on every support, from the empty one on.
    curve : CriterionCurve or None
        The label-free criterion that chose the number of features, if one did.
    """

    order: np.ndarray
    half_gains: np.ndarray
    loss: np.ndarray
    curve: Any = None
    n_kept: int = 0  # columns at its beginning that are there whatever they are worth

    @property
    def sparsity(self) -> np.ndarray:
        """The largest lambda that still selects each feature of the path."""
        kept, others = np.split(self.half_gains, [self.n_kept])
        others = np.minimum.accumulate(others)
        return np.concatenate([np.maximum(kept, others.max(initial=0.0)), others])


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
    ends: list[int] = field(default_factory=list)  # columns after every feature that was bought
    inner: list[np.ndarray] = field(default_factory=list)  # Z_G'K_S^(-1)Z_G of units G, by size
    spent: float = 0.0
    n_kept: int = 0

    def nested(self, unit: float = 1.0) -> SelectionPath:
        """Return what the run has found, as NumPy arrays; ``unit`` multiplies gains and losses."""
        order = np.asarray(self.order, dtype=np.intp)
        gains, loss = np.asarray(self.half_gains), np.asarray(self.loss)
        return SelectionPath(order, unit * gains, unit * loss, n_kept=self.n_kept)

    def first(self, n_features: int) -> np.ndarray:
        """Return the columns of the first features."""
        n_columns = self.ends[min(n_features, len(self.ends)) - 1] if self.ends else 0
        return np.asarray(self.order[:n_columns], dtype=np.intp)


class ForwardSelection:
    """Solver of :class:`RowSparseRegression` that adds the best feature until none pays.

    It stops at the problem's ``n_features``, or when the next half gain is below its ``sparsity``
    or its ``least_share`` of what the selected features explain.
    A finished state can be run on (with a problem that allows more) to extend the path.

    Parameters
    ----------
    form : callable
        ``form(operator, ridge)`` returns what computes Z' K_S^(-1) z_j; the cheapest by default.
        The result does not depend on it.
    per_price : bool
        Whether gains count for a unit of the price, where there are prices.
    """

    def __init__(
        self,
        *,
        form: Callable[[DataOperator, float], Form] = choose_form,
        per_price: bool = True,
    ) -> None:
        self.form, self.per_price = form, per_price

    def init(self, problem: RowSparseRegression) -> ForwardState:
        """Return the state of the empty support."""
        operator, xp = problem.operator, problem.operator.xp
        length = operator.column_norms()
        state = ForwardState(
            correlation=problem.correlation(),
            leftover=length,
            length=length,
            available=xp.asarray(operator.varies, copy=True),
            form=self.form(operator, problem.ridge),
            loss=[0.5 * problem.energy()],
        )
        offer, kept = problem.offer, []
        if offer is not None:
            state.available[operator.place(~offer.for_sale)] = False
            state.inner = [
                np.stack([to_numpy(problem.gram(operator.place(unit))) for unit in block])
                for block in offer.blocks
            ]
            kept = [int(offer.members[unit][0]) for unit in offer.kept]
        state = self._rate(problem, state)
        for j in kept:
            state = self.add(problem, state, j)
        state.n_kept = len(state.order)
        return state

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
        gains = self._paid_for(problem, state)
        if among is not None:
            gains = xp.take(gains, operator.place(among), axis=0)
        tie = TIE["float32" if operator.dtype == xp.float32 else "float64"]
        best = float(xp.max(gains))
        return int(xp.argmax(xp.astype(gains >= best - tie * abs(best), xp.int8)))

    def add(self, problem: RowSparseRegression, state: ForwardState, j: int) -> ForwardState:
        """Add column j, whether or not it is the best one, with those it is bought with."""
        half_gain = float(state.candidates[j])
        if not isfinite(half_gain):
            raise FloatingPointError(
                f"The gain of feature {j} is {half_gain}: the table's values are too large or too "
                "far from zero for its precision. Rescale or centre the columns first."
            )
        if problem.offer is None:
            state = self._enter(problem, state, j, half_gain)
        else:
            unit = problem.offer.unit[j]
            for i in problem.offer.members[unit].tolist():
                state = self._enter(problem, state, i, None)
                state.half_gains[-1] = max(half_gain, 0.0)  # a constant that is kept has none
            state.spent += float(problem.offer.price[unit])
        state.ends.append(len(state.order))
        return self._rate(problem, state)

    def _enter(
        self, problem: RowSparseRegression, state: ForwardState, j: int, half_gain: float | None
    ) -> ForwardState:
        """Take column j into the support; its own half gain may be known."""
        v = state.form.direction(j, state.candidates)
        delta = problem.ridge + max(float(v[j]), 0.0)
        along = state.correlation[j, :]
        if half_gain is None:
            half_gain = 0.5 * float(problem.operator.xp.sum(along * along)) / delta
        state.form.add(delta)
        state.correlation = minus_outer(state.correlation, v, along / delta)
        state.leftover = state.leftover - v * v / delta
        state.leftover[state.leftover < 0.0] = 0.0
        state.available[j] = False
        if problem.offer is not None and state.inner:
            on_host = to_numpy(v)
            for block, inner in zip(problem.offer.blocks, state.inner, strict=True):
                inner -= on_host[block][:, :, None] * on_host[block][:, None, :] / delta
        state.order.append(j)
        state.half_gains.append(half_gain)
        state.loss.append(state.loss[-1] - half_gain)
        return state

    def objective(self, problem: RowSparseRegression, state: ForwardState) -> float:
        """Return the loss on the current support, plus its sparsity term."""
        price = len(state.order) if problem.offer is None else state.spent
        return state.loss[-1] + problem.sparsity * price

    def terminate(
        self, problem: RowSparseRegression, state: ForwardState, history: Sequence[float]
    ) -> Status | None:
        """End at k features, or when no addition pays."""
        if len(state.ends) >= problem.limit:
            return Status.CONVERGED
        best = float(problem.operator.xp.max(self._paid_for(problem, state)))
        explained = state.loss[0] - state.loss[-1]
        worthwhile = best >= max(0.0, problem.sparsity, problem.least_share * explained)
        return None if worthwhile else Status.CONVERGED

    def _rate(self, problem: RowSparseRegression, state: ForwardState) -> ForwardState:
        """Compute the half gain of every column that may enter."""
        xp = problem.operator.xp
        if problem.ridge == 0.0:
            independent = state.leftover > DEPENDENT * state.length
            state.available = xp.logical_and(state.available, independent)
        denominator = xp.where(state.available, problem.ridge + state.leftover, 1.0)
        state.candidates = 0.5 * row_squares(state.correlation) / denominator
        state.candidates[~state.available] = -1.0
        if problem.offer is not None:
            state.candidates = problem.operator.place(self._unit_gains(problem, state))
        return state

    def _unit_gains(self, problem: RowSparseRegression, state: ForwardState) -> np.ndarray:
        """Return the half gain of every column's unit, for a unit of its price."""
        offer, gains = problem.offer, to_numpy(state.candidates).copy()
        assert offer is not None
        for block, inner in zip(offer.blocks, state.inner, strict=True):
            C = to_numpy(
                problem.operator.xp.take(
                    state.correlation, problem.operator.place(block.ravel()), axis=0
                )
            ).reshape(*block.shape, -1)
            ridge = problem.ridge * np.eye(block.shape[1])
            together = 0.5 * np.einsum("gic,gic->g", C, np.linalg.solve(inner + ridge, C))
            free = gains[block].max(axis=1) >= 0.0
            gains[block] = np.where(free, together, -1.0)[:, None]
        divided = (gains >= 0.0) & self.per_price
        return np.where(divided, gains / offer.column_price, gains)

    def _paid_for(self, problem: RowSparseRegression, state: ForwardState) -> Array:
        """Return the candidates, less those that the rest of the budget does not pay for."""
        offer = problem.offer
        if offer is None or offer.budget is None:
            return state.candidates
        left = offer.budget * (1.0 + ROUNDING) - state.spent
        dear = problem.operator.place(offer.column_price > left)
        return problem.operator.xp.where(dear, -1.0, state.candidates)


def batched_paths(
    gram: np.ndarray, correlation: np.ndarray, *, ridge: float, length: int
) -> np.ndarray:
    """Return the paths of many targets over the same few columns (m x length), all at once.

    ``gram`` is Z'Z (q x q), ``correlation`` holds Z'Y of every target (m x q x c).
    """
    m, q = correlation.shape[:2]
    length = min(length, q)
    C, left = correlation.copy(), np.tile(gram.diagonal(), (m, 1))
    vectors, pivots = np.empty((m, length, q)), np.empty((m, length))
    paths = np.empty((m, length), dtype=np.intp)
    every = np.arange(m)
    taken = np.zeros((m, q), dtype=bool)
    for step in range(length):
        gains = np.einsum("mqc,mqc->mq", C, C) / (ridge + left)
        gains[taken] = -1.0
        j = paths[:, step] = gains.argmax(axis=1)
        taken[every, j] = True
        before = vectors[:, :step]
        along = before[every, :, j] / pivots[:, :step]
        v = gram[j] - (along[:, None] @ before)[:, 0]
        delta = ridge + np.maximum(v[every, j], 0.0)
        vectors[:, step], pivots[:, step] = v, delta
        C -= v[:, :, None] * (C[every, j] / delta[:, None])[:, None, :]
        left = np.maximum(left - v**2 / delta[:, None], 0.0)
    return paths
