"""Squared distances between samples, in blocks of rows, and the nearest neighbours: no n x n array.

The k smallest entries of every row of a block are found without sorting the rows. Columns are dealt
out to groups. The k-th smallest of the groups' minima bounds the k-th smallest entry from above, so
only the few groups below it hold candidates: one pass over the block takes the minima, and sorting
is left to a handful of entries per row.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property

import numpy as np

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import (
    Array,
    device_of,
    entries_of,
    hosted,
    in_double,
    like,
    namespace_of,
    pick_columns,
    row_squares,
    take_rows,
    to_numpy,
)
from featsieve.graphs.landmarks import smallest

# Elements of a block of the distance matrix that may exist at one time (8 MiB of float64), and of
# one on another device (512 MiB),
BLOCK_ELEMENTS = 2**20
DEVICE_ELEMENTS = 2**26
# but at least this many rows: a block reads all samples once.
FEWEST_ROWS = 64
# Single precision is of no use where it leaves more than this share of the samples in question.
MOST_CANDIDATES = 0.1
# Distances that differ by less than this, relative to the squared lengths they come from, tie.
ROUNDING = {"float32": 1e-5, "float64": 1e-12}
# Columns in a group, and the fewest groups for each neighbour that is sought.
GROUP = 12
GROUPS_PER_NEIGHBOUR = 16

# Rows (counted from the first of a block), columns and squared distances of pairs of samples.
Pairs = tuple[np.ndarray, np.ndarray, np.ndarray]


class Distances(ABC):
    """Squared distances between samples; ``rounding`` holds the error of those of every sample."""

    rounding: np.ndarray
    on_host = True  # whether the samples are

    @abstractmethod
    def __call__(self, start: int, stop: int) -> Array:
        """Return the distances of samples start..stop to all, as a new array beside the samples."""

    def candidates(self, start: int, stop: int, *, k: int) -> Pairs:
        """Return all pairs of samples start..stop and what may be among their k nearest others.

        Distances on a device stay there, and few come back.
        """
        block = self(start, stop)
        if self.on_host:
            forget_diagonal(block, start)
            minima, bound = upper_bounds(block, k)
            limit = bound + tie_width(bound, self.rounding[start:stop])
            rows, columns = entries_below(block, minima, limit)
            return rows, columns, block[rows, columns]
        xp, device, n = namespace_of(block), device_of(block), block.shape[1]
        own = xp.arange(start, stop, device=device)[:, None] == xp.arange(n, device=device)[None, :]
        block = xp.where(own, xp.full_like(block, xp.inf), block)
        last = smallest(block, k)[1][:, -1]
        limit = last + (like(self.rounding[start:stop], block) + ROUNDING["float64"] * last)
        rows, columns = xp.nonzero(block <= limit[:, None])
        squares = xp.take(xp.reshape(block, (-1,)), rows * n + columns)
        return to_numpy(rows), to_numpy(columns), to_numpy(squares)


def forget_diagonal(block: np.ndarray, start: int) -> None:
    """Let samples be far from themselves in a block that begins with sample ``start``."""
    own = np.arange(len(block))
    block[own, start + own] = np.inf


def tie_width(last: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Return by how much the distance of a sample may exceed the last neighbour's and still tie."""
    return error + ROUNDING["float64"] * np.maximum(last, 0.0)


