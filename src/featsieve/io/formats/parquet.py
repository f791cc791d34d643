"""Parquet tables: read at once, opened for `open_table`, written."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.dataset import Dataset
from featsieve.io.formats import Request
from featsieve.io.formats.columns import as_text, frame_dataset
from featsieve.io.formats.common import LABEL, dense, free_name, label_values
from featsieve.io.guard import PARQUET, TableError, check_file, first_bytes, not_a
from featsieve.io.names import check_unique, find_columns
from featsieve.io.optional import load_optional

UNNAMED = "__index_level_"  # what an index without a name is called in the file


def read(path: Path, request: Request) -> Dataset:
    """Return what a request asks of a Parquet file; an index of pandas names the samples."""
    load_optional("pandas", "Reading a .parquet file")
    parquet = load_optional("pyarrow.parquet", "Reading a .parquet file")
    check_parquet(path)
    schema = parquet.read_schema(path)
    # A text that stands in many rows is then kept once: a file may say it a billion times.
    types = load_optional("pyarrow", "Reading a .parquet file").types
    text = (types.is_string, types.is_binary)
    words = [field.name for field in schema if any(kind(field.type) for kind in text)]
    with parquet.ParquetFile(path, read_dictionary=words) as file:
        names = schema.names
        check_unique(names)
        index = index_columns(schema)
        find_columns(request.roles, names)
        needed = list(names)
        if request.columns is not None:
            find_columns(request.columns, [name for name in names if name not in index])
            needed = list(dict.fromkeys([*index, *request.roles, *request.columns]))
        nested = [name for name in needed if _is_nested(schema.field(name).type)]
        for name in [*index, *request.roles]:
            if name in nested:
                raise TableError(
                    f"column {name!r} holds lists or tables: name one of words or numbers"
                )
        columns = [name for name in needed if name not in nested]
        frame = file.read(columns=columns).to_pandas(ignore_metadata=True)
    # What is nested is no number, and need not be read to say so.
    for name in nested:
        frame[name] = None
    frame = frame[needed] if nested else frame
    left = [name for name in index if name not in request.roles]
    levels = [as_text(frame[name]) for name in left]
    rows = ["/".join(names) for names in zip(*levels, strict=True)] if left else None
    called = len(left) == 1 and not left[0].startswith(UNNAMED)
    return frame_dataset(
        frame.drop(columns=left) if left else frame,  # to drop nothing is a copy, too
        request,
        rows=rows,
        id_name=left[0] if called else None,
        unread=tuple(name for name in names if name not in needed),
    )


def check_parquet(path: Path) -> None:
    """Raise if a file does not begin as Parquet does."""
    start = first_bytes(path)
    if not start.startswith((PARQUET, b"PARE")):  # the second: encrypted
        raise not_a("a Parquet file", start)


def index_columns(schema: Any) -> list[str]:
    """Return the columns that hold the index of a pandas.DataFrame; row numbers have none."""
    try:
        about = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        index = about.get("index_columns", [])
        return [name for name in index if isinstance(name, str) and name in schema.names]
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise TableError("its notes for pandas are damaged: save it again") from error


def _is_nested(kind: Any) -> bool:
    """Say whether the cells of a column hold lists, tables or the like."""
    from pyarrow import BaseExtensionType, types

    while types.is_dictionary(kind) or isinstance(kind, BaseExtensionType):
        kind = kind.value_type if types.is_dictionary(kind) else kind.storage_type
    return types.is_nested(kind)


def write(path: Path, table: Dataset) -> None:
    """Write a table; names of samples are the index that pandas finds, classes come last."""
    pandas = load_optional("pandas", "Writing a .parquet file")
    arrow = load_optional("pyarrow", "Writing a .parquet file")
    parquet = load_optional("pyarrow.parquet", "Writing a .parquet file")
    frame = pandas.DataFrame(dense(table.X), columns=table.names)
    named = table.sample_names is not None
    if named:
        name = None if table.id_name in table.names else table.id_name
        frame.index = pandas.Index(table.sample_names, name=name, dtype=object)
    labels = label_values(table)
    if labels is not None:
        taken = [*table.names, frame.index.name or ""]
        frame[free_name(table.label_name, LABEL, taken)] = labels
    written = arrow.Table.from_pandas(frame, preserve_index=named)
    if named:  # pandas would put them last
        *columns, index = written.column_names
        written = written.select([index, *columns])
    parquet.write_table(written, path)


def look_through(path: Path) -> dict[str, Any]:
    """Return what a Parquet file holds, or all of those in a folder, one below the other."""
    parquet = load_optional("pyarrow.parquet", "Opening Parquet files")
    files = [path]
    if path.is_dir():  # hidden files are results that are not finished
        files = [
            file
            for file in sorted(path.rglob("*.parquet"))
            if not any(part.startswith(".") for part in file.relative_to(path).parts)
        ]
    if not files:
        raise TableError(f"{path.name} is a folder without any .parquet file.")
    groups, edges = [], [0]
    names: list[str] | None = None
    dtype = np.dtype(bool)
    for place in files:
        check_file(place)
        check_parquet(place)
        about = parquet.read_metadata(place)
        found = _number_columns(about.schema.to_arrow_schema())
        if names is not None and names != list(found):
            raise TableError(
                f"{place.name} and {files[0].name} have other columns of numbers: write all files "
                "with the same ones, in the same order."
            )
        names = list(found)
        if not names:
            raise TableError(f"{path.name} has no column that holds numbers.")
        dtype = np.result_type(dtype, *found.values())
        for group in range(about.num_row_groups):
            groups.append([str(place), group, edges[-1]])
            edges.append(edges[-1] + about.row_group(group).num_rows)
    return {
        "shape": [edges[-1], len(names or ())],
        "dtype": dtype.str,
        "names": names,
        "edges": edges[1:],
        "groups": groups,
        "stamp": [place.stat().st_mtime_ns for place in files],
    }


def _number_columns(schema: Any) -> dict[str, np.dtype]:
    """Return the columns that hold numbers, and their types."""
    from pyarrow import types

    index = set(index_columns(schema))
    kinds = (types.is_integer, types.is_floating, types.is_boolean)
    return {
        field.name: np.dtype(field.type.to_pandas_dtype())
        for field in schema
        if field.name not in index and any(kind(field.type) for kind in kinds)
    }


def read_rows(
    groups: list[tuple[str, int, int]], names: list[str], kind: str, start: int, stop: int
) -> np.ndarray:
    """Return the rows from one end of a row group to another."""
    from pyarrow.parquet import ParquetFile

    found = np.empty((stop - start, len(names)), dtype=kind)
    for path, group, first in groups:
        if not start <= first < stop:
            continue
        with ParquetFile(path) as file:
            rows = file.read_row_group(group, columns=names, use_threads=False)
        for j, name in enumerate(names):
            column = rows.column(name)
            if column.null_count and found.dtype.kind != "f":
                raise TableError(
                    f"Column {name!r} of {Path(path).name} has missing entries: fill them, or "
                    "leave it out."
                )
            found[first - start : first - start + len(column), j] = column.to_numpy()
    return found
