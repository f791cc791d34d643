"""Tables of Dask: chunks of whole rows, one pass over them for every product.

Arguments and results are NumPy arrays of the caller's process: n x c, d x c, or small. The table
itself is never gathered, nor kept on the workers (persist it yourself if it fits there). Without a
cluster the same graphs run on Dask's threads.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial, reduce
from operator import getitem
from typing import Any

import array_api_compat.numpy as xnp
import numpy as np
import scipy.sparse as sp
from sklearn.utils import gen_batches

from featsieve.arrays.dense import DenseOperator
from featsieve.arrays.namespace import is_sparse
from featsieve.arrays.operator import ColumnStatistics, DataOperator
from featsieve.arrays.row_parts import RowParts, Rows, added, joined, to_host
from featsieve.arrays.scale import ColumnScale
from featsieve.arrays.sparse import SparseOperator

# Results of so many parts are added by one task, and those sums again.
FAN_IN = 4
# Small chunks are worked on together: a task costs about a millisecond of the scheduler's time.
# Parts of at least so many elements, unless there are few parts anyway.
PART_ELEMENTS = 2**20
FEW_PARTS = 64
# Blocks of columns that are gathered, and of products of rows, have at most so many elements
# (256 MiB): every block costs a pass.
GATHERED_ELEMENTS = 2**25
# Up to so many samples the products of all pairs of rows are computed at once, and kept (200 MB).
LARGEST_SAMPLE_GRAM = 5000
# Graphs carry arrays as large as d x c on purpose.
SETTINGS = {"distributed.admin.large-graph-warning-threshold": "1GiB"}
# Where a table carries its moments: a fit makes several operators of the same table.
MOMENTS = "_featsieve_moments"


# Tasks --------------------------------------------------------------------------------------------


def row_chunks(X: Any) -> tuple[list[tuple[int, int]], list[Any]]:
    """Return the rows and the chunk of every part of a Dask array; small chunks are joined."""
    n, d = X.shape
    enough = int(min(PART_ELEMENTS, n * d / FEW_PARTS) // d)
    if max(X.chunks[0]) < enough:
        X = X.rechunk({0: enough})
    stops = np.cumsum(X.chunks[0]).tolist()
    parts = zip(X.chunks[0], stops, X.to_delayed()[:, 0], strict=True)
    filled = [part for part in parts if part[0]]  # a filter may have left nothing of one
    return [(stop - length, stop) for length, stop, _ in filled], [chunk for *_, chunk in filled]


def stacked(chunks: Sequence[Any]) -> Any:
    """Return chunks of rows as one table."""
    if is_sparse(chunks[0]):
        return sp.csr_array(sp.vstack(chunks)) if len(chunks) > 1 else chunks[0]
    return np.concatenate(chunks)


def task(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the call of a function as a task."""
    from dask import delayed

    return delayed(function, pure=False)(*arguments)


def leaf(value: Any) -> Any:
    """Return a value as a task of its own, so that tasks that share it send it once."""
    from dask import delayed

    return delayed(value, pure=False, traverse=False)


def tree(tasks: Sequence[Any], merge: Callable[[Any, Any], Any]) -> Any:
    """Return the task that merges the results of all tasks, a few at a time.

    The shape of the tree depends on the number of tasks alone: sums are the same to the last digit,
    wherever and in whatever order the tasks run.
    """
    while len(tasks) > 1:
        groups = [tasks[i : i + FAN_IN] for i in range(0, len(tasks), FAN_IN)]
        tasks = [task(reduce, merge, group) for group in groups]
    return tasks[0]


def compute(tasks: Sequence[Any], *, kept: bool = False) -> Sequence[Any]:
    """Return what tasks result in, on the host (``kept``: as tasks, where it was computed)."""
    import dask

    with dask.config.set(SETTINGS if "distributed" in sys.modules else {}):
        return dask.persist(*tasks) if kept else dask.compute(*tasks)


# One pass over the table: means, spreads, extremes, and whether all numbers are finite -----------


@dataclass(frozen=True)
class Recipe:
    """How a worker makes an operator of chunks: scaling and the statistics of the whole table."""

    scale: str | ColumnScale
    center: bool
    statistics: ColumnStatistics

    def part(self, chunk: Any, first_row: int = 0) -> DataOperator:
        """Return the operator of the rows in a chunk."""
        X = chunk if is_sparse(chunk) else np.asarray(chunk)
        kind = SparseOperator if is_sparse(X) else DenseOperator
        part = kind(X, scale=self.scale, center=self.center, statistics=self.statistics)
        part.first_row = first_row
        return part


