"""The alternation of USFS: subspace and centres, weights, soft labels.

    min  sum_ij y_ij d_ij + beta (||Y||^2 + alpha ||H(XP - Y)||^2 + gamma ||P||_{2,1})

with d_ij = ||x_i W - m_j||^2, W'W = I and rows of Y on the simplex. With the centres at their best,
m_j = sum_i y_ij x_i W / n_j, the first term is tr(W' S W), S = X'(I - Y N^(-1) Y')X the scatter
within the clusters: W holds its last eigenvectors (of the row space of X).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from featsieve.arrays import DataOperator, as_operator
from featsieve.arrays.linalg import smallest_eigenpairs
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.graphs import principal_coordinates
from featsieve.solvers.alternate import Alternation, Block, relative_change
from featsieve.solvers.protocol import Callback, Solution, Status, run
from featsieve.solvers.reweighted_ridge import ReweightedRidge
from featsieve.terms.regression import square
from featsieve.terms.row_shrinkage import inverse_weights, smoothed_norm
from featsieve.terms.row_sparsity import row_norms
from featsieve.terms.simplex import project_rows

# A cluster of this size is empty.
EMPTY = 1e-12
# The released program's smoothing of the row lengths.
RELEASED_SMOOTHING = 0.01
# From this many directions on, SciPy's solver for a few eigenvectors pays.
LARGEST_FULL = 400


@dataclass(frozen=True)
class USFSProblem:
    """What USFS minimises."""

    operator: DataOperator
    alpha: float
    beta: float
    gamma: float
    n_components: int | None = None
    intercept: bool = True  # of the regression; the operator is then centred
    form: str = "auto"  # of the regression: see ReweightedRidge

    @cached_property
    def basis(self) -> tuple[np.ndarray, np.ndarray]:
        """U diag(s) and s^2 of X = U diag(s) V', all directions, computed once."""
        coordinates, energy = principal_coordinates(
            self.operator, n_directions=min(self.operator.shape)
        )
        return to_numpy(coordinates), to_numpy(energy)

    def offset(self, Y: np.ndarray) -> np.ndarray:
        """Return the intercept b that is best with centred columns: the means of Y."""
        return Y.mean(axis=0) if self.intercept else np.zeros(Y.shape[1])

    def objective(self, state: "USFSState") -> float:
        """Return the objective, with the intercept at its best."""
        if state.distances is None:
            return float("inf")
        Y = state.Y
        residual = to_numpy(state.fitted) - (Y - self.offset(Y))
        regression = self.alpha * square(residual) + self.gamma * smoothed_norm(state.P)
        return float(np.sum(Y * state.distances)) + self.beta * (square(Y) + regression)


@dataclass(frozen=True)
class USFSState:
    """The variables of the alternation."""

    Y: np.ndarray
    inverse: Array  # 1/q_j of the rows of P
    distances: np.ndarray | None = None  # ||x_i W - m_j||^2
    P: Array | None = None
    fitted: Array | None = None  # XP
    offset: np.ndarray | None = None  # b


def subspace(problem: USFSProblem, Y: np.ndarray, *, released: bool) -> DataOperator:
    """Return XW for the best W; X itself where W is square.

    In the basis V of the row space the scatter is diag(s^2) - EE', E = diag(s) U'Y N^(-1/2); the
    released program has N^(1/2), and takes directions without any scatter before positive ones.
    """
    m = problem.n_components
    if m is None:
        return problem.operator
    T, energy = problem.basis
    size = Y.sum(axis=0)
    power = 0.5 if released else -0.5
    E = (T.T @ Y) * np.where(size > EMPTY, np.maximum(size, EMPTY) ** power, 0.0)
    scatter = np.diag(energy) - E @ E.T
    m = min(m, len(energy))
    if len(energy) <= LARGEST_FULL:
        value, vectors = np.linalg.eigh(scatter)
    else:
        value, vectors = smallest_eigenpairs(scatter, m)
    if released:
        n_empty = problem.operator.shape[1] - len(energy)
        assert problem.n_components is not None
        negative = min(int(np.count_nonzero(value < 0.0)), m)
        m = max(negative, min(problem.n_components - n_empty, m))
    points = T @ vectors[:, :m] if m > 0 else np.zeros((len(T), 1))
    return as_operator(points, center=False)


