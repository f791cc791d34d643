"""A matrix of an AnnData file: all of it, or some columns a block of rows at a time."""

from typing import Any

import numpy as np
import scipy.sparse as sp

SPARSE = {"csr_matrix": sp.csr_array, "csc_matrix": sp.csc_array}
# Values that are read at a time where columns are left out (64 MiB of float64).
BLOCK = 2**23


def read_matrix(h5py: Any, stored: Any, *, columns: np.ndarray | None = None) -> Any:
    """Return a matrix as it is stored, dense or sparse; ``columns`` says which, and in what order.

    What is not wanted is never in memory as a whole.
    """
    if isinstance(stored, h5py.Dataset):
        return stored[()] if columns is None else _dense_columns(stored, columns)
    kind = _text(stored.attrs.get("encoding-type", stored.attrs.get("h5sparse_format", "")))
    kind = kind if kind in SPARSE else f"{kind}_matrix"
    if kind not in SPARSE:
        raise ValueError(
            f"X is stored as {_text(stored.attrs.get('encoding-type', 'an unknown group'))!r}; "
            "dense arrays, csr_matrix and csc_matrix are read"
        )
    shape = stored.attrs.get("shape", stored.attrs.get("h5sparse_shape"))
    if shape is None:
        raise ValueError("the sparse table X does not say its shape")
    n, d = (int(size) for size in shape)
    starts = stored["indptr"][()]
    if columns is None:
        return _lines(stored, starts, kind, (n, d))
    if kind == "csc_matrix":
        return _sparse_columns(stored, starts, n, columns)
    blocks = []
    for rows in _row_blocks(starts):
        part = starts[rows.start : rows.stop + 1]
        block = _lines(stored, part, kind, (rows.stop - rows.start, d))
        blocks.append(block[:, columns])
    return sp.vstack(blocks, format="csr")


def _dense_columns(stored: Any, columns: np.ndarray) -> np.ndarray:
    """Return columns of a dense array."""
    n, d = stored.shape
    chosen = np.empty((n, len(columns)), dtype=stored.dtype)
    step = max(1, BLOCK // max(1, d))
    for start in range(0, n, step):
        chosen[start : start + step] = stored[start : start + step][:, columns]
    return chosen


def _sparse_columns(stored: Any, starts: np.ndarray, n: int, columns: np.ndarray) -> sp.csc_array:
    """Return columns of a matrix in compressed columns, each read by itself."""
    parts = [_lines(stored, starts[j : j + 2], "csc_matrix", (n, 1)) for j in columns]
    return sp.hstack(parts, format="csc")


def _lines(stored: Any, starts: np.ndarray, kind: str, shape: tuple[int, int]) -> Any:
    """Return compressed rows or columns between some starts, checked."""
    first, last = int(starts[0]), int(starts[-1])
    data, indices = (stored[part][first:last] for part in ("data", "indices"))
    matrix = SPARSE[kind]((data, indices, starts - first), shape=shape)
    matrix.check_format(full_check=True)
    return matrix


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
