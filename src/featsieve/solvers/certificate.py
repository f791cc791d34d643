"""How far a support can be from optimal: a lower bound on every support's objective.

For s in [0, 1]^d put T(s) = (I + Z diag(s) Z'/mu)^(-1) Y and h(s) = 1/2 <Y, T(s)>. On 0/1 vectors
h is the ridge loss of the support, and h is convex with dh/ds_j = -||z_j'T||^2/(2 mu). Its tangent
at ANY s therefore lies below it: minimising the tangent over all supports bounds the best one.
Columns that are bought together have one s; what is kept has s = 1, what is not for sale s = 0.

With more samples than columns nothing of size n is kept. By Woodbury's identity, with D = diag(s),

    Z'T = C - G D^(1/2) (mu I + D^(1/2) G D^(1/2))^(-1) D^(1/2) C,    G = Z'Z,  C = Z'Y,

and likewise for h, which needs ||Y||^2 besides.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from featsieve.arrays.namespace import to_numpy
from featsieve.solvers.offer import Offer
from featsieve.solvers.row_sparse import RowSparseRegression
from featsieve.terms.norms import row_norms

# So many times fewer live columns than all: only they are read.
FEW = 4

# s -> h(s) and its slopes dh/ds_j
Relaxation = Callable[[np.ndarray], tuple[float, np.ndarray]]


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
    """

    value: float
    lower_bound: float
    gap: float


def certify(
    problem: RowSparseRegression, support: np.ndarray, *, max_iter: int = 200
) -> Certificate:
    """Bound the optimum from below by the convex relaxation (needs a ridge).

    Projected gradient with backtracking minimises the relaxation, to make the bound tight; the best
    bound of all iterates is kept, so that every iterate is a valid certificate. An iteration solves
    a system of the smaller of n and d equations, and keeps one matrix of that size. A bound is as
    exact as the products with the table: it should be one of double precision.

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
    n, d = problem.operator.shape
    offer = problem.offer or Offer(np.arange(d), np.ones(d), np.zeros(0, dtype=np.intp))
    lam, k = problem.sparsity, problem.n_features
    if k is not None and offer.count(support) > k:
        raise ValueError(
            f"The support has {offer.count(support)} features, but the problem allows {k}."
        )
    of_columns = (column_relaxation if n > d else sample_relaxation)(problem)
    sold, unit = offer.for_sale, offer.unit[offer.for_sale]
    kept = np.isin(np.arange(offer.n_units), offer.kept)
    # of the limit: everything counts one, or has its price
    weight = offer.price if k is None else np.ones(offer.n_units)
    limit = offer.budget if k is None else float(k)
    cost = lam * offer.price

    def relaxation(s: np.ndarray) -> tuple[float, np.ndarray]:
        """Return h and its slopes for the units."""
        whole = np.zeros(d)
        whole[sold] = s[unit]
        h, slope = of_columns(whole)
        return h, np.bincount(unit, slope[sold], minlength=offer.n_units)

    s = np.isin(np.arange(offer.n_units), offer.unit[support]).astype(np.float64)
    h, slope = relaxation(s)
    value = h + float(cost @ s)  # on 0/1 vectors h is the loss itself

    def bound(s: np.ndarray, h: float, slope: np.ndarray) -> float:
        """Minimise the tangent: what lowers it most for its weight, the last one in part."""
        tangent, price = h - slope @ s, cost + slope
        free = np.flatnonzero(~kept & (price < 0.0))
        share = np.ones(len(free))
        if limit is not None:
            free = free[np.argsort(price[free] / weight[free], kind="stable")]
            before = weight[kept].sum() + np.cumsum(weight[free]) - weight[free]
            share = np.clip((limit - before) / weight[free], 0.0, 1.0)
        return float(tangent + price[kept].sum() + share @ price[free])

    def project(s: np.ndarray) -> np.ndarray:
        """Return the nearest point with 0 <= s <= 1, s = 1 where kept, and w's <= limit."""

        def at(tau: float) -> np.ndarray:
            return np.where(kept, 1.0, np.clip(s - tau * weight, 0.0, 1.0))

        if limit is None or at(0.0) @ weight <= limit:
            return at(0.0)
        low, high = 0.0, float((s / weight).max())  # tau with w's = limit
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if at(middle) @ weight > limit else (low, middle)
        return at(high)

    best = bound(s, h, slope)
    rounding = 1e-14 * value
    size = 1.0 / max(float(np.abs(slope).max()), 1e-300)
    for _ in range(max_iter):
        trial = project(s - size * (slope + cost))
        trial_h, trial_slope = relaxation(trial)
        move = trial - s
        if np.abs(move).max() < 1e-9:
            break
        model = h + slope @ move + (move @ move) / (2.0 * size)
        if trial_h > model + rounding:
            size *= 0.5
            continue
        s, h, slope = trial, trial_h, trial_slope
        size *= 1.5
        best = max(best, bound(s, h, slope))
    best = min(best, value)  # but for rounding it is
    gap = (value - best) / max(abs(value), 1e-300)
    return Certificate(value, best, gap)


def sample_relaxation(problem: RowSparseRegression) -> Relaxation:
    """Few samples: T(s) itself, from the n x n matrix I + Z diag(s) Z'/mu."""
    operator, xp = problem.operator, problem.operator.xp
    eye = xp.eye(operator.shape[0], dtype=xp.float64, device=operator.device)

    def at(s: np.ndarray) -> tuple[float, np.ndarray]:
        live = np.flatnonzero(s > 0.0)
        if FEW * len(live) <= len(s):
            root = operator.place(np.sqrt(s[live] / problem.ridge))
            Z = operator.columns(operator.place(live)) * root[None, :]
            K = Z @ Z.T
        else:
            K = operator.sample_gram(operator.place(s / problem.ridge))
        T = xp.linalg.solve(K + eye, problem.target)
        slope = to_numpy(row_norms(operator.rmatmul(T))) / (-2.0 * problem.ridge)
        return 0.5 * float(xp.sum(problem.target * T)), slope

    return at


def column_relaxation(problem: RowSparseRegression) -> Relaxation:
    """Few columns: everything from Z'Z, Z'Y and ||Y||^2, which are read off the table once."""
    operator, xp, ridge = problem.operator, problem.operator.xp, problem.ridge
    gram, moments, energy = operator.gram(), problem.correlation(), problem.energy()

    def at(s: np.ndarray) -> tuple[float, np.ndarray]:
        live = np.flatnonzero(s > 0.0)
        place, root = operator.place(live), operator.place(np.sqrt(s[live]))
        scaled = xp.take(gram, place, axis=1) * root[None, :]  # G D^(1/2)
        inner = xp.take(scaled, place, axis=0) * root[:, None]
        eye = xp.eye(len(live), dtype=xp.float64, device=operator.device)
        right = xp.take(moments, place, axis=0) * root[:, None]
        W = xp.linalg.solve(inner + ridge * eye, right)
        slope = to_numpy(row_norms(moments - scaled @ W)) / (-2.0 * ridge)
        return 0.5 * (energy - float(xp.sum(right * W))), slope

    return at
