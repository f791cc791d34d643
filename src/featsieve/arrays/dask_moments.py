"""One pass over a Dask array: means, spreads, minima, and whether all numbers are finite."""

from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.arrays.dask_parts import compute, grouped_chunks, leaf, stacked, tree
from featsieve.arrays.namespace import is_sparse
from featsieve.arrays.operator import ColumnStatistics, DenseOperator
from featsieve.arrays.sparse import SparseOperator

# Where a table carries its moments: a fit makes several operators of the same table.
MOMENTS = "_featsieve_moments"


@dataclass(frozen=True)
class Moments:
    """What one pass tells about rows of a table; arrays have one entry per column."""

    n_rows: int
    n_stored: int
    mean: np.ndarray
    spread: np.ndarray
    smallest: np.ndarray
    largest: np.ndarray
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
    from dask import delayed

    _, groups = grouped_chunks(X)
    run = delayed(block_moments, pure=False)
    n_columns = leaf(X.shape[1])
    (moments,) = compute([tree([run(group, n_columns) for group in groups], merge)])
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
    kind = SparseOperator if is_sparse(X) else DenseOperator
    operator = kind(X, center=False, statistics=raw)
    with np.errstate(invalid="ignore", over="ignore"):
        mean, spread = operator._column_statistics()
        finite = np.isfinite(mean) & np.isfinite(spread)
    n_bad, has_nan = np.zeros(d, dtype=np.int64), False
    if is_sparse(X):
        smallest = np.asarray(X.min(axis=0).todense(), dtype=np.float64).ravel()
        if not finite.all():
            table = X.tocoo()
            bad = ~np.isfinite(table.data)
            n_bad = np.bincount(table.col[bad], minlength=d)
            has_nan = bool(np.isnan(table.data).any())
    else:
        smallest = X.min(axis=0).astype(np.float64)
        if not finite.all():
            n_bad = np.count_nonzero(~np.isfinite(X), axis=0)
            has_nan = bool(np.isnan(X).any())
    largest = _largest(X, smallest)
    return Moments(n, operator.n_stored, mean, spread, smallest, largest, n_bad, has_nan)


def _largest(X: Any, smallest: np.ndarray) -> np.ndarray:
    """Return max_i |x_ij|; whole numbers are in range whatever they are, and have 1."""
    if X.dtype.kind != "f":
        return np.ones(X.shape[1])
    found = X.max(axis=0)
    found = np.asarray(found.todense() if is_sparse(X) else found, dtype=np.float64).ravel()
    return np.maximum(found, -smallest)


def refuse_masked(*chunks: Any) -> None:
    """Raise if a chunk is a masked array, whose mask would be lost."""
    if any(isinstance(chunk, np.ma.MaskedArray) for chunk in chunks):
        raise ValueError(
            "X is a masked array: fill the masked entries first, for example with "
            "dask.array.ma.filled(X, 0.0), or leave those rows or columns out."
        )


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
