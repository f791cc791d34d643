"""Facts about the columns of a table: what is missing, constant, a copy or a row number."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.arrays.namespace import is_sparse

# Dense temporaries stay near this many elements (32 MiB of float64).
BLOCK_ELEMENTS = 2**22
# A row number of fewer rows is too likely by chance.
FEWEST_ROWS = 5
# So many rows in order of some feature, no two of them equal, are not likely.
ENOUGH_ROWS = 30
# Words for a number that tells rows apart: at the end of a name, or as a whole name.
NUMBER_WORDS = {"id", "idx", "no", "nr", "number", "row"}
ROW_WORDS = {
    *NUMBER_WORDS,
    *("case", "index", "obs", "observation", "patient", "record", "rows", "sample"),
    *("serial", "subject", "unnamed"),
}


def count_missing(X: Any) -> np.ndarray:
    """Return the number of missing values (NaN) of every column."""
    return _count(X, np.isnan)


def count_infinite(X: Any) -> np.ndarray:
    """Return the number of infinite values of every column."""
    return _count(X, np.isinf)


def constant_columns(X: Any) -> np.ndarray:
    """Return which columns hold one value only; missing ones do not count."""
    if is_sparse(X):
        high, low = (extreme(axis=0).toarray().ravel() for extreme in (X.nanmax, X.nanmin))
        return ~(high > low)
    constant = np.empty(X.shape[1], dtype=bool)
    for block in _blocks(X.shape):
        part = X[:, block]
        # columns without any value have neither
        high = np.max(part, axis=0, initial=-np.inf, where=~np.isnan(part))
        low = np.min(part, axis=0, initial=np.inf, where=~np.isnan(part))
        constant[block] = ~(high > low)
    return constant


def row_number_columns(X: Any, names: Sequence[str] | None = None) -> np.ndarray:
    """Return the columns that look like row numbers.

    They hold distinct whole numbers that leave out at most as many as there are rows, and these
    rise from row to row or the name of the column says what it is: "row", "sample id", "No.".
    """
    n = X.shape[0]
    if n < FEWEST_ROWS:
        return np.empty(0, dtype=np.intp)
    first, last = (np.asarray(_row(X, i), dtype=np.float64) for i in (0, n - 1))
    with np.errstate(invalid="ignore"):  # infinite ends
        rise = last - first
    maybe = (rise >= n - 1) & (rise < 2 * n) & (first % 1 == 0)
    named = np.array([counts_by_name(name) for name in names or [""] * X.shape[1]], dtype=bool)
    candidates = np.flatnonzero(maybe | named)
    columns = X.tocsc() if is_sparse(X) and len(candidates) else X
    found = [j for j in candidates if _counts_rows(columns[:, [j]], named=bool(named[j]))]
    return np.array(found, dtype=np.intp)


def counts_by_name(name: str) -> bool:
    """Say whether the name of a column is that of a row number."""
    words = [word.lower() for word in re.findall("[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]
    if not words:
        return False
    whole = "".join(words)
    return (
        words[-1] in NUMBER_WORDS
        or all(word in ROW_WORDS for word in words)
        or any(whole == row + number for row in ROW_WORDS for number in NUMBER_WORDS)
    )


def duplicate_columns(X: Any) -> list[list[int]]:
    """Return groups of columns that are equal in every row, found by hashing."""
    groups = defaultdict(list)
    for j, key in enumerate(_sparse_keys(X) if is_sparse(X) else _dense_keys(X)):
        groups[key].append(j)
    return [group for group in groups.values() if len(group) > 1]


def _count(X: Any, test: Any) -> np.ndarray:
    """Return how many values of every column pass a test that zero fails."""
    if is_sparse(X):
        coordinates = X.tocoo()
        return np.bincount(coordinates.col[test(coordinates.data)], minlength=X.shape[1])
    counts = np.zeros(X.shape[1], dtype=np.intp)
    for block in _blocks(X.shape):
        counts[block] = test(X[:, block]).sum(axis=0)
    return counts


def _row(X: Any, i: int) -> np.ndarray:
    """Return one row as a dense array."""
    return X[[i]].toarray().ravel() if is_sparse(X) else X[i]


def _counts_rows(column: Any, *, named: bool) -> bool:
    """Say whether a column holds distinct whole numbers close together, in order or so named."""
    column = (column.toarray() if is_sparse(column) else np.asarray(column)).ravel()
    n = len(column)
    if not np.isfinite(column).all() or np.any(column % 1 != 0):
        return False
    low, high = column.min(), column.max()
    if high - low >= 2 * n or len(np.unique(column)) < n:
        return False
    if named:
        return True
    if not np.all(np.diff(column) > 0):
        return False
    # A few people sorted by their age look like a part of a longer count.
    return bool(n >= ENOUGH_ROWS or (high - low == n - 1 and low in (0, 1)))


def _dense_keys(X: np.ndarray) -> list[bytes]:
    """Return a digest of every column; +0 and -0 are equal, and so is every NaN."""
    keys = []
    for block in _blocks(X.shape):
        columns = np.ascontiguousarray(X[:, block].T) + 0.0
        columns[np.isnan(columns)] = np.nan
        keys += [hashlib.blake2b(column.tobytes(), digest_size=16).digest() for column in columns]
    return keys


def _sparse_keys(X: Any) -> list[bytes]:
    """Return a digest of every column's entries that are not zero, and of their rows."""
    columns = sp.csc_array(X, copy=True)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    columns.data[np.isnan(columns.data)] = np.nan
    keys = []
    for start, stop in zip(columns.indptr[:-1], columns.indptr[1:], strict=True):
        digest = hashlib.blake2b(columns.indices[start:stop].tobytes(), digest_size=16)
        digest.update(columns.data[start:stop].tobytes())
        keys.append(digest.digest())
    return keys


def _blocks(shape: tuple[int, int]) -> list[slice]:
    """Return slices of columns whose dense copies are of bounded size."""
    n, d = shape
    step = max(1, BLOCK_ELEMENTS // max(1, n))
    return [slice(start, min(start + step, d)) for start in range(0, d, step)]
