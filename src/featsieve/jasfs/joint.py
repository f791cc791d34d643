"""The default solver of JASFS: the same model, descended in every step over feasible labels.

    first labels (``start.py``), the best support for them
    repeat
        F: moves of single samples in the hat matrix of the SELECTED features
        W: the best support; taken only if it lowers J
    until nothing changes

Comments name the lines of the paper's Algorithm 2, whose steps these are (its box stands in
``paper.py``); S is eliminated: it stands at its optimum wherever F does (``problem.py``).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from featsieve.jasfs.problem import Labels, Problem, too_large
from featsieve.solvers.alternate import Alternation, relative_change
from featsieve.solvers.forward_selection import ForwardState
from featsieve.solvers.protocol import Callback, Solution, Status, run
from featsieve.solvers.supports import Ranking, find_support, largest_sparsity, rank_features


@dataclass(frozen=True)
class JointState:
    """A partition and a support."""

    labels: Labels
    support: np.ndarray  # in order of entry
    value: float
    path: ForwardState | None = None  # the run that found the support, if it was for these labels
    moved: bool = True  # whether the last label step changed anything
    limited: bool = False  # whether a label step ran into its own iteration limit


def solve_joint(
    problem: Problem,
    labels: Labels,
    *,
    path: ForwardState | None = None,
    max_iter: int = 20,
    tol: float = 1e-5,
    callback: Callback[JointState] | None = None,
) -> Solution[JointState]:
    """Descend J from the given labels. The first iteration is the first W-step.

    ``path`` may hold a part of the path for these labels.
    """

    def start(problem: Problem) -> JointState:
        # Algorithm 2, line 1: k = 0, F is given; line 3: the first W
        support, found = find_support(problem.regression(labels), path=path)
        return JointState(labels, support, problem.value(labels, support), found)

    def update_labels(problem: Problem, state: JointState) -> JointState:
        # Algorithm 2, line 4: L_S; line 5: update F (moves of samples in the place of P and Q);
        # line 6: S, at its optimum for F (through landmarks: the prior, see ``large.py``)
        refined, status = problem.refine(state.labels, state.support)
        state = replace(state, limited=state.limited or not status.success)
        value = problem.value(refined, state.support)
        if problem.same(refined, state.labels) or value > state.value:
            return replace(state, moved=False)
        return replace(state, labels=refined, value=value, path=None)

    def update_features(problem: Problem, state: JointState) -> JointState:
        # Algorithm 2, line 3: update W
        if not state.moved:
            return state
        regression = problem.regression(state.labels)
        support, path = find_support(regression, known=state.support)
        if support is state.support:
            return state  # the acceptance guard: J never increases
        value = problem.value(state.labels, support)
        return replace(state, support=support, value=value, path=path)

    def stop(state: JointState, history: Sequence[float]) -> Status | None:
        # Algorithm 2, line 8: until convergence
        if not state.moved or len(state.support) == 0:
            return Status.STATIONARY
        return Status.CONVERGED if relative_change(history) < tol else None

    solver = Alternation(
        start=start,
        blocks=(update_labels, update_features),
        value=lambda problem, state: state.value,
        stop=stop,
    )
    # Algorithm 2, line 2: repeat; line 7: k = k + 1
    return run(solver, problem, max_iter=max_iter, callback=callback, count_start=True)


def rank(problem: Problem, state: JointState, *, path_length: int = 0) -> Ranking:
    """Rank the features for the labels of a state; those of its support come first."""
    # Algorithm 2, line 9: the selected features are the non-zero rows of W
    return rank_features(
        problem.regression(state.labels),
        state.support,
        length=path_length,
        path=state.path,
        keep_order=True,
    )


def nothing_selected(problem: Problem, labels: Labels) -> str:
    """Say that lambda is too large for the first labels, and which one is not."""
    return too_large(problem.sparsity, largest_sparsity(problem.regression(labels)))
