"""The data operator of a Dask array: one pass over the chunks for every product.

Arguments and results are NumPy arrays of the caller's process: n x c, d x c, or small. The table
itself is never gathered, nor kept on the workers (persist it yourself if it fits there).
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import array_api_compat.numpy as xnp
import numpy as np
import scipy.sparse as sp

from featsieve.arrays.dask_chunks import (
    Recipe,
    compute,
    gather_rows,
    grouped_chunks,
    leaf,
    moments_of,
    persist,
    task,
    tree,
)
from featsieve.arrays.namespace import column_dots
from featsieve.arrays.operator import DataOperator
from featsieve.arrays.row_parts import RowParts, Rows, added, joined

# Columns that are asked for again and again are kept on the workers if they take at most this share
# of their memory (of so many bytes, where there are no workers).
KEPT_SHARE = 0.2
HOST_MEMORY = 2**33
# Blocks of columns that are gathered, and of products of rows, have at most so many elements
# (256 MiB): every block costs a pass.
GATHERED_ELEMENTS = 2**25
# Up to so many samples the products of all pairs of rows are computed at once, and kept (200 MB).
LARGEST_SAMPLE_GRAM = 5000


class Method:
    """The call of a method of a part, by its name, as a function that can be sent to a worker."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, part: DataOperator, *arguments: Any) -> Any:
        """Call the method."""
        return getattr(part, self.name)(*arguments)


class DaskParts(RowParts):
    """The parts of a Dask array: chunks of rows on the workers, one pass over them per product.

    A part is built on a worker from its chunks, used, and forgotten: what is kept is what a
    function of the part returned (n x c numbers in all), never the chunks.
    """

    def __init__(self, X: Any, recipe: Recipe) -> None:
        self.bounds, self._chunks = grouped_chunks(X)
        self._recipe = leaf(recipe)
        self._n_columns = X.shape[1]
        self._itemsize = 8 if X.dtype == np.float64 else 4

    def tasks(
        self,
        function: Callable[..., Any],
        *states: Rows,
        shared: Sequence[Any] = (),
        chosen: Iterable[int] | None = None,
        table: bool = True,
    ) -> list[Any]:
        """Return the tasks function(part, *blocks, *shared), of all parts or of chosen ones.

        ``states`` have one block for each of these. Nothing is computed yet. Without ``table`` the
        chunks are not read: the parts have no rows.
        """
        plain = (type(None), bool, int, float, str)
        common = [value if isinstance(value, plain) else leaf(value) for value in shared]
        chosen = range(len(self.bounds)) if chosen is None else chosen
        no_rows = [np.empty((0, self._n_columns))]
        chunks = self._chunks if table else [no_rows] * len(self._chunks)
        return [
            task(on_part, function, self._recipe, chunks[i], self.bounds[i][0], *blocks, *common)
            for i, *blocks in zip(chosen, *states, strict=True)
        ]

    def gather(self, rows: Rows) -> Any:
        """Return the blocks of a :meth:`map` as one NumPy array (or tuple of such)."""
        return joined(compute(rows))

    def scatter(self, values: np.ndarray) -> Rows:
        """Return an array with one row per sample as blocks beside the parts."""
        return persist([leaf(values[start:stop]) for start, stop in self.bounds])

    def keep_columns(self, indices: np.ndarray) -> Rows:
        """Return Z[:, indices] as blocks beside the parts, if they take little of the memory.

        Else None for every part: the columns are read again when they are needed.
        """
        n = self.bounds[-1][1]
        if n * len(indices) * self._itemsize > KEPT_SHARE * cluster_memory():
            return [None] * len(self.bounds)
        return super().keep_columns(indices)

    def _calls(
        self, function: Callable[..., Any], states: Sequence[Rows], *, shared: Any, table: bool
    ) -> list[Any]:
        return self.tasks(function, *states, shared=shared, table=table)

    def _keep(self, calls: Iterable[Any]) -> Rows:
        return persist(list(calls))

    def _sum(self, calls: Iterable[Any]) -> Any:
        (sums,) = compute([tree(list(calls), added)])
        return sums


