"""The data as an operator: ``Z = (X - 1 m') diag(1/s)`` without forming it.

Everything a solver wants to know about the table goes through :class:`DataOperator`. Centring
(the matrix H = I - 11'/n of the paper) and scaling happen inside the products, so a solver is the
same few lines for dense, sparse, integer or device arrays.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import reduce
from operator import add
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches

from featsieve.arrays.namespace import (
    Array,
    column_dots,
    is_sparse,
    like,
    namespace_of,
    on_host,
    sparse_product,
    to_numpy,
)
from featsieve.arrays.row_parts import RowParts
from featsieve.arrays.scale import ColumnScale

if TYPE_CHECKING:
    from featsieve.arrays.sparse import SparseOperator


# Row or column blocks of temporaries stay near this many elements (16 MiB of float64), or, where
# they are only summed, within the cache (512 KiB). On another device few launches matter more, and
# all blocks have this many elements there (512 MiB).
BLOCK_ELEMENTS = 2**21
CACHE_ELEMENTS = 2**16
DEVICE_ELEMENTS = 2**26
# A product of the raw table subtracts its mean afterwards, which cancels |mean|/std digits. Beyond
# this ratio a dense table is centred explicitly (one copy) instead.
LARGEST_OFFSET = {"float32": 1e2, "float64": 1e3}
SMALLEST_SPREAD = 1e-280


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


def exceeds_rounding(spread: Array, mean: Array, n: Any) -> Array:
    """Say which columns of n entries vary, by their sums of squares about their means.

    A column whose spread is what rounding of its mean would leave does not vary, nor does one whose
    squares leave double precision.
    """
    xp = namespace_of(spread)
    rounding = n * (n * xp.finfo(xp.float64).eps * xp.abs(mean)) ** 2
    return spread > xp.clip(rounding, min=SMALLEST_SPREAD)


class DataOperator(ABC):
    """A table seen through products with its centred and scaled columns.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The table. It is never modified.
    scale : ColumnScale or its rule
        What the columns are divided by.
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
        scale: str | ColumnScale = "none",
        center: bool = True,
        statistics: ColumnStatistics | None = None,
    ) -> None:
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        self.scale, self._center = ColumnScale.of(scale), center
        self._computed: dict[Hashable, Any] = {}
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
        varies = exceeds_rounding(spread, mean, n)
        inverse_scale = xp.astype(varies, xp.float64)
        rule, variables = self.scale.rule, self.scale.variables
        if rule != "none":
            length = spread
            if variables is not None:  # one variable has the norm of one column
                total = np.bincount(variables, weights=to_numpy(xp.where(varies, spread, 0.0)))
                length = like(total[variables], spread)
            length = xp.sqrt(length / n if rule == "std" else length)
            length = xp.sqrt(length) if rule == "sqrt" else length
            inverse_scale /= xp.where(varies, length, xp.ones_like(length))
        deviation = xp.sqrt(spread / n)
        if not self._center:
            spread, mean = spread + n * mean**2, xp.zeros_like(mean)
        norms = (xp.sqrt(spread) * inverse_scale) ** 2  # 1/s^2 may overflow
        return ColumnStatistics(mean, deviation, inverse_scale, varies, norms)

    def part(self, start: int, stop: int) -> "DataOperator":
        """Return the operator of some rows, with the means and scales of the whole table."""
        part = copy(self)
        part._computed = {}
        part._X = self._X[start:stop, :]
        part.shape = (stop - start, self.shape[1])
        part.n_stored = self.n_stored * (stop - start) // max(self.shape[0], 1)
        part.first_row = self.first_row + start
        part._is_part = True
        return part

    def at_rows(self, rows: Array) -> "DataOperator":
        """Return the operator of the listed rows, with the means and scales of the whole table."""
        taken = self.part(0, 0)
        taken._X = self._X[rows] if is_sparse(self._X) else self.xp.take(self._X, rows, axis=0)
        taken.shape = (int(rows.shape[0]), self.shape[1])
        taken.n_stored = self.n_stored * taken.shape[0] // max(self.shape[0], 1)
        return taken

    def once(self, name: Hashable, compute: Callable[[], Any]) -> Any:
        """Return what ``compute`` returns, computed by the first call only."""
        if name not in self._computed:
            self._computed[name] = compute()
        return self._computed[name]

    def parts(self) -> RowParts:
        """Return the table in parts."""
        return RowParts(self)

    @property
    def n_variables(self) -> int:
        """How many variables vary: columns, unless several are one."""
        return self.scale.count(np.flatnonzero(to_numpy(self.varies)))

    @property
    def on_host(self) -> bool:
        """Whether the table lies in the memory of the processor."""
        return on_host(self.inverse_scale)

    @property
    def sparse(self) -> "SparseOperator | None":
        """The operator itself where methods should work on the stored entries of its columns."""
        return None

    # What an array library must provide -------------------------------------------------------

    @abstractmethod
    def _set_table(self, X: Any) -> None:
        """Keep the table; set ``xp``, ``device``, ``dtype`` and ``n_stored``."""

    @abstractmethod
    def _column_statistics(self) -> tuple[Array, Array]:
        """Return column means and centred sums of squares, in float64."""

    @abstractmethod
    def matmul(self, W: Array, *, live: Array | None = None) -> Array:
        """Return Z W.

        ``live`` may list the rows of W that are not zero: when they are few, only the columns of
        the table that meet them are read.
        """

    @abstractmethod
    def rmatmul(self, R: Array) -> Array:
        """Return Z' R."""

    @abstractmethod
    def columns(self, indices: Array) -> Array:
        """Return Z[:, indices], dense."""

    @abstractmethod
    def rows(self, start: int, stop: int) -> Array:
        """Return Z[start:stop], dense."""

    def _guard_offset(self, deviation: Array) -> None:  # noqa: B027  (a hook, empty by default)
        """Prepare for columns whose mean is very large against their deviation."""

    # What solvers use ------------------------------------------------------------------------

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

    def gram_columns(self, indices: Array) -> Array:
        """Return Z'Z[:, indices]."""
        return self.rmatmul(self.columns(indices))

    def row_products(self, start: int, stop: int) -> Array:
        """Return Z[start:stop] Z', dense."""
        return self.matmul(self.rows(start, stop).T).T

    def weighted_gram(self, weights: Array | None) -> Array:
        """Return Z' diag(weights) Z (d x d), weights >= 0. Ask for it only when d is small."""

        def squares() -> Iterator[Array]:
            start = 0
            for block in self.row_blocks():
                stop = start + block.shape[0]
                if weights is not None:
                    block = block * self.xp.sqrt(weights[start:stop])[:, None]
                yield self._square(block.T)
                start = stop

        return reduce(add, squares())

    def sample_gram(self, weights: Array | None = None) -> Array:
        """Return Z diag(weights) Z' (n x n), weights >= 0. Ask for it only when n is small."""
        root = None if weights is None else self.xp.sqrt(weights)
        blocks = self._column_blocks(self.block_elements)
        squares = (self._square(Z if root is None else Z * root[None, c]) for c, Z in blocks)
        return reduce(add, squares)

    def column_forms(self, A: Any) -> Array:
        """Return z_j' A z_j for every column; A symmetric, sparse, n x n, or its diagonal alone."""
        blocks = self._column_blocks(self.cache_elements)
        if is_sparse(A):
            product = sparse_product(A, self.inverse_scale)
            return self._joined([column_dots(Z, product(Z)) for _, Z in blocks])
        weights = self.xp.asarray(A, device=self.device)
        return self._joined([weights @ (Z * Z) for _, Z in blocks])

    def dense_forms(self, A: Array) -> Array:
        """Return z_j' A z_j for every column; A dense, n x n."""
        blocks = self._column_blocks(self.block_elements)
        return self._joined([column_dots(Z, A @ Z) for _, Z in blocks])

    def quadratic(self, A: sp.csr_array) -> Array:
        """Return Z'AZ (d x d), A symmetric, sparse and n x n. Ask for it only when d is small."""
        product = sparse_product(A, self.inverse_scale)
        blocks = self._column_blocks(self.block_elements)
        half = 0.5 * self._joined([self.rmatmul(product(Z)) for _, Z in blocks], axis=1)
        return half + half.T

    def _column_blocks(self, n_elements: int) -> Iterator[tuple[slice, Array]]:
        """Yield (slice, Z[:, slice]) in dense blocks of about ``n_elements``, each a new array."""
        n, d = self.shape
        for inside in gen_batches(d, max(1, n_elements // max(n, 1))):
            yield inside, self.columns(self.place(np.arange(inside.start, inside.stop)))

    def _square(self, A: Array) -> Array:
        """Return A A'."""
        return A @ A.T

    def _joined(self, blocks: Sequence[Array], *, axis: int = 0) -> Array:
        """Return blocks as one array."""
        return blocks[0] if len(blocks) == 1 else self.xp.concat(list(blocks), axis=axis)

    @property
    def product_precision(self) -> str:
        """Name of the type in which products of rows are summed."""
        return "float64"

    def centred(self) -> "DataOperator":
        """Return the operator with centred columns: distances between samples need no origin."""
        return self if self._center else type(self)(self._X, scale=self.scale)

    def column_norms(self) -> Array:
        """Return the squared norms of the columns of Z."""
        return self.statistics.norms

    def gram(self) -> Array:
        """Return Z'Z (d x d), computed once. Ask for it only when d is small."""
        return self.once("gram", lambda: self.weighted_gram(None))

    def row_norms(self) -> Array:
        """Return the squared norms of the rows of Z, computed once."""
        return self.once("row_norms", self._row_norms)

    def _row_norms(self) -> Array:
        xp = self.xp
        blocks = [xp.sum(block * block, axis=1) for block in self.row_blocks(self.cache_elements)]
        return xp.concat(blocks, axis=0)

    @property
    def block_elements(self) -> int:
        """Elements of a block of temporaries, where the table lives."""
        return BLOCK_ELEMENTS if self.on_host else DEVICE_ELEMENTS

    @property
    def cache_elements(self) -> int:
        """Elements of a block that is only read, where the table lives."""
        return CACHE_ELEMENTS if self.on_host else DEVICE_ELEMENTS

    def place(self, values: np.ndarray) -> Array:
        """Return NumPy values in the array library, and on the device, of the table."""
        return like(values, self.inverse_scale)

    def row_blocks(self, n_elements: int | None = None) -> Iterator[Array]:
        """Yield Z in dense blocks of rows of bounded size."""
        n, d = self.shape
        step = max(1, (n_elements or self.block_elements) // max(d, 1))
        for start in range(0, n, step):
            yield self.rows(start, min(start + step, n))


class RawOperator(DataOperator):
    """:class:`DataOperator` through products with the raw table, corrected for means and scales."""

    @abstractmethod
    def _dot(self, W: Array) -> Array:
        """Return X W."""

    @abstractmethod
    def _tdot(self, R: Array) -> Array:
        """Return X' R."""

    @abstractmethod
    def _dot_columns(self, indices: Array, W: Array) -> Array:
        """Return X[:, indices] W."""

    def matmul(self, W: Array, *, live: Array | None = None) -> Array:
        """Return Z W; ``live`` may list the rows of W that are not zero."""
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
