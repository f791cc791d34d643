"""The data operator of a dense array, of any library that follows the Python array API."""

from collections.abc import Iterator
from functools import reduce
from operator import add

from sklearn.utils import gen_batches

from featsieve.arrays.namespace import (
    Array,
    column_dots,
    columns_are_contiguous,
    device_of,
    is_floating,
    namespace_of,
    on_host,
    take_columns,
)
from featsieve.arrays.operator import CACHE_ELEMENTS, DEVICE_ELEMENTS, LARGEST_OFFSET, RawOperator

# Tables up to this many elements (32 MiB of float64) are centred and scaled once, for methods that
# ask for products of all columns again and again.
KEEP_ELEMENTS = 2**22
# Integer tables up to this many elements are converted once; larger ones block by block, each time.
CONVERT_ELEMENTS = 2**23
# Where the mean has at most this share of a column's sum of squares, subtracting costs no digits.
NEARLY_CENTRED = 0.5


class DenseOperator(RawOperator):
    """:class:`~featsieve.arrays.DataOperator` for a dense array of any array API library.

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
    def _is_small(self) -> bool:
        return self.shape[0] * self.shape[1] <= KEEP_ELEMENTS

    @property
    def product_precision(self) -> str:
        """Name of the type in which products of rows are summed: a large table's own."""
        single = self.dtype == self.xp.float32 and not self._is_small
        return "float32" if single else "float64"

    def _raw_blocks(self) -> Iterator[tuple[slice, Array]]:
        """Yield (rows, floating block of X): all of X at once if it is floating already."""
        n, d = self.shape
        if not self._converts:
            yield slice(0, n), self._X
            return
        for rows in gen_batches(n, max(1, self.block_elements // max(d, 1))):
            yield rows, self.xp.astype(self._X[rows, :], self.dtype)

    def _column_statistics(self) -> tuple[Array, Array]:
        """Take one pass, in blocks that lie together in memory."""
        xp = self.xp
        n, d = self.shape
        mean = xp.zeros(d, dtype=xp.float64, device=self.device)
        spread = xp.zeros(d, dtype=xp.float64, device=self.device)
        if columns_are_contiguous(self._X):
            for inside in gen_batches(d, max(1, CACHE_ELEMENTS // n)):  # of NumPy: on the host
                mean[inside], spread[inside] = self._block_statistics(self._X[:, inside])
            return mean, spread
        most = CACHE_ELEMENTS if on_host(self._X) else DEVICE_ELEMENTS
        for rows in gen_batches(n, max(1, most // max(d, 1))):
            block_mean, block_spread = self._block_statistics(self._X[rows, :])
            # Means and spreads of the rows so far and of the block, merged.
            size, gap = rows.stop - rows.start, block_mean - mean
            mean = mean + gap * (size / rows.stop)
            spread = spread + block_spread + gap**2 * (rows.start * size / rows.stop)
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
        if self._converts or self.shape[0] == 0:
            return  # whole numbers in double precision have digits to spare, and must not be copied
        limit = LARGEST_OFFSET["float32" if self.dtype == xp.float32 else "float64"]
        if not bool(xp.any(self.varies & (xp.abs(self.mean) > limit * deviation))):
            return
        n, d = self.shape
        shifted, total = xp.empty_like(self._X), xp.zeros_like(self.mean)
        for rows in gen_batches(n, max(1, self.block_elements // max(d, 1))):
            block = xp.astype(self._X[rows, :], xp.float64) - self.mean[None, :]
            shifted[rows, :] = xp.astype(block, self.dtype, copy=False)
            total = total + xp.sum(block, axis=0)
        self._X = shifted
        # What rounding of the mean has left; a part does not know.
        self.mean = xp.zeros_like(self.mean) if self._is_part else total / n

    def _dot(self, W: Array) -> Array:
        W = self.xp.astype(W, self.dtype, copy=False)
        product = self._joined([block @ W for _, block in self._raw_blocks()])
        return self.xp.astype(product, self.xp.float64, copy=False)

    def _tdot(self, R: Array) -> Array:
        xp = self.xp
        R = xp.astype(R, self.dtype, copy=False)
        # Transposed on purpose: the long side d stays contiguous, and what follows (thresholds,
        # updates by columns of short rows) runs along it.
        parts = (
            xp.astype(self._transposed_product(block, R[rows, :]), xp.float64, copy=False)
            for rows, block in self._raw_blocks()
        )
        return reduce(add, parts).T

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
        if self._is_small:
            Z = self.once("centred", lambda: self.rows(0, self.shape[0]))
            return Z[start:stop, :] @ Z.T
        step = max(1, self.block_elements // max(self.shape[1], 1))
        blocks = [
            self.matmul(self.rows(first, min(first + step, stop)).T).T
            for first in range(start, stop, step)
        ]
        return self._joined(blocks)

    def _column_blocks(self, n_elements: int) -> Iterator[tuple[slice, Array]]:
        n, d = self.shape
        for inside in gen_batches(d, max(1, n_elements // max(n, 1))):
            raw = self.xp.astype(self._X[:, inside], self.xp.float64, copy=False)
            block = raw - self.mean[None, inside]
            if self._rescales:
                block *= self.inverse_scale[None, inside]
            yield inside, block

    def _square(self, A: Array) -> Array:
        """Return A A': of a small table in float64, else in its own precision."""
        xp = self.xp
        A = xp.astype(A, xp.float64 if self._is_small else self.dtype, copy=False)
        return xp.astype(A @ A.T, xp.float64, copy=False)
