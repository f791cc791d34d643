"""The data as an operator: ``Z = (X - 1 m') diag(1/s)`` without forming it.

Everything a solver wants to know about the table goes through :class:`DataOperator`. Centring
(the matrix H = I - 11'/n of the paper) and scaling happen inside the products, so a solver is the
same few lines for dense, sparse, integer or device arrays.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from featsieve.arrays.namespace import (
    Array,
    column_dots,
    columns_are_contiguous,
    device_of,
    is_dask_array,
    is_floating,
    is_sparse,
    like,
    minus_row,
    namespace_of,
    on_host,
    sparse_product,
    take_columns,
    to_numpy,
)
from featsieve.arrays.row_parts import MemoryParts, RowParts

if TYPE_CHECKING:
    from featsieve.arrays.sparse import SparseOperator

SCALES = ("unit", "std", "sqrt", "none")

# Row or column blocks of temporaries stay near this many elements (16 MiB of float64), or, where
# they are only summed, within the cache (512 KiB). On another device few launches matter more, and
# all blocks have this many elements there (512 MiB).
BLOCK_ELEMENTS = 2**21
CACHE_ELEMENTS = 2**16
DEVICE_ELEMENTS = 2**26
# Tables up to this many elements (32 MiB of float64) are centred and scaled once, for methods that
# ask for products of all columns again and again.
KEEP_ELEMENTS = 2**22
# Integer tables up to this many elements are converted once; larger ones block by block, each time.
CONVERT_ELEMENTS = 2**23
# A graph with this share of all possible edges is multiplied as a dense matrix.
FULL_SHARE = 0.1
# Where the mean has at most this share of a column's sum of squares, subtracting costs no digits.
NEARLY_CENTRED = 0.5
LANCZOS_STEPS = 40
# A product of the raw table subtracts its mean afterwards, which cancels |mean|/std digits. Beyond
# this ratio a dense table is centred explicitly (one copy) instead.
LARGEST_OFFSET = {"float32": 1e2, "float64": 1e3}


@dataclass(frozen=True)
class ColumnStatistics:
    """What a part must know of the whole table: arrays with one entry per column.

    ``mean`` (0 where the table is not centred), ``deviation``, ``inverse_scale`` (1/s), ``varies``,
    and ``norms``, the squared norms of the columns of Z.
    """

    mean: Array
    deviation: Array
    inverse_scale: Array
    varies: Array
    norms: Array


class DataOperator(ABC):
    """A table seen through products with its centred and scaled columns.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The table. It is never modified.
    scale : {"unit", "std", "sqrt", "none"}
        "unit" gives every column that varies unit norm, "std" unit variance; "sqrt" divides it by
        the square root of its norm: half way to "none", which leaves the natural scale.
    center : bool
        Whether the columns are centred.
    statistics : ColumnStatistics, optional
        Of the whole table, if X is a part of its rows.

    Attributes
    ----------
    shape : tuple of int
    n_stored : int
        Entries that a product with the table reads.
    xp : module
        Array namespace of every argument and result.
    original_mean, inverse_scale : arrays of shape (n_features,)
        m and 1/s. A column that does not vary has ``inverse_scale`` 0: it is a zero column of Z.
    varies : bool array of shape (n_features,)
    """

    xp: ModuleType
    dtype: Any
    shape: tuple[int, int]
    n_stored: int
    device: Any
    first_row: int = 0  # where a part begins
    _X: Any

    def __init__(
        self,
        X: Any,
        *,
        scale: str = "none",
        center: bool = True,
        statistics: ColumnStatistics | None = None,
    ) -> None:
        if scale not in SCALES:
            raise ValueError(f"scale must be one of {SCALES}, got {scale!r}.")
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self._scale, self._center = scale, center
        self._set_table(X)
        self._is_part = statistics is not None
        self.statistics = self._measure() if statistics is None else statistics
        xp, columns = self.xp, self.statistics
        self.varies, self.inverse_scale = columns.varies, columns.inverse_scale
        self._rescales = bool(xp.any(self.inverse_scale != 1.0))
        self.mean = self.original_mean = columns.mean
        if center:
            self._guard_offset(columns.deviation)

    def _measure(self) -> ColumnStatistics:
        """Return means and scales of the columns: one pass over the table."""
        xp = self.xp
        n = self.shape[0]
        mean, spread = self._column_statistics()  # spread_j = sum_i (x_ij - mean_j)^2
        # A column whose spread is what rounding of its mean would leave does not vary.
        rounding = n * (n * xp.finfo(xp.float64).eps * xp.abs(mean)) ** 2
        varies = spread > rounding
        inverse_scale = xp.astype(varies, xp.float64)
        if self._scale != "none":
            length = xp.sqrt(spread / n if self._scale == "std" else spread)
            length = xp.sqrt(length) if self._scale == "sqrt" else length
            inverse_scale /= xp.where(varies, length, xp.ones_like(length))
        deviation = xp.sqrt(spread / n)
        if not self._center:
            spread, mean = spread + n * mean**2, xp.zeros_like(mean)
        norms = (xp.sqrt(spread) * inverse_scale) ** 2  # 1/s^2 may overflow
        return ColumnStatistics(mean, deviation, inverse_scale, varies, norms)

    def part(self, start: int, stop: int) -> "DataOperator":
        """Return the operator of some rows, with the means and scales of the whole table."""
        part = copy(self)
        for name in [*vars(part)]:  # what was computed once is not true of a part of the rows
            if isinstance(getattr(type(part), name, None), cached_property):
                del vars(part)[name]
        part._X = self._X[start:stop, :]
        part.shape = (stop - start, self.shape[1])
        part.n_stored = self.n_stored * (stop - start) // max(self.shape[0], 1)
        part.first_row = self.first_row + start
        part._is_part = True
        return part

    def at_rows(self, rows: Array) -> "DataOperator":
        """Return the operator of the listed rows, with the means and scales of the whole table."""
        taken = self.part(0, 0)
        taken._X = self._take_rows(rows)
        taken.shape = (int(rows.shape[0]), self.shape[1])
        taken.n_stored = self.n_stored * taken.shape[0] // max(self.shape[0], 1)
        return taken

    def _take_rows(self, rows: Array) -> Any:
        return self.xp.take(self._X, rows, axis=0)

    def parts(self) -> RowParts:
        """Return the table in parts."""
        return MemoryParts(self)

    @property
    def table_dtype(self) -> Any:
        """Type of the table's entries as they are stored."""
        return self._X.dtype

    @property
    def on_host(self) -> bool:
        """Whether the table lies in the memory of the processor."""
        return on_host(self.inverse_scale)

    @property
    def sparse(self) -> "SparseOperator | None":
        """The operator itself where methods should work on the stored entries of its columns."""
        return None

    def gram_columns(self, indices: Array) -> Array:
        """Return Z'Z[:, indices]: no array with a row per sample exists."""
        places = to_numpy(indices)
        return self.place(self.parts().total(columns_product, shared=(places,))[0])

    # What an array library must provide: products with the raw table -------------------------

    @abstractmethod
    def _set_table(self, X: Any) -> None:
        """Keep the table; set ``xp``, ``device``, ``dtype`` and ``n_stored``."""

    @abstractmethod
    def _column_statistics(self) -> tuple[Array, Array]:
        """Return column means and centred sums of squares, in float64."""

    @abstractmethod
    def _dot(self, W: Array) -> Array:
        """Return X W."""

    @abstractmethod
    def _tdot(self, R: Array) -> Array:
        """Return X' R."""

    @abstractmethod
    def _dot_columns(self, indices: Array, W: Array) -> Array:
        """Return X[:, indices] W."""

    @abstractmethod
    def columns(self, indices: Array) -> Array:
        """Return Z[:, indices], dense."""

    @abstractmethod
    def rows(self, start: int, stop: int) -> Array:
        """Return Z[start:stop], dense."""

    @abstractmethod
    def row_products(self, start: int, stop: int) -> Array:
        """Return Z[start:stop] Z', dense."""

    @abstractmethod
    def weighted_gram(self, weights: Array | None) -> Array:
        """Return Z' diag(weights) Z (d x d), weights >= 0. Ask for it only when d is small."""

    @abstractmethod
    def sample_gram(self, weights: Array | None = None) -> Array:
        """Return Z diag(weights) Z' (n x n), weights >= 0. Ask for it only when n is small."""

    @abstractmethod
    def column_forms(self, A: Any) -> Array:
        """Return z_j' A z_j for every column; A symmetric, sparse, n x n, or its diagonal alone."""

    def graph_forms(self, S: sp.csr_array, degree: np.ndarray) -> tuple[Array, Array, Array]:
        """Return z_j' degree, z_j' diag(degree) z_j and z_j' S z_j for every column."""
        sums = self.rmatmul(self.xp.asarray(degree[:, None], device=self.device))[:, 0]
        return sums, self.column_forms(degree), self.column_forms(S)

    @abstractmethod
    def quadratic(self, A: sp.csr_array) -> Array:
        """Return Z'AZ (d x d), A symmetric, sparse and n x n. Ask for it only when d is small."""

    def _guard_offset(self, deviation: Array) -> None:  # noqa: B027  (a hook, empty by default)
        """Prepare for columns whose mean is very large against their deviation."""

    # What solvers use ------------------------------------------------------------------------

    def matmul(self, W: Array, *, live: Array | None = None) -> Array:
        """Return Z W.

        ``live`` may list the rows of W that are not zero: when they are few, only the columns of
        the table that meet them are read.
        """
        xp = self.xp
        if live is not None and 4 * live.shape[0] <= W.shape[0]:
            W_live = xp.take(self.inverse_scale, live)[:, None] * xp.take(W, live, axis=0)
            shift = xp.take(self.mean, live) @ W_live
            return self._dot_columns(live, W_live) - shift[None, :]
        if self._rescales:
            W = self.inverse_scale[:, None] * W
        return self._dot(W) - (self.mean @ W)[None, :]

    def rmatmul(self, R: Array) -> Array:
        """Return Z' R."""
        product = self._tdot(R)  # a new array: ours to change
        product -= (self.xp.sum(R, axis=0)[:, None] * self.mean[None, :]).T
        if self._rescales:
            product *= self.inverse_scale[:, None]
        return product

    def columns_gram(self, indices: Array) -> Array:
        """Return Z_S'Z_S for some columns."""
        Z = self.columns(indices)
        return Z.T @ Z

    def columns_matmul(self, indices: Array, W: Array) -> Array:
        """Return Z_S W for some columns; W has a row for each of them."""
        return self.columns(indices) @ W

    def columns_rmatmul(self, indices: Array, R: Array) -> Array:
        """Return Z_S'R for some columns."""
        return self.columns(indices).T @ R

    @property
    def product_precision(self) -> str:
        """Name of the type in which products of rows are summed."""
        return "float64"

    def centred(self) -> "DataOperator":
        """Return the operator with centred columns: distances between samples need no origin."""
        return self if self._center else type(self)(self._X, scale=self._scale)

    def column_norms(self) -> Array:
        """Return the squared norms of the columns of Z."""
        return self.statistics.norms

    def gram(self) -> Array:
        """Return Z'Z (d x d), computed once. Ask for it only when d is small."""
        return self._cached_gram

    @cached_property
    def _cached_gram(self) -> Array:
        return self.weighted_gram(None)

    def row_norms(self) -> Array:
        """Return the squared norms of the rows of Z, computed once."""
        return self._cached_row_norms

    @cached_property
    def _cached_row_norms(self) -> Array:
        return self._row_norms()

    def _row_norms(self) -> Array:
        xp = self.xp
        blocks = [xp.sum(block * block, axis=1) for block in self.row_blocks(self.cache_elements)]
        return xp.concat(blocks, axis=0)

    @property
    def block_elements(self) -> int:
        """Elements of a block of temporaries, where the table lives."""
        return BLOCK_ELEMENTS if on_host(self.inverse_scale) else DEVICE_ELEMENTS

    @property
    def cache_elements(self) -> int:
        """Elements of a block that is only read, where the table lives."""
        return CACHE_ELEMENTS if on_host(self.inverse_scale) else DEVICE_ELEMENTS

    def place(self, values: np.ndarray) -> Array:
        """Return NumPy values in the array library, and on the device, of the table."""
        return like(values, self.inverse_scale)

    def row_blocks(self, n_elements: int | None = None) -> Iterator[Array]:
        """Yield Z in dense blocks of rows of bounded size."""
        n, d = self.shape
        step = max(1, (n_elements or self.block_elements) // max(d, 1))
        for start in range(0, n, step):
            yield self.rows(start, min(start + step, n))

    @cached_property
    def _lipschitz(self) -> float:
        xp = self.xp
        n, d = self.shape
        if min(n, d) <= 500:
            small = self.gram() if d <= n else self.sample_gram()
            return max(float(xp.linalg.eigvalsh(small)[-1]), 0.0)
        # Lanczos on Z'Z with full reorthogonalisation: the largest Ritz value grows to ||Z||^2 from
        # below, fast even where the spectrum is flat; 1 % on top makes it an upper bound.
        q = xp.asarray(np.random.default_rng(0).standard_normal((d, 1)), device=self.device)
        basis = q / xp.linalg.vector_norm(q)
        images = []
        for _ in range(LANCZOS_STEPS):
            images.append(self.rmatmul(self.matmul(basis[:, -1:])))
            residual = images[-1]
            for _ in range(2):
                residual = residual - basis @ (basis.T @ residual)
            length = float(xp.linalg.vector_norm(residual))
            if length <= 1e-12 * float(xp.linalg.vector_norm(images[0])):
                break
            basis = xp.concat([basis, residual / length], axis=1)
        projected = basis[:, : len(images)].T @ xp.concat(images, axis=1)
        return 1.01 * float(xp.max(xp.linalg.eigvalsh(0.5 * (projected + projected.T))))

    def lipschitz(self) -> float:
        """Return (an upper estimate of) ||Z||_2^2, the curvature of the least-squares loss."""
        return self._lipschitz


class DenseOperator(DataOperator):
    """:class:`DataOperator` for a dense array of any array API library.

    float32 and float64 tables are used as they are, in either memory order. Integer and boolean
    tables are converted to float64: once when small, block by block in every product when large.
    """

    def _set_table(self, X: Array) -> None:
        self.xp = xp = namespace_of(X)
        self.device = device_of(X)
        self.n_stored = self.shape[0] * self.shape[1]
        self.dtype = X.dtype
        if X.dtype != xp.float64 and X.dtype != xp.float32:
            half = is_floating(X) and xp.finfo(X.dtype).bits < 32
            self.dtype = xp.float32 if half else xp.float64
            if is_floating(X) or self.n_stored <= CONVERT_ELEMENTS:
                X = xp.astype(X, self.dtype)
        self._X = X
        self._converts = X.dtype != self.dtype  # whole numbers, too many to convert at once

    @property
    def product_precision(self) -> str:
        """Name of the type in which products of rows are summed: a large table's own."""
        small = self.shape[0] * self.shape[1] <= KEEP_ELEMENTS
        return "float32" if self.dtype == self.xp.float32 and not small else "float64"

    def _raw_blocks(self) -> Iterator[tuple[int, int, Array]]:
        """Yield (start, stop, floating block of X): all of X at once if it is floating already."""
        n, d = self.shape
        if not self._converts:
            yield 0, n, self._X
            return
        step = max(1, self.block_elements // max(d, 1))
        for start in range(0, n, step):
            stop = min(start + step, n)
            yield start, stop, self.xp.astype(self._X[start:stop, :], self.dtype)

    def _column_statistics(self) -> tuple[Array, Array]:
        """Take one pass, in blocks that lie together in memory."""
        xp = self.xp
        n, d = self.shape
        mean = xp.zeros(d, dtype=xp.float64, device=self.device)
        spread = xp.zeros(d, dtype=xp.float64, device=self.device)
        if columns_are_contiguous(self._X):
            step = max(1, CACHE_ELEMENTS // n)  # of NumPy: on the host
            for start in range(0, d, step):
                inside = slice(start, min(start + step, d))
                mean[inside], spread[inside] = self._block_statistics(self._X[:, inside])
            return mean, spread
        most = CACHE_ELEMENTS if on_host(self._X) else DEVICE_ELEMENTS
        step = max(1, most // max(d, 1))
        for start in range(0, n, step):
            stop = min(start + step, n)
            block_mean, block_spread = self._block_statistics(self._X[start:stop, :])
            # Means and spreads of the rows so far and of the block, merged.
            gap = block_mean - mean
            mean = mean + gap * ((stop - start) / stop)
            spread = spread + block_spread + gap**2 * (start * (stop - start) / stop)
        return mean, spread

    def _block_statistics(self, block: Array) -> tuple[Array, Array]:
        xp = self.xp
        block = xp.astype(block, xp.float64, copy=False)
        n = block.shape[0]
        mean = xp.ones(n, dtype=xp.float64, device=self.device) @ block / n
        squares, shift = column_dots(block, block), n * mean**2
        if bool(xp.all(shift < NEARLY_CENTRED * squares)):
            return mean, squares - shift  # nothing cancels
        block = block - mean[None, :]
        return mean, column_dots(block, block)

    def _guard_offset(self, deviation: Array) -> None:
        xp = self.xp
        if self._converts:
            return  # whole numbers in double precision have digits to spare, and must not be copied
        limit = LARGEST_OFFSET["float32" if self.dtype == xp.float32 else "float64"]
        too_far = xp.logical_and(self.varies, xp.abs(self.mean) > limit * deviation)
        if bool(xp.any(too_far)):
            shifted, total = xp.empty_like(self._X), xp.zeros_like(self.mean)
            n, d = self.shape
            step = max(1, BLOCK_ELEMENTS // max(d, 1))
            for start in range(0, n, step):
                inside = slice(start, min(start + step, n))
                block = xp.astype(self._X[inside, :], xp.float64) - self.mean[None, :]
                shifted[inside, :] = xp.astype(block, self.dtype, copy=False)
                total = total + xp.sum(block, axis=0)
            self._X = shifted
            # What rounding of the mean has left; a part does not know.
            self.mean = xp.zeros_like(self.mean) if self._is_part else total / n

    def _dot(self, W: Array) -> Array:
        xp = self.xp
        W = xp.astype(W, self.dtype, copy=False)
        parts = [block @ W for _, _, block in self._raw_blocks()]
        product = parts[0] if len(parts) == 1 else xp.concat(parts, axis=0)
        return xp.astype(product, xp.float64, copy=False)

    def _tdot(self, R: Array) -> Array:
        xp = self.xp
        R = xp.astype(R, self.dtype, copy=False)
        total: Any = None
        for start, stop, block in self._raw_blocks():
            # Transposed on purpose: the long side d stays contiguous, and what follows
            # (thresholds, updates by columns of short rows) runs along it.
            part = self._transposed_product(block, R[start:stop, :])
            part = xp.astype(part, xp.float64, copy=False)
            total = part if total is None else total + part
        return total.T

    def _transposed_product(self, block: Array, R: Array) -> Array:
        """Return (X' R)' of a block of rows, stored by rows."""
        n, d = self.shape
        if n <= d or R.shape[1] == 1:
            return R.T @ block
        # X'R, not R'X: measured several times faster for tall tables.
        product = block.T @ R
        rows = self.xp.empty((R.shape[1], d), dtype=product.dtype, device=self.device)
        rows[:, :] = product.T
        return rows

    def _dot_columns(self, indices: Array, W: Array) -> Array:
        xp = self.xp
        raw = xp.astype(take_columns(self._X, indices), self.dtype, copy=False)
        product = raw @ xp.astype(W, self.dtype, copy=False)
        return xp.astype(product, xp.float64, copy=False)

    def columns(self, indices: Array) -> Array:
        """Return Z[:, indices] in float64."""
        xp = self.xp
        raw = xp.astype(take_columns(self._X, indices), xp.float64, copy=False)
        centred = raw - xp.take(self.mean, indices)[None, :]
        return centred * xp.take(self.inverse_scale, indices)[None, :]

    def rows(self, start: int, stop: int) -> Array:
        """Return Z[start:stop] in float64."""
        raw = self.xp.astype(self._X[start:stop, :], self.xp.float64, copy=False)
        block = raw - self.mean[None, :]  # a new array: ours to change
        if self._rescales:
            block *= self.inverse_scale[None, :]
        return block

    def row_products(self, start: int, stop: int) -> Array:
        """Return Z[start:stop] Z', a few rows at a time."""
        if self.shape[0] * self.shape[1] <= KEEP_ELEMENTS:
            return self._centred[start:stop, :] @ self._centred.T
        step = max(1, self.block_elements // max(self.shape[1], 1))
        parts = [
            self.matmul(self.rows(first, min(first + step, stop)).T).T
            for first in range(start, stop, step)
        ]
        return parts[0] if len(parts) == 1 else self.xp.concat(parts, axis=0)

    def weighted_gram(self, weights: Array | None) -> Array:
        """Return Z' diag(weights) Z, accumulated over blocks of centred rows (no cancellation)."""
        total: Any = None
        start = 0
        for block in self.row_blocks():
            stop = start + block.shape[0]
            if weights is not None:
                block = block * self.xp.sqrt(weights[start:stop])[:, None]
            part = self._square(block.T)
            total = part if total is None else total + part
            start = stop
        return total

    def sample_gram(self, weights: Array | None = None) -> Array:
        """Return Z diag(weights) Z', accumulated over blocks of columns (no cancellation)."""
        total: Any = None
        for inside, block in self._column_blocks():
            if weights is not None:
                block = block * self.xp.sqrt(weights[inside])[None, :]
            part = self._square(block)
            total = part if total is None else total + part
        return total

    def column_forms(self, A: Any) -> Array:
        """Return z_j' A z_j for every column, some columns at a time."""
        xp = self.xp
        if is_sparse(A):
            product = sparse_product(A, self._X)
            parts = [column_dots(Z, product(Z)) for Z in self._cached_columns()]
        else:
            weights = xp.asarray(A, device=self.device)
            parts = [weights @ (Z * Z) for Z in self._cached_columns()]
        return parts[0] if len(parts) == 1 else xp.concat(parts, axis=0)

    def graph_forms(self, S: sp.csr_array, degree: np.ndarray) -> tuple[Array, Array, Array]:
        """Return z_j' degree, z_j' diag(degree) z_j and z_j' S z_j, all in one pass."""
        weights = self.xp.asarray(degree, device=self.device)
        # Few samples have few pairs that are not neighbours: no zeros need be skipped, and a table
        # stored by columns can stay so.
        full = columns_are_contiguous(self._X) and S.nnz >= FULL_SHARE * S.shape[0] ** 2
        graph = self.place(S.toarray()) if full else None
        along_graph = sparse_product(S, self._X)
        parts = []
        for Z in self._cached_columns(by_rows=not full):
            product = (Z.T @ graph).T if full else along_graph(Z)
            sums, edges = weights @ Z, column_dots(Z, product)
            Z *= Z
            parts.append((sums, weights @ Z, edges))
        sums, squares, edges = zip(*parts, strict=True)
        concat = self.xp.concat
        return concat(sums), concat(squares), concat(edges)

    def quadratic(self, A: sp.csr_array) -> Array:
        """Return Z'AZ, some columns at a time."""
        along_graph = sparse_product(A, self._X)
        parts = [self.rmatmul(along_graph(block)) for _, block in self._column_blocks()]
        product = parts[0] if len(parts) == 1 else self.xp.concat(parts, axis=1)
        return 0.5 * (product + product.T)

    def _column_blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield (slice, Z[:, slice]) in blocks of bounded size."""
        n, d = self.shape
        if n * d <= KEEP_ELEMENTS:
            yield slice(0, d), self._centred
            return
        step = max(1, self.block_elements // max(n, 1))
        for start in range(0, d, step):
            inside = slice(start, min(start + step, d))
            raw = self.xp.astype(self._X[:, inside], self.xp.float64, copy=False)
            yield inside, (raw - self.mean[None, inside]) * self.inverse_scale[None, inside]

    def _cached_columns(self, *, by_rows: bool = True) -> Iterator[Array]:
        """Yield Z in blocks of columns that stay in the cache, each a new array.

        ``by_rows``: stored row by row, as scipy's sparse products want it.
        """
        n, d = self.shape
        step = max(1, self.cache_elements // n)
        for start in range(0, d, step):
            inside = slice(start, min(start + step, d))
            raw = self.xp.astype(self._X[:, inside], self.xp.float64, copy=False)
            mean = self.mean[inside]
            block = minus_row(raw, mean) if by_rows else raw - mean[None, :]
            if self._rescales:
                block *= self.inverse_scale[None, inside]
            yield block

    @cached_property
    def _centred(self) -> Array:
        """Z itself, of a small table."""
        return self.rows(0, self.shape[0])

    def _square(self, A: Array) -> Array:
        """Return A A': of a small table in float64, else in its own precision."""
        xp = self.xp
        small = self.shape[0] * self.shape[1] <= KEEP_ELEMENTS
        A = xp.astype(A, xp.float64 if small else self.dtype, copy=False)
        return xp.astype(A @ A.T, xp.float64, copy=False)


def columns_product(part: DataOperator, indices: np.ndarray) -> tuple[Array]:
    """Return a part's share of Z'Z[:, indices]."""
    return (part.rmatmul(part.columns(part.place(indices))),)


def as_operator(X: Any, *, scale: str = "none", center: bool = True) -> DataOperator:
    """Return the :class:`DataOperator` for a dense array, a scipy.sparse matrix or a dask.array."""
    if is_sparse(X):
        from featsieve.arrays.sparse import SparseOperator

        return SparseOperator(X, scale=scale, center=center)
    if is_dask_array(X):
        from featsieve.arrays.dask import DaskOperator

        return DaskOperator(X, scale=scale, center=center)
    return DenseOperator(X, scale=scale, center=center)