@dataclass(frozen=True)
class Moments:
    """What one pass tells about rows of a table; arrays have one entry per column."""

    n_rows: int
    n_stored: int
    mean: np.ndarray
    spread: np.ndarray
    smallest: np.ndarray
    largest: np.ndarray  # max_i |x_ij|; 1 for whole numbers, which are in range whatever they are
    n_bad: np.ndarray
    has_nan: bool


def measured(X: Any) -> Any:
    """Return the same Dask array as a new object that carries its moments, for one call of ours.

    The object ends with the call: a later one measures anew what may have changed meanwhile.
    """
    if MOMENTS in vars(X):  # we are inside of a call that has measured it
        return X
    carrier = copy(X)
    vars(carrier)[MOMENTS] = moments_of(X)
    return carrier


def moments_of(X: Any) -> Moments:
    """Return the moments of a Dask array: those it carries, or else by a pass over the table."""
    if MOMENTS in vars(X):
        return vars(X)[MOMENTS]
    _, chunks = row_chunks(X)
    n_columns = leaf(X.shape[1])
    (moments,) = compute([tree([task(block_moments, chunk, n_columns) for chunk in chunks], merge)])
    return moments


def block_moments(X: Any, n_columns: int) -> Moments:
    """Return the moments of a chunk."""
    refuse_masked(X)
    n, d = X.shape
    if d != n_columns:
        raise ValueError(
            f"A chunk of X has {d} columns where X says {n_columns}: give map_blocks the chunks "
            "that its function returns."
        )
    # Raw columns: a part of a table whose mean is 0 and scale 1 is left as it is.
    zeros, ones = np.zeros(d), np.ones(d)
    raw = ColumnStatistics(zeros, zeros, ones, np.ones(d, dtype=bool), zeros)
    operator = Recipe("none", False, raw).part(X)
    with np.errstate(invalid="ignore", over="ignore"):
        mean, spread = operator._column_statistics()
        finite = np.isfinite(mean) & np.isfinite(spread)
    smallest = _extremes(X.min(axis=0))
    largest = np.maximum(_extremes(X.max(axis=0)), -smallest) if X.dtype.kind == "f" else ones
    n_bad, has_nan = np.zeros(d, dtype=np.int64), False
    if not finite.all():
        values = X.tocoo().data if is_sparse(X) else X
        bad, has_nan = ~np.isfinite(values), bool(np.isnan(values).any())
        n_bad = np.bincount(X.tocoo().col[bad], minlength=d) if is_sparse(X) else bad.sum(axis=0)
    return Moments(n, operator.n_stored, mean, spread, smallest, largest, n_bad, has_nan)


def _extremes(found: Any) -> np.ndarray:
    """Return what a table says about its columns as a plain array of float64."""
    return np.asarray(found.todense() if is_sparse(found) else found, dtype=np.float64).ravel()


def merge(one: Moments, other: Moments) -> Moments:
    """Return the moments of two tables, one below the other."""
    n = one.n_rows + other.n_rows
    with np.errstate(invalid="ignore", over="ignore"):
        gap = other.mean - one.mean
        mean = one.mean + gap * (other.n_rows / n)
        spread = one.spread + other.spread + gap**2 * (one.n_rows * other.n_rows / n)
    return Moments(
        n,
        one.n_stored + other.n_stored,
        mean,
        spread,
        np.minimum(one.smallest, other.smallest),
        np.maximum(one.largest, other.largest),
        one.n_bad + other.n_bad,
        one.has_nan or other.has_nan,
    )


def refuse_masked(chunk: Any) -> None:
    """Raise if a chunk is a masked array, whose mask would be lost."""
    if isinstance(chunk, np.ma.MaskedArray):
        raise ValueError(
            "X is a masked array: fill the masked entries first, for example with "
            "dask.array.ma.filled(X, 0.0), or leave those rows or columns out."
        )


# Tables -------------------------------------------------------------------------------------------


