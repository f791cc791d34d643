"""Text tables: ``.csv`` and ``.tsv``, also compressed with gzip."""

import re
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.dataset import Content
from featsieve.io.guard import ColumnError, TableError, first_line
from featsieve.io.names import check_unique, find_columns, shown
from featsieve.io.optional import load_optional
from featsieve.io.readers.frame import frame_content, text_columns
from featsieve.io.readers.layout import Layout, find_layout, not_text, open_text
from featsieve.io.request import Request

# Older ones read the last digit of many numbers wrong, unless they are asked not to.
EXACT_FROM = 3, 1


def read(path: Path, request: Request) -> Content:
    """Return what a request asks of a text file.

    Without a header (every cell of the first line is a number) columns are called x0, x1, ...
    A first column without a name holds names of the rows, as pandas writes them. A ``.csv`` file
    may also be separated by semicolons (with decimal points or commas) or tabulators.
    """
    pandas = load_optional("pandas", f"Reading {path.name}")
    layout = find_layout(path, header=request.header, named=request.named)
    check_unique(layout.names)
    if not layout.has_header:
        request = request.for_places(len(layout.names))
    find_columns([*request.roles, *request.drop], layout.names)
    try:
        frame = _read(pandas, path, layout, request)
    except UnicodeDecodeError as error:
        raise TableError(not_text(error)) from error
    except pandas.errors.ParserError as error:
        if "out of memory" in str(error):
            raise MemoryError from error
        raise TableError(uneven(error)) from error
    except pandas.errors.ParserWarning as error:
        raise TableError("rows have more cells than the header: name every column") from error
    if len(layout.names) == 1 and text_columns(frame) and not request.roles:
        raise ColumnError(
            f"there is one column, {shown(layout.names[0])}, and it does not hold numbers: cells "
            "must be separated by commas, semicolons or tabulators"
        )
    rows = frame.pop("").tolist() if layout.row_names else None
    # "a,b," has a third column without name and content
    empty = [name for name in layout.unnamed if name in frame and frame[name].isna().all()]
    frame = frame.drop(columns=empty) if empty else frame
    content = frame_content(frame, request, named=layout.has_header, rows=rows)
    labels = None if content.labels is None else _classes(content.labels.tolist())
    asked = {"", *request.roles, *(layout.names if request.columns is None else request.columns)}
    unread = tuple(name for name in layout.names if name not in asked)
    return replace(content, labels=labels, unread=unread)


def _read(pandas: Any, path: Path, layout: Layout, request: Request) -> Any:
    """Return the columns that are needed; names and classes of samples as they stand."""
    as_they_stand = [*([""] if layout.row_names else []), *request.roles]
    needed: list[str] | None = None
    if request.columns is not None:
        find_columns(request.columns, layout.names)
        needed = list(dict.fromkeys([*as_they_stand, *request.columns]))
    with (
        warnings.catch_warnings(),
        open_text(path, encoding=layout.encoding) as file,
    ):
        # pandas only warns when it leaves out the last cells of rows longer than the header
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        warnings.simplefilter("ignore", pandas.errors.DtypeWarning)
        frame = pandas.read_csv(
            file,
            sep=layout.separator,
            decimal=layout.decimal,
            header=0 if layout.has_header else None,
            names=layout.names,
            usecols=needed,
            index_col=False,
            converters=dict.fromkeys(as_they_stand, _wrapped),
            # some rows at a time: those of columns that are not needed do not stay in memory
            low_memory=needed is not None,
            **exact_numbers(pandas.__version__),
        )
    for name in as_they_stand:
        words = [word for (word,) in frame[name]]
        frame[name] = pandas.Series(words, index=frame.index, dtype=object)
    for name in text_columns(frame) if needed is not None else ():
        if name not in as_they_stand:  # numbers in some rows, words in others
            frame[name] = frame[name].map(str, na_action="ignore")
    return frame


def _wrapped(word: str) -> tuple[str]:
    """Return a word as pandas keeps it: a bare "NA" is missing for pandas 3."""
    return (word,)


def exact_numbers(version: str) -> dict[str, str]:
    """Return what makes a version of pandas read numbers exactly; from 3.1 on it always does."""
    numbers = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    return {} if numbers >= EXACT_FROM else {"float_precision": "round_trip"}


def uneven(error: Exception) -> str:
    """Say in words which line of a table has more cells than the others."""
    quote = re.search(r"EOF inside string starting at row (\d+)", str(error))
    if quote is not None:
        return (
            f"a quotation mark in row {quote[1]} of the cells is never closed: close it, or remove "
            "it"
        )
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
    if found is None:
        return f"its cells cannot be told apart ({first_line(error)}): save it again"
    first, line, cells = found.groups()
    return (
        f"line {line} has {cells} cells where the first line has {first}: every line needs as many "
        "(text with commas in it stands in quotes)"
    )


def _classes(cells: list[str]) -> np.ndarray:
    """Return the classes that cells stand for; an empty one is missing.

    They are numbers if all are written as these usually are: "01" and "1" are two words.
    """
    known = [cell for cell in cells if cell.strip()]
    for kind in (int, float):
        with suppress(ValueError, OverflowError):
            if [str(kind(cell)) for cell in known] == known:
                return np.array([kind(cell) if cell.strip() else None for cell in cells], object)
    return np.array([cell if cell.strip() else None for cell in cells], object)
