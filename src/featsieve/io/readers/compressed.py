"""Sparse tables from stored parts. A part that points outside of the table is found out here.

SciPy's own routines trust these numbers: an index beyond the end is a read of foreign memory.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.arrays.namespace import is_sparse
from featsieve.io.readers.guard import TableError, check_memory

FIX = "it is damaged, or was not written as a sparse table: save it again"


def compressed_table(kind: Any, parts: Sequence[Any], shape: Any) -> Any:
    """Return a sparse table, checked."""
    data, indices, starts = (np.asarray(part) for part in parts)
    sizes = np.ravel(np.asarray(shape))
    if sizes.shape != (2,) or sizes.dtype.kind not in "iuf" or not (sizes >= 0).all():
        raise TableError(f"the shape of its sparse table is not two whole numbers: {FIX}")
    n, d = (int(size) for size in sizes)
    for part, name in ((indices, "indices"), (starts, "starts of the lines")):
        if part.ndim != 1 or part.dtype.kind not in "iu":
            raise TableError(f"the {name} of its sparse table are not whole numbers: {FIX}")
    if data.ndim != 1 or data.dtype.kind not in "fiub":
        raise TableError(f"the values of its sparse table are not real numbers: {FIX}")
    lines, length = (n, d) if kind is sp.csr_array else (d, n)
    # One number for every row: also where columns are stored, and turned into rows later.
    check_memory(8 * (n + 1) + 16 * len(data), what=f"a sparse table of {n} rows")
    told = f"its sparse table of shape ({n}, {d}) does not fit its parts"
    if len(starts) != lines + 1 or len(indices) != len(data):
        raise TableError(f"{told}: {FIX}")
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any() or starts[-1] > len(indices):
        raise TableError(f"{told}, whose lines begin outside of it: {FIX}")
    if len(indices) and (indices.min() < 0 or indices.max() >= length):
        raise TableError(f"{told}, whose indices point outside of it: {FIX}")
    matrix = kind((data, indices, starts), shape=(n, d))
    matrix.check_format(full_check=True)
    return matrix


def checked_sparse(values: Any) -> Any:
    """Return what a library has built from a file: sparse tables checked, all else as it is."""
    if not is_sparse(values):
        return values
    if values.format not in ("csr", "csc"):
        # a list of entries, whose places SciPy has checked
        check_memory(8 * (values.shape[0] + 1) + 16 * values.nnz, what="its sparse table")
        return values
    kind = sp.csr_array if values.format == "csr" else sp.csc_array
    return compressed_table(kind, (values.data, values.indices, values.indptr), values.shape)