class GivenDistances(Distances):
    """Between samples whose inner products P (n x n) are known."""

    def __init__(self, samples: Array, squares: np.ndarray | None = None) -> None:
        self.samples = hosted(samples)
        self.on_host = isinstance(self.samples, np.ndarray)
        self.squares = self._squares() if squares is None else squares  # always on the host
        self.rounding = ROUNDING["float64"] * self.squares
        self.unit = float(self.squares.max()) or 1.0

    def _squares(self) -> np.ndarray:
        return to_numpy(namespace_of(self.samples).linalg.diagonal(self.samples))

    def __call__(self, start: int, stop: int) -> Array:
        """Return the distances of samples start..stop to all samples."""
        squares = like(self.squares, self.samples)
        products = self.products(np.arange(start, stop))
        return _distances_of_products(products, squares[start:stop], squares)

    def products(self, rows: np.ndarray) -> Array:
        """Return the products of some samples with all, as a new array."""
        return take_rows(self.samples, rows)

    def among(self, rows: np.ndarray) -> "GivenDistances":
        """Return the distances between some of the samples."""
        return GivenDistances(pick_columns(self.products(rows), rows))

    def nearest(self, rows: np.ndarray) -> np.ndarray:
        """Return which of some samples (its place in ``rows``) is nearest to every sample."""
        squares, products = like(self.squares[rows], self.samples), self.products(rows)
        less_own = squares[:, None] - 2.0 * products
        found = np.array(to_numpy(namespace_of(products).argmin(less_own, axis=0)))
        found[rows] = np.arange(len(rows))  # of samples that coincide, each is its own
        return found


