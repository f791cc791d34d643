"""Workbooks of spreadsheet programs: one sheet, read as the text table that it looks like."""

import csv
import io
from pathlib import Path
from typing import Any

from featsieve.io.dataset import Dataset, Origin
from featsieve.io.formats import Request
from featsieve.io.formats.text import read_text
from featsieve.io.guard import TableError
from featsieve.io.names import shorten
from featsieve.io.optional import load_optional


def read(path: Path, request: Request) -> Dataset:
    """Return what a request asks of a sheet: the named one, or else the largest."""
    calamine = load_optional("python_calamine", f"Reading {path.name}", extra="excel")
    with calamine.CalamineWorkbook.from_path(path) as book:
        names = list(book.sheet_names)
        if request.sheet is None:
            sheets = [book.get_sheet_by_name(name) for name in names]
            sheet = max(sheets, key=lambda one: one.height * one.width)  # the first of equals
        else:
            sheet = book.get_sheet_by_name(_find(str(request.sheet), names))
        content = io.StringIO()
        writer = csv.writer(content, lineterminator="\n")
        for row in sheet.iter_rows():
            cells = [_text(cell) for cell in row]
            if any(cells):
                writer.writerow(cells)
    if len(names) == 1:
        origin = Origin()
    else:
        listed = f"The sheet {sheet.name!r} was read, of {len(names)} ({shorten(names)})."
        origin = Origin({"sheet": sheet.name}, (listed,))
    return read_text(content.getvalue().encode(), request, name=path.name, origin=origin)


def _find(sheet: str, names: list[str]) -> str:
    """Return the name of a sheet that is called so, or has this number, from 1 on."""
    if sheet in names:
        return sheet
    if sheet.isdecimal() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    raise TableError(
        f"there is no sheet {sheet!r}; sheets are: {shorten(names)}: name one, or its number, with "
        "--sheet (in Python sheet)"
    )


def _text(cell: Any) -> str:
    """Return a cell as text; workbooks know no whole numbers, and texts may be several lines."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return " ".join(cell.split()) if isinstance(cell, str) else str(cell)
