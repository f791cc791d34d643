"""Parts of HDF5 files: none that lies in another file, none that is larger than the memory.

HDF5 can keep a part of a file in any other file, by a link, as raw bytes or as a mosaic. A file of
a stranger could so show what is in files of yours: such parts are refused.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.readers.guard import TableError, check_memory, memory_limit
from featsieve.io.readers.h5_heaps import check_heaps
from featsieve.io.readers.signature import check_hdf5

# Of groups inside of groups; HDF5 itself would go on until the stack is full.
DEEPEST = 50
# For a text or a number as a Python object, besides its letters.
OBJECT_BYTES = 64
# Of the memory, for the words that are read at a time: one part of so many.
SHARE = 4
# That are read at a time where nobody knows how long they are.
FEW_WORDS = 2**12


@contextmanager
def open_hdf5(h5py: Any, path: Path) -> Iterator[Any]:
    """Open a file to read it."""
    check_hdf5(path)
    with h5py.File(path, "r") as file:
        check_heaps(path, file)
        yield file


def has_part(h5py: Any, group: Any, name: str) -> bool:
    """Say whether a group has a part of this name, be it one that is not read."""
    link = group.get(name, getlink=True) if isinstance(group, h5py.Group) and name else None
    return link is not None


def part_of(h5py: Any, group: Any, name: str) -> Any:
    """Return a part of a group, if it lies in this file."""
    found = group
    for step in str(name).strip("/").split("/"):
        if not isinstance(found, h5py.Group) or found.get(step, getlink=True) is None:
            where = "" if group.name == "/" else f" in {group.name.strip('/')}"
            raise TableError(f"there is no part {name!r}{where}: it is damaged; save it again")
        if not isinstance(found.get(step, getlink=True), h5py.HardLink):
            raise TableError(
                f"its part {name!r} is a link, and links are not followed: save the file with all "
                "that belongs to it"
            )
        found = found[step]
    if isinstance(found, h5py.Dataset):
        check_inside(found)
    return found


def check_inside(stored: Any) -> None:
    """Raise if the values of an array lie in other files."""
    if stored.is_virtual or stored.external:
        raise TableError(
            f"its part {stored.name.strip('/')!r} is kept in other files, which are not read: save "
            "the file with all that belongs to it"
        )
    if stored.chunks is not None:  # one is unpacked as a whole, however little is needed of it
        chunk = math.prod(map(int, stored.chunks)) * stored.dtype.itemsize
        check_memory(chunk, what=f"a chunk of its part {stored.name.strip('/')!r}")


def read_part(stored: Any, *, rows: slice | None = None) -> Any:
    """Return the values of an array, if they fit into memory, or some rows of it."""
    if rows is not None:
        return stored[rows]
    check_inside(stored)
    if stored.shape is None:
        raise TableError(f"its part {stored.name.strip('/')!r} is empty: save it again")
    size = stored.dtype.itemsize + (OBJECT_BYTES if stored.dtype.kind == "O" else 0)
    needed = math.prod(map(int, stored.shape)) * size
    check_memory(needed, what=f"its part {stored.name.strip('/')!r}")
    return _read_words(stored) if "vlen" in (stored.dtype.metadata or {}) else stored[()]


def _read_words(stored: Any) -> Any:
    """Return words, some at a time: a file may hold a long one once, and name it many times."""
    known = check_heaps(Path(stored.file.filename), stored.file)
    longest = OBJECT_BYTES + (known or 0)
    limit, what = memory_limit(), f"its part {stored.name.strip('/')!r}"
    if stored.ndim != 1:  # no list of names
        check_memory(stored.size * longest, what=what, limit=limit)
        return stored[()]
    step = max(1, limit // (SHARE * longest))
    step = step if known is not None else min(step, FEW_WORDS)
    blocks, needed = [], 0
    for start in range(0, max(1, len(stored)), step):
        blocks.append(stored[start : start + step])
        needed += sum(OBJECT_BYTES + len(word) for word in blocks[-1])
        check_memory(needed, what=what, limit=limit)
    return np.concatenate(blocks) if len(blocks) > 1 else blocks[0]


def check_size(h5py: Any, stored: Any) -> None:
    """Raise if an array, or all arrays of a group, do not fit into memory."""
    arrays = [stored] if isinstance(stored, h5py.Dataset) else []
    if not arrays:
        arrays = [part for part in stored.values() if isinstance(part, h5py.Dataset)]
    needed = sum(math.prod(map(int, part.shape or ())) * part.dtype.itemsize for part in arrays)
    check_memory(needed, what=f"its part {stored.name.strip('/')!r}")


def check_whole(h5py: Any, file: Any) -> None:
    """Raise if any part of a file is a link, lies elsewhere, or is too deep inside of others.

    For files that are copied part by part.
    """
    waiting = [(file, 0)]
    seen: set[Any] = set()
    while waiting:
        group, depth = waiting.pop()
        if depth > DEEPEST:
            raise TableError(f"it has groups inside of groups, more than {DEEPEST} of them")
        for name in group:
            inside = part_of(h5py, group, name)
            place = h5py.h5o.get_info(inside.id).addr
            if isinstance(inside, h5py.Group) and place not in seen:
                seen.add(place)
                waiting.append((inside, depth + 1))
