"""The regularisation path of JASFS: a solution for every lambda, or every number of features."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from featsieve.criteria.curve import check_sizes
from featsieve.criteria.sparsity_path import SparsityPath
from featsieve.jasfs.estimator import JASFS
from featsieve.jasfs.joint import JointState, nothing_selected, rank, solve_joint
from featsieve.jasfs.problem import Labels, Problem
from featsieve.solvers.forward_selection import ForwardState
from featsieve.solvers.protocol import Solution

Point = tuple[Problem, Solution[JointState]]


def joint_path(
    selector: JASFS, X: Any, *, sizes: Any = None, sparsities: Sequence[float] = ()
) -> SparsityPath:
    """Return the solutions of a JASFS for many sizes, or for falling values of λ."""
    begun, n_varying = selector._begin(X)
    if sparsities:
        problems = [begun.problem.priced(sparsity=value) for value in sparsities]
    else:
        n_features = begun.problem.operator.shape[1]
        numbers = np.unique(np.minimum(check_sizes(sizes, n_features), n_varying))
        problems = [begun.problem.priced(n_features=int(number)) for number in numbers]
    points = solve_path(problems, begun.labels, max_iter=selector.max_iter, tol=selector.tol)
    if not points:
        raise ValueError(nothing_selected(problems[-1], begun.labels))
    return as_path(points)


def solve_path(
    problems: Sequence[Problem], labels: Labels, *, max_iter: int, tol: float
) -> list[Point]:
    """Solve every problem from the labels (and the nested path) of the one before.

    Problems that select nothing are left out.
    """
    points: list[Point] = []
    path: ForwardState | None = None
    for problem in problems:
        solution = solve_joint(problem, labels, path=path, max_iter=max_iter, tol=tol)
        state = solution.state
        if len(state.support) > 0:
            points.append((problem, solution))
            labels, path = state.labels, state.path
    return points


def as_path(points: Sequence[Point]) -> SparsityPath:
    """Return the points as arrays; where a number was given, lambda is the largest for it."""
    states = [solution.state for _, solution in points]
    rankings = [rank(problem, solution.state) for problem, solution in points]
    supports = np.zeros((len(points), len(rankings[0].scores)), dtype=bool)
    for support, state in zip(supports, states, strict=True):
        support[state.support] = True
    sparsity = [
        problem.sparsity or float(ranking.path.sparsity[len(state.support) - 1])
        for (problem, _), ranking, state in zip(points, rankings, states, strict=True)
    ]
    return SparsityPath(
        n_features=supports.sum(axis=1),
        sparsity=np.array(sparsity),
        supports=supports,
        scores=np.stack([ranking.scores for ranking in rankings]),
        objective=np.array([solution.objective[-1] for _, solution in points]),
        statuses=[solution.status for _, solution in points],
        labels=np.stack(
            [problem.host_labels(solution.state.labels) for problem, solution in points]
        ),
    )
