"""The heaps in which HDF5 files keep their words, looked through before HDF5 reads one.

HDF5 goes from entry to entry of a heap until its end. An entry that says to take no room keeps it
there for ever, and nothing but the end of the process stops it.

Nothing in a file lists its heaps, so that all of it is looked through; a large file is not, as that
would take longer than to read what is wanted of it.
"""

import functools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from featsieve.io.readers.guard import TableError, check_memory

# How a heap begins: its name, its version, three empty bytes.
MARK = b"GCOL\x01\0\0\0"
SMALLEST = 4096
BLOCK = 2**23
# Bytes of the largest file that is looked through.
LARGEST_FILE = 2**30
# Heaps of a file lie side by side, and leftovers of old ones among them. All together have no more
# than so many times the size of the file; heaps inside of heaps would be read again and again.
MOST_TIMES = 4


def check_heaps(path: Path, file: Any) -> int | None:
    """Return the size of the longest word in the heaps of an open HDF5 file.

    Raise if going over one of them would not come to its end. None for a file that is too large to
    be looked through.
    """
    about = os.stat(path)
    if about.st_size > LARGEST_FILE:
        return None
    width = file.id.get_create_plist().get_sizes()[1]
    return _check(path, (about.st_mtime_ns, about.st_size, about.st_ino), width)


@functools.lru_cache(maxsize=16)
def _check(path: Path, stamp: tuple[int, ...], width: int) -> int:
    """Look through the heaps of a file, once while it is the same."""
    longest = total = 0
    with path.open("rb") as file:
        for place in _places(file):
            file.seek(place + len(MARK))
            size = int.from_bytes(file.read(width), "little")
            is_heap = SMALLEST <= size <= stamp[1] - place  # else HDF5 refuses it, too
            total += size if is_heap else SMALLEST
            if total > MOST_TIMES * stamp[1]:
                raise TableError("heaps of its words overlap: get it or save it again")
            if is_heap:
                check_memory(size, what="a heap of its words")
                file.seek(place)
                longest = max(longest, _longest_entry(file.read(size), width))
    return longest


def _places(file: BinaryIO) -> Iterator[int]:
    """Yield where heaps begin, and perhaps a few places that only look like that."""
    start, kept = 0, b""
    while block := file.read(BLOCK):
        text = kept + block
        found = text.find(MARK)
        while found >= 0:
            yield start + found
            found = text.find(MARK, found + 1)
        kept = text[1 - len(MARK) :]
        start += len(text) - len(kept)
        file.seek(start + len(kept))  # whoever asked has been elsewhere


def _longest_entry(heap: bytes, width: int) -> int:
    """Return the size of the longest; every one must end behind its beginning, and inside."""
    longest = 0
    entry = _padded(8 + width)  # number, count, four empty bytes, size
    place = _padded(len(MARK) + width)
    while place + entry <= len(heap):
        number = int.from_bytes(heap[place : place + 2], "little")
        size = int.from_bytes(heap[place + 8 : place + 8 + width], "little")
        # Number 0 is what is free, up to the end; its size counts from its own beginning.
        room = entry + _padded(size) if number else size
        if not 0 < room <= len(heap) - place:
            raise TableError("a heap of its words is damaged: get it or save it again")
        longest = max(longest, size if number else 0)
        place += room
    return longest


def _padded(size: int) -> int:
    """Return a size with what is left free behind it."""
    return -(-size // 8) * 8
