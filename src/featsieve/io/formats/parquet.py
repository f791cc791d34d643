"""Parquet tables: columns of numbers, an index of pandas names the samples."""

import json
from pathlib import Path
from typing import Any

from featsieve.io.dataset import Dataset
from featsieve.io.formats import Request
from featsieve.io.formats.common import (
    BATCH,
    LABEL,
    as_text,
    dense,
    feature_frame,
    frame_dataset,
    free_name,
    label_values,
)
from featsieve.io.guard import TableError
from featsieve.io.names import check_unique, find_columns
from featsieve.io.optional import load_optional

UNNAMED = "__index_level_"  # what an index without a name is called in the file


def read(path: Path, request: Request) -> Dataset:
    """Return what a request asks of a Parquet file."""
    load_optional("pandas", "Reading a .parquet file")
    parquet = load_optional("pyarrow.parquet", "Reading a .parquet file")
    with parquet.ParquetFile(path) as file:
        names = file.schema_arrow.names
        check_unique(names)
        index = index_columns(file.schema_arrow)
        find_columns(request.roles, names)
        needed = list(names)
        if request.columns is not None:
            find_columns(request.columns, [name for name in names if name not in index])
            needed = list(dict.fromkeys([*index, *request.roles, *request.columns]))
        frame = file.read(columns=needed).to_pandas(ignore_metadata=True)
    left = [name for name in index if name not in request.roles]
    levels = [as_text(frame[name]) for name in left]
    called = len(left) == 1 and not left[0].startswith(UNNAMED)
    return frame_dataset(
        frame.drop(columns=left) if left else frame,  # to drop nothing is a copy, too
        request,
        rows=["/".join(names) for names in zip(*levels, strict=True)] if left else None,
        id_name=left[0] if called else None,
    )


def index_columns(schema: Any) -> list[str]:
    """Return the columns that hold the index of a pandas.DataFrame; row numbers have none."""
    try:
        about = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
        index = about.get("index_columns", [])
        return [name for name in index if isinstance(name, str) and name in schema.names]
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        raise TableError("its notes for pandas are damaged: save it again") from error


def write(path: Path, table: Dataset, **_: Any) -> None:
    """Write a table; names of samples are the index that pandas finds."""
    pandas = load_optional("pandas", "Writing a .parquet file")
    frame = feature_frame(pandas, table, dense(table.X))
    if table.sample_names is not None:
        name = None if table.id_name in table.names else table.id_name
        frame.index = pandas.Index(table.sample_names, name=name, dtype=object)
    labels = label_values(table)
    if labels is not None:
        taken = [*table.names, frame.index.name or ""]
        frame[free_name(table.label_name, LABEL, taken)] = labels
    if table.batch is not None:
        taken = [*frame.columns, frame.index.name or ""]
        frame[free_name(table.batch_name, BATCH, taken)] = table.batch
    frame.to_parquet(path, engine="pyarrow")
