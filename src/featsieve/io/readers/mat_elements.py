"""The elements of a MATLAB file of version 5 to 7, looked through before SciPy builds anything.

SciPy trusts the sizes in a file, and goes into cells inside of cells until the stack is full, which
ends the whole program. So of every variable that will be read, all elements must lie inside of the
one around them, none may be nested deeper than any table needs, and all of it must fit into memory:
as it is stored, and as what it says it is (MATLAB stores small whole numbers of double precision in
one byte each). Of other variables only the beginning is looked at, as SciPy does.
"""

import math
import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from featsieve.io.readers.guard import TableError, check_memory, memory_limit
from featsieve.io.readers.mat_stream import CUT_SHORT, PlainElement, UnpackedElement

HEADER = 128
MATRIX, COMPRESSED = 14, 15
CELL, CHARACTERS, SPARSE, OPAQUE = 1, 4, 5, 17
# Bytes of a value, by what MATLAB calls the class of a matrix.
CLASS_BYTES = {6: 8, 7: 4, 8: 1, 9: 1, 10: 2, 11: 2, 12: 4, 13: 4, 14: 8, 15: 8}
# The same, by how numbers and letters are stored. Where that is unknown, SciPy ends the program.
STORED_NUMBERS = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8}
STORED_LETTERS = {1: 1, 2: 1, 4: 2, 16: 1, 17: 2, 18: 4}
# Of letters, as text and once more as an array.
BYTES_PER_LETTER = 8
# Of an array inside of a cell, besides what it holds.
BYTES_PER_ARRAY = 128
COMPLEX = 0x800
# Words lie in cells, which might lie in others.
DEEPEST = 20
MOST_DIMENSIONS = 32
LONGEST_NAME = 4096


def is_plain(path: Path) -> bool:
    """Say whether a file is of version 4: by a zero among its first bytes, as SciPy decides it."""
    with path.open("rb") as file:
        return 0 in file.read(4)


def check_headers(path: Path) -> None:
    """Raise unless all variables begin as they should, and lie inside of the file.

    Files of version 4, which have no such structure, are not looked at here.
    """
    for _ in _variables(path):
        pass


def check_variables(path: Path, names: Collection[str]) -> None:
    """Raise unless all that some variables hold fits together, and into memory."""
    budget = _Budget(memory_limit())
    for variable in _variables(path):
        if variable.matrix.name in names:
            _look_through(variable, budget)


@dataclass
class _Matrix:
    """A matrix whose header has been read, and what is left to read of it.

    ``left`` are bytes, ``parts`` elements of numbers or letters, ``cells`` matrices.
    """

    kind: int
    is_complex: bool
    shape: tuple[int, ...]
    name: str
    left: int
    parts: int = 0
    cells: int = 0


@dataclass
class _Variable:
    """A variable whose header has been read from a stream."""

    stream: PlainElement | UnpackedElement
    order: str
    matrix: _Matrix


@dataclass
class _Budget:
    """How many bytes of memory may still be used."""

    limit: int
    spent: int = 0

    def spend(self, count: int) -> None:
        """Take some of it, or say that it is used up."""
        self.spent += count
        check_memory(self.spent, what="what it unpacks to", limit=self.limit)


def _variables(path: Path) -> Iterator[_Variable]:
    """Yield the variables of a file, each at the end of its header."""
    if is_plain(path):
        return
    with path.open("rb") as file:
        start = file.read(HEADER)
        order = "<" if start[126:128] == b"IM" else ">"  # as SciPy decides it
        left = path.stat().st_size - HEADER
        while left > 0:
            tag = file.read(8)
            left -= 8
            kind, size = struct.unpack(f"{order}II", tag) if len(tag) == 8 else (0, left + 1)
            if size > left:
                raise TableError(CUT_SHORT)
            packed = kind == COMPRESSED
            stream: Any = UnpackedElement(file, size) if packed else PlainElement(file, size)
            if packed:  # the size of a packed one stands inside
                kind, size = _tag(stream, order)
            if kind == MATRIX:
                yield _Variable(stream, order, _header(stream, order, size))
            stream.leave()
            left -= stream.size


def _look_through(variable: _Variable, budget: _Budget) -> None:
    """Go over all elements of a variable."""
    # The matrices that one is in; no recursion: files choose the depth.
    around = [variable.matrix]
    stream, order = variable.stream, variable.order
    _expect(variable.matrix, budget, variable.matrix.name)
    while around:
        matrix = around[-1]
        if matrix.parts:
            matrix.parts -= 1
            _pass_values(stream, order, matrix, budget)
        elif matrix.cells:
            matrix.cells -= 1
            inner = _inner(stream, order, matrix)
            budget.spend(BYTES_PER_ARRAY)
            if inner is None:
                continue
            if len(around) > DEEPEST:
                raise TableError(
                    f"it has cells inside of cells, more than {DEEPEST} of them: save table and "
                    "labels alone"
                )
            _expect(inner, budget, variable.matrix.name)
            around.append(inner)
        elif matrix.left:
            raise TableError(CUT_SHORT)
        else:
            around.pop()


