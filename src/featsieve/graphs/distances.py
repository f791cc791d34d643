"""Squared distances between samples, in blocks of rows, and the nearest neighbours: no n x n array.

The k smallest entries of every row of a block are found without sorting the rows. Columns are dealt
out to groups. The k-th smallest of the groups' minima bounds the k-th smallest entry from above, so
only the few groups below it hold candidates: one pass over the block takes the minima, and sorting
is left to a handful of entries per row.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array, entries_of, smallest_of_rows, to_numpy

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

    @abstractmethod
    def __call__(self, start: int, stop: int) -> np.ndarray:
        """Return the distances of samples start..stop to all samples, as a new array."""

    @property
    def block_rows(self) -> int:
        """How many rows of the distance matrix make a block."""
        return max(FEWEST_ROWS, BLOCK_ELEMENTS // len(self.rounding))

    def candidates(self, start: int, stop: int, *, k: int) -> Pairs:
        """Return all pairs of samples start..stop and what may be among their k nearest others."""
        block = self(start, stop)
        forget_diagonal(block, start)
        minima, bound = upper_bounds(block, k)
        limit = bound + tie_width(bound, self.rounding[start:stop])
        rows, columns = entries_below(block, minima, limit)
        return rows, columns, block[rows, columns]


def forget_diagonal(block: np.ndarray, start: int, value: float = np.inf) -> None:
    """Set the distances of samples to themselves in a block that begins with sample ``start``."""
    own = np.arange(len(block))
    block[own, start + own] = value


def tie_width(last: np.ndarray, error: np.ndarray) -> np.ndarray:
    """Return by how much the distance of a sample may exceed the last neighbour's and still tie."""
    return error + ROUNDING["float64"] * np.maximum(last, 0.0)


