"""Parquet tables."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from featsieve.io.dataset import Content
from featsieve.io.names import check_unique, find_columns
from featsieve.io.optional import load_optional
from featsieve.io.readers.frame import as_text, frame_content
from featsieve.io.readers.guard import TableError, TooLargeError, check_memory
from featsieve.io.readers.signature import check_parquet
from featsieve.io.request import Request

UNNAMED = "__index_level_"  # what an index without a name is called in the file
# For a number, and once more for the table that all of them go into.
BYTES_PER_CELL = 16
BYTES_PER_COLUMN = 1500
# Seconds that another process may take to look at the columns of a file.
LONGEST_LOOK = 120.0
# Prints what the columns named on the input unpack to. Where the facts about a column are damaged
# pyarrow ends the process, with no exception that could be caught: so another one looks at them.
SIZE_OF_COLUMNS = """
import json, sys
from pyarrow.parquet import read_metadata
names, about, size = set(json.load(sys.stdin)), read_metadata(sys.argv[1]), 0
for i in range(about.num_row_groups):
    group = about.row_group(i)
    for column in map(group.column, range(group.num_columns)):
        size += max(0, column.total_uncompressed_size) if column.path_in_schema in names else 0
print(size)
"""


def read_parquet(path: Path, request: Request) -> Content:
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
        _check_roles([*index, *request.roles], nested)
        read = [name for name in needed if name not in nested]
        _check_size(path, file.metadata, set(read))
        frame = file.read(columns=read).to_pandas(ignore_metadata=True)
    # What is nested is no number, and need not be read to say so.
    for name in nested:
        frame[name] = None
    frame = frame[needed] if nested else frame
    left = [name for name in index if name not in request.roles]
    levels = [as_text(frame[name]) for name in left]
    rows = ["/".join(names) for names in zip(*levels, strict=True)] if left else None
    content = frame_content(frame.drop(columns=left), request, rows=rows)
    if content.id_name is None and len(left) == 1 and not left[0].startswith(UNNAMED):
        return replace(content, id_name=left[0])
    return content


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


def _check_roles(names: list[str], nested: list[str]) -> None:
    """Raise if names or classes of the samples are lists."""
    for name in names:
        if name in nested:
            raise TableError(f"column {name!r} holds lists or tables: name one of words or numbers")


def _check_size(path: Path, about: Any, names: set[str]) -> None:
    """Raise if the columns that will be read do not fit into memory, by what the file says."""
    if about.num_rows < 0:
        raise TableError("it says that it has fewer rows than none: it is damaged; save it again")
    needed = len(names) * (BYTES_PER_CELL * about.num_rows + BYTES_PER_COLUMN)
    check_memory(needed, what=f"the table of {about.num_rows} rows and {len(names)} columns")
    groups = [about.row_group(i) for i in range(about.num_row_groups)]
    unpacked = sum(group.total_byte_size for group in groups)
    told = all(group.total_byte_size > 0 or group.num_rows == 0 for group in groups)
    try:
        check_memory(unpacked, what="what it unpacks to")
    except TooLargeError:
        if told and len(names) >= about.num_columns:
            raise
        told = False
    if not told:
        check_memory(_size_of(path, names, unpacked), what="what it unpacks to")


def _size_of(path: Path, names: set[str], otherwise: int) -> int:
    """Return how many bytes some columns unpack to; or another number if nobody can tell."""
    # -P: modules that lie in the current folder are not those that are meant
    command = [sys.executable, "-P", "-c", SIZE_OF_COLUMNS, str(path.resolve())]
    told = json.dumps(sorted(names))
    try:
        done = subprocess.run(
            command, input=told, capture_output=True, text=True, check=False, timeout=LONGEST_LOOK
        )
    except (OSError, subprocess.TimeoutExpired):
        return otherwise
    if done.returncode < 0:
        raise TableError("what it says about its columns is damaged: save it again")
    last = (done.stdout.splitlines() or [""])[-1]
    return int(last) if done.returncode == 0 and last.isdecimal() else otherwise
