"""Text tables: ``.csv`` and ``.tsv``, also compressed with gzip."""

import csv
import gzip
import io
import re
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.dataset import Dataset
from featsieve.io.formats import Request
from featsieve.io.formats.columns import frame_dataset, text_columns
from featsieve.io.formats.common import LABEL, dense, free_name, label_values
from featsieve.io.formats.layout import Layout, find_layout, not_text, open_text
from featsieve.io.guard import ColumnError, TableError, first_line
from featsieve.io.names import check_unique, find_columns, is_number, shown
from featsieve.io.optional import load_optional

# Older ones read the last digit of many numbers wrong, unless they are asked not to.
EXACT_FROM = 3, 1
LARGEST_WHOLE = 2**53  # whole numbers up to this are written without a decimal point
BLOCK = 2**20  # cells that are text at a time


def read(path: Path, request: Request) -> Dataset:
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
    asked = {"", *request.roles, *(layout.names if request.columns is None else request.columns)}
    unread = tuple(name for name in layout.names if name not in asked)
    return frame_dataset(frame, request, named=layout.has_header, rows=rows, unread=unread)


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
            # in a tuple: a bare "NA" is missing for pandas 3
            converters=dict.fromkeys(as_they_stand, lambda word: (word,)),
            # some rows at a time: those of columns that are not needed do not stay in memory
            low_memory=needed is not None,
            **exact_numbers(pandas.__version__),
        )
    for name in as_they_stand:
        words = [word for (word,) in frame[name]]
        words = _classes(words) if name == request.label_column else words
        frame[name] = pandas.Series(words, index=frame.index, dtype=object)
    for name in text_columns(frame) if needed is not None else ():
        if name not in as_they_stand:  # numbers in some rows, words in others
            frame[name] = frame[name].map(str, na_action="ignore")
    return frame


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


def _classes(cells: list[str]) -> list[Any]:
    """Return the classes that cells stand for; an empty one is missing.

    They are numbers if all are written as these usually are: "01" and "1" are two words.
    """
    known = [cell for cell in cells if cell.strip()]
    for kind in (int, float):
        with suppress(ValueError, OverflowError):
            if [str(kind(cell)) for cell in known] == known:
                return [kind(cell) if cell.strip() else None for cell in cells]
    return [cell if cell.strip() else None for cell in cells]


def write(path: Path, table: Dataset, *, name: str, like: Path | None = None) -> None:
    """Write a text table under ``path``; ``name`` says how, ``like`` what separates its cells.

    Numbers have as many digits as it takes to read them back exactly, missing ones none.
    """
    separator, decimal = ("\t" if ".tsv" in name.lower() else ","), "."
    if like is not None:
        layout = find_layout(like)
        separator, decimal = layout.separator, layout.decimal
    samples, labels = table.sample_names, label_values(table)
    header = table.names
    last = [] if labels is None else [free_name(table.label_name, LABEL, header)]
    if samples is None and all(map(is_number, [*header, *last])):
        samples = [str(i) for i in range(table.X.shape[0])]  # or the header would read as data
    first = [] if samples is None else [free_name(table.id_name, "", [*header, *last])]
    with ExitStack() as stack:
        stream: Any = stack.enter_context(path.open("wb"))
        if name.lower().endswith(".gz"):  # without time and name, so that equal tables are equal
            packed = gzip.GzipFile("", "wb", compresslevel=6, fileobj=stream, mtime=0)
            stream = stack.enter_context(packed)
        file = stack.enter_context(io.TextIOWrapper(stream, encoding="utf-8", newline=""))
        writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        writer.writerow([*first, *header, *last])
        for i, cells in enumerate(_rows(table.X, decimal)):
            before = [] if samples is None else [samples[i]]
            after = [] if labels is None else [labels[i].item()]
            writer.writerow([*before, *cells, *after])


def _rows(X: Any, decimal: str) -> Iterator[list[Any]]:
    """Yield the cells of every row; columns of whole numbers have no decimal points."""
    whole = _whole_columns(X)
    step = max(1, BLOCK // X.shape[1])
    for start in range(0, X.shape[0], step):
        block = dense(X[start : start + step]).astype(np.float64)
        gaps: Any = np.isnan(block).any(axis=1)
        for row, has_gaps in zip(block.tolist(), gaps, strict=True):
            cells: list[Any] = row
            if whole.any():
                cells = [int(v) if w and v == v else v for v, w in zip(row, whole, strict=True)]
            if has_gaps:
                cells = ["" if value != value else value for value in cells]
            if decimal != ".":
                cells = [str(value).replace(".", decimal) for value in cells]
            yield cells


def _whole_columns(X: Any) -> np.ndarray:
    """Return which columns hold whole numbers only, apart from gaps."""
    step = max(1, BLOCK // X.shape[1])
    whole = np.ones(X.shape[1], dtype=bool)
    for start in range(0, X.shape[0], step):
        whole &= _is_whole(dense(X[start : start + step])).all(axis=0)
    return whole


def _is_whole(values: np.ndarray) -> np.ndarray:
    """Say of numbers whether they are whole and small enough to be exact, or missing."""
    return np.isnan(values) | ((values == np.rint(values)) & (np.abs(values) <= LARGEST_WHOLE))
