"""Which feature enters a LARS path next: all features watched, or only the few that can be next.

Along a step the correlations c_j = z_j'(y - Za) of the features outside the active set change to
c_j - γv_j, and the level C of the active ones falls to C - γ. The next feature is the first to
meet it,

    γ = min_j (C - c_j)/(1 - v_j), (C + c_j)/(1 + v_j).

:class:`GramCandidates` watches all features, with v from the rows of Z'Z. :class:`PoolCandidates`
watches a pool of those closest to entering. It knows the correlations of all features with two
orthogonal residuals of the past, p and p'. With r = βp + β'p' + e, a feature outside the pool has

    |c_j| ≤ |βz_j'p + β'z_j'p'| + ||z_j|| ||e||.

While that is below C nothing was missed (|c_j| - C is convex along a step); when it is not, the
table is read once more.
"""

from typing import Protocol

import numpy as np

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import to_numpy

# Inverse steps that differ less than this (relatively) are ties: the lower index enters.
TIE = 1e-10
# A correlation this close (relatively) to the level has met it.
MET = 1e-14
# Features outside the pool may exceed the level by what rounding explains.
ROUNDING = 1e-10
# The pool holds, beside the active features, this share of all, but at most so many elements
# (32 MiB) and at least so many features.
SHARE = 0.06
POOL_ELEMENTS = 2**22
FEWEST = 128
# It is filled again when a correlation outside it exceeds this share of the level.
CLOSE = 0.8
# Tables up to this many elements are centred, scaled and transposed once.
KEEP_ELEMENTS = 2**22
# What a feature can be; barred are those that depend on the active ones, or come too late.
CANDIDATE, ACTIVE, BARRED = 0, 1, 2

TINY, HUGE = float(np.finfo(np.float64).tiny), 1e300


