"""Exchanges of single features with exact gains, for row-sparse ridge regression.

For a support S: A = Z_S'Z_S + mu I, W_S = A^(-1) Z_S'Y, R = Y - Z_S W_S, C = Z'R and
r_j = ||z_j||^2 + mu - z_j'Z_S A^(-1) Z_S'z_j. Then, exactly,

    adding j         lowers the loss by  ||c_j||^2 / (2 r_j),
    exchanging i, j  changes it by       b_i/2 - (||c_j||^2 + 2 v_ji <c_j, B_i> + v_ji^2 b_i)
                                               / (2 (r_j + v_ji^2)),

with B = diag(A^-1)^(-1/2) W_S, b_i = ||B_i||^2 and V = Z'Z_S A^(-1) diag(A^-1)^(-1/2). All of it
follows from the at most min(n, k) columns of E, E E' = Z_S A^(-1) Z_S'.
"""

import numpy as np

from featsieve import defaults
from featsieve.arrays.namespace import Array, stable_order, to_numpy
from featsieve.solvers.row_sparse import RowSparseRegression, SummedRegression, hat_factor

# A column that keeps less than this share of its length depends on the support.
DEPENDENT = 1e-8


def price_exchanges(
    problem: RowSparseRegression, support: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return m candidates, which would add most, and how each changes the loss (k x m).

    The change is that of putting the candidate in the place of the i-th member.
    """
    operator, mu = problem.operator, problem.ridge
    if isinstance(problem, SummedRegression):
        placed = operator.place(support)
        A = to_numpy(problem.gram(placed)) + mu * np.eye(len(support))
        inverse = np.linalg.inv(np.linalg.cholesky(A))
        root: Array | None = inverse
        fit = inverse @ to_numpy(problem.moments(placed))  # E'Y
        along = to_numpy(operator.gram())[:, support] @ inverse.T  # E'z_j
        C = to_numpy(problem.correlation()) - along @ fit  # c_j = z_j'R
    else:
        E, root = hat_factor(operator, support, mu)
        fit = E.T @ problem.target
        C = to_numpy(operator.rmatmul(problem.target - E @ fit))
        along = to_numpy(operator.rmatmul(E))
    length = to_numpy(operator.column_norms()) + mu
    r = length - np.einsum("ji,ji->j", along, along)
    free = to_numpy(operator.varies) & (r > DEPENDENT * length)
    free[support] = False
    add = np.einsum("jt,jt->j", C, C) / (2.0 * np.where(free, r, 1.0))
    promising = stable_order(np.where(free, add, -1.0))
    candidates = np.sort(promising[: min(defaults.EXCHANGE_CANDIDATES, int(free.sum()))])
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
        W = inverse.T @ to_numpy(fit)
        V = along[candidates] @ inverse
    B, V = W / pivot[:, None], V / pivot[None, :]
    b, c = np.einsum("it,it->i", B, B), C[candidates]
    gained = np.einsum("jt,jt->j", c, c)[:, None] + V * (2.0 * (c @ B.T) + V * b[None, :])
    left = r[candidates][:, None] + V * V  # length of a candidate given the other members
    change = 0.5 * b[None, :] - gained / (2.0 * np.maximum(left, 1e-300))
    change[left <= DEPENDENT * length[candidates][:, None]] = np.inf
    return candidates, change.T


def exchange(problem: RowSparseRegression, support: np.ndarray) -> np.ndarray:
    """Return where exchanges of members end, each of which lowers the objective.

    Only the most promising additions are priced against every member: a table of k x 512 instead of
    k x d. The best exchange is made, or several at once where they lower the objective more.
    """
    value, improved = problem.value(support), len(support) > 0
    least = defaults.LEAST_EXCHANGE * 0.5 * problem.energy()
    while improved:
        candidates, change = price_exchanges(problem, support)
        pairs, improved = disjoint_pairs(change), False
        while pairs and not improved:
            left, right = zip(*pairs, strict=True)
            moved = np.append(np.delete(support, left), candidates[list(right)])
            tried = problem.value(moved)
            # Many at once are right for none of them: they must do better than the best one alone.
            improved = tried < value + (change[pairs[0]] if len(pairs) > 1 else 0.0) - least
            if improved:
                support, value = moved, tried
            pairs = pairs[: len(pairs) // 2]
    return support


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
