"""Lasso-LARS with a ridge term and a limit on the number of features, for several targets.

For every target y the path of

    min_a  ½||y - Za||² + ½ρ||a||² + C ||a||_1

from a = 0 (C = max |z_j'y|) downwards, to the first point where m coefficients are active and the
next one is about to enter. It is piecewise linear: with A the active features, s their signs,

    a_A moves along g = (Z_A'Z_A + ρI)^(-1) s,   and z_j'(y - Za) - ρa_j = s_j C   stays true on A,

until a feature outside meets the level C and enters, or a coefficient crosses zero and leaves.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import to_numpy
from featsieve.solvers.inverse_factor import InverseFactor
from featsieve.solvers.lars_candidates import Candidates, Columns, GramCandidates, PoolCandidates
from featsieve.solvers.sparse_candidates import SparseCandidates, SparseColumns
from featsieve.validation import check_number, check_option

FORMS = ("auto", "gram", "sample")
# A path ends when its level is this share of ||y|| max ||z_j||: the target is explained.
EXHAUSTED = 1e-12
# A step shorter than this share of the level is none: the features that enter then tie.
NO_STEP = 1e-7
# Steps per feature wanted, beside the ties, before a path is given up (a guard: none comes near).
MOST_STEPS = 20
# The direction is computed afresh every so many steps; between them it is corrected.
AFRESH = 32
# Z'Z is formed for tall tables of up to this many columns, if so many steps make it pay.
LARGEST_GRAM = 5000
COLUMNS_PER_STEP = 32


@dataclass(frozen=True)
class LarsPath:
    """Where the paths of all targets end."""

    weights: np.ndarray
    level: np.ndarray
    correlation: np.ndarray
    nested: dict[int, np.ndarray]
    n_steps: int


def lasso_lars(
    operator: DataOperator,
    targets: np.ndarray,
    n_nonzero: int,
    *,
    ridge: float = 0.0,
    sizes: Sequence[int] = (),
    form: str = "auto",
) -> LarsPath:
    """Return the lasso regressions of all targets with ``n_nonzero`` coefficients each."""
    check_number("n_nonzero", n_nonzero, low=1, integer=True)
    check_number("ridge", ridge, low=0.0)
    check_option("form", form, FORMS)
    for size in sizes:
        check_number("sizes", size, low=1, integer=True)
    n, d = operator.shape
    K = targets.shape[1]
    limit = min(n_nonzero, int(np.count_nonzero(to_numpy(operator.varies))))
    wanted = sorted({min(size, limit) for size in sizes} | {limit})
    if form == "auto":
        pays = d <= min(n, LARGEST_GRAM, COLUMNS_PER_STEP * limit)
        form = "gram" if pays else "sample"
    xp = operator.xp
    candidates_of = (_gram_form if form == "gram" else _sample_form)(operator, targets)
    weights = {size: np.zeros((d, K)) for size in wanted}
    level = np.zeros(K)
    n_steps = 0
    # Of a correlation, and of the level, this is what rounding leaves.
    longest = float(xp.max(operator.column_norms())) ** 0.5
    floor = EXHAUSTED * longest * np.sqrt(np.einsum("ij,ij->j", targets, targets))
    for k in range(K):
        path = _Path(candidates_of(k), limit, ridge=ridge, floor=floor[k])
        for size, (features, a) in path.run(wanted, most=MOST_STEPS * limit + d).items():
            weights[size][features, k] = a
        level[k] = path.level if path.level > floor[k] else 0.0
        n_steps += path.n_steps
    live = xp.asarray(np.flatnonzero(weights[limit].any(axis=1)), device=operator.device)
    fitted = operator.matmul(xp.asarray(weights[limit], device=operator.device), live=live)
    residual = targets - to_numpy(fitted)
    correlation = to_numpy(operator.rmatmul(xp.asarray(residual, device=operator.device)))
    nested = {size: weights[min(size, limit)] for size in sizes}
    return LarsPath(weights[limit], level, correlation, nested, n_steps)


def _gram_form(operator: DataOperator, targets: np.ndarray) -> Callable[[int], Candidates]:
    """Return the candidates of target k by products from Z'Z, in double precision."""
    xp = operator.xp
    if operator.dtype == xp.float64:
        gram = to_numpy(operator.gram())
    else:
        gram = sum((to_numpy(block.T @ block) for block in operator.row_blocks()), np.zeros(()))
    right = to_numpy(operator.rmatmul(xp.asarray(targets, device=operator.device)))
    return lambda k: GramCandidates(gram, np.ascontiguousarray(right[:, k]))


