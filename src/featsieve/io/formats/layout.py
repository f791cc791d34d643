"""How a text table is laid out: its separator, decimal mark, encoding, titles and header."""

import csv
import gzip
import io
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from featsieve.io.formats.common import DECIMAL_COMMA
from featsieve.io.guard import TableError, printable
from featsieve.io.names import is_number, number_twins, place_names

SEPARATORS = (",", ";", "\t")
ENCODINGS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
MOST_LINES = 20  # that are looked at
LONGEST_TITLE = 60  # letters of a title that are shown
ENOUGH = 2**22  # letters in the lines that are looked at
# Of a first line of numbers in equal steps: from so many columns on it can hardly be data.
MANY_COLUMNS = 10


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
    skipped: int = 0  # lines above the header
    notes: tuple[str, ...] = ()

    @property
    def row_names(self) -> bool:
        """Whether the first column holds the names of the rows."""
        return self.has_header and self.names[0] == ""


def find_layout(path: Path | bytes, *, header: bool | None = None) -> Layout:
    """Look at the first lines of a text table, which may be compressed.

    ``header`` says whether the first line names the columns, None lets it be found out.
    """
    with open_text(path) as stream:
        start = stream.read(4096)
    encoding = next((name for mark, name in ENCODINGS.items() if start.startswith(mark)), "utf-8")
    if encoding == "utf-8" and b"\0" in start:
        raise TableError("it is not a text table: does its name end as it should?")
    lines: list[str] = []
    places: list[int] = []  # of these lines in the file, which may have empty ones
    with PlainText(open_text(path), encoding=encoding, newline="") as file:
        for place, line in enumerate(iter(file.readline, "")):
            if line.strip():
                lines.append(line)
                places.append(place)
            if len(lines) == MOST_LINES or sum(map(len, lines)) >= ENOUGH:
                break
    if not lines:
        raise TableError("the file is empty")
    tabs = isinstance(path, Path) and ".tsv" in path.name.lower()
    above = 0 if header is False else _title_lines(lines, "\t" if tabs else None)
    title = " ".join(" ".join(lines[:above]).replace('"', " ").strip("\ufeff,;\t \r\n").split())
    skipped, lines = places[above] if above else 0, lines[above:]
    separator = "\t" if tabs else find_separator(lines[0])
    rows = _split(lines, separator)
    if not rows:
        raise TableError("its first line is no row of cells: is it a text table?")
    comma = separator != "," and any(DECIMAL_COMMA.fullmatch(cell) for row in rows for cell in row)
    decimal = "," if comma else "."
    if not (_has_header(rows, decimal) if header is None else header):
        return Layout(separator, decimal, encoding, False, place_names(len(rows[0])))
    names = ["" if name.strip() == "" else name for name in rows[0]]
    unnamed = {j: f"Unnamed: {j}" for j, name in enumerate(names) if name == "" and j > 0}
    names, twins = number_twins([unnamed.get(j, name) for j, name in enumerate(names)])
    left_out = f"Left out above the header: {printable(title, longest=LONGEST_TITLE)!r}."
    told = tuple(filter(None, [left_out if above else "", twins]))
    return Layout(separator, decimal, encoding, True, names, tuple(unnamed.values()), skipped, told)


def _title_lines(lines: list[str], separator: str | None) -> int:
    """Return how many lines stand above the header: titles, with less than half of its cells.

    What follows must be a header, mostly of words, and at least three cells wide.
    """
    rows = [(_split([line], separator or find_separator(line)) or [[]])[0] for line in lines]
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows]
    start = 0
    while (
        start + 1 < len(lines)
        and max(filled[start + 1 :]) > max(2, 2 * filled[start])
        and lines[start].count('"') % 2 == 0  # a cell of several lines
    ):
        start += 1
    numbers = sum(map(is_number, rows[start]))
    return start if 2 * numbers <= filled[start] else 0


def open_text(path: Path | bytes) -> Any:
    """Open a file whose name may say that it is compressed, or what was read of one."""
    if isinstance(path, bytes):
        return io.BytesIO(path)
    return gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb")


class PlainText(io.TextIOWrapper):
    """Text without zero characters; pandas would end a cell there, and say nothing."""

    def read(self, size: int | None = -1) -> str:
        """Read some letters."""
        text = super().read(size)
        if "\0" in text:
            raise TableError("it has a zero byte, which no text has: it is damaged")
        return text


def _split(lines: list[str], separator: str) -> list[list[str]]:
    """Return the cells of lines, up to one that cannot be split."""
    rows: list[list[str]] = []
    with suppress(csv.Error):  # a cell that is longer than any should be
        rows.extend(csv.reader(lines, delimiter=separator))
    return rows


def find_separator(line: str) -> str:
    """Return what separates the cells of a line: a comma if there is any outside of quotes.

    A line of numbers with decimal commas is separated by something else.
    """
    cells = {separator: _split([line], separator) for separator in SEPARATORS if separator in line}
    several = {separator: rows[0] for separator, rows in cells.items() if rows and rows[0][1:]}
    for separator in several if "," in line else ():
        if separator != "," and all(is_number(cell, decimal=",") for cell in several[separator]):
            return separator
    return next(iter(several), SEPARATORS[0])


def _has_header(rows: list[list[str]], decimal: str) -> bool:
    """Say whether the first line names columns: unless all of it is numbers.

    Many whole numbers in equal steps are years, wavelengths or the like; 0, 1, 2, ... are the names
    that pandas gives to columns, if no data look like that.
    """
    first = [cell.strip() for cell in rows[0]]
    if not all(is_number(cell, decimal=decimal) for cell in first):
        return True
    if not all(cell.lstrip("+-").isdecimal() for cell in first):
        return False
    steps = {int(after) - int(before) for before, after in pairwise(first)}
    if len(first) >= MANY_COLUMNS:
        return len(steps) == 1 and steps != {0}
    following = [cell.strip().lstrip("+-") for row in rows[1:] for cell in row]
    return first[0] == "0" and steps == {1} and not all(map(str.isdecimal, following))