class PointDistances(Distances):
    """Between the rows of an array: looked at in single precision first."""

    def __init__(self, points: np.ndarray, squares: np.ndarray | None = None) -> None:
        self.points = points
        self.squares = _squared_lengths(points) if squares is None else squares
        self.rounding = ROUNDING["float64"] * self.squares
        n, r = points.shape
        self.unit = float(self.squares.max()) or 1.0
        # ||y||^2 - 2 x'y = (-2x, -2)'(y, -||y||^2/2): one product, quicker with samples in columns.
        self.rough = np.empty((r + 1, n), dtype=np.float32)
        np.multiply(points.T, self.unit**-0.5, out=self.rough[:r], casting="same_kind")
        self.rough[r] = -0.5 * self.squares / self.unit
        length = np.sqrt(self.squares / self.unit)
        # Sums of r + 1 rounded products of rounded numbers, all of size up to 2 |x| + 1.
        self.rough_error = (r + 8) * float(np.finfo(np.float32).eps) * (2.0 * length + 1.0)

    def __call__(self, start: int, stop: int) -> np.ndarray:
        """Return the distances of samples start..stop to all samples."""
        points = self.points.astype(np.float64, copy=False)
        products = points[start:stop] @ points.T
        return _distances_of_products(products, self.squares[start:stop], self.squares)

    def candidates(self, start: int, stop: int, *, k: int) -> Pairs:
        """Return what single precision leaves in question, in double precision."""
        samples = self.rough[:, start:stop] * np.float32(-2.0)
        samples[-1] = -2.0
        block = samples.T @ self.rough  # the distances, less the sample's own squared length
        forget_diagonal(block, start)
        minima, bound = upper_bounds(block, k)
        # Twice the error: of the entry, and of the bound that it is compared with.
        own = self.squares[start:stop] / self.unit
        bound = bound + own
        limit = bound + tie_width(bound, self.rounding[start:stop] / self.unit)
        limit = limit - own + 2.0 * self.rough_error[start:stop]
        if np.count_nonzero(minima <= limit[:, None]) > MOST_CANDIDATES * minima.size:
            return super().candidates(start, stop, k=k)
        rows, columns = entries_below(block, minima, limit)
        return rows, columns, self._of_pairs(start + rows, columns)

    def among(self, rows: np.ndarray) -> "PointDistances":
        """Return the distances between some of the samples."""
        return PointDistances(self.points[rows], self.squares[rows])

    def nearest(self, rows: np.ndarray) -> np.ndarray:
        """Return which of some samples (its place in ``rows``) is nearest to every sample."""
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
        step = max(1, BLOCK_ELEMENTS // max(1, self.points.shape[1]))
        for start in range(0, len(i), step):
            a, b = i[start : start + step], j[start : start + step]
            left, right = self.points[a], self.points[b]
            products = np.einsum("ij,ij->i", left, right, dtype=np.float64)
            found[start : start + step] = self.squares[a] + self.squares[b] - 2.0 * products
        return np.maximum(found, 0.0, out=found)


class GivenDistances(Distances):
    """Between samples whose inner products P (n x n) are known."""

    def __init__(self, products: np.ndarray) -> None:
        self.products, self.squares = products, products.diagonal().copy()
        self.rounding = ROUNDING["float64"] * self.squares

    def among(self, rows: np.ndarray) -> "GivenDistances":
        """Return the distances between some of the samples."""
        return GivenDistances(self.products[np.ix_(rows, rows)])

    def nearest(self, rows: np.ndarray) -> np.ndarray:
        """Return which of some samples (its place in ``rows``) is nearest to every sample."""
        found = (self.squares[rows] - 2.0 * self.products[:, rows]).argmin(axis=1)
        found[rows] = np.arange(len(rows))
        return found

    def __call__(self, start: int, stop: int) -> np.ndarray:
        """Return the distances of samples start..stop to all samples."""
        products = self.products[start:stop].copy()
        return _distances_of_products(products, self.squares[start:stop], self.squares)


def hat_distances(E: np.ndarray) -> PointDistances:
    """Return the distances between samples in hat coordinates.

    D_ij = 2 - 2 cos(e_i, e_j), which is robust to outlying samples; in fewer dimensions than
    ``defaults.FEW_DIRECTIONS`` the angle alone forgets too much, and D_ij = ||e_i - e_j||^2.
    """
    squares = _squared_lengths(E)
    if E.shape[1] < defaults.FEW_DIRECTIONS:
        return PointDistances(E, squares)
    length = np.sqrt(np.where(squares > 0.0, squares, 1.0)).astype(E.dtype, copy=False)
    return PointDistances(E / length[:, None], np.ones(len(E)))


class EuclideanDistances(Distances):
    """Between the rows of an operator."""

    def __init__(self, operator: DataOperator) -> None:
        self.operator = operator.centred()  # or the origin costs digits
        self.squares = to_numpy(self.operator.row_norms())
        self.rounding = ROUNDING[self.operator.product_precision] * self.squares

    def __call__(self, start: int, stop: int) -> np.ndarray:
        """Return the distances of samples start..stop to all samples."""
        products = to_numpy(self.operator.row_products(start, stop))
        return _distances_of_products(products, self.squares[start:stop], self.squares)

    def on_device(self, start: int, stop: int) -> Array:
        """Return the same, where the table is."""
        lengths = self.operator.row_norms()
        products = self.operator.row_products(start, stop)
        squares = lengths[start:stop, None] + lengths[None, :] - 2.0 * products
        return self.operator.xp.clip(squares, min=0.0)

    @property
    def block_rows(self) -> int:
        """How many rows of the distance matrix make a block, where the table is."""
        return block_rows(self.operator)

    def candidates(self, start: int, stop: int, *, k: int) -> Pairs:
        """Return the pairs in question: distances on a device stay there, and few come back."""
        if self.operator.on_host:
            return super().candidates(start, stop, k=k)
        block = self.on_device(start, stop)
        xp, device = self.operator.xp, self.operator.device
        n = block.shape[1]
        own = xp.arange(start, stop, device=device)[:, None] == xp.arange(n, device=device)[None, :]
        block = xp.where(own, xp.full_like(block, xp.inf), block)
        last = smallest_of_rows(block, k)[1][:, -1]
        error = xp.asarray(self.rounding[start:stop], device=device)
        limit = last + (error + ROUNDING["float64"] * last)
        rows, columns = xp.nonzero(block <= limit[:, None])
        squares = xp.take(xp.reshape(block, (-1,)), rows * n + columns)
        return to_numpy(rows), to_numpy(columns), to_numpy(squares)


class SummedDistances(EuclideanDistances):
    """Distances that are added up as they are handed out, for their mean over all pairs."""

    total = 0.0

    def __call__(self, start: int, stop: int) -> np.ndarray:
        """Return the distances of samples start..stop to all samples."""
        block = super().__call__(start, stop)
        forget_diagonal(block, start, 0.0)
        self.total += float(np.sqrt(block).sum())
        return block

    def on_device(self, start: int, stop: int) -> Array:
        """Return the same, where the table is."""
        block, xp = super().on_device(start, stop), self.operator.xp
        diagonal = xp.linalg.diagonal(block, offset=start)
        self.total += float(xp.sum(xp.sqrt(block)) - xp.sum(xp.sqrt(diagonal)))
        return block

    @property
    def mean(self) -> float:
        """The mean distance of all pairs, the zero diagonal included; 1 where all coincide."""
        return self.total / len(self.rounding) ** 2 or 1.0


def block_rows(operator: DataOperator) -> int:
    """Return how many rows of an n x n matrix make a block, where the table of an operator is."""
    elements = BLOCK_ELEMENTS if operator.on_host else DEVICE_ELEMENTS
    return max(FEWEST_ROWS, elements // operator.shape[0])


def entries_by_blocks(
    operator: DataOperator, block: Callable[[int, int], Array], pairs: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Return the entries (i, j) of the n x n matrix whose rows ``block(start, stop)`` returns."""
    i, j = pairs
    n, step = operator.shape[0], block_rows(operator)
    order = np.argsort(i, kind="stable")
    found = np.empty(len(i))
    for start in range(0, n, step):
        stop = min(start + step, n)
        low, high = np.searchsorted(i, (start, stop), sorter=order)
        here = order[low:high]
        found[here] = entries_of(block(start, stop), i[here] - start, j[here])
    return found


def _squared_lengths(points: np.ndarray) -> np.ndarray:
    """Return the squared lengths of the rows, in float64."""
    return np.einsum("ij,ij->i", points, points, dtype=np.float64)


def _distances_of_products(
    products: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """Return ||x||^2 + ||y||^2 - 2 x'y, not negative, in the place of the products x'y."""
    if products.dtype != np.float64 or not products.flags.writeable:
        products = products.astype(np.float64)
    products *= -2.0
    products += columns
    products += rows[:, None]
    return np.maximum(products, 0.0, out=products)


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
    step = distances.block_rows
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
