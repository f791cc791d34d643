"""Text tables: ``.csv`` and ``.tsv``, also compressed with gzip."""

import warnings
from pathlib import Path
from typing import Any

from featsieve.datasets.dataset import Content
from featsieve.datasets.names import ColumnError, check_unique, find_columns
from featsieve.datasets.optional import load_optional
from featsieve.datasets.readers.frame import frame_content, text_columns
from featsieve.datasets.readers.layout import Layout, find_layout, not_text
from featsieve.datasets.request import Request


def read_text(path: Path, request: Request) -> Content:
    """Return what a request asks of a text file.

    Without a header (every cell of the first line is a number) columns are called x0, x1, ...
    A first column without a name holds names of the rows, as pandas writes them. A ``.csv`` file
    may also be separated by semicolons (with decimal points or commas) or tabulators.
    """
    pandas = load_optional("pandas", f"Reading {path.name}")
    layout = find_layout(path)
    check_unique(layout.names)
    if not layout.has_header:
        request = request.for_places(len(layout.names))
    find_columns([*request.roles, *request.drop], layout.names)
    try:
        frame = _read(pandas, path, layout, request)
    except UnicodeDecodeError as error:
        raise ValueError(not_text(error)) from error
    except pandas.errors.ParserWarning as error:
        raise ValueError("rows have more cells than the header: name every column") from error
    if len(layout.names) == 1 and text_columns(frame) and not request.roles:
        raise ColumnError(
            f"there is one column, {layout.names[0]!r}, and it does not hold numbers: cells must "
            "be separated by commas, semicolons or tabulators"
        )
    rows = frame.pop("").tolist() if layout.row_names else None
    # "a,b," has a third column without name and content
    empty = [name for name in layout.unnamed if name in frame and frame[name].isna().all()]
    frame = frame.drop(columns=empty) if empty else frame
    return frame_content(frame, request, named=layout.has_header, rows=rows)


def _read(pandas: Any, path: Path, layout: Layout, request: Request) -> Any:
    """Return the columns that are needed; those with names of samples are kept as they stand."""
    names = layout.names
    as_they_stand = ([""] if layout.row_names else []) + [*filter(None, [request.id_column])]
    needed: list[str] | None = None
    if request.columns is not None:
        features = find_columns(request.columns, names)
        wanted = [*as_they_stand, *request.roles, *(names[j] for j in features)]
        needed = list(dict.fromkeys(wanted))
    with warnings.catch_warnings():
        # pandas only warns when it leaves out the last cells of rows longer than the header
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        return pandas.read_csv(
            path,
            sep=layout.separator,
            decimal=layout.decimal,
            encoding=layout.encoding,
            header=0 if layout.has_header else None,
            names=names,
            usecols=needed,
            index_col=False,
            converters=dict.fromkeys(as_they_stand, str),
            compression="gzip" if path.name.lower().endswith(".gz") else None,
            float_precision="round_trip",
            low_memory=False,
        )