def on_part(
    function: Callable[..., Any], recipe: Recipe, chunks: Sequence[Any], first_row: int, *rest: Any
) -> Any:
    """Build a part, and return what the function makes of it: this runs on the workers."""
    return function(recipe.part(chunks, first_row), *rest)


def columns_transposed(part: DataOperator, R: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return Z_S'R of a part."""
    return part.columns_rmatmul(indices, R)


def rows_inside(part: DataOperator, inside: tuple[int, int]) -> np.ndarray:
    """Return a range of the rows of a part."""
    return part.rows(*inside)


def cluster_memory() -> float:
    """Return the memory of all workers in bytes; an assumption, where nobody knows."""
    if "distributed" not in sys.modules:
        return HOST_MEMORY
    import distributed

    try:
        workers = distributed.get_client().scheduler_info(n_workers=-1)["workers"].values()
    except ValueError:  # there is no cluster
        return HOST_MEMORY
    return float(sum(worker["memory_limit"] for worker in workers)) or HOST_MEMORY


class DaskOperator(DataOperator):
    """:class:`DataOperator` for a dask.array with one chunk along the columns.

    Chunks may be NumPy arrays or scipy.sparse matrices. Products that add up over the samples
    (``rmatmul``, ``gram``, ...) are summed in a tree on the workers; products with one row per
    sample come back as NumPy arrays. What needs rows of several chunks at once costs more:
    ``row_products`` takes a pass for each block of rows, and ``sample_gram``, ``column_forms``,
    ``graph_forms`` and ``quadratic`` with a graph take the table through the caller's process,
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
            return self.columns_matmul(live, W[live])
        return self._gathered("matmul", W)

    def rmatmul(self, R: np.ndarray) -> np.ndarray:
        """Return Z' R."""
        return self._parts.total(Method("rmatmul"), self._split(R))

    def columns_gram(self, indices: np.ndarray) -> np.ndarray:
        """Return Z[:, indices]' Z[:, indices]."""
        return self._parts.total(Method("columns_gram"), shared=(indices,))

    def columns_matmul(self, indices: np.ndarray, W: np.ndarray) -> np.ndarray:
        """Return Z[:, indices] W."""
        return self._gathered("columns_matmul", indices, W)

    def columns_rmatmul(self, indices: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Return Z[:, indices]' R."""
        return self._parts.total(columns_transposed, self._split(R), shared=(indices,))

    def columns(self, indices: np.ndarray) -> np.ndarray:
        """Return Z[:, indices] in float64."""
        return self._gathered("columns", np.asarray(indices))

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
        return joined(compute(self._parts.tasks(rows_inside, ranges, chosen=chosen)))

    def _row_norms(self) -> np.ndarray:
        # Not row_norms(): Python 3.11 locks a cached property of all objects while one is computed.
        return self._gathered("_row_norms")

    def weighted_gram(self, weights: np.ndarray | None) -> np.ndarray:
        """Return Z' diag(weights) Z, summed over the chunks."""
        each = [None] * len(self._parts.bounds) if weights is None else self._split(weights)
        return self._parts.total(Method("weighted_gram"), each)

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
        """Return Z diag(weights) Z' (n x n), for some columns at a time."""
        if weights is None and self.shape[0] <= LARGEST_SAMPLE_GRAM:
            return self._cached_sample_gram.copy()
        return self._sample_gram(weights)

    def _sample_gram(self, weights: np.ndarray | None) -> np.ndarray:
        total, start = np.zeros((self.shape[0], self.shape[0])), 0
        for Z in self._column_blocks():
            stop = start + Z.shape[1]
            if weights is not None:
                Z = Z * np.sqrt(weights[start:stop])
            total += Z @ Z.T
            start = stop
        return total

    def column_forms(self, A: Any) -> np.ndarray:
        """Return z_j' A z_j for every column."""
        if not sp.issparse(A):
            return self._parts.total(Method("column_forms"), self._split(np.asarray(A)))
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

    def _gathered(self, method: str, *arguments: Any) -> np.ndarray:
        """Return the blocks of rows that a method of the parts returns, as one array."""
        return joined(compute(self._parts.tasks(Method(method), shared=arguments)))

    def _split(self, values: np.ndarray) -> list[np.ndarray]:
        """Return the rows of an array that belong to every part."""
        return [values[start:stop] for start, stop in self._parts.bounds]
