"""The regularisation path of JASFS: a solution for every lambda, or every number of features."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from featsieve.criteria.sparsity_path import SparsityPath
from featsieve.jasfs.joint import JointState, Problem, rank_features, solve_joint
from featsieve.solvers.forward_selection import ForwardState
from featsieve.solvers.protocol import Solution


@dataclass(frozen=True)
class PathPoint:
    """A solution on the path."""

    problem: Problem
    solution: Solution[JointState]

    def priced(self) -> tuple[np.ndarray, float]:
        """Return the scores of all features, and the largest lambda that selects as many."""
        state = self.solution.state
        scores, _, path = rank_features(self.problem, state, path_length=len(state.support))
        if self.problem.sparsity > 0.0 or path is None:
            return scores, self.problem.sparsity
        return scores, float(path.sparsity[len(state.support) - 1])


def path_problems(
    problem: Problem, *, sizes: Sequence[int] = (), sparsities: Sequence[float] = ()
) -> list[Problem]:
    """Return the problem of every point: few features first."""
    fixed = [replace(problem, n_features=int(size)) for size in sizes]
    return fixed + [replace(problem, sparsity=value) for value in sparsities]


def solve_path(
    problems: Sequence[Problem], labels: Any, *, max_iter: int, tol: float
) -> list[PathPoint]:
    """Solve every problem from the labels (and the nested path) of the one before.

    Problems that select nothing are left out.
    """
    points: list[PathPoint] = []
    known: ForwardState | None = None
    for problem in problems:
        solution = solve_joint(problem, labels, path=known, max_iter=max_iter, tol=tol)
        state = solution.state
        if len(state.support) == 0:
            continue
        points.append(PathPoint(problem, solution))
        labels = state.labels
        same = state.path_labels is not None and problem.same(state.path_labels, labels)
        known = state.path if same else None
    return points


def as_path(points: Sequence[PathPoint]) -> SparsityPath:
    """Return the points as arrays."""
    priced = [point.priced() for point in points]
    states = [point.solution.state for point in points]
    supports = np.zeros((len(points), points[0].problem.operator.shape[1]), dtype=bool)
    for support, state in zip(supports, states, strict=True):
        support[state.support] = True
    return SparsityPath(
        n_features=supports.sum(axis=1),
        sparsity=np.array([sparsity for _, sparsity in priced]),
        supports=supports,
        scores=np.stack([scores for scores, _ in priced]),
        objective=np.array([point.solution.objective[-1] for point in points]),
        statuses=[point.solution.status for point in points],
        labels=np.stack(
            [point.problem.host_labels(point.solution.state.labels) for point in points]
        ),
    )