def _sample_form(operator: DataOperator, targets: np.ndarray) -> Callable[[int], Candidates]:
    """Return the candidates of target k by products with the table."""
    if operator.sparse is not None:
        stored = SparseColumns(operator.sparse)
        return lambda k: SparseCandidates(stored, np.ascontiguousarray(targets[:, k]))
    columns = Columns(operator)
    return lambda k: PoolCandidates(columns, np.ascontiguousarray(targets[:, k]))


class _Path:
    """The path of one target."""

    def __init__(self, candidates: Candidates, limit: int, *, ridge: float, floor: float) -> None:
        self.candidates = candidates
        self.limit = limit
        self.ridge = ridge
        self.floor = floor
        self.level, self.entering = candidates.first
        self.n_steps = 0
        # Of the active features, in slots:
        self.factor = InverseFactor(limit)
        self.feature = np.zeros(limit, dtype=np.intp)
        self.sign = np.zeros(limit)
        self.a = np.zeros(limit)
        self.rows = np.zeros((limit, candidates.width))
        self.direction: np.ndarray | None = None  # g, where it is known

    def run(self, wanted: list[int], *, most: int) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """Return features and coefficients where each of the wanted numbers is first active."""
        points: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        ended, knot = self.level <= self.floor, False
        while len(points) < len(wanted):
            if not ended:
                self.n_steps += 1
                self._append()
                ended, knot = self._advance()
                ended = ended or self.level <= self.floor or self.n_steps >= most
            for size in wanted[len(points) :]:
                if ended or (knot and self.factor.size >= size):
                    points[size] = self._point()
        return points

    def _append(self) -> None:
        """Make the entering feature active, if there is a place and it is no combination of others.

        There is none left for features that tie for the last one: those of lower index have it.
        """
        feature, slot = self.entering, self.factor.size
        if feature < 0:
            return
        correlation, row = self.candidates.take(feature)
        cross, square = self.candidates.products(self.rows[:slot], feature, row)
        if slot == self.limit or not self.factor.append(cross, square + self.ridge):
            self.candidates.bar(feature)
            return
        self.feature[slot] = feature
        self.sign[slot] = np.sign(correlation)
        self.rows[slot] = row
        if self.direction is not None:
            # K^(-1)s with one more feature: M has one more row m, and M'M grows by mm'.
            m = self.factor.M[slot]
            m_s = float(m @ self.sign[: slot + 1])
            self.direction = np.append(self.direction, 0.0) + m_s * m

    def _advance(self) -> tuple[bool, bool]:
        """Go to the next event; return whether the path has ended, and whether this is a knot."""
        size, level = self.factor.size, self.level
        a = self.a[:size]
        if self.direction is None or self.n_steps % AFRESH == 0:
            self.direction = self.factor.solve(self.sign[:size])
        g = self.direction
        longest, slot = level, -1
        crossing = np.flatnonzero(a * g < 0.0)
        if len(crossing):
            zero = -a[crossing] / g[crossing]
            first = int(zero.argmin())
            if zero[first] <= level:
                longest, slot = float(zero[first]), int(crossing[first])
        image = self.candidates.image(g, self.rows[:size])
        gamma, self.entering = self.candidates.step(image, level, longest)
        a += gamma * g
        self.level = level - gamma
        if self.entering < 0 and slot >= 0:
            self._drop(slot)
            return False, False
        return self.entering < 0, gamma > NO_STEP * level

    def _drop(self, slot: int) -> None:
        """Take a feature whose coefficient has become zero out of the active set."""
        self.candidates.release(int(self.feature[slot]), self.sign[slot] * self.level)
        self.factor.remove(slot)
        self.direction = None
        last = self.factor.size
        for slots in (self.feature, self.sign, self.a, self.rows):
            slots[slot] = slots[last]
        self.a[last] = 0.0

    def _point(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the active features and their coefficients."""
        size = self.factor.size
        features, rows, a = self.feature[:size].copy(), self.rows[:size], self.a[:size]
        # One Newton step on z_j'(y - Za) - ρa_j = s_j C removes what rounding has gathered.
        found = self.candidates.correlations(features, rows, a)
        gap = found - self.ridge * a - self.sign[:size] * self.level
        return features, a + self.factor.solve(gap)
