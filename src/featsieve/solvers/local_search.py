"""Searches over supports by single moves with exact gains, for row-sparse ridge regression.

For a support S: A = Z_S'Z_S + mu I, W_S = A^(-1) Z_S'Y, R = Y - Z_S W_S, C = Z'R and
r_j = ||z_j||^2 + mu - z_j'Z_S A^(-1) Z_S'z_j. Then, exactly,

    adding j        lowers the loss by  ||c_j||^2 / (2 r_j),
    dropping i      raises it by        ||w_i||^2 / (2 (A^-1)_ii),
    swapping i -> j changes it by       b_i/2 - (||c_j||^2 + 2 v_ji <c_j, B_i> + v_ji^2 b_i)
                                              / (2 (r_j + v_ji^2)),

with B = diag(A^-1)^(-1/2) W_S, b_i = ||B_i||^2 and V = Z'Z_S A^(-1) diag(A^-1)^(-1/2). All of it
follows from the at most min(n, k) columns of E, E E' = Z_S A^(-1) Z_S'. A support that no move
improves is a stronger kind of optimum than a fixed point of hard thresholding.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from featsieve import defaults
from featsieve.arrays.namespace import stable_order, to_numpy
from featsieve.solvers.protocol import Status
from featsieve.solvers.row_sparse import RowSparseRegression, hat_factor

# A move must lower the objective by more than this share of ||Y||^2/2: rounding is not progress.
PROGRESS = 1e-10
DEPENDENT = 1e-8


@dataclass(frozen=True)
class Moves:
    """Exact change of the loss under single moves from one support."""

    add: np.ndarray  # (d,) how much adding j lowers the loss; 0 where it may not be added
    drop: np.ndarray  # (k,) how much dropping the i-th member raises it
    free: np.ndarray  # (d,) columns off the support that do not depend on it
    candidates: np.ndarray  # (m,) columns that may replace a member
    swap: np.ndarray  # (k, m) change when a candidate replaces the i-th member


def price_moves(
    problem: RowSparseRegression, support: np.ndarray, *, n_candidates: int | None = None
) -> Moves:
    """Price every addition and removal, and the exchanges with the columns that would add most.

    Without ``n_candidates`` all columns may replace a member, also those that depend on it.
    """
    operator, mu = problem.operator, problem.ridge
    E, root = hat_factor(operator, support, mu)
    residual = problem.target - E @ (E.T @ problem.target)
    C = to_numpy(operator.rmatmul(residual))  # c_j = z_j'R
    along = to_numpy(operator.rmatmul(E))  # E'z_j
    length = to_numpy(operator.column_norms()) + mu
    r = length - np.einsum("ji,ji->j", along, along)
    outside = to_numpy(operator.varies).copy()
    outside[support] = False
    free = outside & (r > DEPENDENT * length)
    add = np.where(free, np.einsum("jt,jt->j", C, C) / (2.0 * np.where(free, r, 1.0)), 0.0)
    if n_candidates is None:
        candidates = np.flatnonzero(outside)
    else:
        promising = stable_order(np.where(free, add, -1.0))
        candidates = np.sort(promising[: min(n_candidates, int(free.sum()))])
    if root is None:
        # With K = I + Z_S Z_S'/mu = (I - EE')^(-1) and A = Z_S'Z_S + mu I:
        # (A^-1)_ii = (mu - z_i'K^(-1)z_i)/mu^2,  W = Z_S'R/mu,  Z_S A^(-1) = K^(-1)Z_S/mu.
        pivot = np.sqrt(np.maximum(2.0 * mu - r[support], 1e-300)) / mu  # r_i = mu + z_i'K^(-1)z_i
        W = C[support] / mu
        Z = operator.columns(operator.place(support))
        products = to_numpy(operator.columns_rmatmul(operator.place(candidates), Z))
        V = (products - along[candidates] @ along[support].T) / mu
    else:
        inverse = to_numpy(root)  # A^(-1) = root'root and E = Z_S root'
        pivot = np.sqrt(np.einsum("ji,ji->i", inverse, inverse))
        W = inverse.T @ to_numpy(E.T @ problem.target)
        V = along[candidates] @ inverse
    B, V = W / pivot[:, None], V / pivot[None, :]
    b, c = np.einsum("it,it->i", B, B), C[candidates]
    gained = np.einsum("jt,jt->j", c, c)[:, None] + V * (2.0 * (c @ B.T) + V * b[None, :])
    left = r[candidates][:, None] + V * V  # length of a candidate given the other members
    swap = 0.5 * b[None, :] - gained / (2.0 * np.maximum(left, 1e-300))
    swap[left <= DEPENDENT * length[candidates][:, None]] = np.inf
    return Moves(add, 0.5 * b, free, candidates, swap.T)


@dataclass(frozen=True)
class SearchState:
    """A support and its objective."""

    support: np.ndarray
    value: float
    stable: bool = False  # no move improves it


class _Search:
    """What the searches share: each move lowers the objective, and supports are finitely many."""

    progress = PROGRESS

    def objective(self, problem: RowSparseRegression, state: SearchState) -> float:
        """Return the objective at the support."""
        return state.value

    def terminate(
        self, problem: RowSparseRegression, state: SearchState, history: Sequence[float]
    ) -> Status | None:
        """End when no move improves."""
        return Status.STATIONARY if state.stable else None

    def _least(self, problem: RowSparseRegression) -> float:
        """Return what a move must gain."""
        return self.progress * 0.5 * problem.energy()

    @staticmethod
    def _at(problem: RowSparseRegression, support: np.ndarray) -> SearchState:
        return SearchState(support, problem.value(problem.operator.place(support)))


class LocalSearch(_Search):
    """Solver of :class:`RowSparseRegression` by additions, removals and exchanges.

    Drops while a member is worth less than ``sparsity``, adds while a column is worth more, else
    swaps. With a limited number of features it fills the support, then only swaps.

    Parameters
    ----------
    start : int array, optional
        The first support; empty by default. Started from the support of another solver, the result
        is never worse than that solver's.
    """

    def __init__(self, *, start: np.ndarray | None = None) -> None:
        self.start = start

    def init(self, problem: RowSparseRegression) -> SearchState:
        """Start from the given support, without its dependent columns and within the limit."""
        support = np.zeros(0, dtype=np.intp)
        for j in [] if self.start is None else np.asarray(self.start, dtype=np.intp):
            if problem.ridge > 0.0 or price_moves(problem, support).free[j]:
                support = np.append(support, j)
        while len(support) > problem.limit:
            support = np.delete(support, int(price_moves(problem, support).drop.argmin()))
        return self._at(problem, support)

    def step(self, problem: RowSparseRegression, state: SearchState) -> SearchState:
        """Make the best move there is."""
        for candidate in self._candidates(problem, state.support):
            moved = self._at(problem, candidate)
            filling = problem.sparsity == 0.0 and len(candidate) > len(state.support)
            if filling or moved.value < state.value - self._least(problem):
                return moved
        return replace(state, stable=True)

    @staticmethod
    def _candidates(problem: RowSparseRegression, support: np.ndarray) -> list[np.ndarray]:
        """Return the best support of each kind of move that promises an improvement."""
        found = []
        priced = price_moves(problem, support)
        k, lam = len(support), problem.sparsity
        if k and priced.drop.min() < lam:
            found.append(np.delete(support, int(priced.drop.argmin())))
        if k < problem.limit and priced.free.any() and priced.add.max() >= lam:
            best = int(np.where(priced.free, priced.add, -1.0).argmax())
            found.append(np.append(support, best))
        if priced.swap.size and priced.swap.min() < 0.0:
            i, j = np.unravel_index(int(priced.swap.argmin()), priced.swap.shape)
            found.append(np.append(np.delete(support, i), priced.candidates[j]))
        return found


class ExchangeSearch(_Search):
    """Solver of :class:`RowSparseRegression` with a fixed number of features, by exchanges.

    Only the most promising additions are priced against every member: a table of k x 512 instead of
    k x d. The best exchange is made while it lowers the objective, or several at once where they
    lower it more.
    """

    def __init__(
        self,
        *,
        start: np.ndarray,
        n_candidates: int | None = None,
        progress: float = PROGRESS,
    ) -> None:
        self.start, self.progress = start, progress
        self.n_candidates = n_candidates or defaults.EXCHANGE_CANDIDATES

    def init(self, problem: RowSparseRegression) -> SearchState:
        """Return the state of the first support."""
        return self._at(problem, np.asarray(self.start, dtype=np.intp))

    def step(self, problem: RowSparseRegression, state: SearchState) -> SearchState:
        """Make the best exchange there is."""
        if len(state.support) == 0:
            return replace(state, stable=True)
        priced = price_moves(problem, state.support, n_candidates=self.n_candidates)
        pairs = disjoint_pairs(priced.swap)
        # Many at once are right for none of them: they must do better than the best one alone.
        while pairs:
            left, right = zip(*pairs, strict=True)
            moved = np.append(np.delete(state.support, left), priced.candidates[list(right)])
            tried = self._at(problem, moved)
            aim = state.value + (priced.swap[pairs[0]] if len(pairs) > 1 else 0.0)
            if tried.value < aim - self._least(problem):
                return tried
            pairs = pairs[: len(pairs) // 2]
        return replace(state, stable=True)


def disjoint_pairs(change: np.ndarray) -> list[tuple[int, int]]:
    """Return pairs (member, candidate) that lower the loss, the best first, none in two pairs."""
    best = change.min(axis=1) if change.size else np.zeros(0)
    pairs: list[tuple[int, int]] = []
    taken: set[int] = set()
    for i in np.argsort(best, kind="stable")[: defaults.EXCHANGES_AT_ONCE]:
        j = int(change[i].argmin())
        if change[i, j] < 0.0 and j not in taken:
            pairs.append((int(i), j))
            taken.add(j)
    return pairs
