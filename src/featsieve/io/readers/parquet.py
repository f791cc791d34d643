"""Parquet tables."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from featsieve.io.dataset import Content
from featsieve.io.guard import PARQUET, TableError, first_bytes, not_a
from featsieve.io.names import check_unique, find_columns
from featsieve.io.optional import load_optional
from featsieve.io.readers.frame import as_text, frame_content
from featsieve.io.request import Request

UNNAMED = "__index_level_"  # what an index without a name is called in the file


def read(path: Path, request: Request) -> Content:
    """Return what a request asks of a Parquet file; an index of pandas names the samples."""
    load_optional("pandas", "Reading a .parquet file")
    parquet = load_optional("pyarrow.parquet", "Reading a .parquet file")
    check_parquet(path)
    schema = parquet.read_schema(path)
    # A text that stands in many rows is then kept once: a file may say it a billion times.
    words = [field.name for field in schema if _is_text(field.type)]
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
    content = frame_content(frame.drop(columns=left), request, rows=rows)
    unread = tuple(name for name in names if name not in needed)
    called = len(left) == 1 and not left[0].startswith(UNNAMED)
    id_name = left[0] if content.id_name is None and called else content.id_name
    return replace(content, id_name=id_name, unread=unread)


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


def _is_text(kind: Any) -> bool:
    """Say whether a column holds text or bytes."""
    from pyarrow import types

    return types.is_string(kind) or types.is_binary(kind)


def _is_nested(kind: Any) -> bool:
    """Say whether the cells of a column hold lists, tables or the like."""
    from pyarrow import BaseExtensionType, types

    while types.is_dictionary(kind) or isinstance(kind, BaseExtensionType):
        kind = kind.value_type if types.is_dictionary(kind) else kind.storage_type
    return types.is_nested(kind)
