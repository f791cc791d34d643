"""The data operator of a Dask array: one pass over the chunks for every product.

Arguments and results are NumPy arrays of the caller's process: n x c, d x c, or small. The table
itself is never gathered, nor kept on the workers (persist it yourself if it fits there).
"""

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import array_api_compat.numpy as xnp
import numpy as np
import scipy.sparse as sp

from featsieve.arrays.dask_moments import moments_of
from featsieve.arrays.dask_parts import DaskParts, Recipe, compute
from featsieve.arrays.dask_table import check_dask_table, gather_rows
from featsieve.arrays.namespace import column_dots
from featsieve.arrays.operator import BLOCK_ELEMENTS, DataOperator
from featsieve.arrays.row_parts import joined

__all__ = ["DaskOperator", "DaskParts", "check_dask_table", "gather_rows"]

# Blocks of columns that are gathered, and of products of rows, have at most so many elements
# (256 MiB): every block costs a pass.
GATHERED_ELEMENTS = 2**25
# Up to so many samples the products of all pairs of rows are computed at once, and kept (200 MB).
LARGEST_SAMPLE_GRAM = 5000


class DaskOperator(DataOperator):
    """:class:`DataOperator` for a dask.array with one chunk along the columns.

    Chunks may be NumPy arrays or scipy.sparse matrices. Products that add up over the samples
    (``rmatmul``, ``gram``, ...) are summed in a tree on the workers; products with one row per
    sample come back as NumPy arrays. What needs rows of several chunks at once costs more:
    ``sample_gram`` sends every chunk to every other, ``row_products`` takes a pass for each block
    of rows, and ``column_forms``, ``graph_forms`` and ``quadratic`` with a graph take the table
    through the caller's process, some columns at a time.
    """

    def _set_table(self, X: Any) -> None:
        self._X = X
        self.xp, self.device = xnp, "cpu"
        half = X.dtype.kind == "f" and X.dtype.itemsize <= 4
        self.dtype = np.dtype(np.float32 if half else np.float64)
        self._moments = moments_of(X)
        self.n_stored = self._moments.n_stored

    def _column_statistics(self) -> tuple[np.ndarray, np.ndarray]:
        return self._moments.mean, self._moments.spread

    def parts(self) -> DaskParts:
        """Return the table in parts: its chunks."""
        return self._parts

    @cached_property
    def _parts(self) -> DaskParts:
        return DaskParts(self._X, self._recipe)

    def part(self, start: int, stop: int) -> DataOperator:
        """Return the operator of some rows, with the means and scales of the whole table."""
        part = super().part(start, stop)
        vars(part).pop("_products", None)  # the last block of the whole table's
        return part

    def at_rows(self, rows: np.ndarray) -> DataOperator:
        """Return the operator of the listed rows, which come to this process."""
        order = np.argsort(rows, kind="stable")
        taken = gather_rows(self._X, rows[order])
        return self._recipe.part([taken[np.argsort(order, kind="stable")]], self.first_row)

    @property
    def _recipe(self) -> Recipe:
        return Recipe(self._scale, self._center, self.statistics)

    # Products that stay in their chunk ----------------------------------------------------------

    def matmul(self, W: np.ndarray, *, live: np.ndarray | None = None) -> np.ndarray:
        """Return Z W; ``live`` may list the rows of W that are not zero."""
        if live is not None and 4 * len(live) <= len(W):
            return self._gathered(_columns_product, shared=(live, W[live]))
        return self._gathered(_product, shared=(W,))

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        """Return Z' R."""
        (product,) = self._parts.total(_transposed_product, self._split(R))
        return product

    def columns_gram(self, indices: np.ndarray) -> np.ndarray:
        """Return Z[:, indices]' Z[:, indices]."""
        (gram,) = self._parts.total(_columns_gram, shared=(indices,))
        return gram

    def columns_matmul(self, indices: np.ndarray, W: np.ndarray) -> np.ndarray:
        """Return Z[:, indices] W."""
        return self._gathered(_columns_product, shared=(indices, W))

    def columns_rmatmul(self, indices: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Return Z[:, indices]' R."""
        (product,) = self._parts.total(_columns_transposed, self._split(R), shared=(indices,))
        return product

    def columns(self, indices: np.ndarray) -> np.ndarray:
        """Return Z[:, indices] in float64."""
        return self._gathered(_columns, shared=(np.asarray(indices),))

    def rows(self, start: int, stop: int) -> np.ndarray:
        """Return Z[start:stop] in float64."""
        inside = [
            (i, (max(start, first) - first, min(stop, last) - first))
            for i, (first, last) in enumerate(self._parts.bounds)
            if first < stop and start < last
        ]
        if not inside:
            return np.zeros((0, self.shape[1]))
        chosen, ranges = zip(*inside, strict=True)
        return joined(compute(self._parts.tasks(_rows, ranges, chosen=chosen)))

    def _row_norms(self) -> np.ndarray:
        return self._gathered(_row_norms)

    def weighted_gram(self, weights: np.ndarray | None) -> np.ndarray:
        """Return Z' diag(weights) Z, summed over the chunks."""
        states = [] if weights is None else [self._split(weights)]
        (gram,) = self._parts.total(_gram, *states)
        return gram

    def _dot(self, W: np.ndarray) -> np.ndarray:
        raise NotImplementedError("DaskOperator multiplies Z itself")

    def _tdot(self, R: np.ndarray) -> np.ndarray:
        raise NotImplementedError("DaskOperator multiplies Z itself")

    def _dot_columns(self, indices: np.ndarray, W: np.ndarray) -> np.ndarray:
        raise NotImplementedError("DaskOperator multiplies Z itself")

    # Products that need rows of several chunks --------------------------------------------------

    def row_products(self, start: int, stop: int) -> np.ndarray:
        """Return Z[start:stop] Z'.

        All products at once where there are few samples; else those of as many rows as may be, as
        the next rows will be asked for.
        """
        n = self.shape[0]
        if n <= LARGEST_SAMPLE_GRAM:
            return self._cached_sample_gram[start:stop].copy()
        first, block = self._products
        if not first <= start < stop <= first + len(block):
            last = max(stop, min(start + GATHERED_ELEMENTS // n, n))
            first, block = start, self.matmul(self.rows(start, last).T).T
            self._products = first, block
        return block[start - first : stop - first].copy()

    # The last products of rows, and their first row.
    _products: tuple[int, np.ndarray] = (0, np.zeros((0, 0)))

    @property
    def product_precision(self) -> str:
        """Name of the type in which products of rows are summed."""
        single = self.dtype == np.float32 and self.shape[0] > LARGEST_SAMPLE_GRAM
        return "float32" if single else "float64"

    @cached_property
    def _cached_sample_gram(self) -> np.ndarray:
        return self._sample_gram(None)

    def sample_gram(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Return Z diag(weights) Z' (n x n): every pair of chunks meets on some worker."""
        if weights is None and self.shape[0] <= LARGEST_SAMPLE_GRAM:
            return self._cached_sample_gram.copy()
        return self._sample_gram(weights)

    def _sample_gram(self, weights: np.ndarray | None) -> np.ndarray:
        bounds = self._parts.bounds
        tasks = self._parts.pair_tasks(_pair_product, shared=(weights,))
        product = np.empty((self.shape[0], self.shape[0]))
        for (a, b), block in zip(tasks, compute(list(tasks.values())), strict=True):
            product[slice(*bounds[a]), slice(*bounds[b])] = block
            product[slice(*bounds[b]), slice(*bounds[a])] = block.T
        return product

    def column_forms(self, A: Any) -> np.ndarray:
        """Return z_j' A z_j for every column."""
        if not sp.issparse(A):
            (forms,) = self._parts.total(_diagonal_forms, self._split(np.asarray(A)))
            return forms
        return np.concatenate([column_dots(Z, A @ Z) for Z in self._column_blocks()])

    def graph_forms(
        self, S: sp.csr_array, degree: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return z_j' degree, z_j' diag(degree) z_j and z_j' S z_j, for some columns at a time."""
        found = [
            (degree @ Z, degree @ (Z * Z), column_dots(Z, S @ Z)) for Z in self._column_blocks()
        ]
        sums, squares, edges = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return sums, squares, edges

    def quadratic(self, A: sp.csr_array) -> np.ndarray:
        """Return Z'AZ, for some columns at a time."""
        product = np.hstack([self.rmatmul(A @ Z) for Z in self._column_blocks()])
        return 0.5 * (product + product.T)

    def _column_blocks(self) -> Iterator[np.ndarray]:
        """Yield Z in blocks of columns: the table passes through this process, piece by piece."""
        n, d = self.shape
        step = max(1, GATHERED_ELEMENTS // max(n, 1))
        for start in range(0, d, step):
            yield np.ascontiguousarray(self.columns(np.arange(start, min(start + step, d))))

    # Shorthands ----------------------------------------------------------------------------------

    def _gathered(self, function: Any, *, shared: tuple = ()) -> np.ndarray:
        """Return the blocks of rows that a function makes of the parts, as one array."""
        return joined(compute(self._parts.tasks(function, shared=shared)))

    def _split(self, values: np.ndarray) -> list[np.ndarray]:
        """Return the rows of an array that belong to every part."""
        return [values[start:stop] for start, stop in self._parts.bounds]


# What runs on the workers ------------------------------------------------------------------------


def _product(part: DataOperator, W: np.ndarray) -> np.ndarray:
    return part.matmul(W)


def _columns_product(part: DataOperator, indices: np.ndarray, W: np.ndarray) -> np.ndarray:
    return part.columns_matmul(indices, W)


def _columns_transposed(
    part: DataOperator, R: np.ndarray, indices: np.ndarray
) -> tuple[np.ndarray]:
    return (part.columns_rmatmul(indices, R),)


def _columns_gram(part: DataOperator, indices: np.ndarray) -> tuple[np.ndarray]:
    return (part.columns_gram(indices),)


def _transposed_product(part: DataOperator, R: np.ndarray) -> tuple[np.ndarray]:
    return (part.rmatmul(R),)


def _columns(part: DataOperator, indices: np.ndarray) -> np.ndarray:
    return part.columns(indices)


def _rows(part: DataOperator, inside: tuple[int, int]) -> np.ndarray:
    return part.rows(*inside)


def _row_norms(part: DataOperator) -> np.ndarray:
    # Not row_norms(): Python 3.11 locks a cached property for all objects while one computes it.
    return part._row_norms()


def _gram(part: DataOperator, weights: np.ndarray | None = None) -> tuple[np.ndarray]:
    return (part.weighted_gram(weights),)


def _diagonal_forms(part: DataOperator, diagonal: np.ndarray) -> tuple[np.ndarray]:
    return (part.column_forms(diagonal),)


def _pair_product(
    part: DataOperator, other: DataOperator, weights: np.ndarray | None
) -> np.ndarray:
    """Return Z_a diag(weights) Z_b', some columns at a time."""
    n, d = part.shape
    total = np.zeros((n, other.shape[0]))
    step = max(1, BLOCK_ELEMENTS // max(n, other.shape[0]))
    for start in range(0, d, step):
        indices = np.arange(start, min(start + step, d))
        block = part.columns(indices)
        total += (block if weights is None else block * weights[indices]) @ other.columns(indices).T
    return total
