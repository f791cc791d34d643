"""Parts of HDF5 files, which AnnData and MATLAB 7.3 use.

HDF5 can keep a part of a file in any other file, by a link, as raw bytes or as a mosaic. A file of
a stranger could so show what is in files of yours: such parts are refused.
"""

from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.guard import TableError, first_bytes, not_a
from featsieve.io.optional import load_optional

# Values that are read at a time (64 MiB of float64).
BLOCK = 2**23


def open_hdf5(path: Path, purpose: str) -> Any:
    """Open a file to read it."""
    h5py = load_optional("h5py", purpose)
    if not h5py.is_hdf5(path):
        raise not_a("an HDF5 file", first_bytes(path))
    return h5py.File(path, "r")


def is_array(stored: Any) -> bool:
    """Say whether a part is an array, and not a group of parts."""
    return hasattr(stored, "dtype")


def has_part(group: Any, name: str) -> bool:
    """Say whether a group has a part of this name, be it one that is not read."""
    return bool(name) and not is_array(group) and name in group


def part_of(group: Any, name: str) -> Any:
    """Return a part of a group, if it lies in this file."""
    if not has_part(group, name):
        where = "" if group.name == "/" else f" in {group.name.strip('/')}"
        raise TableError(f"there is no part {name!r}{where}: it is damaged; save it again")
    found = group[name]
    if found.file.filename != group.file.filename:
        raise TableError(
            f"its part {name!r} is a link to another file, and these are not followed: save the "
            "file with all that belongs to it"
        )
    if is_array(found):
        check_inside(found)
    return found


def check_inside(stored: Any) -> None:
    """Raise if the values of an array lie in other files."""
    if stored.is_virtual or stored.external:
        raise TableError(
            f"its part {stored.name.strip('/')!r} is kept in other files, which are not read: save "
            "the file with all that belongs to it"
        )


def look_through(path: Path, *, only: str | None = None) -> None:
    """Read the first block of every array of a file, or of one part, before it is opened lazily.

    Raise if any part of it lies in another file.
    """
    with open_hdf5(path, "Reading a .h5ad file") as file:
        found = file if only is None else part_of(file, only)
        parts = [found]
        if not is_array(found):
            names: list[str] = []
            found.visit_links(names.append)  # each one once, also in circles
            parts = [part_of(found, name) for name in names]
        for stored in parts:
            if is_array(stored) and stored.shape:
                stored[: max(1, BLOCK // max(1, int(np.prod(stored.shape[1:]))))]
