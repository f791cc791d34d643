"""Add / drop / swap search over supports with exact gains, for row-sparse ridge regression.

For a support S: A = Z_S'Z_S + mu I, W_S = A^(-1) Z_S'Y, R = Y - Z_S W_S, C = Z'R and
r_j = ||z_j||^2 + mu - z_j'Z_S A^(-1) Z_S'z_j. Then, exactly,

    adding j        lowers the loss by  ||c_j||^2 / (2 r_j),
    dropping i      raises it by        ||w_i||^2 / (2 (A^-1)_ii),
    swapping i -> j changes it by       b_i/2 - (||c_j||^2 + 2 v_ji <c_j, B_i> + v_ji^2 b_i)
                                              / (2 (r_j + v_ji^2)),

with B = diag(A^-1)^(-1/2) W_S, b_i = ||B_i||^2 and V = Z'Z_S A^(-1) diag(A^-1)^(-1/2). A support
that no move improves is a stronger kind of optimum than a fixed point of hard thresholding.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from featsieve.arrays.namespace import Array, to_numpy
from featsieve.solvers.protocol import Status
from featsieve.solvers.row_sparse import RowSparseRegression

# A move must lower the objective by more than this share of ||Y||^2/2: rounding is not progress.
PROGRESS = 1e-10
DEPENDENT = 1e-8


@dataclass(frozen=True)
class Moves:
    """Exact change of the loss under every single move from one support."""

    support: np.ndarray
    add: np.ndarray  # (d,) how much adding j lowers the loss; 0 on the support
    drop: np.ndarray  # (k,) how much dropping the i-th member raises it
    swap: np.ndarray  # (k, d) change when j replaces the i-th member; +inf on the support
    free: np.ndarray  # (d,) columns off the support that do not depend on it


def moves(problem: RowSparseRegression, support: np.ndarray) -> Moves:
    """Price every addition, removal and exchange at once, in three products with the table."""
    operator = problem.operator
    xp = operator.xp
    length = to_numpy(operator.column_norms())
    varies = to_numpy(operator.varies)
    inside = np.zeros(operator.shape[1], dtype=bool)
    inside[support] = True
    k = len(support)
    if k == 0:
        C = to_numpy(operator.rmatmul(problem.target))
        r = length + problem.ridge
    else:
        Z = operator.columns(xp.asarray(support, device=operator.device))
        eye = xp.eye(k, dtype=Z.dtype, device=operator.device)
        inverse = xp.linalg.inv(Z.T @ Z + problem.ridge * eye)
        W = inverse @ (Z.T @ problem.target)
        C = to_numpy(operator.rmatmul(problem.target - Z @ W))
        cross = to_numpy(operator.rmatmul(Z))  # Z'Z_S
        inverse, W = to_numpy(inverse), to_numpy(W)
        r = length + problem.ridge - np.einsum("ji,ji->j", cross @ inverse, cross)
    free = ~inside & varies & (r > DEPENDENT * (length + problem.ridge))
    c = np.einsum("jt,jt->j", C, C)
    add = np.where(free, c / (2.0 * np.where(free, r, 1.0)), 0.0)
    if k == 0:
        return Moves(support, add, np.zeros(0), np.zeros((0, len(add))), free)
    pivot = np.sqrt(np.diag(inverse))
    B = W / pivot[:, None]
    b = np.einsum("it,it->i", B, B)
    V = (cross @ inverse) / pivot[None, :]
    # Off the support only: r + v^2 is the length of column j given the other members.
    gained = c[:, None] + 2.0 * V * (C @ B.T) + V**2 * b[None, :]
    length_left = np.maximum(r[:, None] + V**2, 1e-300)
    swap = 0.5 * b[None, :] - gained / (2.0 * length_left)
    swap[~(~inside & varies), :] = np.inf
    swap[length_left <= DEPENDENT * (length + problem.ridge)[:, None]] = np.inf
    return Moves(support, add, 0.5 * b, swap.T, free)


@dataclass(frozen=True)
class SearchState:
    """A support, its price list, and its objective."""

    support: np.ndarray
    value: float
    moves: Moves
    stable: bool = False


class LocalSearch:
    """Solver of :class:`RowSparseRegression` by single moves, each of which lowers the objective.

    Drops while a member is worth less than ``sparsity``, adds while a column is worth more, else
    swaps. With a limited number of features it fills the support, then only swaps. As every move
    lowers the objective and there are finitely many supports, the search ends.

    Parameters
    ----------
    start : int array, optional
        The first support; empty by default. Started from the support of another solver, the result
        is never worse than that solver's.
    """

    def __init__(self, *, start: Array | None = None) -> None:
        self.start = start

    def init(self, problem: RowSparseRegression) -> SearchState:
        """Start from the given support, without its dependent columns and within the limit."""
        support = np.zeros(0, dtype=np.intp)
        for j in [] if self.start is None else np.asarray(self.start, dtype=np.intp):
            if problem.ridge > 0.0 or moves(problem, support).free[j]:
                support = np.append(support, j)
        while len(support) > problem.limit:
            support = np.delete(support, int(moves(problem, support).drop.argmin()))
        return self._at(problem, support)

    def step(self, problem: RowSparseRegression, state: SearchState) -> SearchState:
        """Make the best move there is."""
        support, priced = state.support, state.moves
        for candidate in self._candidates(problem, support, priced):
            moved = self._at(problem, candidate)
            filling = problem.sparsity == 0.0 and len(candidate) > len(support)
            if filling or moved.value < state.value - self._rounding(problem):
                return moved
        return SearchState(support, state.value, priced, stable=True)

    def objective(self, problem: RowSparseRegression, state: SearchState) -> float:
        """Return the objective at the support."""
        return state.value

    def terminate(
        self, problem: RowSparseRegression, state: SearchState, history: Sequence[float]
    ) -> Status | None:
        """End when no move improves."""
        return Status.STATIONARY if state.stable else None

    def _candidates(
        self, problem: RowSparseRegression, support: np.ndarray, priced: Moves
    ) -> list[np.ndarray]:
        """Return the best support of each kind of move that promises an improvement."""
        found = []
        k, lam = len(support), problem.sparsity
        if k and priced.drop.min() < lam:
            found.append(np.delete(support, int(priced.drop.argmin())))
        if k < problem.limit and priced.free.any() and priced.add.max() >= lam:
            best = int(np.where(priced.free, priced.add, -1.0).argmax())
            found.append(np.append(support, best))
        if k and priced.swap.min() < 0.0:
            i, j = np.unravel_index(int(priced.swap.argmin()), priced.swap.shape)
            found.append(np.append(np.delete(support, i), j))
        return found

    @staticmethod
    def _rounding(problem: RowSparseRegression) -> float:
        """Return what a move must gain to be more than rounding."""
        return PROGRESS * 0.5 * float(problem.operator.xp.sum(problem.target * problem.target))

    def _at(self, problem: RowSparseRegression, support: np.ndarray) -> SearchState:
        xp = problem.operator.xp
        value = problem.value(xp.asarray(support, device=problem.operator.device))
        return SearchState(support, value, moves(problem, support))
