"""Columns of extreme size, whose squares would overflow or vanish.

Sums of squares, and products of these, fit into double precision if the entries of a table lie
within 2^-200 .. 2^200 (about 1e-60 .. 1e60). What becomes of a column whose largest absolute value
lies outside is said here, for the whole library:

- A method that standardises the columns has the answer of any other units: such a column is
  multiplied by a power of two, which is exact, and what is fitted comes back in the units of X
  (:func:`in_range`, :meth:`~featsieve.base.UnsupervisedSelector._in_range`).
- A method that takes the columns as they are (``scale="none"``, "raw", "sqrt") refuses a table with
  a column that is too large, or of which all are too small, and says by what to divide.
- Columns below 2^-900 (about 1e-271), where numbers lose their digits, count as zero; so do columns
  below 1e-150 or so for methods that take them as they are.
- float32 tables with columns outside 2^-60 .. 2^40 are worked on in float64.

Ordinary tables pay a sum of all squares (and another one in the check for numbers that are not
finite), and are not copied. Dask arrays know the sizes of their columns from the pass that measures
their means; those with extreme columns are measured once more.
"""

from typing import Any

import numpy as np

from featsieve.arrays.dask_chunks import measured, moments_of
from featsieve.arrays.namespace import (
    in_double,
    is_dask_array,
    is_foreign_array,
    is_single,
    is_sparse,
    like,
    namespace_of,
    pick_columns,
    to_numpy,
)

# Exponents of the largest absolute value of a column, by the type of the table.
RANGES = {"float64": (-200, 200), "float32": (-60, 40)}
# The largest number in range.
LARGEST = float(np.nextafter(2.0 ** RANGES["float64"][1], 0.0))
# Columns whose exponent is below this count as zero.
NEGLIGIBLE = -900
# Elements of the first rows, which tell of nearly all columns that they are not too small, and of a
# block of columns that are looked at as a whole.
HEAD_ELEMENTS = 2**16
BLOCK_ELEMENTS = 2**21


def length(X: Any) -> float:
    """Return the Euclidean length of all entries: not finite where an entry is not.

    It may also be infinite because a square is.
    """
    if is_foreign_array(X):
        return float(namespace_of(X).linalg.vector_norm(X))
    entries = X.data if is_sparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if entries.dtype.itemsize < 4:  # half precision: BLAS has no products of it
            return abs(float(np.sum(entries, dtype=np.float64)))
        if entries.flags.c_contiguous or entries.flags.f_contiguous:
            flat = entries.ravel(order="K")  # a view
            return float(np.sqrt(np.dot(flat, flat)))
        axes = list(range(entries.ndim))
        return float(np.sqrt(np.einsum(entries, axes, entries, axes, [])))


def in_range(X: Any) -> tuple[Any, np.ndarray | None]:
    """Return the table with all columns in range, and the exponents of what they were divided by.

    ``X`` holds finite numbers. A table that is in range is returned as it is, with None.
    """
    if is_dask_array(X):
        X = measured(X)
    if is_single(X):
        return with_room(X), None  # all of float32 is in the range of float64
    exponents = column_exponents(X)
    if exponents is None:
        return X, None
    low, high = RANGES["float64"]
    shift = exponents - np.clip(exponents, low, high)
    factors = np.ldexp(1.0, -np.maximum(shift, NEGLIGIBLE))
    return _times(X, np.where(exponents < NEGLIGIBLE, 0.0, factors)), shift


def with_room(X: Any) -> Any:
    """Return a float32 table in float64 if its columns leave the range of float32."""
    if not is_single(X) or column_exponents(X) is None:
        return X
    X = in_double(X)
    return measured(X) if is_dask_array(X) else X


def column_exponents(X: Any) -> np.ndarray | None:
    """Return e_j with 2^(e_j - 1) <= max_i |x_ij| < 2^e_j, or None where all are in range.

    Columns of zeros are in range, and have 0.
    """
    limits = RANGES.get(str(X.dtype).rpartition(".")[2])
    if limits is None:
        return None  # whole numbers and half precision
    low, high = limits
    if is_dask_array(X):
        largest = moments_of(X).largest
    elif 0.0 < length(X) < 2.0**high:
        small = np.flatnonzero(_seemingly_small(X, 2.0**low))
        if len(small) == 0:
            return None
        largest = np.ones(X.shape[1])
        largest[small] = _largest_entries(X, small)
    else:
        largest = _largest_entries(X)
    exponents = np.where(largest > 0.0, np.frexp(largest)[1], 0)
    return None if ((low <= exponents) & (exponents <= high)).all() else exponents


def _seemingly_small(X: Any, limit: float) -> np.ndarray:
    """Return which columns may have no entry as large as the limit: a look at a few tells."""
    d = X.shape[1]
    if not is_sparse(X):
        return _largest_entries(X[: min(max(8, HEAD_ELEMENTS // d), X.shape[0]), :]) < limit
    small = np.zeros(d, dtype=bool)
    for start in range(0, len(X.data), BLOCK_ELEMENTS):
        inside = slice(start, start + BLOCK_ELEMENTS)
        entries = np.abs(X.data[inside])
        small[X.indices[inside][(entries < limit) & (entries > 0.0)]] = True
    return small


def _largest_entries(X: Any, columns: np.ndarray | None = None) -> np.ndarray:
    """Return max_i |x_ij| for all columns, or for some."""
    if is_sparse(X):
        largest = np.zeros(X.shape[1])
        np.maximum.at(largest, X.indices, np.abs(X.data).astype(np.float64, copy=False))
        return largest if columns is None else largest[columns]
    if columns is None:
        xp = namespace_of(X)
        return to_numpy(xp.maximum(xp.max(X, axis=0), -xp.min(X, axis=0))).astype(np.float64)
    found = np.empty(len(columns))
    step = max(1, BLOCK_ELEMENTS // X.shape[0])
    for start in range(0, len(columns), step):
        inside = slice(start, start + step)
        found[inside] = _largest_entries(pick_columns(X, columns[inside]))
    return found


def _times(X: Any, factors: np.ndarray) -> Any:
    """Return a new table with the columns multiplied."""
    if is_dask_array(X):
        times = {"factors": factors, "dtype": X.dtype, "meta": X._meta}
        return measured(X.map_blocks(_times_chunk, **times))
    if is_sparse(X):
        scaled = X.copy()
        scaled.data = X.data * factors[X.indices]
        return scaled
    return X * like(factors, X)[None, :]


def _times_chunk(chunk: Any, *, factors: np.ndarray) -> Any:
    """Return a chunk with the columns multiplied."""
    return _times(chunk.tocsr() if is_sparse(chunk) else chunk, factors)
