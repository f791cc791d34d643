"""Problems whose variables are updated in turn, block by block."""

from collections.abc import Sequence
from typing import ClassVar, Generic

from featsieve.solvers.alternate import Alternation, relative_change
from featsieve.solvers.protocol import Callback, S, Solution, Status, run


class BlockProblem(Generic[S]):
    """What a method minimises, block by block: block ``b`` is the method ``update_b``."""

    blocks: ClassVar[tuple[str, ...]]

    def objective(self, state: S) -> float:
        """Return the objective."""
        raise NotImplementedError

    def status(self, state: S, history: Sequence[float], tol: float) -> Status | None:
        """Return how the iterations end here, or None to go on: when the objective stands still."""
        return Status.CONVERGED if relative_change(history) < tol else None


def solve(
    problem: BlockProblem[S],
    state: S,
    *,
    max_iter: int = 200,
    tol: float = 1e-5,
    callback: Callback[S] | None = None,
) -> Solution[S]:
    """Update the blocks of a problem in turn, from a state on."""
    kind = type(problem)
    solver: Alternation[BlockProblem[S], S] = Alternation(
        start=lambda problem: state,
        blocks=[getattr(kind, f"update_{name}") for name in problem.blocks],
        value=kind.objective,
        stop=lambda state, history: problem.status(state, history, tol),
    )
    return run(solver, problem, max_iter=max_iter, callback=callback)
