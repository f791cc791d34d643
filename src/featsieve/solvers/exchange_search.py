"""Exchanges of single features at a fixed number of them, priced exactly, for many features.

The prices are those of :mod:`~featsieve.solvers.local_search`. What differs is the cost: the hat
matrix E E' = Z_S (Z_S'Z_S + mu I)^(-1) Z_S' of the support has at most min(n, k) columns E, which
price all additions and all removals, and only the most promising additions are priced against every
member: a table of k x 512 instead of k x d. With up to 512 columns off the support nothing is left
out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from featsieve.arrays.namespace import stable_order, to_numpy
from featsieve.solvers.local_search import DEPENDENT, PROGRESS
from featsieve.solvers.protocol import Status
from featsieve.solvers.row_sparse import RowSparseRegression

N_CANDIDATES = 512


@dataclass(frozen=True)
class Exchanges:
    """Exact change of the loss when a candidate replaces a member of the support."""

    support: np.ndarray
    candidates: np.ndarray
    change: np.ndarray  # (k, number of candidates)


def exchanges(
    problem: RowSparseRegression, support: np.ndarray, *, n_candidates: int = N_CANDIDATES
) -> Exchanges:
    """Price the exchanges of all members with the columns that would add most."""
    operator, xp = problem.operator, problem.operator.xp
    Z = operator.columns(xp.asarray(support, device=operator.device))
    n, k = Z.shape
    mu = problem.ridge
    wide = k > n
    eye = xp.eye(min(n, k), dtype=Z.dtype, device=operator.device)
    if wide:
        energy, U = xp.linalg.eigh(Z @ Z.T)
        energy = xp.clip(energy, min=0.0)
        E = U * xp.sqrt(energy / (energy + mu))[None, :]
    else:
        root = xp.linalg.cholesky(Z.T @ Z + mu * eye)
        E = xp.linalg.solve(root, Z.T).T
    residual = problem.target - E @ (E.T @ problem.target)
    C = to_numpy(operator.rmatmul(residual))  # c_j = z_j'R
    along = to_numpy(operator.rmatmul(E))  # E'z_j
    length = to_numpy(operator.column_norms()) + mu
    r = length - np.einsum("ji,ji->j", along, along)
    free = to_numpy(operator.varies) & (r > DEPENDENT * length)
    free[support] = False
    gain = np.where(free, np.einsum("jt,jt->j", C, C) / (2.0 * np.where(free, r, 1.0)), -1.0)
    candidates = np.sort(stable_order(gain)[: min(n_candidates, int(free.sum()))])
    chosen = xp.asarray(candidates, device=operator.device)
    if wide:
        # With K = I + Z_S Z_S'/mu = (I - EE')^(-1) and A = Z_S'Z_S + mu I:
        # (A^-1)_ii = (mu - z_i'K^(-1)z_i)/mu^2,  W = Z_S'R/mu,  Z_S A^(-1) = K^(-1)Z_S/mu.
        pivot = np.sqrt(np.maximum(2.0 * mu - r[support], 1e-300)) / mu  # r_i = mu + z_i'K^(-1)z_i
        W = C[support] / mu
        products = to_numpy(operator.columns_rmatmul(chosen, Z))
        V = (products - along[candidates] @ along[support].T) / mu
    else:
        inverse = xp.linalg.solve(root.T, xp.linalg.solve(root, eye))
        pivot = np.sqrt(to_numpy(xp.linalg.diagonal(inverse)))
        W = to_numpy(inverse @ (Z.T @ problem.target))
        V = to_numpy(operator.columns_rmatmul(chosen, Z @ inverse))
    B, V = W / pivot[:, None], V / pivot[None, :]
    b = np.einsum("it,it->i", B, B)
    c = C[candidates]
    gained = np.einsum("jt,jt->j", c, c)[:, None] + V * (2.0 * (c @ B.T) + V * b[None, :])
    change = 0.5 * b[None, :] - gained / (2.0 * (r[candidates][:, None] + V * V))
    return Exchanges(support, candidates, change.T)


def disjoint_pairs(change: np.ndarray, *, n_pairs: int = 64) -> list[tuple[int, int]]:
    """Return pairs (member, candidate) that lower the loss, the best first, none in two pairs."""
    best = change.min(axis=1) if change.size else np.zeros(0)
    pairs: list[tuple[int, int]] = []
    taken: set[int] = set()
    for i in np.argsort(best, kind="stable")[:n_pairs]:
        j = int(change[i].argmin())
        if change[i, j] < 0.0 and j not in taken:
            pairs.append((int(i), j))
            taken.add(j)
    return pairs


@dataclass(frozen=True)
class ExchangeState:
    """A support of k features and its objective."""

    support: np.ndarray
    value: float
    stable: bool = False


class ExchangeSearch:
    """Solver of :class:`RowSparseRegression` with a fixed number of features, by exchanges.

    The best exchange is made while it lowers the objective, or several at once where they lower it
    more; there are finitely many supports, so the search ends.
    """

    def __init__(
        self,
        *,
        start: np.ndarray,
        n_candidates: int = N_CANDIDATES,
        progress: float = PROGRESS,
    ) -> None:
        self.start, self.n_candidates, self.progress = start, n_candidates, progress

    def init(self, problem: RowSparseRegression) -> ExchangeState:
        """Return the state of the first support."""
        return self._at(problem, np.asarray(self.start, dtype=np.intp))

    def step(self, problem: RowSparseRegression, state: ExchangeState) -> ExchangeState:
        """Make the best exchange there is."""
        stable = ExchangeState(state.support, state.value, stable=True)
        if len(state.support) == 0:
            return stable
        priced = exchanges(problem, state.support, n_candidates=self.n_candidates)
        pairs = disjoint_pairs(priced.change)
        # Many at once are right for none of them: they must do better than the best one alone.
        while pairs:
            left, right = zip(*pairs, strict=True)
            moved = np.append(np.delete(state.support, left), priced.candidates[list(right)])
            tried = self._at(problem, moved)
            aim = state.value + (priced.change[pairs[0]] if len(pairs) > 1 else 0.0)
            if tried.value < aim - self._least(problem):
                return tried
            pairs = pairs[: len(pairs) // 2]
        return stable

    def objective(self, problem: RowSparseRegression, state: ExchangeState) -> float:
        """Return the objective at the support."""
        return state.value

    def terminate(
        self, problem: RowSparseRegression, state: ExchangeState, history: Sequence[float]
    ) -> Status | None:
        """End when no exchange improves."""
        return Status.STATIONARY if state.stable else None

    def _least(self, problem: RowSparseRegression) -> float:
        """Return what an exchange must gain."""
        return self.progress * 0.5 * float(problem.operator.xp.sum(problem.target**2))

    def _at(self, problem: RowSparseRegression, support: np.ndarray) -> ExchangeState:
        xp = problem.operator.xp
        value = problem.value(xp.asarray(support, device=problem.operator.device))
        return ExchangeState(support, value)
