"""Text tables: ``.csv`` and ``.tsv``, also compressed with gzip."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.cells import read_number
from featsieve.io.dataset import Dataset, Origin, dense
from featsieve.io.formats import Request
from featsieve.io.formats.common import (
    as_text,
    frame_dataset,
    free_name,
    labelled_frame,
    text_columns,
    written_numbers,
)
from featsieve.io.formats.layout import WINDOWS, Layout, PlainText, find_layout, open_text
from featsieve.io.guard import ColumnError, MissingColumnError, TableError, first_line
from featsieve.io.names import check_unique, find_columns, is_number, shorten
from featsieve.io.optional import load_optional
from featsieve.names import shown

FOOTER_COLUMNS = 4  # from so many on, a row with a word in the first alone is no sample
LARGEST_WHOLE = 2**53  # whole numbers up to this are written without a decimal point


def read(path: Path, request: Request) -> Dataset:
    """Return what a request asks of a text file."""
    return read_text(path, request, name=path.name)


def read_text(
    path: Path | bytes, request: Request, *, name: str, origin: Any = None, code: str = "utf-8"
) -> Dataset:
    """Return what a request asks of text, of which ``origin`` says what is known already."""
    pandas, origin = load_optional("pandas", f"Reading {name}"), origin or Origin()
    try:
        # Below names of samples stands no unit, but something about them.
        layout = find_layout(path, header=request.header, units=not request.transpose, code=code)
        # of a table that will be transposed, all columns are samples
        asked = Request() if request.transpose else request
        _check_columns(layout, asked)
        frame = whole = _read(pandas, path, layout, asked)
        who = asked.id_column or layout.names[0]
        bare = _blank_rows(frame, but=who)
        if bare.any() and asked.columns is not None:  # something may stand in other columns
            whole = _read(pandas, path, layout, replace(asked, columns=None))
            bare &= _blank_rows(whole, but=who)
    except UnicodeDecodeError as error:
        if error.encoding == "utf-8" and code != WINDOWS:
            return read_text(path, request, name=name, origin=origin, code=WINDOWS)
        raise TableError(
            f"it is not text in UTF-8 or Windows-1252 (byte {error.start}): save it as UTF-8, in a "
            "spreadsheet program as 'CSV UTF-8'"
        ) from error
    except (pandas.errors.ParserError, pandas.errors.ParserWarning) as error:
        raise TableError(
            f"its lines have other numbers of cells, or an open quotation mark "
            f"({first_line(error)}): text with commas in it stands in quotes"
        ) from error
    if len(layout.names) == 1 and text_columns(frame) and not request.roles:
        raise ColumnError(
            f"there is one column, {shown(layout.names[0])}, and it does not hold numbers: cells "
            "must be separated by commas, semicolons, tabulators or |"
        )
    notes = [*origin.notes, *layout.notes]
    if len(layout.names) > 1 and bare.any():
        cells = dict(zip(np.flatnonzero(bare), as_text(whole[who][bare]), strict=True))
        blank = [k for k, cell in cells.items() if not cell.strip()]
        sure, mark = who in ("", asked.id_column), layout.decimal  # else a number may be a value
        named = [k for k in cells if sure or read_number(cells[k], decimal=mark) is None]
        footed = len(layout.names) >= FOOTER_COLUMNS and not request.transpose
        named = [k for k in named if footed and cells[k].strip()]
        if 0 < len(blank) + len(named) < len(frame):
            count = f"{len(blank):,} (the first is row {min(blank, default=0) + 1:,})"
            footers = shorten([cells[k] for k in named])
            notes += [f"Rows without any value, and left out: {count}."][: len(blank)]
            notes += [f"Rows without any value but a name, and left out: {footers}."][: len(named)]
            frame = frame.drop(index=[*blank, *named]).reset_index(drop=True)
    rows = frame.pop("").tolist() if layout.row_names else None
    rows = rows if rows is None or any(rows) else None  # a table that begins in column B
    # "a,b," has a third column without name and content
    empty = [name for name in layout.unnamed if name in frame and frame[name].isna().all()]
    frame = frame.drop(columns=empty) if empty else frame
    return frame_dataset(
        frame,
        request,
        named=layout.has_header,
        rows=rows,
        decimal=layout.decimal,
        origin=replace(origin, notes=tuple(notes)),
    )


def _check_columns(layout: Layout, request: Request) -> None:
    """Raise if columns are not there, or two have one name."""
    check_unique(layout.names)
    try:
        find_columns([*request.roles, *request.drop, *(request.columns or ())], layout.names)
    except MissingColumnError as error:
        if layout.has_header:
            raise
        raise MissingColumnError(
            f"{error}; its first line holds numbers only and was read as a sample: if it names the "
            "columns, say so (--header; in Python header=True)"
        ) from error


def _read(pandas: Any, path: Path | bytes, layout: Layout, request: Request) -> Any:
    """Return the columns that are needed; names and classes of samples as they stand."""
    as_they_stand = [*([""] if layout.row_names else []), *request.roles]
    needed: list[str] | None = None
    if request.columns is not None:
        needed = list(dict.fromkeys([*as_they_stand, *request.columns]))
    with (
        warnings.catch_warnings(),
        # Ends of lines become "\n": of a line that begins with a blank behind a bare "\r", pandas
        # reads what it has read again.
        PlainText(open_text(path), encoding=layout.encoding) as file,
    ):
        # pandas only warns when it leaves out the last cells of rows longer than the header
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        warnings.simplefilter("ignore", pandas.errors.DtypeWarning)
        for _ in range(layout.skipped):
            file.readline()
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


def _blank_rows(frame: Any, *, but: str) -> np.ndarray:
    """Return which rows of a pandas.DataFrame have no cell with content in all columns but one."""
    blank, words = np.ones(len(frame), dtype=bool), set(text_columns(frame))
    for name in frame.columns[frame.columns != but]:
        cells = frame[name][blank]
        empty = np.array(cells.isna(), dtype=bool)  # a copy: pandas 3 lends arrays for reading
        if name in words:
            empty |= np.array([isinstance(cell, str) and not cell.strip() for cell in cells], bool)
        blank[blank] = empty
    return blank


def exact_numbers(version: str) -> dict[str, str]:
    """Return what makes a version of pandas read numbers exactly; from 3.1 on it always does."""
    always = tuple(map(int, version.split(".")[:2])) >= (3, 1)
    return {} if always else {"float_precision": "round_trip"}


def _classes(cells: list[str]) -> list[Any]:
    """Return classes (None: missing), numbers if all are written so: "01" and "1" are two words."""
    numbers = iter(written_numbers([cell for cell in cells if cell.strip()]))
    return [next(numbers) if cell.strip() else None for cell in cells]


def write(path: Path, table: Dataset, *, name: str, like: Path | None = None) -> None:
    """Write a text table under ``path``; ``name`` says how, ``like`` what separates its cells."""
    separator, decimal = ("\t" if ".tsv" in name.lower() else ","), "."
    if like is not None:
        layout = find_layout(like, code="latin-1")  # which reads any bytes
        separator, decimal = layout.separator, layout.decimal
    X = dense(table.X).astype(np.float64)
    frame, samples = labelled_frame(replace(table, X=X)), table.sample_names
    exact = (np.rint(X) == X) & (np.abs(X) <= LARGEST_WHOLE)
    whole = np.asarray(table.names)[(exact | np.isnan(X)).all(axis=0)].tolist()
    frame = frame.astype({name: "Int64" for name in whole if name not in table.encodings})
    if samples is None and all(map(is_number, frame.columns)):
        samples = [str(i) for i in range(len(frame))]  # or the header would read as data
    if samples is not None:
        frame.insert(0, free_name(table.id_name, "", frame.columns), samples)
    # without time and name, so that equal tables are equal files
    packed = {"method": "gzip", "compresslevel": 6, "mtime": 0, "filename": ""}
    with path.open("wb") as file:
        frame.to_csv(
            file,
            sep=separator,
            decimal=decimal,
            index=False,
            lineterminator="\n",
            compression=packed if name.lower().endswith(".gz") else None,
        )
