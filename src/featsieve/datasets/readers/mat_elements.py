"""The elements of a MATLAB file of version 5 to 7, looked through before SciPy builds anything.

SciPy trusts the sizes in a file, and goes into cells inside of cells until the stack is full, which
ends the whole program. So every element must lie inside of the one around it, none may be nested
deeper than any table needs, and all of it must fit into memory when it is unpacked.
"""

import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from featsieve.datasets.readers.guard import TableError, check_memory, memory_limit

HEADER = 128
MATRIX, COMPRESSED = 14, 15
# Of words in cells in fields of structs, which files of other variables may hold.
DEEPEST = 20
BLOCK = 2**16
CUT_SHORT = "it is cut short or damaged: get it or save it again"


def check_elements(path: Path) -> None:
    """Raise unless all elements of a file fit into each other, and into memory.

    Files of version 4, which have no such structure, are not looked at here.
    """
    with path.open("rb") as file:
        start = file.read(HEADER)
        if is_plain(path):
            return
        order = "<" if start[126:128] == b"IM" else ">"  # as SciPy decides it
        left = path.stat().st_size - HEADER
        budget = _Budget(memory_limit())
        while left > 0:
            tag = file.read(8)
            left -= 8
            kind, size = struct.unpack(f"{order}II", tag) if len(tag) == 8 else (0, left + 1)
            if size > left:
                raise TableError(CUT_SHORT)
            packed = kind == COMPRESSED
            stream: Any = _Unpacked(file, size, budget) if packed else _Plain(file, size, budget)
            if packed or kind == MATRIX:
                _check_variable(stream, order, None if packed else size)
            stream.skip_rest()
            left -= size


def is_plain(path: Path) -> bool:
    """Say whether a file is of version 4: by a zero among its first bytes, as SciPy decides it."""
    with path.open("rb") as file:
        return 0 in file.read(4)


def _check_variable(stream: Any, order: str, size: int | None) -> None:
    """Look through one variable; the size of a packed one stands inside."""
    if size is None:
        kind, size = _tag(stream, order)
        if kind != MATRIX:
            return
    # What is left of each of the matrices that one is in; no recursion: files choose the depth.
    around: list[_Matrix] = [_Matrix(size)]
    while around:
        matrix = around[-1]
        if matrix.left < 8:
            around.pop()
            continue
        inner = _next_matrix(stream, order, matrix)
        if inner is None:
            continue
        if len(around) > DEEPEST:
            raise TableError(
                f"it has cells inside of cells, more than {DEEPEST} of them: save table and labels "
                "alone"
            )
        around.append(inner)


@dataclass
class _Matrix:
    """How many bytes of a matrix have not been looked through."""

    left: int


def _next_matrix(stream: Any, order: str, matrix: _Matrix) -> _Matrix | None:
    """Go over the elements of a matrix up to one that is a matrix itself, and return that."""
    while matrix.left >= 8:
        first, size = _tag(stream, order)
        matrix.left -= 8
        if first >> 16:  # a short element: its size stands beside its type, its value behind
            if first >> 16 > 4:
                raise TableError(CUT_SHORT)
            continue
        if size > matrix.left:
            raise TableError(CUT_SHORT)
        if first == MATRIX:
            matrix.left -= size
            return _Matrix(size)
        padded = min(size + (-size) % 8, matrix.left)
        stream.skip(padded)
        matrix.left -= padded
    return None


def _tag(stream: Any, order: str) -> tuple[int, int]:
    """Return type and size of the next element."""
    return struct.unpack(f"{order}II", stream.read(8))


@dataclass
class _Budget:
    """How many bytes may still be unpacked."""

    limit: int
    spent: int = 0

    def spend(self, count: int) -> None:
        """Take some of it, or say that it is used up."""
        self.spent += count
        check_memory(self.spent, what="what it unpacks to", limit=self.limit)


class _Plain:
    """The bytes of an element as they stand in the file."""

    def __init__(self, file: Any, size: int, budget: _Budget) -> None:
        self._file, self._end = file, file.tell() + size
        budget.spend(size)

    def read(self, count: int) -> bytes:
        """Return exactly so many bytes."""
        found = self._file.read(count)
        if len(found) < count or self._file.tell() > self._end:
            raise TableError(CUT_SHORT)
        return found

    def skip(self, count: int) -> None:
        """Go on by so many bytes."""
        self._file.seek(count, 1)

    def skip_rest(self) -> None:
        """Go to the end of the element."""
        self._file.seek(self._end)


class _Unpacked:
    """The bytes that an element unpacks to, a block at a time."""

    def __init__(self, file: Any, size: int, budget: _Budget) -> None:
        self._file, self._packed, self._budget = file, size, budget
        self._end = file.tell() + size
        self._engine = zlib.decompressobj()
        self._ready = b""

    def _more(self) -> bool:
        """Unpack another block; say whether there was one."""
        waiting = self._engine.unconsumed_tail
        if not waiting:
            waiting = self._file.read(min(BLOCK, self._packed))
            self._packed -= len(waiting)
        if not waiting or self._engine.eof:
            return False
        try:
            found = self._engine.decompress(waiting, BLOCK)
        except zlib.error as error:
            raise TableError(CUT_SHORT) from error
        self._budget.spend(len(found))
        self._ready += found
        return True

    def read(self, count: int) -> bytes:
        """Return exactly so many bytes."""
        while len(self._ready) < count:
            if not self._more():
                raise TableError(CUT_SHORT)
        found, self._ready = self._ready[:count], self._ready[count:]
        return found

    def skip(self, count: int) -> None:
        """Go on by so many bytes."""
        while len(self._ready) < count:
            count -= len(self._ready)
            self._ready = b""
            if not self._more():
                raise TableError(CUT_SHORT)
        self._ready = self._ready[count:]

    def skip_rest(self) -> None:
        """Unpack what is left, and go to the end of the element."""
        self._ready = b""
        while self._more():
            self._ready = b""
        self._file.seek(self._end)
