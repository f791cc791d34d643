"""JASFS exactly as its authors run it (Algorithm 2 of the paper; comments carry its line numbers).

    1: k = 0, W = 0, F: 0/1 indicator of the first clusters, S   (eq. solutionofS)
    2: repeat
    3:     W: AMHIHT, warm                                       (Algorithm 1: homotopy_iht.py)
    4:     L_S, P and Q                                          (eq. PQ)
    5:     F: multiplicative step, columns to unit length        (eq. slutonofF)
    6:     S: softmax of the distances between rows of F         (eq. solutionofS)
    7:     k = k + 1
    8: until convergence: the objective hardly changes
    9: output: the features of the non-zero rows of W

S is never stored: :class:`~featsieve.terms.UniformGraph` provides its products. As in the authors'
program it is computed where an iteration begins, from the F that lines 1 and 6 would have seen.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.solvers.alternate import Alternation, relative_change
from featsieve.solvers.homotopy_iht import HomotopyIHT
from featsieve.solvers.nonnegative_labels import unit_columns
from featsieve.solvers.protocol import Callback, Solution, Status, run
from featsieve.solvers.row_sparse import RowSparseRegression
from featsieve.terms import UniformGraph, indicator
from featsieve.terms.norms import count_rows, row_norms, row_support, square


@dataclass(frozen=True)
class PaperProblem:
    """JASFS with the paper's entropy (uniform prior) and a penalty for non-orthogonal F."""

    operator: DataOperator
    labels: np.ndarray
    n_clusters: int
    alpha: float
    beta: float
    sparsity: float
    orthogonality: float = 1e8

    @property
    def gamma(self) -> float:
        """The exponent of S of the authors' program (in the paper alpha/(2 beta))."""
        return 1.0 / (2.0 * self.beta)

    def objective(self, state: "PaperState") -> float:
        """Return the objective the authors record, with the graph of the iteration.

        Against eq. JASFS it has twice the graph term, and the entropy of the symmetrised graph.
        """
        if state.graph is None:
            return float("inf")
        loss = 0.5 * square(to_numpy(state.fitted) - (state.F - state.F.mean(axis=0)))
        loss += self.sparsity * count_rows(state.W)
        graph = state.graph.smoothness(state.F) + self.beta * state.graph.symmetric_entropy()
        return loss + 2.0 * self.alpha * graph


@dataclass(frozen=True)
class PaperState:
    """The variables of the alternation."""

    W: Array
    fitted: Array  # HXW
    F: np.ndarray
    graph: UniformGraph | None = None  # S, a function of F before its update

    @property
    def labels(self) -> np.ndarray:
        """The cluster of every sample.

        A small orthogonality can empty a row of F: the regression then tells its cluster.
        """
        filled = np.any(self.F, axis=1, keepdims=True)
        return np.where(filled, self.F, to_numpy(self.fitted)).argmax(axis=1)


def solve_paper(
    problem: PaperProblem,
    *,
    max_iter: int = 20,
    tol: float = 1e-5,
    callback: Callback[PaperState] | None = None,
) -> Solution[PaperState]:
    """Run the authors' alternation."""

    def start(problem: PaperProblem) -> PaperState:
        # Algorithm 2, line 1: k = 0 (of `run`), W = 0, F from the first clusters (spectral ones in
        # the authors' program, K-means in the paper's box: init="k-means")
        operator, xp = problem.operator, problem.operator.xp
        F = indicator(problem.labels, problem.n_clusters)
        shape = (problem.n_clusters, operator.shape[1])
        W = xp.zeros(shape, dtype=xp.float64, device=operator.device).T
        return PaperState(W, operator.place(np.zeros_like(F)), F)

    def update_graph(problem: PaperProblem, state: PaperState) -> PaperState:
        # Algorithm 2, line 1 (first iteration) and line 6 (of the one before): S by eq. solutionofS
        return replace(state, graph=UniformGraph(state.F, problem.gamma))

    def update_features(problem: PaperProblem, state: PaperState) -> PaperState:
        # Algorithm 2, line 3: update W by Algorithm 1
        operator = problem.operator
        target = operator.place(state.F - state.F.mean(axis=0))
        regression = RowSparseRegression(operator, target, sparsity=problem.sparsity)
        solver = HomotopyIHT(warm_start=(state.W, state.fitted))
        found = run(solver, regression, max_iter=10**6).state  # its schedule ends it
        return replace(state, W=found.W, fitted=found.image)  # Algorithm 1, line 12: W* = W^k

    def update_labels(problem: PaperProblem, state: PaperState) -> PaperState:
        # Algorithm 2, line 4: L_S, P and Q (inside the step); line 5: F by eq. slutonofF
        assert state.graph is not None
        F = multiplicative_step(
            state.F,
            to_numpy(state.fitted),
            state.graph,
            alpha=problem.alpha,
            orthogonality=problem.orthogonality,
        )
        return replace(state, F=F)

    def stop(state: PaperState, history: Sequence[float]) -> Status | None:
        # Algorithm 2, line 8: until convergence
        n_iter = len(history) - 1
        settled = n_iter >= defaults.PAPER_FIRST_TEST and relative_change(history) < tol
        return Status.CONVERGED if settled else None

    solver = Alternation(
        start=start,
        blocks=(update_graph, update_features, update_labels),
        value=PaperProblem.objective,
        stop=stop,
    )
    # Algorithm 2, line 2: repeat; line 7: k = k + 1
    return run(solver, problem, max_iter=max_iter, callback=callback)


