"""Columns of extreme size, whose squares would overflow or vanish.

Sums of squares, and products of these, fit into double precision if the entries of a table lie
within 2^-200 .. 2^200 (about 1e-60 .. 1e60). A column whose largest absolute value lies outside is
treated alike in the whole library:

- A method that standardises the columns has the answer of any other units: such a column is
  multiplied by a power of two, which is exact, and what is fitted comes back in the units of X
  (:func:`in_range`, :meth:`~featsieve.base.UnsupervisedSelector._in_range`).
- A method that takes the columns as they are (``scale="none"``, "raw", "sqrt") refuses a table with
  a column that is too large, or of which all are too small, and says by what to divide.
- Columns below 2^-900 (about 1e-271), where numbers lose their digits, count as zero; so do columns
  below 1e-150 or so for methods that take them as they are.
- float32 tables with columns outside 2^-60 .. 2^40 are worked on in float64.

Ordinary tables pay a look at the largest entries (and another one in the check for numbers that
are not finite), and are not copied. Dask arrays know the sizes of their columns from the pass that
measures their means; those with extreme columns are measured once more.
"""

from typing import Any

import numpy as np

from featsieve.arrays.dask_chunks import measured, moments_of
from featsieve.arrays.namespace import (
    in_double,
    is_dask_array,
    is_single,
    is_sparse,
    like,
    namespace_of,
    to_numpy,
)

# Exponents of the largest absolute value of a column, by the type of the table.
RANGES = {"float64": (-200, 200), "float32": (-60, 40)}
# The largest number in range.
LARGEST = float(np.nextafter(2.0 ** RANGES["float64"][1], 0.0))
# Columns whose exponent is below this count as zero.
NEGLIGIBLE = -900


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
    largest = moments_of(X).largest if is_dask_array(X) else largest_entries(X)
    exponents = np.where(largest > 0.0, np.frexp(largest)[1], 0)
    return None if ((low <= exponents) & (exponents <= high)).all() else exponents


def largest_entries(X: Any) -> np.ndarray:
    """Return max_i |x_ij| of every column, dense or CSR: not finite if an entry is not."""
    if is_sparse(X):
        largest = np.zeros(X.shape[1])
        np.maximum.at(largest, X.indices, np.abs(X.data).astype(np.float64, copy=False))
        return largest
    if X.shape[0] == 0:
        return np.zeros(X.shape[1])
    xp = namespace_of(X)
    return to_numpy(xp.maximum(xp.max(X, axis=0), -xp.min(X, axis=0))).astype(np.float64)


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
