"""How far a support can be from optimal: a lower bound on every support's objective.

For s in [0, 1]^d put T(s) = (I + Z diag(s) Z'/mu)^(-1) Y and h(s) = 1/2 <Y, T(s)>. On 0/1 vectors
h is the ridge loss of the support, and h is convex with dh/ds_j = -||z_j'T||^2/(2 mu). Its tangent
at ANY s therefore lies below it: minimising the tangent over all supports bounds the best one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.solvers.row_sparse import RowSparseRegression
from featsieve.terms.row_sparsity import row_norms

# Tables up to this many elements (128 MiB of float64) are centred and scaled once.
KEEP_ELEMENTS = 2**24


@dataclass(frozen=True)
class Certificate:
    """A proven interval for the best objective.

    Attributes
    ----------
    value : float
        Objective of the support that was certified (an upper bound of the optimum).
    lower_bound : float
        No support has a smaller objective.
    gap : float
        (value - lower_bound) / value.
    excluded, included : int arrays
        Features that no better support contains, and those that every better support contains.
    """

    value: float
    lower_bound: float
    gap: float
    excluded: np.ndarray
    included: np.ndarray


def certify(
    problem: RowSparseRegression, support: np.ndarray, *, max_iter: int = 200
) -> Certificate:
    """Bound the optimum from below by the convex relaxation (needs a ridge; n x n or smaller work).

    Projected gradient with backtracking minimises the relaxation, to make the bound tight; the best
    bound of all iterates is kept, so that every iterate is a valid certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve.arrays import as_operator
    >>> from featsieve.solvers import ForwardSelection, RowSparseRegression, certify, run
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((40, 12))
    >>> Y = X[:, :2] - X[:, :2].mean(axis=0)
    >>> problem = RowSparseRegression(as_operator(X), Y, ridge=1.0, sparsity=0.5)
    >>> path = run(ForwardSelection(), problem, max_iter=12).state
    >>> certificate = certify(problem, np.asarray(path.order))
    >>> bool(certificate.lower_bound <= certificate.value)
    True
    """
    if problem.ridge <= 0.0:
        raise ValueError("A certificate needs ridge > 0: without it the relaxation is unbounded.")
    if problem.n_features is not None and len(support) > problem.n_features:
        raise ValueError(
            f"The support has {len(support)} features, but the problem allows {problem.n_features}."
        )
    operator = problem.operator
    xp = operator.xp
    value = problem.value(operator.place(np.asarray(support, dtype=np.intp)))
    table = _Columns(operator)
    lam, k = problem.sparsity, problem.n_features

    def relaxation(s: np.ndarray) -> tuple[float, np.ndarray]:
        K = xp.eye(operator.shape[0], dtype=xp.float64, device=operator.device)
        for live, Z in table.blocks(np.flatnonzero(s > 0.0)):
            K = K + (Z * operator.place(s[live] / problem.ridge)[None, :]) @ Z.T
        T = xp.linalg.solve(K, problem.target)
        slope = np.empty(len(s))
        for columns, Z in table.blocks(np.arange(len(s))):
            slope[columns] = to_numpy(row_norms(Z.T @ T)) / (-2.0 * problem.ridge)
        return 0.5 * float(xp.sum(problem.target * T)), slope

    def bound(s: np.ndarray, h: float, slope: np.ndarray) -> float:
        tangent = h - slope @ s
        price = lam + slope
        if k is None:
            return tangent + float(np.minimum(price, 0.0).sum())
        cheapest = np.sort(price)[:k]
        return tangent + float(np.minimum(cheapest, 0.0).sum())

    def project(s: np.ndarray) -> np.ndarray:
        s = np.clip(s, 0.0, 1.0)
        if k is None or s.sum() <= k:
            return s
        low, high = 0.0, float(s.max())  # shift tau with sum clip(s - tau, 0, 1) = k
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if np.clip(s - middle, 0, 1).sum() > k else (low, middle)
        return np.clip(s - high, 0.0, 1.0)

    s = np.zeros(operator.shape[1])
    s[np.asarray(support, dtype=np.intp)] = 1.0
    h, slope = relaxation(s)
    best, price = bound(s, h, slope), lam + slope
    size = 1.0 / max(float(np.abs(slope).max()), 1e-300)
    for _ in range(max_iter):
        trial = project(s - size * (slope + lam))
        trial_h, trial_slope = relaxation(trial)
        move = trial - s
        if np.abs(move).max() < 1e-9:
            break
        model = h + slope @ move + (move @ move) / (2.0 * size)
        if trial_h > model + 1e-14:
            size *= 0.5
            continue
        s, h, slope = trial, trial_h, trial_slope
        size *= 1.5
        lower = bound(s, h, slope)
        if lower > best:
            best, price = lower, lam + slope
    # Moving one feature against the sign of its price costs |price|: beyond the value, it is fixed.
    certain = best + np.abs(price) > value
    fixed_out = np.flatnonzero(certain & (price > 0.0)) if k is None else np.zeros(0, dtype=np.intp)
    fixed_in = np.flatnonzero(certain & (price < 0.0)) if k is None else np.zeros(0, dtype=np.intp)
    gap = (value - best) / max(abs(value), 1e-300)
    return Certificate(value, best, gap, fixed_out, fixed_in)


class _Columns:
    """Columns of Z in double precision, where the table lives: kept, if the table is small."""

    def __init__(self, operator: DataOperator) -> None:
        n, d = operator.shape
        self.operator = operator
        every = operator.place(np.arange(d))
        self.all = operator.columns(every) if n * d <= KEEP_ELEMENTS else None
        self.step = max(1, operator.block_elements // n)

    def blocks(self, indices: np.ndarray) -> Iterator[tuple[np.ndarray, Array]]:
        """Yield (indices, Z[:, indices]) for some of them at a time."""
        operator = self.operator
        if self.all is not None and len(indices) == operator.shape[1]:
            yield indices, self.all
            return
        for start in range(0, len(indices), self.step):
            some = indices[start : start + self.step]
            place = operator.place(some)
            if self.all is None:
                yield some, operator.columns(place)
            else:
                yield some, operator.xp.take(self.all, place, axis=1)
