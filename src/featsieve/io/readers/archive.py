"""Zip archives (``.npz``, models) and the arrays in them: their sizes, before they are unpacked.

Nothing is ever written to the disk, so the names of the parts can do no harm.
"""

import io
import warnings
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from featsieve.io.guard import TableError
from featsieve.io.memory import check_memory

# bz2 may turn a few bytes into gigabytes at once, and NumPy writes only these two.
COMPRESSIONS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 0x1


@contextmanager
def old_headers() -> Iterator[None]:
    """Read arrays that Python 2 has written, or that look so by damage, without NumPy's advice."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Reading `.npy`", category=UserWarning)
        yield


@old_headers()
def check_archive(
    archive: zipfile.ZipFile, *, names: Collection[str] | None = None, limit: int | None = None
) -> int:
    """Return how many bytes some parts of an archive unpack to; raise if that is too much.

    Archives inside of it (``.npz``) are counted, and arrays must have the size that their headers
    say. ``names`` are the parts that will be read, by default all.
    """
    parts = [part for part in archive.infolist() if names is None or part.filename in names]
    for part in parts:
        if part.flag_bits & ENCRYPTED:
            raise TableError(f"its part {part.filename!r} is encrypted: save it without a password")
        if part.compress_type not in COMPRESSIONS:
            raise TableError(
                f"its part {part.filename!r} is compressed in an unusual way: save it as NumPy does"
            )
    total = sum(part.file_size for part in parts)
    check_memory(total, what="what it unpacks to", limit=limit)
    for part in parts:
        if part.filename.endswith(".npy"):
            with archive.open(part) as file:
                check_npy(file, part.file_size, what=part.filename)
        elif part.filename.endswith(".npz"):  # a sparse matrix of a model, compressed once more
            with archive.open(part) as file, zipfile.ZipFile(io.BytesIO(file.read())) as inner:
                total += check_archive(inner, limit=limit)
    check_memory(total, what="what it unpacks to", limit=limit)
    return total


def check_npy(file: BinaryIO | Any, size: int, *, what: str) -> None:
    """Raise if a stored array is not as large as its header says, or no array at all.

    NumPy makes room for an array before it reads it.
    """
    try:
        header = npy_header(file)
    except Exception as error:  # NumPy reads it as a text of Python
        raise TableError(f"{what} has a damaged header: save it again") from error
    if header is None:
        raise TableError(f"{what} is not an array of NumPy: save it with numpy.savez")
    shape, dtype = header
    left = size - file.tell()
    expected = dtype.itemsize
    for length in shape:
        expected *= length
    if dtype.hasobject:  # a stream of pickles: refused by whoever reads it
        return
    if min(shape, default=0) < 0 or expected > left:
        raise TableError(
            f"{what} says that it holds an array of shape {shape} ({dtype}), but it is not as "
            "large as that: it is damaged; save it again"
        )


def npy_header(file: BinaryIO | Any) -> tuple[tuple[int, ...], np.dtype] | None:
    """Return shape and type of a stored array, None where there is none."""
    if file.read(len(np.lib.format.MAGIC_PREFIX)) != np.lib.format.MAGIC_PREFIX:
        return None
    version = file.read(2)
    first = version[:1] == b"\x01"
    read = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(file)
    return shape, dtype
