"""The protocol every solver follows, and the one loop that drives them all.

A solver describes a method by four small functions of a problem and a state. It never prints,
warns or raises because it did not converge: it returns a :class:`Status`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, Protocol, TypeVar

P = TypeVar("P")
S = TypeVar("S")
P_contra = TypeVar("P_contra", contravariant=True)

# Called after every iteration as callback(iteration, objective, state); a true value stops the run.
Callback = Callable[[int, float, S], object]


class Status(Enum):
    """How a run ended. The value of a member is its explanation."""

    CONVERGED = "the stopping rule was met"
    STATIONARY = "no step of the solver changes the solution any more"
    ITERATION_LIMIT = "the iteration limit came before the stopping rule"
    STOPPED = "the callback asked to stop"

    @property
    def success(self) -> bool:
        """Whether the solver itself decided to end."""
        return self in (Status.CONVERGED, Status.STATIONARY)

    def __reduce__(self) -> tuple[type["Status"], tuple[str]]:
        # skops stores a member as this call; pickle has a rule of its own for enumerations
        return Status, (self.value,)


@dataclass(frozen=True)
class Solution(Generic[S]):
    """What a run returns; ``objective`` holds the value at the start and after every step."""

    state: S
    objective: tuple[float, ...]
    n_iter: int
    status: Status


class Solver(Protocol[P_contra, S]):
    """A method: where it starts, what one step does, what it minimises, when it ends."""

    def init(self, problem: P_contra) -> S:
        """Return the first state."""

    def step(self, problem: P_contra, state: S) -> S:
        """Return the next state. The given state may be consumed."""

    def objective(self, problem: P_contra, state: S) -> float:
        """Return what is minimised, at the state."""

    def terminate(self, problem: P_contra, state: S, history: Sequence[float]) -> Status | None:
        """Return a status to end the run, None to go on."""


def run(
    solver: Solver[P, S],
    problem: P,
    *,
    max_iter: int,
    state: S | None = None,
    callback: Callback[S] | None = None,
    count_start: bool = False,
) -> Solution[S]:
    """Drive a solver: at most ``max_iter`` steps from its own start, or from a given state.

    Parameters
    ----------
    solver, problem
        The method and what it is applied to.
    max_iter : int
        Largest number of steps.
    state : optional
        A state to go on from, instead of ``solver.init(problem)``.
    callback : callable, optional
        ``callback(iteration, objective, state)`` after every step; a true value stops the run.
    count_start : bool
        Whether the start is itself the first iteration (counted, and shown to the callback).
    """
    if state is None:
        state = solver.init(problem)
    history = [solver.objective(problem, state)]
    status = solver.terminate(problem, state, history)
    n_iter = 0
    if count_start:
        n_iter = 1
        if callback is not None and callback(n_iter, history[0], state) and status is None:
            status = Status.STOPPED
    while status is None and n_iter < max_iter:
        state = solver.step(problem, state)
        n_iter += 1
        value = solver.objective(problem, state)
        history.append(value)
        status = solver.terminate(problem, state, history)
        if callback is not None and callback(n_iter, value, state) and status is None:
            status = Status.STOPPED
    return Solution(state, tuple(history), n_iter, status or Status.ITERATION_LIMIT)
