"""Parts of HDF5 files, and the matrix of an AnnData file.

HDF5 can keep a part of a file in any other file, by a link, as raw bytes or as a mosaic. A file of
a stranger could so show what is in files of yours: such parts are refused.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.io.guard import TableError, first_bytes, not_a
from featsieve.io.optional import load_optional
from featsieve.io.sparse import compressed_table

SPARSE = {"csr_matrix": sp.csr_array, "csc_matrix": sp.csc_array}
# Values that are read at a time where columns are left out (64 MiB of float64).
BLOCK = 2**23
# Of groups inside of groups.
DEEPEST = 50


@contextmanager
def open_hdf5(path: Path, purpose: str) -> Iterator[Any]:
    """Open a file to read it."""
    h5py = load_optional("h5py", purpose)
    if not h5py.is_hdf5(path):
        raise not_a("an HDF5 file", first_bytes(path))
    with h5py.File(path, "r") as file:
        yield file


def is_array(stored: Any) -> bool:
    """Say whether a part is an array, and not a group of parts."""
    return hasattr(stored, "dtype")


def has_part(group: Any, name: str) -> bool:
    """Say whether a group has a part of this name, be it one that is not read."""
    return bool(name) and not is_array(group) and group.get(name, getlink=True) is not None


def part_of(group: Any, name: str, *, empty: bool = False) -> Any:
    """Return a part of a group, if it lies in this file; ``empty`` says that it may be a null."""
    import h5py

    found = group
    for step in str(name).strip("/").split("/"):
        if not has_part(found, step):
            where = "" if group.name == "/" else f" in {group.name.strip('/')}"
            raise TableError(f"there is no part {name!r}{where}: it is damaged; save it again")
        if not isinstance(found.get(step, getlink=True), h5py.HardLink):
            raise TableError(
                f"its part {name!r} is a link, and links are not followed: save the file with all "
                "that belongs to it"
            )
        found = found[step]
    if is_array(found):
        check_inside(found, empty=empty)
    return found


def check_inside(stored: Any, *, empty: bool = False) -> None:
    """Raise if the values of an array lie in other files, or if there are none."""
    name = stored.name.strip("/")
    if stored.is_virtual or stored.external:
        raise TableError(
            f"its part {name!r} is kept in other files, which are not read: save the file with all "
            "that belongs to it"
        )
    if stored.shape is None and not empty:
        raise TableError(f"its part {name!r} is empty: save it again")


def text(value: Any) -> str:
    """Return stored text as str."""
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def read_matrix(stored: Any, *, columns: np.ndarray | None = None) -> Any:
    """Return a matrix as it is stored, dense or sparse; ``columns`` says which, and in what order.

    What is not wanted is never in memory as a whole.
    """
    if is_array(stored):
        check_inside(stored)
        if columns is None:
            return stored[()]
        if stored.ndim != 2:
            raise TableError(f"the table X must have two dimensions; it has shape {stored.shape}")
        step = max(1, BLOCK // max(1, stored.shape[1]))
        starts = range(0, max(1, stored.shape[0]), step)
        return np.concatenate([stored[i : i + step][:, columns] for i in starts])
    kind, shape = _sparse_kind(stored)
    data, indices = (part_of(stored, name) for name in ("data", "indices"))
    starts = part_of(stored, "indptr")[()]
    n_lines = shape[0] if kind is sp.csr_array else shape[1]
    if len(starts) != n_lines + 1 or starts[0] < 0 or (starts[1:] < starts[:-1]).any():
        raise TableError(
            f"the sparse table X says where its lines begin in a way that does not fit its "
            f"{n_lines} lines: it is damaged; save it again"
        )

    def lines(first: int, last: int) -> Any:
        """Return the table of some rows (or columns, where these are stored)."""
        part = starts[first : last + 1]
        values = (stored[part[0] : part[-1]] for stored in (data, indices))
        sizes = (last - first, shape[1]) if kind is sp.csr_array else (shape[0], last - first)
        return compressed_table(kind, (*values, part - part[0]), sizes)

    if columns is None:
        return lines(0, n_lines)
    if kind is sp.csc_array:
        return sp.hstack([lines(j, j + 1) for j in columns], format="csc")
    return sp.vstack([lines(*rows)[:, columns] for rows in _row_blocks(starts)], format="csr")


def _sparse_kind(stored: Any) -> tuple[Any, tuple[int, int]]:
    """Return how a group stores a sparse table, and its shape."""
    kind = text(stored.attrs.get("encoding-type", stored.attrs.get("h5sparse_format", "")))
    kind = kind if kind in SPARSE else f"{kind}_matrix"
    if kind not in SPARSE:
        raise TableError(
            f"X is stored as {text(stored.attrs.get('encoding-type', 'an unknown group'))!r}; "
            "dense arrays, csr_matrix and csc_matrix are read"
        )
    shape = np.ravel(stored.attrs.get("shape", stored.attrs.get("h5sparse_shape", ())))
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or (shape < 0).any():
        raise TableError("the sparse table X does not say its shape in two whole numbers")
    return SPARSE[kind], (int(shape[0]), int(shape[1]))


def _row_blocks(starts: np.ndarray) -> Iterator[tuple[int, int]]:
    """Yield consecutive rows with at most a block of values, and at least one row each."""
    row, n = 0, len(starts) - 1
    while row < n:
        fits = int(np.searchsorted(starts, starts[row] + BLOCK, side="right")) - 1
        end = min(max(fits, row + 1), n)
        yield row, end
        row = end


def look_through(path: Path, *, only: str | None = None) -> None:
    """Read the first block of every array of a file, or of one part, before it is opened lazily.

    Raise if any part of it is a link, lies elsewhere, or is too deep inside of others.
    """
    h5py = load_optional("h5py", "Reading a .h5ad file")
    with open_hdf5(path, "Reading a .h5ad file") as file:
        waiting = [(file if only is None else part_of(file, only), 0)]
        seen: set[int] = set()
        while waiting:
            stored, depth = waiting.pop()
            if is_array(stored) and stored.shape is None:  # None in uns
                continue
            if is_array(stored):
                check_inside(stored)
                rows = max(1, BLOCK // max(1, int(np.prod(stored.shape[1:]))))
                stored[:rows] if stored.ndim else stored[()]
            elif (place := h5py.h5o.get_info(stored.id).addr) not in seen:
                if depth > DEEPEST:
                    raise TableError(f"it has groups inside of groups, more than {DEEPEST} of them")
                seen.add(place)
                waiting += [(part_of(stored, name, empty=True), depth + 1) for name in stored]