def centre_distances(space: DataOperator, Y: np.ndarray) -> np.ndarray:
    """Return the squared distances of the samples to the centres.

    The centre of an empty cluster does not matter to the objective: it moves to the sample which
    is farthest from its own centres (the next one for a second empty cluster).
    """
    xp = space.xp
    size = Y.sum(axis=0)
    empty = size <= EMPTY
    sums = space.rmatmul(xp.asarray(Y, device=space.device))
    centres = sums / xp.asarray(np.where(empty, 1.0, size), device=space.device)[None, :]
    norms = to_numpy(space.row_norms())
    squares = to_numpy(xp.sum(centres * centres, axis=0))
    D = np.maximum(norms[:, None] - 2.0 * to_numpy(space.matmul(centres)) + squares, 0.0)
    if empty.any():
        farthest = np.argsort(-np.sum(Y * D, axis=1), kind="stable")
        for j, i in zip(np.flatnonzero(empty), farthest, strict=False):
            product = to_numpy(space.matmul(space.rows(i, i + 1).T))[:, 0]
            D[:, j] = np.maximum(norms + norms[i] - 2.0 * product, 0.0)
    return D


def memberships(
    predicted: np.ndarray, D: np.ndarray, *, alpha: float, beta: float, released: bool = False
) -> np.ndarray:
    """Return the best Y: rows of (alpha (XP + b) - D/(2 beta)) / (1 + alpha) onto the simplex.

    The released program divides by 2.
    """
    # The projection knows no offset of a row: subtract what can overflow.
    with np.errstate(over="ignore"):
        repulsion = (D - D.min(axis=1, keepdims=True)) / (2.0 * beta)
    return project_rows((alpha * predicted - repulsion) / (2.0 if released else 1.0 + alpha))


def solve_usfs(
    problem: USFSProblem,
    Y: np.ndarray,
    *,
    variant: str = "consistent",
    max_iter: int = 100,
    tol: float = 1e-5,
    callback: Callback[USFSState] | None = None,
) -> Solution[USFSState]:
    """Run the alternation from the memberships Y; the first regression is a ridge."""
    operator, xp = problem.operator, problem.operator.xp
    ridge = ReweightedRidge(operator, problem.form)
    released = variant == "released"

    def start(problem: USFSProblem) -> USFSState:
        ones = xp.ones(operator.shape[1], dtype=xp.float64, device=operator.device)
        return USFSState(Y, inverse=ones)

    def update_centres(problem: USFSProblem, state: USFSState) -> USFSState:
        space = subspace(problem, state.Y, released=released)
        return replace(state, distances=centre_distances(space, state.Y))

    def update_weights(problem: USFSProblem, state: USFSState) -> USFSState:
        offset = problem.offset(state.Y)
        target = xp.asarray(state.Y - offset, device=operator.device)
        P, fitted = ridge.solve(target, problem.gamma / problem.alpha, inverse=state.inverse)
        inverse = (
            2.0 * xp.sqrt(row_norms(P)) + RELEASED_SMOOTHING if released else inverse_weights(P)
        )
        return replace(state, P=P, fitted=fitted, inverse=inverse, offset=offset)

    def update_labels(problem: USFSProblem, state: USFSState) -> USFSState:
        assert state.distances is not None
        Y = memberships(
            to_numpy(state.fitted) + state.offset,
            state.distances,
            alpha=problem.alpha,
            beta=problem.beta,
            released=released,
        )
        return replace(state, Y=Y)

    def stop(state: USFSState, history: Sequence[float]) -> Status | None:
        return Status.CONVERGED if relative_change(history) < tol else None

    solver = Alternation(
        start=start,
        blocks=(
            Block("subspace and centres", update_centres),
            Block("weights", update_weights),
            Block("labels", update_labels),
        ),
        value=USFSProblem.objective,
        stop=stop,
    )
    return run(solver, problem, max_iter=max_iter, callback=callback)
