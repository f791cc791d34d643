"""How a text table is laid out: its separator, decimal mark, encoding, titles and header."""

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

from featsieve.io.cells import read_number
from featsieve.io.guard import TableError, printable
from featsieve.io.names import is_number, number_twins, place_names, shorten

SEPARATORS = (",", ";", "\t", "|")
DECIMAL_COMMA = re.compile(r"\s*[+-]?(\d*|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?\s*")
THOUSANDS = re.compile(r"\s*[+-]?[1-9]\d{0,2}[.,]\d{3}\s*")  # or three decimals
ENCODINGS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
WINDOWS = "cp1252"  # of files that are not UTF-8, as spreadsheet programs write them
MOST_LINES = 20  # that are looked at
LONGEST_TITLE = 60  # letters of a title that are shown
ENOUGH = 2**22  # letters in the lines that are looked at
YEAR = re.compile(r"(1[89]|20)\d\d")
# Of a first line of numbers in equal steps: from so many columns on it can hardly be data.
MANY_COLUMNS = 10


@dataclass(frozen=True)
class Layout:
    """How a text table is laid out; the first column is called "" if it names the rows."""

    separator: str
    decimal: str
    encoding: str
    has_header: bool
    names: list[str]
    unnamed: tuple[str, ...] = ()  # behind the first
    skipped: int = 0  # lines above the header, or above units below it
    notes: Sequence[str] = ()

    @property
    def row_names(self) -> bool:
        """Whether the first column holds the names of the rows."""
        return self.has_header and self.names[0] == ""


def find_layout(
    path: Path | bytes, *, header: bool | None = None, units: bool = True, code: str = "utf-8"
) -> Layout:
    """Look at the first lines of a text in ``code``; ``units`` may stand below the header."""
    with open_text(path) as stream:
        start = stream.read(4096)
    encoding = next((name for mark, name in ENCODINGS.items() if start.startswith(mark)), code)
    if encoding == code and b"\0" in start:
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
    above = _lines_above(lines, "\t" if tabs else None, titles=header is not False)
    title = re.sub(r'"|[,;]{2,}', " ", " ".join(lines[:above])).strip("\ufeff,;\t \r\n")
    skipped, lines, places = places[above] if above else 0, lines[above:], places[above:]
    separator = "\t" if tabs else find_separator(lines[0])
    rows = _split(lines, separator)
    if not rows:
        raise TableError("its first line is no row of cells: is it a text table?")
    decimal = "," if separator != "," and _has_decimal_commas(rows) else "."
    told = [f"Left out above the header: {_short(' '.join(title.split()))}."] if above else []
    has_header = _has_header(rows, decimal) if header is None else header
    names, unnamed = place_names(len(rows[0])), dict[int, str]()
    if header is None and not has_header and all(map(YEAR.fullmatch, map(str.strip, rows[0]))):
        told.append(
            f"The first line ({_short(', '.join(rows[0]))}) was read as a sample: if these years "
            "name the columns, give --header (in Python header=True)."
        )
    if has_header:
        names = ["" if name.strip() == "" else name for name in rows[0]]
        unnamed = {j: f"Unnamed: {j}" for j, name in enumerate(names) if name == "" and j > 0}
        names, twins = number_twins([unnamed.get(j, name) for j, name in enumerate(names)])
        told += [twins] if twins else []
    if encoding == WINDOWS:
        odd = [name for name in names if not name.isascii()] or names
        told.append(f"Not UTF-8: read as Windows-1252; check the names: {shorten(odd)}.")
    whole = rows[:2] == _split(lines[:2], separator)  # no cell of several lines
    if has_header and units and whole and _has_units(rows, decimal):
        skipped = places[1]  # the units stand where pandas looks for the header
        words = ", ".join(cell.strip() for cell in rows[1] if cell.strip())
        told.append(f"Left out below the header, as units: {_short(words)}.")
    return Layout(
        separator, decimal, encoding, has_header, names, tuple(unnamed.values()), skipped, told
    )


def _short(text: str) -> str:
    """Return text that was left out, for a note."""
    return repr(printable(text, longest=LONGEST_TITLE))


def _has_units(rows: list[list[str]], decimal: str) -> bool:
    """Say whether the line below the header has words, mostly, in all columns of numbers."""
    if len(rows) < 3 or len({len(row) for row in rows}) > 1:
        return False
    columns = [[cell.strip() for cell in column] for column in zip(*rows[1:], strict=True)]
    first = [
        read_number(unit, decimal=decimal)
        for unit, *cells in columns
        if any(cells) and all(is_number(cell, decimal=decimal) for cell in cells if cell)
    ]
    words = first.count(None)
    # gaps are NaN: some columns may have no unit
    return words > 1 and 2 * words > len(first) and all(one is None or one != one for one in first)


def _lines_above(lines: list[str], separator: str | None, *, titles: bool) -> int:
    """Return how many titles (less than half as many cells) and comments (#) are above a header."""
    rows = [(_split([line], separator or find_separator(line)) or [[]])[0] for line in lines]
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows]
    comments = next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)
    above = rows[max(0, comments - 1) : comments + 1]
    if comments and len(above[0]) == len(above[1]) and any(map(is_number, above[1])):
        comments -= 1  # the header
    start = comments
    while titles and start + 1 < len(lines) and lines[start].count('"') % 2 == 0:  # one line each
        if max(filled[start + 1 :]) <= max(2, 2 * filled[start]):
            break
        start += 1
    numbers = sum(map(is_number, rows[start]))
    return start if 2 * numbers <= filled[start] else comments  # below titles stands a header


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
    """Return what separates the cells of a line: a comma, unless it is a decimal one."""
    cells = {separator: _split([line], separator) for separator in SEPARATORS if separator in line}
    several = {separator: rows[0] for separator, rows in cells.items() if rows and rows[0][1:]}
    for separator in several if "," in line else ():
        if separator != "," and all(is_number(cell, decimal=",") for cell in several[separator]):
            return separator
    return next(iter(several), SEPARATORS[0])


def _has_decimal_commas(rows: list[list[str]]) -> bool:
    """Say whether numbers have decimal commas: more have one than have a point, and some have.

    1,234 can be either, and counts where no other number tells.
    """
    cells = [cell for row in rows for cell in row]
    commas = [cell for cell in cells if DECIMAL_COMMA.fullmatch(cell)]
    sure = sum(not THOUSANDS.fullmatch(cell) for cell in commas)
    points = [cell for cell in cells if "." in cell and is_number(cell)]
    return len(commas) > 0 and sure >= sum(not THOUSANDS.fullmatch(cell) for cell in points)


def _has_header(rows: list[list[str]], decimal: str) -> bool:
    """Say whether the first line names columns: words, or many numbers in equal steps."""
    first = [cell.strip() for cell in rows[0]]
    if not all(is_number(cell, decimal=decimal) for cell in first):
        return True
    if not all(cell.lstrip("+-").isdecimal() for cell in first):
        return False
    steps = {int(after) - int(before) for before, after in pairwise(first)}
    if len(first) >= MANY_COLUMNS:
        return len(steps) == 1 and steps != {0}
    # 0, 1, 2, ... are the names that pandas gives to columns, if no data look like that
    following = [cell.strip().lstrip("+-") for row in rows[1:] for cell in row]
    return first[0] == "0" and steps == {1} and not all(map(str.isdecimal, following))
