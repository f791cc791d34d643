"""Text tables: ``.csv`` and ``.tsv``, also compressed with gzip."""

import re
import warnings
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.dataset import Content
from featsieve.io.names import ColumnError, check_unique, find_columns, shown
from featsieve.io.optional import load_optional
from featsieve.io.readers.frame import frame_content, text_columns
from featsieve.io.readers.guard import TableError, check_memory, first_line, memory_limit
from featsieve.io.readers.layout import Layout, find_layout, is_packed, not_text, open_text
from featsieve.io.readers.row_count import RowCounter, count_rows
from featsieve.io.request import Request

# Older ones read the last digit of many numbers wrong, unless they are asked not to.
EXACT_FROM = 3, 1
# While pandas reads: two places in the text, and a number.
BYTES_PER_CELL = 24
# Of columns that are chosen: a number, and once more for the table that all of them go into.
BYTES_PER_NUMBER = 16
# Of names and classes of samples, which are read as Python objects.
BYTES_PER_WORD = 140
BYTES_PER_COLUMN = 1500
# Cells that are read at a time where columns are chosen: 100 MB, or a quarter of the memory.
MOST_CELLS = 2**22
BLOCK_SHARE = 4 * BYTES_PER_CELL


def read_text(path: Path, request: Request) -> Content:
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
    return replace(content, labels=labels)


def _read(pandas: Any, path: Path, layout: Layout, request: Request) -> Any:
    """Return the columns that are needed; names and classes of samples as they stand."""
    names = layout.names
    as_they_stand = [*([""] if layout.row_names else []), *request.roles]
    needed: list[str] | None = None
    if request.columns is not None:
        features = find_columns(request.columns, names)
        wanted = [*as_they_stand, *(names[j] for j in features)]
        needed = list(dict.fromkeys(wanted))
    limit = memory_limit()
    n_rows = max(1, min(MOST_CELLS, limit // BLOCK_SHARE) // len(names))  # of a block
    block = None if needed is None else n_rows * len(names)
    fixed, per_row = _cost(len(names), len(as_they_stand), len(needed or names), block)
    counter = RowCounter(layout.separator, encoding=layout.encoding)
    if is_packed(path):
        limits = {"limit": max(0, limit - fixed), "per_row": per_row, "counter": counter}
    else:
        limits = {}  # all is counted here
        most = count_rows(path, counter)
        text = path.stat().st_size if block is None else 0
        told = f"the table of {most} lines and {len(needed or names)} columns"
        check_memory(fixed + text + per_row * most, what=told, limit=limit)
    how = {
        "sep": layout.separator,
        "decimal": layout.decimal,
        "encoding": layout.encoding,
        "header": 0 if layout.has_header else None,
        "names": names,
        "usecols": needed,
        "index_col": False,
        "converters": dict.fromkeys(as_they_stand, _wrapped),
        "low_memory": False,
        **exact_numbers(pandas.__version__),
    }
    with (
        warnings.catch_warnings(),
        open_text(path, encoding=layout.encoding, **limits) as file,
    ):
        # pandas only warns when it leaves out the last cells of rows longer than the header
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        if needed is None:
            frame = pandas.read_csv(file, **how)
        else:
            frame = _in_blocks(pandas, file, n_rows, how)
    for name in as_they_stand:
        words = [word for (word,) in frame[name]]
        frame[name] = pandas.Series(words, index=frame.index, dtype=object)
    return frame


def _cost(n_columns: int, n_words: int, n_read: int, block: int | None) -> tuple[int, int]:
    """Return the memory that a table takes in any case, and that a row takes besides its letters.

    Every row has a cell for every column: pandas fills up short ones, and refuses long ones. With
    ``block``, so many cells are read at a time, and only numbers are kept.
    """
    fixed, words = BYTES_PER_COLUMN * n_columns, BYTES_PER_WORD * n_words
    if block is None:
        return fixed, words + BYTES_PER_CELL * n_columns
    return fixed + BYTES_PER_CELL * block, words + BYTES_PER_NUMBER * n_read


def _in_blocks(pandas: Any, file: Any, n_rows: int, how: dict[str, Any]) -> Any:
    """Return some columns of a table, of which no more than a block of rows is kept as text."""
    blocks = []
    with pandas.read_csv(file, chunksize=n_rows, **how) as reader:
        for block in reader:
            blocks.append(block)
            file.raw.forget_text()
    if len(blocks) == 1:
        return blocks[0]
    kinds = zip(*([dtype.kind for dtype in block.dtypes] for block in blocks), strict=True)
    for name, several in zip(blocks[0].columns, map(set, kinds), strict=True):
        if len(several) > 1:
            _spell_out(blocks, name)
    frame = pandas.concat(blocks, ignore_index=True)
    for name in text_columns(frame):
        # numbers in one block and words in another
        if name not in how["converters"]:
            frame[name] = frame[name].map(str, na_action="ignore")
    return frame


def _spell_out(blocks: list[Any], name: str) -> None:
    """Turn True and False into words where other blocks hold other things, as in one block."""
    for block in blocks:
        if block[name].dtype.kind == "b":
            block[name] = block[name].map(str).astype(object)


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
