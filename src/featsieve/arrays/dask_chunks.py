"""Dask arrays of whole rows, chunk by chunk: tasks, moments of the columns, and lazy tables.

Without a cluster the same graphs run on Dask's threads.
"""

import sys
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.arrays.dense import DenseOperator
from featsieve.arrays.namespace import is_sparse
from featsieve.arrays.operator import ColumnStatistics, DataOperator
from featsieve.arrays.sparse import SparseOperator

# Results of so many parts are added by one task, and those sums again.
FAN_IN = 4
# Small chunks are worked on together: a task costs about a millisecond of the scheduler's time.
# Parts of at least so many elements, unless there are few parts anyway.
PART_ELEMENTS = 2**20
FEW_PARTS = 64
# Graphs carry arrays as large as d x c on purpose.
SETTINGS = {"distributed.admin.large-graph-warning-threshold": "1GiB"}
# Where a table carries its moments: a fit makes several operators of the same table.
MOMENTS = "_featsieve_moments"


# Tasks --------------------------------------------------------------------------------------------


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


def stacked(chunks: Sequence[Any]) -> Any:
    """Return chunks of rows as one table."""
    if len(chunks) == 1:
        return chunks[0] if is_sparse(chunks[0]) else np.asarray(chunks[0])
    if is_sparse(chunks[0]):
        return sp.csr_array(sp.vstack(chunks))
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
        tasks = [task(merged, merge, *tasks[i : i + FAN_IN]) for i in range(0, len(tasks), FAN_IN)]
    return tasks[0]


def merged(merge: Callable[[Any, Any], Any], first: Any, *others: Any) -> Any:
    """Merge some results, from left to right."""
    return reduce(merge, others, first)


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


def _settings() -> Any:
    """Return the context of our settings, where there may be a cluster."""
    import dask

    return dask.config.set(SETTINGS if "distributed" in sys.modules else {})


# One pass over the table: means, spreads, extremes, and whether all numbers are finite -----------


@dataclass(frozen=True)
class Recipe:
    """How a worker makes an operator of chunks: scaling and the statistics of the whole table."""

    scale: str
    center: bool
    statistics: ColumnStatistics

    def part(self, chunks: Sequence[Any], first_row: int = 0) -> DataOperator:
        """Return the operator of the rows in some chunks."""
        X = stacked(chunks)
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
    _, groups = grouped_chunks(X)
    n_columns = leaf(X.shape[1])
    (moments,) = compute([tree([task(block_moments, g, n_columns) for g in groups], merge)])
    return moments


def block_moments(chunks: list[Any], n_columns: int) -> Moments:
    """Return the moments of some chunks."""
    refuse_masked(*chunks)
    X = stacked(chunks)
    n, d = X.shape
    if d != n_columns:
        raise ValueError(
            f"A chunk of X has {d} columns where X says {n_columns}: give map_blocks the chunks "
            "that its function returns."
        )
    # Raw columns: a part of a table whose mean is 0 and scale 1 is left as it is.
    zeros, ones = np.zeros(d), np.ones(d)
    raw = ColumnStatistics(zeros, zeros, ones, np.ones(d, dtype=bool), zeros)
    operator = Recipe("none", False, raw).part([X])
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


def refuse_masked(*chunks: Any) -> None:
    """Raise if a chunk is a masked array, whose mask would be lost."""
    if any(isinstance(chunk, np.ma.MaskedArray) for chunk in chunks):
        raise ValueError(
            "X is a masked array: fill the masked entries first, for example with "
            "dask.array.ma.filled(X, 0.0), or leave those rows or columns out."
        )


# Tables -------------------------------------------------------------------------------------------


def gather_rows(X: Any, rows: np.ndarray | None = None) -> Any:
    """Return rows of a Dask array (sorted indices; default: all) on the host, dense or CSR.

    Meant for subsamples: what is asked for must fit into memory.
    """
    wanted, stop = [], 0
    for length, chunk in zip(X.chunks[0], X.to_delayed()[:, 0], strict=True):
        start, stop = stop, stop + length
        if rows is None:
            wanted.append(chunk)
        else:
            inside = rows[np.searchsorted(rows, start) : np.searchsorted(rows, stop)] - start
            if len(inside):
                wanted.append(task(_take_rows, chunk, inside))
    return stacked(compute(wanted))


def _take_rows(chunk: Any, rows: np.ndarray) -> Any:
    """Return some rows of a chunk."""
    return chunk[rows]