class Candidates(Protocol):
    """What a path asks of the table and its target y."""

    width: int  # length of a feature's row: what the path stores of every active feature
    first: tuple[float, int]  # the level C at the start, and the feature that has it

    def take(self, feature: int) -> tuple[float, np.ndarray]:
        """Take a feature out of the candidates; return its correlation and its row."""

    def bar(self, feature: int) -> None:
        """Forget a feature that was taken, but cannot be used."""

    def release(self, feature: int, correlation: float) -> None:
        """Put a feature back."""

    def products(self, rows: np.ndarray, feature: int, row: np.ndarray) -> tuple[np.ndarray, float]:
        """Return z_i'z_j for every row i of the active features, and z_j'z_j."""

    def correlations(self, features: np.ndarray, rows: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return z_j'(y - Za) of the active features, computed afresh."""

    def image(self, g: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the combination of the rows of the active features with weights g."""

    def step(self, image: np.ndarray, level: float, longest: float) -> tuple[float, int]:
        """Go to the next event; return the step, and who enters (-1 if ``longest`` is reached).

        ``image`` is that of the direction.
        """


def largest(correlation: np.ndarray) -> tuple[float, int]:
    """Return the largest |c| and its position: ties by the lower index."""
    size = np.abs(correlation)
    top = float(size.max())
    return top, int((size >= top * (1.0 - TIE)).argmax())


def first_largest(size: np.ndarray, count: int) -> np.ndarray:
    """Return the sorted positions of the largest values: of those that tie, the first."""
    last = float(np.partition(size, len(size) - count)[len(size) - count])
    sure = size > last + TIE * abs(last)
    tied = np.flatnonzero((size >= last - TIE * abs(last)) & ~sure)
    sure[tied[: count - int(np.count_nonzero(sure))]] = True
    return np.flatnonzero(sure)


def both_signs(c: np.ndarray) -> np.ndarray:
    """Return the rows c and -c."""
    return np.stack([c, -c])


def next_entry(c: np.ndarray, v: np.ndarray, level: float, longest: float) -> tuple[float, int]:
    """Return the step to the first entry and its position; (longest, -1) if that comes first.

    ``c`` and ``v`` have a row for either sign. Features with c = v = 0 never enter.
    """
    # Compared are the inverse steps: one that is negative (moving away) never wins.
    nearest = MET * level
    gap = level - c
    np.maximum(gap, nearest, out=gap)
    rate = 1.0 - v
    rate /= gap
    first = rate >= rate.max() * (1.0 - TIE)
    position = int((first[0] | first[1]).argmax())
    sign = int(rate[1, position] > rate[0, position])
    gamma = 1.0 / float(rate[sign, position])
    if gamma >= longest * (1.0 - MET):
        return longest, -1
    return gamma if gap[sign, position] > nearest else 0.0, position


class GramCandidates:
    """Watch all features, with products from Z'Z: the cost of a step does not depend on n."""

    def __init__(self, gram: np.ndarray, right: np.ndarray) -> None:
        self.gram = gram
        self.right = right
        self.width = len(right)
        self.alive = np.ones_like(right)
        self.correlation = both_signs(right)
        self.change = np.empty_like(self.correlation)
        self.first = largest(right)

    def take(self, feature: int) -> tuple[float, np.ndarray]:
        """Take a feature out of the candidates; its row is that of Z'Z."""
        correlation = float(self.correlation[0, feature])
        self.alive[feature] = 0.0
        self.correlation[:, feature] = 0.0
        return correlation, self.gram[feature]

    def bar(self, feature: int) -> None:
        """Do nothing: a feature that was taken stays out."""

    def release(self, feature: int, correlation: float) -> None:
        """Put a feature back."""
        self.alive[feature] = 1.0
        self.correlation[:, feature] = correlation, -correlation

    def products(self, rows: np.ndarray, feature: int, row: np.ndarray) -> tuple[np.ndarray, float]:
        """Return entries of Z'Z."""
        return rows[:, feature], float(row[feature])

    def correlations(self, features: np.ndarray, rows: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return z_j'(y - Za) of the active features."""
        return self.right[features] - a @ rows[:, features]

    def image(self, g: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the combination of the rows of the active features with weights g."""
        return g @ rows

    def step(self, image: np.ndarray, level: float, longest: float) -> tuple[float, int]:
        """Go to the next event."""
        v = self.change
        np.multiply(image, self.alive, out=v[0])
        np.negative(v[0], out=v[1])
        gamma, entering = next_entry(self.correlation, v, level, longest)
        v *= gamma
        self.correlation -= v
        return gamma, entering


class Columns:
    """The columns of Z as rows of length n, and their products with a vector."""

    def __init__(self, operator: DataOperator) -> None:
        self.operator = operator
        self.norms = np.sqrt(to_numpy(operator.column_norms()))
        n, d = operator.shape
        self.table: np.ndarray | None = None
        in_numpy = isinstance(operator.inverse_scale, np.ndarray)  # others stay where they are
        if in_numpy and n * d <= KEEP_ELEMENTS and operator.n_stored == n * d:
            self.table = np.ascontiguousarray(to_numpy(operator.rows(0, n)).T)

    def take(self, features: np.ndarray) -> np.ndarray:
        """Return z_j' of some features."""
        if self.table is not None:
            return self.table[features]
        operator = self.operator
        indices = operator.xp.asarray(features, device=operator.device)
        return np.ascontiguousarray(to_numpy(operator.columns(indices)).T)

    def products(self, vector: np.ndarray) -> np.ndarray:
        """Return Z'r."""
        if self.table is not None:
            return self.table @ vector
        operator = self.operator
        right = operator.xp.asarray(vector[:, None], device=operator.device)
        return np.ascontiguousarray(to_numpy(operator.rmatmul(right))[:, 0])


class PoolCandidates:
    """Watch the features closest to entering; read the table when others could be first."""

    def __init__(self, columns: Columns, y: np.ndarray) -> None:
        d = len(columns.norms)
        self.columns = columns
        self.width = len(y)
        self.y = self.residual = y
        self.role = np.full(d, CANDIDATE, dtype=np.int8)
        self.n_candidates = max(FEWEST, self._pool_size(len(y)))
        self.place = np.zeros(d, dtype=np.intp)  # of a feature in the pool
        self.past = np.zeros((2, len(y)))
        self.known = np.zeros((2, d))  # correlations with the residuals of the past
        correlation = columns.products(y)
        self.first = largest(correlation)
        self._fill(correlation, self.first[1])

    def _pool_size(self, n_samples: int) -> int:
        """Return how many candidates to watch."""
        return min(int(SHARE * len(self.role)), POOL_ELEMENTS // n_samples)

    def _load(self, pool: np.ndarray) -> None:
        """Prepare for products with the features of the pool."""
        self.table = self.columns.take(pool)

    def _pool_products(self, vector: np.ndarray) -> np.ndarray:
        """Return z_j'r of the features of the pool."""
        return self.table @ vector

    def _row(self, feature: int) -> np.ndarray:
        """Return what the path stores of an active feature."""
        return self.table[self.place[feature]]

    def take(self, feature: int) -> tuple[float, np.ndarray]:
        """Take a feature, which is in the pool, out of the candidates; its row is z_j'."""
        self.role[feature] = ACTIVE
        place = self.place[feature]
        correlation = float(self.correlation[0, place])
        self.alive[place] = 0.0
        self.correlation[:, place] = 0.0
        return correlation, self._row(feature)

    def bar(self, feature: int) -> None:
        """Forget a feature that was taken."""
        self.role[feature] = BARRED

    def release(self, feature: int, correlation: float) -> None:
        """Put a feature back; the pool holds all active ones."""
        self.role[feature] = CANDIDATE
        place = self.place[feature]
        self.alive[place] = 1.0
        self.correlation[:, place] = correlation, -correlation

    def products(self, rows: np.ndarray, feature: int, row: np.ndarray) -> tuple[np.ndarray, float]:
        """Return inner products of columns of Z."""
        return rows @ row, float(row @ row)

    def correlations(self, features: np.ndarray, rows: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return z_j'(y - Za) of the active features."""
        return rows @ (self.y - a @ rows)

    def image(self, g: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return the combination of the rows of the active features with weights g."""
        return g @ rows

    def step(self, image: np.ndarray, level: float, longest: float) -> tuple[float, int]:
        """Go to the next event: of the pool if nothing outside can be earlier, else of all."""
        v = self.change
        np.multiply(self._pool_products(image), self.alive, out=v[0])
        np.negative(v[0], out=v[1])
        gamma, position = next_entry(self.correlation, v, level, longest)
        entering = int(self.pool[position]) if position >= 0 else -1
        start = self.residual
        self.residual = start - gamma * image
        v *= gamma
        self.correlation -= v
        if self._covers(self.residual, level - gamma):
            return gamma, entering
        found = self.columns.products(self.residual)
        top = float(np.max(np.abs(found) * self.outside))
        if top <= CLOSE * (level - gamma):
            self._remember(found)
            return gamma, entering
        if top > level - gamma + ROUNDING * level:  # somebody outside was earlier
            before, change = self.columns.products(start), self.columns.products(image)
            free = self.role == CANDIDATE
            gamma, entering = next_entry(
                both_signs(before * free), both_signs(change * free), level, longest
            )
            self.residual = start - gamma * image
            found = before - gamma * change
        self._fill(found, entering)
        return gamma, entering

    def _covers(self, residual: np.ndarray, level: float) -> bool:
        """Say whether no feature outside the pool can have passed the level."""
        share = (self.past @ residual) / self.energy
        rest = residual - share @ self.past
        distance = float(rest @ rest) ** 0.5
        if abs(share) @ self.largest_known + self.largest_norm * distance <= level:
            return True
        bound = np.abs(share @ self.known)
        bound += distance * self.columns.norms
        bound *= self.outside
        return bool(bound.max() <= level)

    def _fill(self, correlation: np.ndarray, entering: int) -> None:
        """Fill the pool with the features that have the largest correlations with the residual."""
        size = np.abs(correlation)
        active = self.role == ACTIVE
        size[active] = HUGE  # they may drop out, and be candidates again
        size[self.role == BARRED] = -1.0
        if entering >= 0:
            size[entering] = HUGE
        n_pool = min(len(size), self.n_candidates + int(np.count_nonzero(active)))
        pool = first_largest(size, n_pool)
        self.pool = pool
        self.place[pool] = np.arange(len(pool))
        self._load(pool)
        self.alive = (self.role[pool] == CANDIDATE).astype(np.float64)
        self.correlation = both_signs(self._pool_products(self.residual) * self.alive)
        self.change = np.empty_like(self.correlation)
        self.outside = (size >= 0.0).astype(np.float64)
        self.outside[pool] = 0.0
        self.largest_norm = float(np.max(self.columns.norms * self.outside))
        self._remember(correlation)

    def _remember(self, correlation: np.ndarray) -> None:
        """Make the residual the first of the past, and the first the second."""
        residual, past, known = self.residual, self.past, self.known
        energy = max(float(residual @ residual), TINY)
        share = float(past[0] @ residual) / energy
        past[1] = past[0] - share * residual
        past[0] = residual
        known[1] = known[0] - share * correlation
        known[0] = correlation
        self.energy = np.array([energy, max(float(past[1] @ past[1]), TINY)])
        self.largest_known = np.array([np.max(np.abs(c) * self.outside) for c in known])
