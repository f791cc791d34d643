"""What several methods share: their parameters, the first labels, blocks updated in turn."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from featsieve.arrays import DataOperator
from featsieve.base import UnsupervisedSelector, estimator
from featsieve.graphs.affinity import sample_graph
from featsieve.graphs.initial_labels import first_labels
from featsieve.graphs.spectral_labels import by_first_sample
from featsieve.solvers.alternate import Alternation, Block, relative_change
from featsieve.solvers.protocol import Callback, S, Solution, Status, run


class BlockProblem(Generic[S]):
    """What a method minimises, block by block: block ``b`` is the method ``update_b``."""

    blocks: ClassVar[tuple[str, ...]]

    def objective(self, state: S) -> float:
        """Return the objective."""
        raise NotImplementedError

    def converged(self, state: S, history: Sequence[float], tol: float) -> bool:
        """Say whether the last change of the objective is small."""
        return relative_change(history) < tol

    def status(self, state: S, history: Sequence[float], tol: float) -> Status | None:
        """Return how the iterations end here, or None to go on."""
        return Status.CONVERGED if self.converged(state, history, tol) else None


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
        blocks=[Block(name, getattr(kind, f"update_{name}")) for name in problem.blocks],
        value=kind.objective,
        stop=lambda state, history: problem.status(state, history, tol),
    )
    return run(solver, problem, max_iter=max_iter, callback=callback)


@estimator
class ClusterSelector(UnsupervisedSelector):
    """Parameters of the methods that look for clusters."""

    n_clusters: int | str = field(default=8, kw_only=False)
    n_features_to_select: int | float | str | None = 0.1
    n_neighbors: int = 5
    scale: str = "unit"


@estimator
class IterativeSelector(ClusterSelector):
    """Parameters of the methods that iterate, and the iterations."""

    max_iter: int = 200
    tol: float = 1e-5
    callback: Any = None
    verbose: int = 0

    def _alternate(self, problem: BlockProblem[S], state: S, blocks: str) -> S:
        """Update the blocks of a problem in turn; keep what the solver reports."""
        self._progress.step(f"{blocks} in turn, at most {self.max_iter} times")
        solution = solve(
            problem,
            state,
            max_iter=self.max_iter,
            tol=self.tol,
            callback=self._progress.watch(self.callback),
        )
        self._set_outcome(solution)
        return solution.state


@dataclass(frozen=True)
class Start:
    """What a method of labels knows before its iterations."""

    X: Any
    operator: DataOperator
    graph: Any  # None where it is not needed
    labels: Any  # None for a start that the method makes itself
    given: bool  # by the user
    n_clusters: int
    random_state: np.random.RandomState


@estimator
class LabelSelector(IterativeSelector):
    """A method that starts from pseudo-labels."""

    init: Any = "spectral"
    random_state: Any = None

    # Values of ``init`` beside those of first_labels; the method makes such a start itself.
    _own_starts: ClassVar[tuple[str, ...]] = ()

    def _first_labels(self, X: Any, operator: DataOperator) -> Start:
        """Return the first labels, and the graph of the samples."""
        n_clusters = self._count_clusters(X)
        random_state = check_random_state(self.random_state)
        self._progress.step("finding the first labels")
        graph, labels, given = self._graph(operator), None, False
        if not (isinstance(self.init, str) and self.init in self._own_starts):
            labels, given = first_labels(
                self.init,
                X,
                operator,
                n_clusters,
                graph=graph,
                n_neighbors=self.n_neighbors,
                random_state=random_state,
                others=self._own_starts,
            )
        return Start(X, operator, graph, labels, given, n_clusters, random_state)

    def _graph(self, operator: DataOperator) -> sp.csr_array | None:
        """Return the graph of the samples; None for a method without ``affinity``."""
        if not hasattr(self, "affinity"):
            return None
        return sample_graph(operator, self.affinity, n_neighbors=self.n_neighbors)

    def _keep_labels(self, labels: np.ndarray, start: Start) -> None:
        """Keep the order of labels that the user gave; number others by their first samples."""
        self.labels_ = labels if start.given else by_first_sample(labels)
