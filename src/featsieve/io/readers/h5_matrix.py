"""A matrix of an AnnData file: all of it, or some columns a block of rows at a time."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.io.readers.compressed import compressed_table
from featsieve.io.readers.guard import TableError, check_memory
from featsieve.io.readers.h5_parts import check_inside, part_of, read_part

SPARSE = {"csr_matrix": sp.csr_array, "csc_matrix": sp.csc_array}
# Values that are read at a time where columns are left out (64 MiB of float64).
BLOCK = 2**23


def read_matrix(h5py: Any, stored: Any, *, columns: np.ndarray | None = None) -> Any:
    """Return a matrix as it is stored, dense or sparse; ``columns`` says which, and in what order.

    What is not wanted is never in memory as a whole.
    """
    if isinstance(stored, h5py.Dataset):
        check_inside(stored)
        return read_part(stored) if columns is None else _dense_columns(stored, columns)
    kind = _text(stored.attrs.get("encoding-type", stored.attrs.get("h5sparse_format", "")))
    kind = kind if kind in SPARSE else f"{kind}_matrix"
    if kind not in SPARSE:
        raise TableError(
            f"X is stored as {_text(stored.attrs.get('encoding-type', 'an unknown group'))!r}; "
            "dense arrays, csr_matrix and csc_matrix are read"
        )
    shape = stored.attrs.get("shape", stored.attrs.get("h5sparse_shape"))
    if shape is None:
        raise TableError("the sparse table X does not say its shape")
    n, d = _two_sizes(shape)
    starts = read_part(part_of(h5py, stored, "indptr"))
    _check_starts(starts, n if kind == "csr_matrix" else d)
    parts = {name: part_of(h5py, stored, name) for name in ("data", "indices")}
    if columns is None:
        return _lines(parts, starts, kind, (n, d))
    if kind == "csc_matrix":
        return _sparse_columns(parts, starts, n, columns)
    blocks = []
    for rows in _row_blocks(starts):
        part = starts[rows.start : rows.stop + 1]
        block = _lines(parts, part, kind, (rows.stop - rows.start, d))
        blocks.append(block[:, columns])
    return sp.vstack(blocks, format="csr")


def _dense_columns(stored: Any, columns: np.ndarray) -> np.ndarray:
    """Return columns of a dense array."""
    if stored.ndim != 2:
        raise TableError(f"the table X must have two dimensions; it has shape {stored.shape}")
    n, d = stored.shape
    check_memory(n * len(columns) * stored.dtype.itemsize)
    chosen = np.empty((n, len(columns)), dtype=stored.dtype)
    step = max(1, BLOCK // max(1, d))
    for start in range(0, n, step):
        rows = slice(start, start + step)
        chosen[rows] = read_part(stored, rows=rows)[:, columns]
    return chosen


def _sparse_columns(parts: Any, starts: np.ndarray, n: int, columns: np.ndarray) -> sp.csc_array:
    """Return columns of a matrix in compressed columns, each read by itself."""
    lines = [_lines(parts, starts[j : j + 2], "csc_matrix", (n, 1)) for j in columns]
    return sp.hstack(lines, format="csc")


def _lines(parts: Any, starts: np.ndarray, kind: str, shape: tuple[int, int]) -> Any:
    """Return compressed rows or columns between some starts, checked."""
    first, last = int(starts[0]), int(starts[-1])
    width = sum(part.dtype.itemsize for part in parts.values())
    check_memory((last - first) * width, what="the sparse table X")
    data, indices = (read_part(parts[name], rows=slice(first, last)) for name in parts)
    return compressed_table(SPARSE[kind], (data, indices, starts - first), shape)


def _two_sizes(shape: Any) -> tuple[int, int]:
    """Return the stored shape of a sparse table."""
    sizes = np.ravel(np.asarray(shape))
    if sizes.shape != (2,) or sizes.dtype.kind not in "iu" or (sizes < 0).any():
        raise TableError("the shape of the sparse table X is not two whole numbers")
    return int(sizes[0]), int(sizes[1])


def _check_starts(starts: Any, n_lines: int) -> None:
    """Raise unless there is a start for every line, none before the one of the line above."""
    whole = starts.ndim == 1 and starts.dtype.kind in "iu" and len(starts) == n_lines + 1
    if not whole or starts[0] < 0 or (starts[1:] < starts[:-1]).any():
        raise TableError(
            f"the sparse table X says where its lines begin in a way that does not fit its "
            f"{n_lines} lines: it is damaged; save it again"
        )


def _row_blocks(starts: np.ndarray) -> list[slice]:
    """Return consecutive rows with at most a block of values, and at least one row each."""
    blocks, row, n = [], 0, len(starts) - 1
    while row < n:
        fits = int(np.searchsorted(starts, starts[row] + BLOCK, side="right")) - 1
        end = min(max(fits, row + 1), n)
        blocks.append(slice(row, end))
        row = end
    return blocks


def _text(value: Any) -> str:
    """Return stored text as str."""
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)
