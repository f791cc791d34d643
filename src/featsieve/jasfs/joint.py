"""The default solver of JASFS: one support for all label hypotheses.

    hypotheses (``labels.py``), the best support for them
    where labels may move (``refine_labels``), for one hypothesis, the consensus:
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

from featsieve.arrays.namespace import to_numpy
from featsieve.hypotheses.pool import Pool
from featsieve.jasfs.problem import Problem, cluster_sums, columns_gram
from featsieve.solvers.alternate import Alternation, relative_change
from featsieve.solvers.forward_selection import ForwardState, batched_paths
from featsieve.solvers.protocol import Callback, Solution, Status, run
from featsieve.solvers.supports import find_support


@dataclass(frozen=True)
class JointState:
    """Label hypotheses and a support."""

    pool: Pool
    support: np.ndarray  # in order of entry
    value: float
    path: ForwardState | None = None  # that found the support, if it was for these hypotheses
    moved: bool = True  # whether the last label step changed anything
    limited: bool = False  # whether a label step ran into its own iteration limit


def solve_joint(
    problem: Problem,
    pool: Pool,
    *,
    path: ForwardState | None = None,
    max_iter: int = 20,
    tol: float = 1e-5,
    callback: Callback[JointState] | None = None,
) -> Solution[JointState]:
    """Descend J from the given hypotheses. The first iteration is the first W-step.

    It is the last one where the problem has no graph: labels do not move then. ``path`` may hold a
    part of the path for these hypotheses.
    """

    def start(problem: Problem) -> JointState:
        # Algorithm 2, line 1: k = 0, F is given; line 3: the first W
        support, found = find_support(problem.regression(pool), path=path)
        return JointState(
            pool,
            support,
            problem.value(pool, support),
            found,
            moved=problem.graph is not None,
        )

    def update_labels(problem: Problem, state: JointState) -> JointState:
        # Algorithm 2, line 4: L_S; line 5: update F (moves of samples in the place of P and Q);
        # line 6: S, at its optimum for F
        refined, status = problem.refine(state.pool, state.support)
        state = replace(state, limited=state.limited or not status.success)
        value = problem.value(refined, state.support)
        if np.array_equal(refined.labels, state.pool.labels) or value > state.value:
            return replace(state, moved=False)
        return replace(state, pool=refined, value=value, path=None)

    def update_features(problem: Problem, state: JointState) -> JointState:
        # Algorithm 2, line 3: update W
        if not state.moved:
            return state
        regression = problem.regression(state.pool)
        support, path = find_support(regression, known=state.support)
        if support is state.support:
            return state  # the acceptance guard: J never increases
        value = problem.value(state.pool, support)
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


def feature_certainty(problem: Problem, pool: Pool, order: np.ndarray, count: int) -> np.ndarray:
    """Return the share of the hypotheses whose own path of ``count`` features holds each feature.

    Each hypothesis chooses among the first ``2 count`` features of the joint order: others are
    taken to be chosen by none. Columns that are bought together are as certain as the best of them.
    """
    operator = problem.operator
    certainty = np.zeros(operator.shape[1])
    offer = problem.offer
    among = order[: 2 * count]
    if offer is not None:
        among = among[offer.for_sale[among]]
    m, c = len(pool.labels), pool.n_clusters
    sums, sizes = cluster_sums(operator, pool)
    # Z'F_v = Z'M_v / sqrt(n_k), and Z'H = Z'
    C = (sums[among].reshape(len(among), m, c) / np.sqrt(sizes)).transpose(1, 0, 2)
    supports = batched_paths(
        to_numpy(columns_gram(operator, among)), C, ridge=problem.ridge, length=count
    )
    for support, weight in zip(supports, pool.weights, strict=True):
        certainty[among[support]] += weight
    for block in () if offer is None else offer.blocks:
        certainty[block] = certainty[block].max(axis=1, keepdims=True)
    return np.minimum(certainty, 1.0)
