"""How a text table is laid out: what separates cells, whether there is a header."""

import csv
import gzip
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from featsieve.io.guard import ColumnError, TableError, kind_of, not_a
from featsieve.io.names import is_number, place_names

SEPARATORS = (",", ";", "\t")
ENCODINGS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
MOST_LINES = 20  # that are looked at
ENOUGH = 2**22  # letters in the lines that are looked at
# Of a first line 0, 1, 2, ...: from so many columns on it can hardly be data.
MANY_COLUMNS = 10
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")


@dataclass(frozen=True)
class Layout:
    """How a text table is laid out.

    ``names`` are those of all columns, x0, x1, ... without a header. Columns without a name in the
    header are called "" if they are the first (names of the rows), else after their place.
    """

    separator: str
    decimal: str
    encoding: str
    has_header: bool
    names: list[str]
    unnamed: tuple[str, ...] = ()  # behind the first

    @property
    def row_names(self) -> bool:
        """Whether the first column holds the names of the rows."""
        return self.has_header and self.names[0] == ""


def find_layout(path: Path, *, header: bool | None = None, named: Sequence[str] = ()) -> Layout:
    """Look at the first lines of a text table, which may be compressed.

    ``header`` says whether the first line names the columns, None lets it be found out; ``named``
    are columns that somebody asks for.
    """
    with _open(path) as stream:
        start = stream.read(4096)
    encoding = next((name for mark, name in ENCODINGS.items() if start.startswith(mark)), "utf-8")
    # "PAR1" may also be the name of a column: only files with bytes that no text has are refused.
    other = kind_of(start) is not None and start[:1] >= b"\x80"
    if encoding == "utf-8" and (b"\0" in start or other):
        raise not_a("a text table", start)
    try:
        with open_text(path, encoding=encoding, newline="") as file:
            lines = _first_lines(file)
    except UnicodeDecodeError as error:
        raise TableError(not_text(error)) from error
    if not lines:
        raise TableError("the file is empty")
    separator = "\t" if ".tsv" in path.name.lower() else _separator(lines[0])
    rows = _split(lines, separator)
    if not rows:
        raise TableError("its first line is no row of cells: is it a text table?")
    cells = [cell for row in rows for cell in row]
    comma = separator != "," and any(DECIMAL_COMMA.fullmatch(cell) for cell in cells)
    decimal = "," if comma else "."
    has_header = _has_header(rows, decimal) if header is None else header
    if header is None and not has_header:
        _refuse_doubt([cell.strip() for cell in rows[0]], named)
    if not has_header:
        return Layout(separator, decimal, encoding, False, place_names(len(rows[0])))
    names = ["" if name.strip() == "" else name for name in rows[0]]
    unnamed = {j: f"Unnamed: {j}" for j, name in enumerate(names) if name == "" and j > 0}
    names = [unnamed.get(j, name) for j, name in enumerate(names)]
    return Layout(separator, decimal, encoding, True, names, tuple(unnamed.values()))


class _Text(io.TextIOWrapper):
    """Text without zero characters; pandas would end a cell there, and say nothing."""

    def read(self, size: int | None = -1) -> str:
        """Read some letters."""
        text = super().read(size)
        if "\0" in text:
            raise TableError("it has a zero byte, which no text has: it is damaged")
        return text


def open_text(path: Path, *, encoding: str, newline: str | None = None) -> io.TextIOWrapper:
    r"""Open a text file, unpacking it if its name ends with .gz.

    Ends of lines become "\n": of a line that begins with a blank behind a bare "\r", pandas reads
    what it has read again.
    """
    return _Text(_open(path), encoding=encoding, newline=newline)


def _open(path: Path) -> Any:
    """Open a file whose name may say that it is compressed."""
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")


def _first_lines(file: io.TextIOWrapper) -> list[str]:
    """Return the first lines that are not blank: fewer where they are long."""
    lines: list[str] = []
    length = 0
    for line in file:
        if line.strip():
            lines.append(line)
            length += len(line)
        if len(lines) == MOST_LINES or length >= ENOUGH:
            break
    return lines


def not_text(error: UnicodeDecodeError) -> str:
    """Say what to do about a file that is no UTF-8 text."""
    return (
        f"it is not text in UTF-8 (byte {error.start}): save it as UTF-8, in a spreadsheet program "
        "as 'CSV UTF-8'"
    )


def _split(lines: list[str], separator: str) -> list[list[str]]:
    """Return the cells of lines, up to one that cannot be split."""
    rows: list[list[str]] = []
    with suppress(csv.Error):  # a cell that is longer than any should be
        rows.extend(csv.reader(lines, delimiter=separator))
    return rows


def _separator(line: str) -> str:
    """Return what separates the cells of a line: a comma if there is any outside of quotes.

    A line of numbers with decimal commas is separated by something else.
    """
    cells = {separator: _split([line], separator) for separator in SEPARATORS if separator in line}
    several = [separator for separator, rows in cells.items() if rows and len(rows[0]) > 1]
    for separator in several if "," in line else ():
        numbers = all(is_number(cell, decimal=",") for cell in cells[separator][0])
        if separator != "," and numbers:
            return separator
    return several[0] if several else SEPARATORS[0]


def _has_header(rows: list[list[str]], decimal: str) -> bool:
    """Say whether the first line names columns: unless all of it is numbers.

    0, 1, 2, ... are the names that pandas gives to columns, if no data look like that; many whole
    numbers in equal steps are years, wavelengths or the like.
    """
    first = rows[0]
    if not all(is_number(cell, decimal=decimal) for cell in first):
        return True
    if len(first) >= MANY_COLUMNS and _in_steps(first):
        return True
    if [cell.strip() for cell in first] != [str(j) for j in range(len(first))]:
        return False
    following = [cell for row in rows[1:] for cell in row]
    whole = all(cell.strip().lstrip("+-").isdecimal() for cell in following)
    return len(rows) > 1 and len(first) > 1 and (len(first) >= MANY_COLUMNS or not whole)


def _in_steps(cells: list[str]) -> bool:
    """Say whether cells are whole numbers that grow or shrink in equal steps."""
    if not all(cell.strip().lstrip("+-").isdecimal() for cell in cells):
        return False
    steps = {int(after) - int(before) for before, after in pairwise(cells)}
    return len(steps) == 1 and steps != {0}


def _refuse_doubt(first: list[str], named: Sequence[str]) -> None:
    """Raise if a column is asked for by a number that may be its name or its place."""
    doubtful = [name for name in named if name.strip() in first]
    if doubtful:
        raise ColumnError(
            f"the first line holds numbers only, {doubtful[0]!r} among them: say whether it names "
            "the columns (--header; in Python header=True) or is a sample (--no-header; in Python "
            "header=False, columns are then called x0, x1, ...)"
        )
