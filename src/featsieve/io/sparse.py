"""Sparse tables from stored parts: SciPy's routines trust indices, so they are checked first."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.io.guard import TableError, first_line

SPARSE_KINDS: dict[Any, Any] = {"csr": sp.csr_array, "csc": sp.csc_array}


def compressed_table(kind: Any, parts: Sequence[Any], shape: Any) -> Any:
    """Return a sparse table of compressed rows or columns (data, indices, starts), checked."""
    try:
        data, indices, starts = (np.asarray(part) for part in parts)
        if indices.dtype.kind not in "iu" or starts.dtype.kind not in "iu":
            raise ValueError("indices are not whole numbers")
        n, d = (int(size) for size in np.ravel(np.asarray(shape)))
        matrix = kind((data, indices, starts), shape=(n, d))
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, OverflowError, IndexError) as error:
        reason = f"its sparse table is damaged ({first_line(error)})"
        raise TableError(f"{reason}: get it or save it again") from error
    return matrix


def checked_sparse(values: Any) -> Any:
    """Return what a library has built from a file: sparse tables checked, all else as it is."""
    kind = SPARSE_KINDS.get(getattr(values, "format", None)) if sp.issparse(values) else None
    if kind is None:
        return values
    return compressed_table(kind, (values.data, values.indices, values.indptr), values.shape)
