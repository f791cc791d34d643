"""HDF5 files, which AnnData and MATLAB 7.3 use.

HDF5 can keep a part of a file in any other file, by a link, as raw bytes or as a mosaic. A file of
a stranger could so show what is in files of yours: files with such parts are refused.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.guard import TableError
from featsieve.io.optional import load_optional

# Values that are read at a time (64 MiB of float64).
BLOCK = 2**23


@contextmanager
def open_hdf5(path: Path, purpose: str) -> Iterator[Any]:
    """Open a file to read it, all of whose parts lie in it."""
    h5py = load_optional("h5py", purpose)
    with h5py.File(path, "r") as file:
        for _ in parts_of(file):
            pass
        yield file


def parts_of(file: Any) -> Iterator[Any]:
    """Yield every part of a file; raise for one that lies in another file."""
    from h5py import Dataset, ExternalLink, HardLink

    names: list[str] = []
    file.visit_links(names.append)  # each one once, also in circles
    for name in names:
        link = file.get(name, getlink=True)
        if isinstance(link, ExternalLink):
            raise TableError(
                f"its part {name!r} is a link to another file, and these are not followed: save "
                "the file with all that belongs to it"
            )
        part = file[name] if isinstance(link, HardLink) else None
        if isinstance(part, Dataset) and (part.is_virtual or part.external):
            raise TableError(
                f"its part {name!r} is kept in other files, which are not read: save the file "
                "with all that belongs to it"
            )
        if part is not None:
            yield part


def look_through(path: Path) -> None:
    """Read the first block of every array of a file, before it is opened in another process."""
    with open_hdf5(path, "Reading a .h5ad file") as file:
        for part in parts_of(file):
            if getattr(part, "shape", ()):
                part[: max(1, BLOCK // max(1, int(np.prod(part.shape[1:]))))]
