"""Parquet tables."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from featsieve.datasets.dataset import Content
from featsieve.datasets.names import check_unique, find_columns
from featsieve.datasets.optional import load_optional
from featsieve.datasets.readers.frame import as_text, frame_content
from featsieve.datasets.readers.signature import check_parquet
from featsieve.datasets.request import Request

UNNAMED = "__index_level_"  # what an index without a name is called in the file


def read_parquet(path: Path, request: Request) -> Content:
    """Return what a request asks of a Parquet file; an index of pandas names the samples."""
    load_optional("pandas", "Reading a .parquet file")
    parquet = load_optional("pyarrow.parquet", "Reading a .parquet file")
    check_parquet(path)
    with parquet.ParquetFile(path) as file:
        names = file.schema_arrow.names
        check_unique(names)
        index = index_columns(file.schema_arrow)
        find_columns(request.roles, names)
        needed = None
        if request.columns is not None:
            find_columns(request.columns, [name for name in names if name not in index])
            needed = list(dict.fromkeys([*index, *request.roles, *request.columns]))
        frame = file.read(columns=needed).to_pandas(ignore_metadata=True)
    left = [name for name in index if name not in request.roles]
    levels = [as_text(frame[name]) for name in left]
    rows = ["/".join(names) for names in zip(*levels, strict=True)] if left else None
    content = frame_content(frame.drop(columns=left), request, rows=rows)
    if content.id_name is None and len(left) == 1 and not left[0].startswith(UNNAMED):
        return replace(content, id_name=left[0])
    return content


def index_columns(schema: Any) -> list[str]:
    """Return the columns that hold the index of a pandas.DataFrame; row numbers have none."""
    about = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))
    index = about.get("index_columns", [])
    return [name for name in index if isinstance(name, str) and name in schema.names]