def gather_rows(X: Any, rows: np.ndarray | None = None) -> Any:
    """Return rows of a Dask array (sorted indices; default: all) on the host, dense or CSR."""
    wanted, stop = [], 0
    for length, chunk in zip(X.chunks[0], X.to_delayed()[:, 0], strict=True):
        start, stop = stop, stop + length
        if rows is None:
            wanted.append(chunk)
        else:
            inside = rows[np.searchsorted(rows, start) : np.searchsorted(rows, stop)] - start
            if len(inside):
                wanted.append(task(getitem, chunk, inside))
    return stacked(compute(wanted))


class DaskParts(RowParts):
    """The parts of a Dask array: chunks of rows on the workers, one pass over them per product.

    A part is built on a worker from its chunks, used, and forgotten: what is kept is what a
    function of the part returned (n x c numbers in all), never the chunks.
    """

    def __init__(self, X: Any, recipe: Recipe) -> None:
        self.bounds, self._chunks = row_chunks(X)
        self._recipe = leaf(recipe)
        self._n_columns = X.shape[1]

    def calls(
        self,
        function: Callable[..., Any],
        *states: Rows,
        shared: Sequence[Any] = (),
        table: bool = True,
    ) -> list[Any]:
        """Return the tasks function(part, *blocks, *shared); nothing is computed yet."""
        common = [leaf(value) for value in shared]
        no_rows = np.empty((0, self._n_columns))
        chunks = self._chunks if table else [no_rows] * len(self._chunks)
        return [
            task(on_part, function, self._recipe, chunk, first_row, *blocks, *common)
            for (first_row, _), chunk, *blocks in zip(self.bounds, chunks, *states, strict=True)
        ]

    def map(self, function: Callable[..., Any], *states: Rows, **options: Any) -> Rows:
        """Return the results of :meth:`calls`, kept on the workers."""
        return compute(self.calls(function, *states, **options), kept=True)

    def total(self, function: Callable[..., Any], *states: Rows, **options: Any) -> Any:
        """Return the sum of the results of all parts, added up in a tree on the workers."""
        (sums,) = compute([tree(self.calls(function, *states, **options), added)])
        return to_host(sums)

    def gather(self, rows: Rows) -> Any:
        """Return the blocks of a :meth:`map` as one NumPy array (or tuple of such)."""
        return joined(compute(rows))

    def scatter(self, values: np.ndarray) -> Rows:
        """Return an array with one row per sample as blocks beside the parts."""
        blocks = [leaf(values[start:stop]) for start, stop in self.bounds]
        return compute(blocks, kept=True)


def on_part(
    function: Callable[..., Any], recipe: Recipe, chunk: Any, first_row: int, *rest: Any
) -> Any:
    """Build a part, and return what the function makes of it: this runs on the workers."""
    return function(recipe.part(chunk, first_row), *rest)


def call(method: str, part: DataOperator, *arguments: Any) -> Any:
    """Call a method of a part by its name: this can be sent to a worker."""
    return getattr(part, method)(*arguments)


