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

A step is a gradient step followed by row hard thresholding (eq. iht_solution), and there is ONE for
every penalty, lam_k = factor^k lam_0: AMHIHT is an early-stopped method of 2 to 15 gradient steps.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import floor, log

from featsieve.arrays.namespace import Array
from featsieve.solvers.protocol import Solution, Status
from featsieve.solvers.row_sparse import RowSparseRegression
from featsieve.terms.norms import count_rows, row_norms, square


@dataclass(frozen=True)
class IHTState:
    """The iterate, the step size 1/L, and where the homotopy stands."""

    W: Array
    n_rows: int  # ||W||_{2,0}
    image: Array  # ZW
    value: float  # the loss at W, without the sparsity term
    step_size: float
    penalties: tuple[float, ...]  # of all stages
    stage: int = 0  # penalties used so far
    penalty: float = 1.0  # the last one used
    change: float = float("inf")  # ||W - previous|| / ||previous||
    previous: Array = None


class HomotopyIHT:
    """AMHIHT with the authors' schedule: lam_0 = 1, factor 0.4, one step per penalty.

    Parameters
    ----------
    refined : bool
        The authors' second variant: one penalty less, then up to 50 steps at the target.
    warm_start : (W, ZW), optional
        Where to start, with its product; zero by default.
    """

    factor = 0.4  # by which a stage lowers the penalty (rho)
    decrease = 0.1  # that is sufficient (eta)

    def __init__(
        self, *, refined: bool = False, warm_start: tuple[Array, Array] | None = None
    ) -> None:
        self.refined, self.warm_start = refined, warm_start
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
        if self.warm_start is not None:
            W, image = self.warm_start
        else:
            shape = (problem.n_targets, operator.shape[1])
            W = xp.zeros(shape, dtype=xp.float64, device=operator.device).T
            image = xp.zeros_like(problem.target)
        return IHTState(
            W,
            count_rows(W),
            image,
            self._loss(problem, W, image),
            step_size=1.0 / max(float(xp.max(operator.row_norms())), 1e-300),
            penalties=tuple(self.penalties(problem.sparsity)),
            previous=W,
        )

    def step(self, problem: RowSparseRegression, state: IHTState) -> IHTState:
        """Take one step at the next penalty ("an L-tuning iteration").

        The step size is halved until the objective falls by ``decrease``/2 times ||W+ - W||^2, or
        the trials are used up.
        """
        # Algorithm 1, line 2: repeat (`run` calls this)
        operator, xp = problem.operator, problem.operator.xp
        penalty, size = state.penalties[state.stage], state.step_size
        before = state.value + penalty * state.n_rows
        gradient = operator.rmatmul(state.image - problem.target) + problem.ridge * state.W
        for trial in range(self.max_trials):
            if trial > 0:
                # Algorithm 1, line 5: L = gamma L, with gamma = 2 and the step size 1/L (no L_max)
                size *= 0.5
            # Algorithm 1, line 3, and Algorithm 1, line 6: eq. iht_solution
            V = state.W - size * gradient
            keep = row_norms(V) > 2.0 * penalty * size  # ties go to zero
            W = xp.where(keep[:, None], V, xp.zeros_like(V))
            live = xp.nonzero(keep)[0]
            image = operator.matmul(W, live=live)
            value = self._loss(problem, W, image)
            moved = square(W - state.W)
            # Algorithm 1, line 4: while the objective does not fall enough
            # Algorithm 1, line 7: end while
            if before - (value + penalty * live.shape[0]) >= 0.5 * self.decrease * moved:
                break
        length = square(state.W)
        still = 0.0 if moved == 0.0 else float("inf")
        return replace(
            state,
            W=W,
            n_rows=live.shape[0],
            image=image,
            value=value,
            step_size=size,  # Algorithm 1, line 8: the next step begins with this L
            stage=state.stage + 1,  # Algorithm 1, line 10
            penalty=penalty,
            change=(moved / length) ** 0.5 if length > 0.0 else still,
            previous=state.W,
        )

    def objective(self, problem: RowSparseRegression, state: IHTState) -> float:
        """Return the loss + lam_k ||W||_{2,0}, at the penalty of the stage."""
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

    @staticmethod
    def _loss(problem: RowSparseRegression, W: Array, image: Array) -> float:
        """Return 1/2 ||ZW - Y||^2 + (mu/2) ||W||^2."""
        return 0.5 * square(image - problem.target) + 0.5 * problem.ridge * square(W)
