"""Alternating minimisation: the outer loop of methods that learn labels and weights in turn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic

from featsieve.solvers.protocol import P, S, Status


@dataclass(frozen=True)
class Alternation(Generic[P, S]):
    """A solver whose step updates every block in order.

    Parameters
    ----------
    start : callable
        ``start(problem)`` returns the first state.
    blocks : sequence of callables
        The updates of one iteration, in order: ``update(problem, state)`` returns the state after
        one variable has changed while the others stood still.
    value : callable
        ``value(problem, state)`` is the objective that the history records.
    stop : callable
        ``stop(state, history)`` returns a :class:`Status` to end, None to go on.
    """

    start: Callable[[P], S]
    blocks: Sequence[Callable[[P, S], S]]
    value: Callable[[P, S], float]
    stop: Callable[[S, Sequence[float]], Status | None]

    def init(self, problem: P) -> S:
        """Return the first state."""
        return self.start(problem)

    def step(self, problem: P, state: S) -> S:
        """Update every block once."""
        for update in self.blocks:
            state = update(problem, state)
        return state

    def objective(self, problem: P, state: S) -> float:
        """Return the objective at the state."""
        return self.value(problem, state)

    def terminate(self, problem: P, state: S, history: Sequence[float]) -> Status | None:
        """Ask the stopping rule."""
        return self.stop(state, history)


def relative_change(history: Sequence[float]) -> float:
    """Return |last - previous| / |previous|, or infinity before there are two values."""
    if len(history) < 2:
        return float("inf")
    previous, last = float(history[-2]), float(history[-1])  # NumPy warns of inf/inf
    return abs(last - previous) / max(abs(previous), 1e-300)