def _expect(matrix: _Matrix, budget: _Budget, name: str) -> None:
    """Note what must follow the header of a matrix, and take the memory for what it says it is."""
    n_values = math.prod(matrix.shape)
    if matrix.kind == CELL:
        matrix.cells = n_values
        budget.spend(8 * n_values)
    elif matrix.kind == CHARACTERS:
        matrix.parts = 1
        budget.spend(BYTES_PER_LETTER * n_values)
    elif matrix.kind == SPARSE:  # rows, starts of columns, values
        matrix.parts = 3 + matrix.is_complex
    elif matrix.kind in CLASS_BYTES:
        matrix.parts = 1 + matrix.is_complex
        budget.spend(CLASS_BYTES[matrix.kind] * matrix.parts * n_values)
    else:
        raise TableError(
            f"variable {name!r} holds cells that are neither numbers nor words: save numbers, and "
            "words as a cell array"
        )


def _pass_values(stream: Any, order: str, matrix: _Matrix, budget: _Budget) -> None:
    """Go on behind an element of numbers or letters, if there is memory for it."""
    kind, size, inside = _begin(stream, order, matrix)
    known = STORED_LETTERS if matrix.kind == CHARACTERS else STORED_NUMBERS
    if kind not in known:
        raise TableError(CUT_SHORT)
    n_values = size // known[kind]
    if matrix.kind in CLASS_BYTES and n_values != math.prod(matrix.shape):
        raise TableError(CUT_SHORT)
    if matrix.kind == CHARACTERS:
        budget.spend(BYTES_PER_LETTER * n_values)
    elif matrix.kind == SPARSE:
        budget.spend(8 * n_values)
    budget.spend(size)
    if not inside:
        padded = min(size + (-size) % 8, matrix.left)
        stream.skip(padded)
        matrix.left -= padded


def _inner(stream: Any, order: str, matrix: _Matrix) -> _Matrix | None:
    """Return the next matrix inside of a cell, None for one that is empty."""
    kind, size, inside = _begin(stream, order, matrix)
    if kind != MATRIX or inside:
        raise TableError(CUT_SHORT)
    matrix.left -= size
    return _header(stream, order, size) if size else None


def _header(stream: Any, order: str, size: int) -> _Matrix:
    """Read how a matrix begins: its class, its shape and its name."""
    matrix = _Matrix(0, False, (), "", size)
    flags = _small(stream, order, matrix, most=8)
    if len(flags) != 8:
        raise TableError(CUT_SHORT)
    flag = struct.unpack(f"{order}I", flags[:4])[0]
    matrix.kind, matrix.is_complex = flag & 0xFF, bool(flag & COMPLEX)
    if matrix.kind != OPAQUE:
        sizes = _small(stream, order, matrix, most=4 * MOST_DIMENSIONS)
        matrix.shape = struct.unpack(f"{order}{len(sizes) // 4}i", sizes[: len(sizes) // 4 * 4])
        if min(matrix.shape, default=-1) < 0:
            raise TableError(CUT_SHORT)
    matrix.name = _small(stream, order, matrix, most=LONGEST_NAME).decode("latin-1")
    return matrix


def _small(stream: Any, order: str, matrix: _Matrix, *, most: int) -> bytes:
    """Read an element of a header."""
    _, size, inside = _begin(stream, order, matrix)
    if inside:
        return inside[:size]
    if size > most:
        raise TableError(CUT_SHORT)
    padded = min(size + (-size) % 8, matrix.left)
    matrix.left -= padded
    return stream.read(padded)[:size]


def _begin(stream: Any, order: str, matrix: _Matrix) -> tuple[int, int, bytes]:
    """Read the tag of the next element: kind, size, and the bytes of one that is so short."""
    if matrix.left < 8:
        raise TableError(CUT_SHORT)
    tag = stream.read(8)
    matrix.left -= 8
    first, size = struct.unpack(f"{order}II", tag)
    if first >> 16:  # a short element: its size stands beside its kind, its value behind
        if first >> 16 > 4:
            raise TableError(CUT_SHORT)
        return first & 0xFFFF, first >> 16, tag[4:]
    if size > matrix.left:
        raise TableError(CUT_SHORT)
    return first, size, b""


def _tag(stream: Any, order: str) -> tuple[int, int]:
    """Return kind and size of the next element."""
    return struct.unpack(f"{order}II", stream.read(8))
