"""Facts about the columns of a table: what is missing, constant, a copy or a row number."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.arrays.namespace import is_sparse

# Dense temporaries stay near this many elements (32 MiB of float64).
BLOCK_ELEMENTS = 2**22
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


def _count(X: Any, test: Any) -> np.ndarray:
    """Return how many values of every column pass a test that zero fails."""
    if is_sparse(X):
        stored = X.tocoo()
        return np.bincount(stored.col[test(stored.data)], minlength=X.shape[1])
    return np.count_nonzero(test(X), axis=0)


def constant_columns(X: Any) -> np.ndarray:
    """Return which columns hold one value only; missing ones do not count."""
    if is_sparse(X):
        high, low = (extreme(axis=0).toarray().ravel() for extreme in (X.nanmax, X.nanmin))
    else:
        high, low = np.fmax.reduce(X, axis=0), np.fmin.reduce(X, axis=0)
    return ~(high > low)


def row_number_columns(X: Any, names: Sequence[str] | None = None) -> np.ndarray:
    """Return the columns that look like row numbers.

    They hold distinct whole numbers that leave out at most as many as there are rows, and these
    rise from row to row or the name of the column says what it is: "row", "sample id", "No.".
    """
    n, d = X.shape
    if n < defaults.ROW_NUMBERS_FEWEST:
        return np.empty(0, dtype=np.intp)
    ends = X[[0, n - 1]]
    first, last = np.asarray(ends.toarray() if is_sparse(X) else ends, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # infinite ends
        rise = last - first
    rising = (rise >= n - 1) & (rise < 2 * n) & (first % 1 == 0)
    named = np.array([named_as_row_number(name) for name in names or [""] * d], dtype=bool)
    candidates = np.flatnonzero(rising | named)
    columns = X.tocsc() if is_sparse(X) and len(candidates) else X
    found = [j for j in candidates if _counts_rows(columns[:, [j]], named=bool(named[j]))]
    return np.array(found, dtype=np.intp)


def named_as_row_number(name: str) -> bool:
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
    enough = n >= defaults.ROW_NUMBERS_ENOUGH
    return bool(enough or (high - low == n - 1 and low in (0, 1)))


def duplicate_columns(X: Any) -> list[list[int]]:
    """Return groups of columns that are equal in every row, found by hashing."""
    groups = defaultdict(list)
    for j, content in enumerate(_stored_columns(X) if is_sparse(X) else _dense_columns(X)):
        groups[hashlib.blake2b(content, digest_size=16).digest()].append(j)
    return [group for group in groups.values() if len(group) > 1]


def _dense_columns(X: np.ndarray) -> Iterator[bytes]:
    """Yield the bytes of every column; +0 and -0 are equal, and so is every NaN."""
    n, d = X.shape
    step = max(1, BLOCK_ELEMENTS // max(1, n))
    for start in range(0, d, step):
        columns = np.ascontiguousarray(X[:, start : start + step].T) + 0.0
        columns[np.isnan(columns)] = np.nan
        yield from (column.tobytes() for column in columns)


def _stored_columns(X: Any) -> Iterator[bytes]:
    """Yield the bytes of every column's entries that are not zero, and of their rows."""
    columns = sp.csc_array(X, copy=True)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    columns.data[np.isnan(columns.data)] = np.nan
    for start, stop in zip(columns.indptr[:-1], columns.indptr[1:], strict=True):
        yield columns.indices[start:stop].tobytes() + columns.data[start:stop].tobytes()
