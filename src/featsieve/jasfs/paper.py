"""JASFS exactly as its authors run it (Algorithm 2 of the paper).

    F0: 0/1 indicator of the initial clusters, W0 = 0
    repeat
        S: softmax of the distances between rows of F      (eq. solutionofS)
        W: AMHIHT, warm                                     (Algorithm 1)
        F: multiplicative step, columns to unit length      (eq. slutonofF)
    until the objective settles

S is never stored: :class:`~featsieve.terms.UniformGraph` provides its products.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.solvers.alternate import Alternation, Block, relative_change
from featsieve.solvers.homotopy_iht import HomotopyIHT
from featsieve.solvers.labels import MultiplicativeLabels
from featsieve.solvers.protocol import Callback, Solution, Status, run
from featsieve.solvers.row_sparse import RowSparseRegression
from featsieve.terms import UniformGraph, indicator
from featsieve.terms.regression import square
from featsieve.terms.row_sparsity import count_rows

# The authors do not test for convergence in the first iterations.
FIRST_TEST = 6
# Values of lambda below this are not looked at.
SMALLEST = 1e-150
# More steps than any schedule has penalties.
NO_LIMIT = 10**6


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
    formula: str = "code"

    @property
    def gamma(self) -> float:
        """The exponent of S: alpha/(2 beta) in the paper, 1/(2 beta) in the authors' code."""
        return (1.0 if self.formula == "code" else self.alpha) / (2.0 * self.beta)

    def objective(self, state: "PaperState") -> float:
        """Return the objective the authors record, with the graph of the iteration.

        Paper: eq. JASFS. Code: twice the graph term, and the entropy of the symmetrised graph.
        """
        if state.graph is None:
            return float("inf")
        loss = 0.5 * square(to_numpy(state.fitted) - (state.F - state.F.mean(axis=0)))
        loss += self.sparsity * count_rows(state.W)
        smoothness = state.graph.smoothness(state.F)
        if self.formula == "code":
            entropy = state.graph.symmetric_entropy()
            return loss + 2.0 * self.alpha * (smoothness + self.beta * entropy)
        return loss + self.alpha * smoothness + self.beta * state.graph.entropy()


@dataclass(frozen=True)
class PaperState:
    """The variables of the alternation."""

    W: Array
    fitted: Array  # HXW
    F: np.ndarray
    graph: UniformGraph | None = None  # S, a function of F before its update


def solve_paper(
    problem: PaperProblem,
    *,
    max_iter: int = 20,
    tol: float = 1e-5,
    callback: Callback[PaperState] | None = None,
) -> Solution[PaperState]:
    """Run the authors' alternation."""
    label_step = MultiplicativeLabels(problem.alpha, problem.orthogonality, problem.formula)

    def start(problem: PaperProblem) -> PaperState:
        operator, xp = problem.operator, problem.operator.xp
        F = indicator(problem.labels, problem.n_clusters)
        shape = (problem.n_clusters, operator.shape[1])
        W = xp.zeros(shape, dtype=xp.float64, device=operator.device).T
        return PaperState(W, xp.asarray(np.zeros_like(F), device=operator.device), F)

    def update_graph(problem: PaperProblem, state: PaperState) -> PaperState:
        return replace(state, graph=UniformGraph(state.F, problem.gamma))

    def update_features(problem: PaperProblem, state: PaperState) -> PaperState:
        operator = problem.operator
        target = operator.xp.asarray(state.F - state.F.mean(axis=0), device=operator.device)
        regression = RowSparseRegression(operator, target, sparsity=problem.sparsity)
        solver = HomotopyIHT(warm_start=(state.W, state.fitted))
        found = run(solver, regression, max_iter=NO_LIMIT).state
        return replace(state, W=found.W, fitted=found.image)

    def update_labels(problem: PaperProblem, state: PaperState) -> PaperState:
        assert state.graph is not None
        fitted = to_numpy(state.fitted)
        return replace(state, F=label_step.update(state.F, fitted, state.graph))

    def stop(state: PaperState, history: Sequence[float]) -> Status | None:
        n_iter = len(history) - 1
        settled = n_iter >= FIRST_TEST and relative_change(history) < tol
        return Status.CONVERGED if settled else None

    solver = Alternation(
        start=start,
        blocks=(
            Block("graph", update_graph),
            Block("features", update_features),
            Block("labels", update_labels),
        ),
        value=PaperProblem.objective,
        stop=stop,
    )
    return run(solver, problem, max_iter=max_iter, callback=callback)


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
        if low < SMALLEST:
            return 0.0
        high, low = low, low * low
    while high > 1.01 * low:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if selects(middle) else (low, middle)
    return low