def columns_transposed(part: DataOperator, R: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return Z_S'R of a part."""
    return part.columns_rmatmul(indices, R)


class DaskOperator(DataOperator):
    """:class:`DataOperator` for a dask.array with one chunk along the columns.

    Chunks may be NumPy arrays or scipy.sparse matrices. Products that add up over the samples
    (``rmatmul``, ``gram``, ...) are summed in a tree on the workers; products with one row per
    sample come back as NumPy arrays. What needs rows of several chunks at once costs more:
    ``row_products`` takes a pass for each block of rows, and ``sample_gram``, ``column_forms``
    and ``quadratic`` with a graph take the table through the caller's process,
    some columns at a time.
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
        return self.once("parts", lambda: DaskParts(self._X, self._recipe))

    def at_rows(self, rows: np.ndarray) -> DataOperator:
        """Return the operator of the listed rows, which come to this process."""
        order = np.argsort(rows, kind="stable")
        taken = gather_rows(self._X, rows[order])
        return self._recipe.part(taken[np.argsort(order, kind="stable")], self.first_row)

    @property
    def _recipe(self) -> Recipe:
        return Recipe(self.scale, self._center, self.statistics)

    # Products that stay in their chunk ----------------------------------------------------------

    def matmul(self, W: np.ndarray, *, live: np.ndarray | None = None) -> np.ndarray:
        """Return Z W; ``live`` may list the rows of W that are not zero."""
        if live is not None and 4 * len(live) <= len(W):
            return self.columns_matmul(live, W[live])
        return self._gathered("matmul", W)

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        """Return Z' R."""
        return self.parts().total(partial(call, "rmatmul"), self._split(R))

    def columns_gram(self, indices: np.ndarray) -> np.ndarray:
        """Return Z[:, indices]' Z[:, indices]."""
        return self.parts().total(partial(call, "columns_gram"), shared=(indices,))

    def gram_columns(self, indices: np.ndarray) -> np.ndarray:
        """Return Z'Z[:, indices]."""
        return self.parts().total(partial(call, "gram_columns"), shared=(indices,))

    def columns_matmul(self, indices: np.ndarray, W: np.ndarray) -> np.ndarray:
        """Return Z[:, indices] W."""
        return self._gathered("columns_matmul", indices, W)

    def columns_rmatmul(self, indices: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Return Z[:, indices]' R."""
        return self.parts().total(columns_transposed, self._split(R), shared=(indices,))

    def columns(self, indices: np.ndarray) -> np.ndarray:
        """Return Z[:, indices] in float64."""
        return self._gathered("columns", np.asarray(indices))

    def rows(self, start: int, stop: int) -> np.ndarray:
        """Return Z[start:stop] in float64."""
        some = gather_rows(self._X[start:stop, :])
        return self._recipe.part(some).rows(0, stop - start)

    def _row_norms(self) -> np.ndarray:
        return self._gathered("row_norms")

    def weighted_gram(self, weights: np.ndarray | None) -> np.ndarray:
        """Return Z' diag(weights) Z, summed over the chunks."""
        each = [None] * len(self.parts().bounds) if weights is None else self._split(weights)
        return self.parts().total(partial(call, "weighted_gram"), each)

    # Products that need rows of several chunks --------------------------------------------------

    def row_products(self, start: int, stop: int) -> np.ndarray:
        """Return Z[start:stop] Z'.

        All products at once where there are few samples; else those of as many rows as may be, as
        the next rows will be asked for.
        """
        n = self.shape[0]
        if n <= LARGEST_SAMPLE_GRAM:
            return self.once("sample_gram", super().sample_gram)[start:stop].copy()
        first, block = self._computed.get("row_products", (0, np.zeros((0, 0))))
        if not first <= start < stop <= first + len(block):
            last = max(stop, min(start + GATHERED_ELEMENTS // n, n))
            first, block = start, self.matmul(self.rows(start, last).T).T
            self._computed["row_products"] = first, block
        return block[start - first : stop - first].copy()

    @property
    def product_precision(self) -> str:
        """Name of the type in which products of rows are summed."""
        single = self.dtype == np.float32 and self.shape[0] > LARGEST_SAMPLE_GRAM
        return "float32" if single else "float64"

    def sample_gram(self, weights: np.ndarray | None = None) -> np.ndarray:
        """Return Z diag(weights) Z' (n x n), for some columns at a time."""
        compute = super().sample_gram
        if weights is None and self.shape[0] <= LARGEST_SAMPLE_GRAM:
            return self.once("sample_gram", compute).copy()
        return compute(weights)

    def column_forms(self, A: Any) -> np.ndarray:
        """Return z_j' A z_j for every column."""
        if is_sparse(A):
            return super().column_forms(A)
        return self.parts().total(partial(call, "column_forms"), self._split(np.asarray(A)))

    def _column_blocks(self, n_elements: int) -> Iterator[tuple[slice, np.ndarray]]:
        # The table passes through this process, piece by piece: large pieces, few passes.
        n, d = self.shape
        for inside in gen_batches(d, max(1, GATHERED_ELEMENTS // max(n, 1))):
            Z = self.columns(np.arange(inside.start, inside.stop))
            yield inside, np.require(Z, requirements=["C", "W"])

    def _gathered(self, method: str, *arguments: Any) -> np.ndarray:
        """Return the blocks of rows that a method of the parts returns, as one array."""
        return joined(compute(self.parts().calls(partial(call, method), shared=arguments)))

    def _split(self, values: np.ndarray) -> list[np.ndarray]:
        """Return the rows of an array that belong to every part."""
        return [values[start:stop] for start, stop in self.parts().bounds]
