"""Parquet tables: columns of numbers, an index of pandas names the samples."""

from pathlib import Path
from typing import Any

from featsieve.io.dataset import Dataset
from featsieve.io.formats import Request
from featsieve.io.formats.common import as_text, frame_dataset, labelled_frame
from featsieve.io.names import check_unique, find_columns
from featsieve.io.optional import load_optional


def read(path: Path, request: Request) -> Dataset:
    """Return what a request asks of a Parquet file."""
    pandas = load_optional("pandas", "Reading a .parquet file")
    parquet = load_optional("pyarrow.parquet", "Reading a .parquet file")
    with parquet.ParquetFile(path) as file:
        names = file.schema_arrow.names
        check_unique(names)
        find_columns([*request.roles, *(request.columns or ())], names)
        needed = request.columns and [*dict.fromkeys([*request.roles, *request.columns])]
        frame = file.read(columns=needed, use_pandas_metadata=True).to_pandas()
    asked = [name for name in frame.index.names if name in request.roles]
    frame = frame.reset_index(asked) if asked else frame
    if isinstance(frame.index, pandas.RangeIndex):
        return frame_dataset(frame, request)
    levels = [
        as_text(level.to_series())
        for level in map(frame.index.get_level_values, range(frame.index.nlevels))
    ]
    rows = ["/".join(names) for names in zip(*levels, strict=True)]
    return frame_dataset(frame, request, rows=rows, id_name=frame.index.name)


def write(path: Path, table: Dataset, **_: Any) -> None:
    """Write a table; names of samples are the index that pandas finds."""
    import pandas

    name = None if table.id_name in table.names else table.id_name
    frame = labelled_frame(table, taken=[] if name is None else [name])
    if table.sample_names is not None:
        frame.index = pandas.Index(table.sample_names, name=name, dtype=object)
    frame.to_parquet(path, engine="pyarrow")
