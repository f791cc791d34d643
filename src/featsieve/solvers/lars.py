"""Lasso-LARS with a ridge term and a limit on the number of features, for several targets.

For every target y the path of

    min_a  ½||y - Za||² + ½ρ||a||² + C ||a||_1

from a = 0 (C = max |z_j'y|) downwards, to the first point where m coefficients are active and the
next one is about to enter. It is piecewise linear: with A the active features, s their signs,

    a_A moves along g = (Z_A'Z_A + ρI)^(-1) s,   and z_j'(y - Za) - ρa_j = s_j C   stays true on A,

until a coefficient crosses zero and leaves, or a feature outside meets the level C and enters:
with v = Z'Z_A g the correlations c_j = z_j'(y - Za) change to c_j - γv_j and C to C - γ, so that
the next one to enter is that of the least

    γ = (C - c_j)/(1 - v_j)   or   (C + c_j)/(1 + v_j).

All targets advance together: one product with the table serves a step of every path.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.utils import gen_batches

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import to_numpy
from featsieve.solvers.inverse_factor import InverseFactor

# A path ends when its level is this share of ||y|| max ||z_j||: the target is explained.
EXHAUSTED = 1e-12
# A step shorter than this share of the level is none: the features that enter then tie.
NO_STEP = 1e-7
# Inverse steps that differ less than this (relatively) are ties: the lower index enters.
TIE = 1e-10
# A correlation this close (relatively) to the level has met it.
MET = 1e-14
# Steps per feature wanted, beside the ties, before a path is given up (a guard: none comes near).
MOST_STEPS = 20
# The direction is computed afresh every so many steps; between them it is corrected.
AFRESH = 32
# Z'Z is formed for tall tables of up to this many columns, if so many steps make it pay.
LARGEST_GRAM = 5000
COLUMNS_PER_STEP = 32
# Dense tables up to this many elements are centred, scaled and transposed once.
KEPT_ELEMENTS = 2**22

Direction = tuple[np.ndarray, np.ndarray]  # active features, and how their coefficients change


@dataclass(frozen=True)
class LarsPath:
    """Where the paths of all targets end."""

    weights: np.ndarray
    level: np.ndarray
    correlation: np.ndarray


def lasso_lars(
    operator: DataOperator,
    targets: np.ndarray,
    n_nonzero: int,
    *,
    ridge: float | np.ndarray = 0.0,  # one for all targets, or one each
    form: str = "auto",
) -> LarsPath:
    """Return the lasso regressions of all targets with ``n_nonzero`` coefficients each."""
    n, d = operator.shape
    limit = min(n_nonzero, int(np.count_nonzero(to_numpy(operator.varies))))
    if form == "auto":
        pays = d <= min(n, LARGEST_GRAM, COLUMNS_PER_STEP * limit)
        form = "gram" if pays else "sample"
    in_memory = isinstance(operator.inverse_scale, np.ndarray) and operator.n_stored == n * d
    kept = in_memory and n * d <= KEPT_ELEMENTS
    sample_form = KeptProducts if kept else TableProducts
    products = (GramProducts if form == "gram" else sample_form)(operator)
    # Of a correlation, and of the level, this is what rounding leaves.
    longest = float(operator.xp.max(operator.column_norms())) ** 0.5
    floor = EXHAUSTED * longest * np.sqrt(np.einsum("ij,ij->j", targets, targets))
    correlation = to_numpy(operator.rmatmul(operator.place(targets)))
    ridges = np.broadcast_to(ridge, targets.shape[1])
    paths = [
        Path(correlation[:, k], limit, ridge=ridges[k], floor=floor[k])
        for k in range(targets.shape[1])
    ]
    going = [path for path in paths if path.level > path.floor]
    while going:
        for path in going:
            path.append(products)
        images = products.images([(path.features, path.direction()) for path in going])
        going = [path for path, v in zip(going, images, strict=True) if path.advance(v)]
    weights = np.zeros((d, len(paths)))
    fitted = products.images([(path.features, path.coefficients) for path in paths])
    for k, path in enumerate(paths):
        weights[path.features, k] = path.corrected((correlation[:, k] - fitted[k])[path.features])
    live = operator.place(np.flatnonzero(weights.any(axis=1)))
    residual = operator.place(targets) - operator.matmul(operator.place(weights), live=live)
    level = np.array([path.level if path.level > path.floor else 0.0 for path in paths])
    return LarsPath(weights, level, to_numpy(operator.rmatmul(residual)))


class TableProducts:
    """Products with the table: one pass for all targets."""

    def __init__(self, operator: DataOperator) -> None:
        self.operator = operator

    def inner(self, features: np.ndarray, j: int) -> tuple[np.ndarray, float]:
        """Return z_i'z_j for some features i, and z_j'z_j."""
        operator = self.operator
        both = operator.place(np.append(features, j))
        found = to_numpy(operator.columns_rmatmul(both, operator.columns(both[-1:])))[:, 0]
        return found[:-1], float(found[-1])

    def images(self, directions: Sequence[Direction]) -> np.ndarray:
        """Return Z'Z_A g for every direction, as rows: Z'(ZG), with the weights as columns of G."""
        operator = self.operator
        G = np.zeros((operator.shape[1], len(directions)))
        for k, (active, g) in enumerate(directions):
            G[active, k] = g
        live = operator.place(np.flatnonzero(G.any(axis=1)))
        image = operator.matmul(operator.place(G), live=live)
        return np.ascontiguousarray(to_numpy(operator.rmatmul(image)).T)


class GramProducts(TableProducts):
    """Products from Z'Z, in double precision: the cost of a step does not depend on n."""

    def __init__(self, operator: DataOperator) -> None:
        if operator.dtype == operator.xp.float64:
            self.gram = to_numpy(operator.gram())
        else:
            blocks = (to_numpy(block.T @ block) for block in operator.row_blocks())
            self.gram = sum(blocks, np.zeros(()))

    def inner(self, features: np.ndarray, j: int) -> tuple[np.ndarray, float]:
        """Return entries of Z'Z."""
        return self.gram[j, features], float(self.gram[j, j])

    def images(self, directions: Sequence[Direction]) -> np.ndarray:
        """Return combinations of rows of Z'Z."""
        return np.stack([g @ self.gram[active] for active, g in directions])


