"""The data operator of a Dask array: one pass over the chunks for every product.

Arguments and results are NumPy arrays of the caller's process: n x c, d x c, or small. The table
itself is never gathered, nor kept on the workers (persist it yourself if it fits there).
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import array_api_compat.numpy as xnp
import numpy as np
from sklearn.utils import gen_batches

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
from featsieve.arrays.namespace import is_sparse
from featsieve.arrays.operator import DataOperator
from featsieve.arrays.row_parts import RowParts, Rows, added, joined, to_host

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

    def calls(
        self,
        function: Callable[..., Any],
        *states: Rows,
        shared: Sequence[Any] = (),
        table: bool = True,
    ) -> list[Any]:
        """Return the tasks function(part, *blocks, *shared); nothing is computed yet."""
        plain = (type(None), bool, int, float, str)
        common = [value if isinstance(value, plain) else leaf(value) for value in shared]
        no_rows = [np.empty((0, self._n_columns))]
        chunks = self._chunks if table else [no_rows] * len(self._chunks)
        return [
            task(on_part, function, self._recipe, group, first_row, *blocks, *common)
            for (first_row, _), group, *blocks in zip(self.bounds, chunks, *states, strict=True)
        ]

    def map(self, function: Callable[..., Any], *states: Rows, **options: Any) -> Rows:
        """Return the results of :meth:`calls`, kept on the workers."""
        return persist(self.calls(function, *states, **options))

    def total(self, function: Callable[..., Any], *states: Rows, **options: Any) -> Any:
        """Return the sum of the results of all parts, added up in a tree on the workers."""
        (sums,) = compute([tree(self.calls(function, *states, **options), added)])
        return to_host(sums)

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


def on_part(
    function: Callable[..., Any], recipe: Recipe, chunks: Sequence[Any], first_row: int, *rest: Any
) -> Any:
    """Build a part, and return what the function makes of it: this runs on the workers."""
    return function(recipe.part(chunks, first_row), *rest)


def columns_transposed(part: DataOperator, R: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return Z_S'R of a part."""
    return part.columns_rmatmul(indices, R)


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
        return self._once("parts", lambda: DaskParts(self._X, self._recipe))

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
        return self.parts().total(Method("rmatmul"), self._split(R))

    def columns_gram(self, indices: np.ndarray) -> np.ndarray:
        """Return Z[:, indices]' Z[:, indices]."""
        return self.parts().total(Method("columns_gram"), shared=(indices,))

    def gram_columns(self, indices: np.ndarray) -> np.ndarray:
        """Return Z'Z[:, indices]."""
        return self.parts().total(Method("gram_columns"), shared=(indices,))

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
        return self._recipe.part([some]).rows(0, stop - start)

    def _row_norms(self) -> np.ndarray:
        return self._gathered("row_norms")

    def weighted_gram(self, weights: np.ndarray | None) -> np.ndarray:
        """Return Z' diag(weights) Z, summed over the chunks."""
        each = [None] * len(self.parts().bounds) if weights is None else self._split(weights)
        return self.parts().total(Method("weighted_gram"), each)

    # Products that need rows of several chunks --------------------------------------------------

    def row_products(self, start: int, stop: int) -> np.ndarray:
        """Return Z[start:stop] Z'.

        All products at once where there are few samples; else those of as many rows as may be, as
        the next rows will be asked for.
        """
        n = self.shape[0]
        if n <= LARGEST_SAMPLE_GRAM:
            return self._once("sample_gram", super().sample_gram)[start:stop].copy()
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
            return self._once("sample_gram", compute).copy()
        return compute(weights)

    def column_forms(self, A: Any) -> np.ndarray:
        """Return z_j' A z_j for every column."""
        if is_sparse(A):
            return super().column_forms(A)
        return self.parts().total(Method("column_forms"), self._split(np.asarray(A)))

    def _column_blocks(
        self, n_elements: int, *, by_rows: bool = False
    ) -> Iterator[tuple[slice, np.ndarray]]:
        # The table passes through this process, piece by piece: large pieces, few passes.
        n, d = self.shape
        for inside in gen_batches(d, max(1, GATHERED_ELEMENTS // max(n, 1))):
            Z = self.columns(np.arange(inside.start, inside.stop))
            yield inside, np.require(Z, requirements=["C", "W"])

    # Shorthands ----------------------------------------------------------------------------------

    def _gathered(self, method: str, *arguments: Any) -> np.ndarray:
        """Return the blocks of rows that a method of the parts returns, as one array."""
        return joined(compute(self.parts().calls(Method(method), shared=arguments)))

    def _split(self, values: np.ndarray) -> list[np.ndarray]:
        """Return the rows of an array that belong to every part."""
        return [values[start:stop] for start, stop in self.parts().bounds]