class PointDistances(GivenDistances):
    """Between the rows of an array: on the host looked at in single precision first."""

    def _squares(self) -> np.ndarray:
        if self.on_host:
            return np.einsum("ij,ij->i", self.samples, self.samples, dtype=np.float64)
        return to_numpy(row_squares(in_double(self.samples)))

    @cached_property
    def rough(self) -> np.ndarray:
        """The samples in columns, in single precision, above less half of their squared lengths.

        ||y||^2 - 2 x'y = (-2x, -2)'(y, -||y||^2/2): one product, quicker with samples in columns.
        """
        n, r = self.samples.shape
        rough = np.empty((r + 1, n), dtype=np.float32)
        np.multiply(self.samples.T, self.unit**-0.5, out=rough[:r], casting="same_kind")
        rough[r] = -0.5 * self.squares / self.unit
        return rough

    def products(self, rows: np.ndarray) -> Array:
        """Return the products of some samples with all."""
        points = in_double(self.samples)
        return take_rows(points, rows) @ points.T

    def candidates(self, start: int, stop: int, *, k: int) -> Pairs:
        """Return what single precision leaves in question, in double precision."""
        if not self.on_host:
            return super().candidates(start, stop, k=k)
        samples = self.rough[:, start:stop] * np.float32(-2.0)
        samples[-1] = -2.0
        block = samples.T @ self.rough  # the distances, less the sample's own squared length
        forget_diagonal(block, start)
        minima, bound = upper_bounds(block, k)
        own = self.squares[start:stop] / self.unit
        # Sums of rounded products of rounded numbers, all of size up to 2 |x| + 1.
        error = (len(samples) + 7) * float(np.finfo(np.float32).eps) * (2.0 * np.sqrt(own) + 1.0)
        bound = bound + own
        limit = bound + tie_width(bound, self.rounding[start:stop] / self.unit)
        limit = limit - own + 2.0 * error  # that of the entry, and of the bound
        if np.count_nonzero(minima <= limit[:, None]) > MOST_CANDIDATES * minima.size:
            return super().candidates(start, stop, k=k)
        rows, columns = entries_below(block, minima, limit)
        return rows, columns, self._of_pairs(start + rows, columns)

    def among(self, rows: np.ndarray) -> "PointDistances":
        """Return the distances between some of the samples."""
        return PointDistances(take_rows(self.samples, rows), self.squares[rows])

    def nearest(self, rows: np.ndarray) -> np.ndarray:
        """Return which of some samples (its place in ``rows``) is nearest to every sample."""
        if not self.on_host:
            return super().nearest(rows)
        n, chosen = len(self.squares), self.rough[:, rows] * np.float32(-2.0)  # lengths last
        others, nearest = np.setdiff1d(np.arange(n), rows), np.empty(n, dtype=np.intp)
        nearest[rows] = np.arange(len(rows))  # of samples that coincide, each is its own
        for start in range(0, len(others), step := max(FEWEST_ROWS, BLOCK_ELEMENTS // len(rows))):
            block = others[start : start + step]
            samples = self.rough[:, block]
            samples[-1] = 1.0
            nearest[block] = (samples.T @ chosen).argmin(axis=1)
        return nearest

    def _of_pairs(self, i: np.ndarray, j: np.ndarray) -> np.ndarray:
        """Return the distances of the samples i to the samples j, pair by pair."""
        found = np.empty(len(i))
        step = max(1, BLOCK_ELEMENTS // max(1, self.samples.shape[1]))
        for start in range(0, len(i), step):
            a, b = i[start : start + step], j[start : start + step]
            left, right = self.samples[a], self.samples[b]
            products = np.einsum("ij,ij->i", left, right, dtype=np.float64)
            found[start : start + step] = self.squares[a] + self.squares[b] - 2.0 * products
        return np.maximum(found, 0.0, out=found)


def hat_distances(E: Array) -> PointDistances:
    """Return the distances between samples in hat coordinates.

    D_ij = 2 - 2 cos(e_i, e_j), which is robust to outlying samples; in fewer dimensions than
    ``defaults.FEW_DIRECTIONS`` the angle alone forgets too much, and D_ij = ||e_i - e_j||^2.
    """
    found = PointDistances(E)
    if E.shape[1] < defaults.FEW_DIRECTIONS:
        return found
    E, squares = found.samples, found.squares
    length = like(np.sqrt(np.where(squares > 0.0, squares, 1.0)), E)
    length = namespace_of(E).astype(length, E.dtype, copy=False)
    return PointDistances(E / length[:, None], np.ones(len(squares)))


class EuclideanDistances(Distances):
    """Between the rows of an operator."""

    def __init__(self, operator: DataOperator) -> None:
        self.operator = operator.centred()  # or the origin costs digits
        self.squares = hosted(self.operator.row_norms())
        self.rounding = ROUNDING[self.operator.product_precision] * to_numpy(self.squares)
        self.on_host = operator.on_host

    def __call__(self, start: int, stop: int) -> Array:
        """Return the distances of samples start..stop to all samples."""
        products = hosted(self.operator.row_products(start, stop))
        return _distances_of_products(products, self.squares[start:stop], self.squares)


class SummedDistances(EuclideanDistances):
    """Distances that are added up as they are handed out, for their mean over all pairs."""

    total = 0.0

    def __call__(self, start: int, stop: int) -> Array:
        """Return the distances of samples start..stop to all samples."""
        block = super().__call__(start, stop)
        xp = namespace_of(block)
        diagonal = xp.linalg.diagonal(block, offset=start)
        self.total += float(xp.sum(xp.sqrt(block)) - xp.sum(xp.sqrt(diagonal)))
        return block

    @property
    def mean(self) -> float:
        """The mean distance of all pairs, the zero diagonal included; 1 where all coincide."""
        return self.total / len(self.rounding) ** 2 or 1.0


def block_rows(n: int, *, on_host: bool) -> int:
    """Return how many rows of an n x n matrix make a block, where it is."""
    return max(FEWEST_ROWS, (BLOCK_ELEMENTS if on_host else DEVICE_ELEMENTS) // n)


def entries_by_blocks(
    operator: DataOperator, block: Callable[[int, int], Array], pairs: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Return the entries (i, j) of the n x n matrix whose rows ``block(start, stop)`` returns."""
    i, j = pairs
    n = operator.shape[0]
    step = block_rows(n, on_host=operator.on_host)
    order = np.argsort(i, kind="stable")
    found = np.empty(len(i))
    for start in range(0, n, step):
        stop = min(start + step, n)
        low, high = np.searchsorted(i, (start, stop), sorter=order)
        here = order[low:high]
        found[here] = entries_of(block(start, stop), i[here] - start, j[here])
    return found


def _distances_of_products(products: Array, rows: Array, columns: Array) -> Array:
    """Return ||x||^2 + ||y||^2 - 2 x'y, not negative, in the place of the products x'y."""
    if isinstance(products, np.ndarray):
        products = np.require(products, np.float64, "W")
    products *= -2.0
    products += columns[None, :]
    products += rows[:, None]
    if isinstance(products, np.ndarray):
        return np.maximum(products, 0.0, out=products)
    return namespace_of(products).clip(products, min=0.0)


# Nearest neighbours -------------------------------------------------------------------------------


def nearest_neighbours(distances: Distances, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (indices, squared distances) of the nearest other samples, nearest first.

    Distances that differ by no more than rounding are equal, and the lower index comes first: in
    tables of counts or 0/1 entries most distances tie, and the memory order of the table must not
    decide between them.

    Parameters
    ----------
    distances : Distances
        Such as ``EuclideanDistances(operator)``.
    n_neighbors : int
        At most all other samples.
    """
    n = len(distances.rounding)
    k = min(n_neighbors, n - 1)
    indices, squares = np.empty((n, k), dtype=np.intp), np.empty((n, k))
    step = block_rows(n, on_host=distances.on_host)
    for start in range(0, n, step):
        stop = min(start + step, n)
        rows, columns, found = distances.candidates(start, stop, k=k)
        error = distances.rounding[start:stop]
        order = np.lexsort((found, rows))
        rows, columns, found = rows[order], columns[order], found[order]
        last = found[np.searchsorted(rows, np.arange(len(error))) + k - 1]
        equal = tie_width(last, error)
        kept = found <= (last + equal)[rows]
        indices[start:stop], squares[start:stop] = sorted_by_distance(
            rows[kept], columns[kept], found[kept], equal=equal, k=k
        )
    return indices, np.maximum(squares, 0.0)


def upper_bounds(block: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the minima of the groups of columns, and a bound of every row's k-th smallest entry.

    Column j belongs to group j mod n_groups: near columns, which are often alike, are in different
    groups.
    """
    n_rows, n = block.shape
    size = max(1, min(GROUP, n // (GROUPS_PER_NEIGHBOUR * k)))
    if size == 1:
        minima = block
    else:
        n_groups = n // size
        whole = size * n_groups
        minima = block[:, :whole].reshape(n_rows, size, n_groups).min(axis=1)
        rest = minima[:, : n - whole]  # fewer columns than groups
        np.minimum(rest, block[:, whole:], out=rest)
    return minima, np.partition(minima, k - 1, axis=1)[:, k - 1]


def entries_below(
    block: np.ndarray, minima: np.ndarray, limit: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return (rows, columns) of the entries up to each row's limit, given the groups' minima."""
    n = block.shape[1]
    n_groups = minima.shape[1]
    rows, groups = np.nonzero(minima <= limit[:, None])
    if n_groups == n:
        return rows, groups
    columns = groups[:, None] + np.arange(0, n, n_groups)
    inside = columns < n
    columns[~inside] = 0
    inside &= block[rows[:, None], columns] <= limit[rows, None]
    pair, member = np.nonzero(inside)
    return rows[pair], columns[pair, member]


def sorted_by_distance(
    rows: np.ndarray,
    columns: np.ndarray,
    squares: np.ndarray,
    *,
    equal: np.ndarray,
    k: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first k columns of every row and their squared distances, nearest first.

    Of the distances of a row, sorted, those that follow each other at no more than ``equal`` of the
    row are one distance, and the lower column comes first. Every row 0..b-1 has at least k entries.
    """
    chosen = np.searchsorted(rows, np.arange(len(equal)))[:, None] + np.arange(k)
    apart = (np.diff(squares) > equal[rows[1:]]) | (np.diff(rows) > 0)
    if not apart.all():
        group = np.concatenate([[0], np.cumsum(apart)])
        chosen = np.lexsort((columns, group))[chosen]
    return columns[chosen], squares[chosen]