class KeptProducts(TableProducts):
    """Products of the columns of a small table, which are kept as rows."""

    def __init__(self, operator: DataOperator) -> None:
        n, d = operator.shape
        self.columns = np.empty((d, n))
        for inside in gen_batches(n, max(1, operator.cache_elements // max(d, 1))):
            self.columns[:, inside] = operator.rows(inside.start, inside.stop).T

    def inner(self, features: np.ndarray, j: int) -> tuple[np.ndarray, float]:
        """Return inner products of columns of Z."""
        z = self.columns[j]
        return self.columns[features] @ z, float(z @ z)

    def images(self, directions: Sequence[Direction]) -> np.ndarray:
        """Return Z'(ZG)."""
        image = np.stack([g @ self.columns[active] for active, g in directions])
        return image @ self.columns.T


class Path:
    """The path of one target."""

    def __init__(self, correlation: np.ndarray, limit: int, *, ridge: float, floor: float) -> None:
        self.limit, self.ridge, self.floor = limit, ridge, floor
        self.correlation = correlation.copy()  # of the candidates; 0 for other features
        self.candidate = np.ones_like(correlation)
        size = np.abs(correlation)
        self.level = float(size.max())
        self.entering = int((size >= self.level * (1.0 - TIE)).argmax())
        self.steps_left = MOST_STEPS * limit + len(correlation)
        # Of the active features, in slots:
        self.factor = InverseFactor(limit)
        self.feature = np.zeros(limit, dtype=np.intp)
        self.sign = np.zeros(limit)
        self.a = np.zeros(limit)
        self.g: np.ndarray | None = None  # their direction, where it is known

    @property
    def size(self) -> int:
        """The number of active features."""
        return self.factor.size

    @property
    def features(self) -> np.ndarray:
        """The active features."""
        return self.feature[: self.size]

    @property
    def coefficients(self) -> np.ndarray:
        """Their coefficients."""
        return self.a[: self.size]

    def append(self, products: TableProducts) -> None:
        """Make the entering feature active, if there is a place and it is no combination of others.

        There is none left for features that tie for the last one: those of lower index have it.
        """
        self.steps_left -= 1
        j, slot = self.entering, self.size
        if j < 0:
            return
        sign = np.sign(self.correlation[j])
        self.candidate[j] = self.correlation[j] = 0.0
        if slot == self.limit:
            return
        cross, square = products.inner(self.features, j)
        if not self.factor.append(cross, square + self.ridge):
            return
        self.feature[slot] = j
        self.sign[slot] = sign
        if self.g is not None:
            # K^(-1)s with one more feature: M has one more row m, and M'M grows by mm'.
            m = self.factor.M[slot]
            m_s = float(m @ self.sign[: slot + 1])
            self.g = np.append(self.g, 0.0) + m_s * m

    def direction(self) -> np.ndarray:
        """Return the direction of the coefficients."""
        if self.g is None or self.steps_left % AFRESH == 0:
            self.g = self.factor.solve(self.sign[: self.size])
        return self.g

    def advance(self, v: np.ndarray) -> bool:
        """Go to the next event; return whether the path goes on from there."""
        size, level, g = self.size, self.level, self.direction()
        a = self.coefficients
        longest, slot = level, -1
        crossing = np.flatnonzero(a * g < 0.0)
        if len(crossing):
            zero = -a[crossing] / g[crossing]
            first = int(zero.argmin())
            if zero[first] <= level:
                longest, slot = float(zero[first]), int(crossing[first])
        v = v * self.candidate
        gamma, self.entering = next_entry(self.correlation, v, level, longest)
        self.correlation -= gamma * v
        a += gamma * g
        self.level = level - gamma
        dropped = self.entering < 0 and slot >= 0
        if dropped:
            self._drop(slot)
        if self.level <= self.floor or self.steps_left == 0:
            return False
        wanting = size < self.limit or gamma <= NO_STEP * level
        return dropped or (self.entering >= 0 and wanting)

    def _drop(self, slot: int) -> None:
        """Take a feature whose coefficient has become zero out of the active set."""
        j = self.feature[slot]
        self.candidate[j] = 1.0
        self.correlation[j] = self.sign[slot] * self.level
        self.factor.remove(slot)
        self.g = None
        last = self.size
        for slots in (self.feature, self.sign, self.a):
            slots[slot] = slots[last]
        self.a[last] = 0.0

    def corrected(self, correlation: np.ndarray) -> np.ndarray:
        """Return the coefficients without what rounding has gathered.

        One Newton step on c_j - ρa_j = s_j C, given the correlations c of the active features.
        """
        a, s = self.coefficients, self.sign[: self.size]
        return a + self.factor.solve(correlation - self.ridge * a - s * self.level)


def next_entry(c: np.ndarray, v: np.ndarray, level: float, longest: float) -> tuple[float, int]:
    """Return the step to the first entry and its position; (longest, -1) if that comes first.

    Features with c = v = 0 never enter.
    """
    # Compared are the inverse steps: one that is negative (moving away) never wins.
    nearest = MET * level
    above, below = np.maximum(level - c, nearest), np.maximum(level + c, nearest)
    up, down = (1.0 - v) / above, (1.0 + v) / below
    rate = np.maximum(up, down)
    position = int((rate >= rate.max() * (1.0 - TIE)).argmax())
    gamma = 1.0 / float(rate[position])
    if gamma >= longest * (1.0 - MET):
        return longest, -1
    gap = below[position] if down[position] > up[position] else above[position]
    return gamma if gap > nearest else 0.0, position
