"""Facts about the columns of a table: what is missing, constant or a row number."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer

from featsieve import defaults
from featsieve.arrays.namespace import is_sparse
from featsieve.io.dataset import count_where
from featsieve.io.names import name_words

# Words for a number that tells rows apart: at the end of a name, or as a whole name.
NUMBER_WORDS = {"id", "idx", "no", "nr", "number", "row", "code", "card", "barcode", "sku"}
ROW_WORDS = {"case", "index", "obs", "patient", "record", "rowid", "sample", "subject", "unnamed"}


def empty_columns(X: Any) -> np.ndarray:
    """Return which columns have no value at all."""
    return count_where(X, np.isnan) == X.shape[0]


def constant_columns(X: Any) -> np.ndarray:
    """Return which columns hold one value only; missing ones do not count."""
    if is_sparse(X):
        high, low = (extreme(axis=0).toarray().ravel() for extreme in (X.nanmax, X.nanmin))
    else:
        high, low = np.fmax.reduce(X, axis=0), np.fmin.reduce(X, axis=0)
    return ~(high > low)


def row_number_columns(X: Any, names: Sequence[str] | None = None) -> np.ndarray:
    """Return the columns that look like row numbers, by their values or their names."""
    n, d = X.shape
    if n < defaults.ROW_NUMBERS_FEWEST:
        return np.empty(0, dtype=np.intp)
    first, second = X[:2].toarray() if is_sparse(X) else X[:2]
    named = np.array([named_as_row_number(name) for name in names or [""] * d], dtype=bool)
    candidates = np.flatnonzero(named | (second == first + 1))
    columns = X.tocsc() if is_sparse(X) and len(candidates) else X
    counts = {int(j) for j in candidates if _counts_rows(columns[:, [j]], named=bool(named[j]))}
    # a sparse table would have to store a number in every row
    numbered = set() if is_sparse(X) else {j for j in range(d) if _numbers_rows(X[:, j])}
    if 2 * len(numbered) < d:  # else they are ranks
        counts |= numbered
    return np.array(sorted(counts), dtype=np.intp)


def named_as_row_number(name: str) -> bool:
    """Say whether the name of a column is that of a row number."""
    words = name_words(name)
    return bool(words) and (words[-1] in NUMBER_WORDS or "".join(words) in ROW_WORDS)


def _counts_rows(column: Any, *, named: bool) -> bool:
    """Say whether a column holds whole numbers that rise by one, or are so named and distinct."""
    values = (column.toarray() if is_sparse(column) else np.asarray(column)).ravel()
    if not np.isfinite(values).all() or np.any(values % 1 != 0):
        return False
    return len(np.unique(values)) == len(values) if named else bool((np.diff(values) == 1).all())


def _numbers_rows(values: np.ndarray) -> bool:
    """Say whether a column holds other whole numbers in all rows than chance would, in any order.

    n draws from as many numbers as lie between the smallest and the largest are all different with
    the probability (1 - 1/m) ... (1 - (n - 1)/m).
    """
    if not np.isfinite(values[:2]).all() or np.any(values[:2] % 1 != 0):
        return False  # most columns: at once
    if not np.isfinite(values).all() or np.any(values % 1 != 0):
        return False
    n, m = len(values), float(values.max() - values.min()) + 1.0
    if m < n or len(np.unique(values)) < n:
        return False
    return float(np.log1p(-np.arange(n) / m).sum()) < np.log(defaults.NUMBERED_BY_CHANCE)


def sample_part(X: Any, columns: np.ndarray, random_state: int) -> tuple[Any, np.ndarray]:
    """Return some rows and columns that vary, gaps filled, and which columns these are."""
    rng = np.random.RandomState(random_state)
    if X.shape[0] > defaults.INSPECTED_SAMPLES:
        X = X[np.sort(rng.permutation(X.shape[0])[: defaults.INSPECTED_SAMPLES])]
    most = max(1, defaults.INSPECTED_ELEMENTS // X.shape[0])
    if len(columns) > most:
        columns = np.sort(rng.permutation(columns)[:most])
    X = X[:, columns]
    if count_where(X, np.isnan).any():
        filler = SimpleImputer(strategy="median", keep_empty_features=True)
        X = filler.fit_transform(X.toarray() if is_sparse(X) else X)
    varies = np.flatnonzero(~constant_columns(X))
    return X[:, varies], columns[varies]
