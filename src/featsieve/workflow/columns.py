"""Facts about the columns of a table: what is missing, constant, a copy or a row number."""

import hashlib
from collections import defaultdict
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.arrays.namespace import is_sparse

# Dense temporaries stay near this many elements (32 MiB of float64).
BLOCK_ELEMENTS = 2**22
# A row number of fewer rows is too likely by chance.
FEWEST_ROWS = 5


def count_missing(X: Any) -> np.ndarray:
    """Return the number of missing values (NaN) of every column.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)

    Returns
    -------
    ndarray of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve.workflow.columns import count_missing
    >>> count_missing(np.array([[1.0, np.nan], [2.0, np.nan]])).tolist()
    [0, 2]
    """
    return _count(X, np.isnan)


def count_infinite(X: Any) -> np.ndarray:
    """Return the number of infinite values of every column.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)

    Returns
    -------
    ndarray of shape (n_features,)

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve.workflow.columns import count_infinite
    >>> count_infinite(np.array([[1.0, np.inf], [-np.inf, np.inf]])).tolist()
    [1, 2]
    """
    return _count(X, np.isinf)


def constant_columns(X: Any) -> np.ndarray:
    """Return which columns hold one value only; missing ones do not count.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)

    Returns
    -------
    ndarray of shape (n_features,), dtype bool

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve.workflow.columns import constant_columns
    >>> constant_columns(np.array([[1.0, 7.0], [2.0, np.nan], [2.0, 7.0]])).tolist()
    [False, True]
    """
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


def row_number_columns(X: Any) -> np.ndarray:
    """Return the columns that look like row numbers: 0, 1, ..., n-1 or 1, 2, ..., n in order.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)

    Returns
    -------
    ndarray of int
        Their indices.

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve.workflow.columns import row_number_columns
    >>> X = np.column_stack([np.arange(6), np.arange(6)[::-1], np.arange(1, 7)])
    >>> row_number_columns(X).tolist()
    [0, 2]
    """
    n = X.shape[0]
    if n < FEWEST_ROWS:
        return np.empty(0, dtype=np.intp)
    first, last = (np.asarray(_row(X, i)) for i in (0, n - 1))
    ends = ((first == 0) & (last == n - 1)) | ((first == 1) & (last == n))
    columns = X.tocsc() if is_sparse(X) and ends.any() else X
    found = [j for j in np.flatnonzero(ends) if _counts_rows(columns[:, [j]], int(first[j]))]
    return np.array(found, dtype=np.intp)


def duplicate_columns(X: Any) -> list[list[int]]:
    """Return groups of columns that are equal in every row, found by hashing.

    Parameters
    ----------
    X : ndarray or sparse array of shape (n_samples, n_features)

    Returns
    -------
    list of list of int
        Each group in rising order, the groups by their first column. Missing values are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve.workflow.columns import duplicate_columns
    >>> duplicate_columns(np.array([[1.0, 2.0, 1.0, 2.0], [3.0, 4.0, 3.0, 5.0]]))
    [[0, 2]]
    """
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


def _counts_rows(column: Any, start: int) -> bool:
    """Say whether a column is start, start + 1, ..."""
    column = (column.toarray() if is_sparse(column) else np.asarray(column)).ravel()
    return bool(np.array_equal(column, np.arange(start, start + len(column))))


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
