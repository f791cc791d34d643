"""Homotopy iterative hard thresholding for row-sparse regression (Algorithm 1 of the paper).

Comments carry the line numbers of the paper's box:

    1: initialize rho, gamma, eta; k = 0
    2: repeat                                                    (an L-tuning iteration)
    3:     W^(k+1) by eq. iht_solution
    4:     while phi_k(W^k) - phi_k(W^(k+1)) < eta/2 ||W^k - W^(k+1)||^2 do
    5:         L_k = min(gamma L_k, L_max)
    6:         W^(k+1) by eq. iht_solution
    7:     end while
    8:     L_(k+1) = L_k
    9:     lam_(k+1) = rho lam_k
    10:    k = k + 1
    11: until lam_(k+1) <= lam
    12: W* = W^k

The authors' program, which is followed here, limits the number of trials in the place of L_max
(the last one is taken as it is), and its last penalty is lam itself.

Both solvers take gradient steps followed by row hard thresholding (eq. iht_solution) while the
penalty falls, lam_k = factor^k lam_0, to its target. :class:`HomotopyIHT` is the published AMHIHT:
ONE step per penalty, hence an early-stopped method of 2 to 15 gradient steps in all.
:class:`ConvergedIHT` iterates at every penalty until nothing changes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor, log

from featsieve.arrays.namespace import Array, namespace_of
from featsieve.solvers.protocol import Solution, Status
from featsieve.solvers.row_sparse import RowSparseRegression
from featsieve.terms.regression import Datafit, LeastSquares, least_squares, square
from featsieve.terms.row_sparsity import (
    RowSparsityConstraint,
    RowSparsityPenalty,
    RowSparsityTerm,
    count_rows,
)


@dataclass(frozen=True)
class IHTState:
    """The iterate, the step size 1/L, and where the homotopy stands."""

    W: Array
    n_rows: int  # ||W||_{2,0}
    image: Array  # the product that value and gradient at W share
    value: float  # f(W), without the sparsity term
    step_size: float
    datafit: Datafit
    penalties: tuple[float, ...] = ()  # of all stages (published schedule)
    stage: int = 0  # penalties used so far
    penalty: float = 1.0  # the last one used
    change: float = float("inf")  # ||W - previous|| / ||previous||
    previous: Array = None


def thresholded_step(
    state: IHTState, term: RowSparsityTerm, *, decrease: float, max_trials: int
) -> IHTState:
    """Return the state after one step ("an L-tuning iteration").

    The step size is halved until the objective falls by ``decrease``/2 times ||W+ - W||^2, or the
    trials are used up.
    """
    xp = namespace_of(state.W)
    before = state.value + term.price(state.n_rows)
    gradient = state.datafit.gradient(state.W, state.image)
    size = state.step_size
    for trial in range(max_trials):
        if trial > 0:
            # Algorithm 1, line 5: L = gamma L, with gamma = 2 and the step size 1/L (no L_max)
            size *= 0.5
        # Algorithm 1, line 3, and Algorithm 1, line 6: eq. iht_solution
        V = state.W - size * gradient
        keep = term.keep(V, size)
        W = xp.where(keep[:, None], V, xp.zeros_like(V))
        live = xp.nonzero(keep)[0]
        image = state.datafit.image(W, live=live)
        value = state.datafit.value(W, image)
        moved = square(W - state.W)
        # Algorithm 1, line 4: while the objective does not fall enough
        # Algorithm 1, line 7: end while
        if before - (value + term.price(live.shape[0])) >= 0.5 * decrease * moved:
            break
    length = square(state.W)
    change = (moved / length) ** 0.5 if length > 0.0 else (0.0 if moved == 0.0 else float("inf"))
    return replace(
        state,
        W=W,
        n_rows=live.shape[0],
        image=image,
        value=value,
        step_size=size,  # Algorithm 1, line 8: the next step begins with this L
        stage=state.stage + 1,  # Algorithm 1, line 10
        change=change,
        previous=state.W,
    )


class HomotopyIHT:
    """AMHIHT with the authors' schedule: lam_0 = 1, factor 0.4, one step per penalty.

    Parameters
    ----------
    refined : bool
        The authors' second variant: one penalty less, then up to 50 steps at the target.
    factor : float
        By how much a stage lowers the penalty (rho).
    decrease : float
        Sufficient decrease (eta).
    warm_start : (W, ZW), optional
        Where to start, with its product; zero by default.
    """

    def __init__(
        self,
        *,
        refined: bool = False,
        factor: float = 0.4,
        decrease: float = 0.1,
        warm_start: tuple[Array, Array] | None = None,
    ) -> None:
        self.refined, self.factor, self.decrease = refined, factor, decrease
        self.warm_start = warm_start
        self.max_trials = 20 if refined else 50

    def penalties(self, sparsity: float) -> list[float]:
        """Return lam_1, lam_2, ..., down to the target: the penalty of every step.

        There are floor(log(1/lam)/log(1/factor)) of them ("refined": 50 at the target), so that a
        target above ``factor`` leaves none and W stays where it started.
        """
        # Algorithm 1, line 9: lam_k = factor lam_(k-1), from lam_0 = 1 on
        if not 0.0 < sparsity < 1.0:
            return []
        n_stages = floor(log(1.0 / sparsity) / log(1.0 / self.factor))
        falling = [self.factor**stage for stage in range(1, n_stages)]
        return falling + [sparsity] * (50 if self.refined else min(1, n_stages))

    def init(self, problem: RowSparseRegression) -> IHTState:
        """Start at W = 0, or warm, with step size 1/max_i ||z_i||^2.

        That bounds the curvature from below, not above; the halvings make up for it.
        """
        # Algorithm 1, line 1: initialize; k = 0
        operator, xp = problem.operator, problem.operator.xp
        datafit = LeastSquares(operator, problem.target, ridge=problem.ridge)
        size = 1.0 / max(float(xp.max(operator.row_norms())), 1e-300)
        state = _start(datafit, problem, size, warm_start=self.warm_start)
        return replace(state, penalties=tuple(self.penalties(problem.sparsity)))

    def step(self, problem: RowSparseRegression, state: IHTState) -> IHTState:
        """Take one step at the next penalty."""
        # Algorithm 1, line 2: repeat (`run` calls this); lines 3 to 8: an L-tuning iteration
        penalty = state.penalties[state.stage]
        stepped = thresholded_step(
            state,
            RowSparsityPenalty(penalty),
            decrease=self.decrease,
            max_trials=self.max_trials,
        )
        return replace(stepped, penalty=penalty)

    def objective(self, problem: RowSparseRegression, state: IHTState) -> float:
        """Return f(W) + lam_k ||W||_{2,0}, at the penalty of the stage."""
        return state.value + state.penalty * state.n_rows

    def terminate(
        self, problem: RowSparseRegression, state: IHTState, history: Sequence[float]
    ) -> Status | None:
        """End after the last penalty; "refined" also when its steps at the target hardly move."""
        # Algorithm 1, line 11: until the target is reached
        n_penalties = len(state.penalties)
        n_falling = n_penalties - 50
        if self.refined and state.stage > max(n_falling, 0):
            # The authors divide their tolerance by ten at every stage, down to 1e-5.
            tol = max(0.1 * 0.1**n_falling, 1e-5)
            flat = abs(history[-1] - history[-2]) < 1e-4 * abs(history[-2])
            if state.change < tol or flat:
                return Status.STATIONARY
        return Status.CONVERGED if state.stage >= n_penalties else None

    def coefficients(self, solution: Solution[IHTState]) -> Array:
        """Return W. The refined variant, when it stops early, returns the iterate before."""
        # Algorithm 1, line 12: W* = W^k
        if self.refined and solution.status is Status.STATIONARY:
            return solution.state.previous
        return solution.state.W


class ConvergedIHT:
    """IHT run to a fixed point at every penalty, from one that selects a single row on.

    Solves either form of :class:`RowSparseRegression`; for a limited number of rows there is no
    penalty and the k longest rows are kept.
    """

    def __init__(self, *, factor: float = 0.4, decrease: float = 0.1, tol: float = 1e-7) -> None:
        self.factor, self.decrease, self.tol = factor, decrease, tol

    def init(self, problem: RowSparseRegression) -> IHTState:
        """Start at W = 0, where the first row enters below max_j ||z_j'Y||^2/(2L)."""
        xp = problem.operator.xp
        datafit = least_squares(problem.operator, problem.target, ridge=problem.ridge)
        curvature = problem.operator.lipschitz() + problem.ridge
        # 1/(L + eta), and for this loss almost 2/(L + eta), is always accepted.
        size = 1.0 / max((1.0 + self.decrease) * curvature, 1e-300)
        state = _start(datafit, problem, size)
        gradient = datafit.gradient(state.W, state.image)
        first = float(xp.max(xp.sum(gradient * gradient, axis=1))) * size / 2.0
        return replace(state, penalty=max(self.factor * first, problem.sparsity))

    def step(self, problem: RowSparseRegression, state: IHTState) -> IHTState:
        """Take one step; lower the penalty once W has settled."""
        penalty = state.penalty
        if state.change <= self.tol:
            penalty = max(self.factor * penalty, problem.sparsity)
        term: RowSparsityTerm = RowSparsityPenalty(penalty)
        if problem.n_features is not None:
            term = RowSparsityConstraint(problem.n_features)
        # Long steps first: they leave poor supports. (Not by powers of two: a step of twice 1/L
        # is accepted too, but only mirrors the slowest direction.)
        bold = replace(state, step_size=6.0 * state.step_size)
        eta = self.decrease / ((1.0 + self.decrease) * state.step_size)
        stepped = thresholded_step(bold, term, decrease=eta, max_trials=4)
        return replace(stepped, step_size=state.step_size, penalty=penalty)

    def objective(self, problem: RowSparseRegression, state: IHTState) -> float:
        """Return f(W) + lam_k ||W||_{2,0}, at the current penalty."""
        penalty = 0.0 if problem.n_features is not None else state.penalty
        return state.value + penalty * state.n_rows

    def terminate(
        self, problem: RowSparseRegression, state: IHTState, history: Sequence[float]
    ) -> Status | None:
        """End when W has settled at the target."""
        at_target = problem.n_features is not None or state.penalty <= problem.sparsity
        return Status.STATIONARY if at_target and state.change <= self.tol else None


def _start(
    datafit: Datafit,
    problem: RowSparseRegression,
    step_size: float,
    *,
    warm_start: tuple[Array, Array] | None = None,
) -> IHTState:
    """Return the state at W = 0, or at a given W whose image is known."""
    if warm_start is not None:
        W, image = warm_start
    else:
        operator, xp = problem.operator, problem.operator.xp
        shape = (problem.target.shape[1], operator.shape[1])
        W = xp.zeros(shape, dtype=xp.float64, device=operator.device).T
        image = datafit.image(W, live=xp.asarray([], dtype=xp.int64, device=operator.device))
    value = datafit.value(W, image)
    return IHTState(W, count_rows(W), image, value, step_size, datafit, previous=W)
