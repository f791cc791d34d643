"""The parts of a Dask array: chunks of rows on the workers, one pass over them per product.

A part is built on a worker from its chunk, used, and forgotten: what is kept is what a function of
the part returned (n x c numbers in all), never the chunk. Without a cluster the same graphs run on
Dask's threads.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.arrays.namespace import is_sparse
from featsieve.arrays.operator import ColumnStatistics, DataOperator, DenseOperator
from featsieve.arrays.row_parts import Rows, added, columns_of, joined, to_host
from featsieve.arrays.sparse import SparseOperator

# Results of so many parts are added by one task, and those sums again.
FAN_IN = 4
# Small chunks are worked on together: a task costs about a millisecond of the scheduler's time.
# Parts of at least so many elements, unless there are few parts anyway.
PART_ELEMENTS = 2**20
FEW_PARTS = 64
# Columns that are asked for again and again are kept on the workers if they take at most this share
# of their memory (of so many bytes, where there are no workers).
KEPT_SHARE = 0.2
HOST_MEMORY = 2**33
# What is sent with a graph (products are as large as d x c) is meant to be.
SETTINGS = {"distributed.admin.large-graph-warning-threshold": "1GiB"}


@dataclass(frozen=True)
class Recipe:
    """How a worker makes a part: scaling and the statistics of the whole table."""

    scale: str
    center: bool
    statistics: ColumnStatistics

    def part(self, chunks: Sequence[Any], first_row: int) -> DataOperator:
        """Return the operator of the rows in some chunks."""
        X = stacked(chunks)
        kind = SparseOperator if is_sparse(X) else DenseOperator
        part = kind(X, scale=self.scale, center=self.center, statistics=self.statistics)
        part.first_row = first_row
        return part


class DaskParts:
    """:class:`~featsieve.arrays.row_parts.RowParts` of a Dask array with one chunk per row."""

    def __init__(self, X: Any, recipe: Recipe) -> None:
        self.bounds, self._chunks = grouped_chunks(X)
        self._recipe = leaf(recipe)
        self._n_columns = X.shape[1]
        self._itemsize = 8 if X.dtype == np.float64 else 4

    def map(
        self,
        function: Callable[..., Any],
        *states: Rows,
        shared: Sequence[Any] = (),
        table: bool = True,
    ) -> Rows:
        """Return function(part, *blocks, *shared) of every part, kept on the workers."""
        return persist(self.tasks(function, *states, shared=shared, table=table))

    def total(
        self,
        function: Callable[..., tuple],
        *states: Rows,
        shared: Sequence[Any] = (),
        table: bool = True,
    ) -> tuple:
        """Return the sum over the parts of the tuples that the function returns, on the host."""
        tasks = self.tasks(function, *states, shared=shared, table=table)
        (sums,) = compute([tree(tasks, added)])
        return tuple(to_host(value) for value in sums)

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
        return self.map(columns_of, shared=(indices,))

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
        from dask import delayed

        run = delayed(on_part, pure=False)
        common = [_one_task(value) for value in shared]
        chosen = range(len(self.bounds)) if chosen is None else chosen
        no_rows = [np.empty((0, self._n_columns))]
        chunks = self._chunks if table else [no_rows] * len(self._chunks)
        return [
            run(function, self._recipe, chunks[i], self.bounds[i][0], *blocks, *common)
            for i, *blocks in zip(chosen, *states, strict=True)
        ]

    def pair_tasks(
        self, function: Callable[..., Any], *, shared: Sequence[Any] = ()
    ) -> dict[tuple[int, int], Any]:
        """Return the tasks function(part a, part b, *shared) for all a <= b."""
        from dask import delayed

        run = delayed(on_pair, pure=False)
        common = [_one_task(value) for value in shared]
        n_parts = len(self.bounds)
        return {
            (a, b): run(function, self._recipe, self._chunks[a], self._chunks[b], *common)
            for a in range(n_parts)
            for b in range(a, n_parts)
        }


# What runs on the workers ----------------------------------------------------------------------


def on_part(
    function: Callable[..., Any], recipe: Recipe, chunks: Sequence[Any], first_row: int, *rest: Any
) -> Any:
    """Build a part, and return what the function makes of it."""
    return function(recipe.part(chunks, first_row), *rest)


def on_pair(
    function: Callable[..., Any],
    recipe: Recipe,
    chunks: Sequence[Any],
    others: Sequence[Any],
    *rest: Any,
) -> Any:
    """Build two parts, and return what the function makes of them."""
    return function(recipe.part(chunks, 0), recipe.part(others, 0), *rest)


def stacked(chunks: Sequence[Any]) -> Any:
    """Return chunks of rows as one table."""
    if len(chunks) == 1:
        chunk = chunks[0]
        return chunk if is_sparse(chunk) else np.asarray(chunk)
    if is_sparse(chunks[0]):
        return sp.csr_array(sp.vstack(chunks))
    return np.concatenate(chunks)


# Graphs ----------------------------------------------------------------------------------------


def grouped_chunks(X: Any) -> tuple[list[tuple[int, int]], list[list[Any]]]:
    """Return the rows and the chunks of every part of a Dask array; small chunks are joined."""
    n, d = X.shape
    enough = min(PART_ELEMENTS, n * d / FEW_PARTS)
    bounds: list[tuple[int, int]] = []
    groups: list[list[Any]] = []
    stop = 0
    full = True
    for length, chunk in zip(X.chunks[0], X.to_delayed()[:, 0], strict=True):
        if length == 0:  # a filter has left nothing of it
            continue
        start, stop = stop, stop + length
        if full:
            bounds.append((start, stop))
            groups.append([chunk])
        else:
            bounds[-1] = (bounds[-1][0], stop)
            groups[-1].append(chunk)
        full = (stop - bounds[-1][0]) * d >= enough
    return bounds, groups


def tree(tasks: Sequence[Any], merge: Callable[[Any, Any], Any]) -> Any:
    """Return the task that merges the results of all tasks, a few at a time.

    The shape of the tree depends on the number of tasks alone: sums are the same to the last digit,
    wherever and in whatever order the tasks run.
    """
    from dask import delayed

    run = delayed(merged, pure=False)
    while len(tasks) > 1:
        tasks = [run(merge, *tasks[i : i + FAN_IN]) for i in range(0, len(tasks), FAN_IN)]
    return tasks[0]


def merged(merge: Callable[[Any, Any], Any], first: Any, *others: Any) -> Any:
    """Merge some results, from left to right."""
    for other in others:
        first = merge(first, other)
    return first


def leaf(value: Any) -> Any:
    """Return a value as a task of its own, so that tasks that share it send it once."""
    from dask import delayed

    return delayed(value, pure=False, traverse=False)


def compute(tasks: Sequence[Any]) -> Sequence[Any]:
    """Return the results of tasks, on the host; the cluster of the present client runs them."""
    import dask

    with _settings():
        return dask.compute(*tasks)


def persist(tasks: Sequence[Any]) -> list[Any]:
    """Start tasks, and return them with their results kept where they were computed."""
    import dask

    with _settings():
        return list(dask.persist(*tasks))


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


def _settings() -> Any:
    """Return the context of our settings, where there may be a cluster."""
    import dask

    return dask.config.set(SETTINGS if "distributed" in sys.modules else {})


def _one_task(value: Any) -> Any:
    """Return a value that many tasks share as a task of its own, unless it is a mere number."""
    return value if value is None or isinstance(value, (bool, int, float, str)) else leaf(value)