def multiplicative_step(
    F: np.ndarray,
    fitted: np.ndarray,
    graph: UniformGraph,
    *,
    alpha: float,
    orthogonality: float,
) -> np.ndarray:
    """Return F * (nu F + Q) / (P F + nu F F'F), columns to unit length (eq. slutonofF).

    ``fitted`` is HXW, ``graph`` that of F, and nu is ``orthogonality``. P = H + 2 alpha L_S and
    Q = HXW are twice those of eq. PQ, as in the authors' program. With nu = 1e8 an entry moves by
    about 1e-8, and a zero stays zero: the labels are frozen at their first value. A smaller nu lets
    them move, and can make the numerator negative; such entries become zero, as F >= 0 wants.
    """
    # Algorithm 2, line 4: P F (with L_S) and Q
    P_F = (F - F.mean(axis=0)) + 2.0 * alpha * graph.product
    numerator = orthogonality * F + fitted
    # Algorithm 2, line 5: F by eq. slutonofF
    denominator = P_F + orthogonality * (F @ (F.T @ F))
    safe = np.where(denominator > 0.0, denominator, 1.0)
    ratio = np.where((denominator > 0.0) & (numerator > 0.0), numerator / safe, 0.0)
    return unit_columns(F * ratio)


def rank_rows(problem: PaperProblem, state: PaperState) -> tuple[np.ndarray, np.ndarray, int]:
    """Return scores and order of all features (best first), and how many rows of W are not zero.

    Rows of W by length; rows that are zero by the order in which they would enter.
    """
    # Algorithm 2, line 9: the selected features are the non-zero rows of W
    n_selected = int(np.count_nonzero(to_numpy(row_support(state.W))))
    scores = np.sqrt(row_norms(to_numpy(state.W)))
    operator = problem.operator
    residual = to_numpy(state.fitted) - (state.F - state.F.mean(axis=0))
    entering = row_norms(to_numpy(operator.rmatmul(operator.place(residual))))
    return scores, np.lexsort((-entering, -scores)), n_selected


def cluster_means(operator: DataOperator, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the means of the rows of Z in every cluster (d x c); 0 for an empty one."""
    members = indicator(labels, n_clusters)
    members /= np.maximum(members.sum(axis=0), 1.0)
    return to_numpy(operator.rmatmul(operator.place(members)))


def largest_sparsity(problem: PaperProblem, *, max_iter: int, tol: float) -> float:
    """Return the largest lambda (to a percent) with which the program selects something, or 0.

    The schedule decides, not a formula: the exponent of lambda is doubled until a row survives,
    then bisected.
    """

    def selects(sparsity: float) -> bool:
        solution = solve_paper(replace(problem, sparsity=sparsity), max_iter=max_iter, tol=tol)
        return count_rows(solution.state.W) > 0

    high, low = problem.sparsity, 0.5 * min(problem.sparsity, 1.0)
    while not selects(low):
        if low < 1e-150:  # as small as any
            return 0.0
        high, low = low, low * low
    while high > 1.01 * low:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if selects(middle) else (low, middle)
    return low
