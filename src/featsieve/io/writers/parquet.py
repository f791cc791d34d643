"""Parquet tables."""

import json
from pathlib import Path
from typing import Any

from featsieve.io.dataset import Dataset
from featsieve.io.optional import load_optional
from featsieve.io.readers.parquet import UNNAMED
from featsieve.io.writers.parts import LABEL, dense, free_name, label_values


def write_parquet(path: Path, table: Dataset) -> None:
    """Write a table; names of samples are the index that pandas finds, classes come last."""
    arrow = load_optional("pyarrow", "Writing a .parquet file")
    parquet = load_optional("pyarrow.parquet", "Writing a .parquet file")
    columns: dict[str, Any] = {}
    labels = label_values(table)
    index = None
    if table.sample_names is not None:
        index = free_name(table.id_name, f"{UNNAMED}0__", table.names)
        columns[index] = arrow.array(table.sample_names, type=arrow.string())
    X = dense(table.X)
    columns |= {name: X[:, j] for j, name in enumerate(table.names)}
    if labels is not None:
        columns[free_name(table.label_name, LABEL, columns)] = labels
    written = arrow.table(columns)
    if index is not None:
        about = _pandas_index(index, None if index.startswith(UNNAMED) else index, written.schema)
        written = written.replace_schema_metadata({b"pandas": json.dumps(about).encode()})
    parquet.write_table(written, path)


def _pandas_index(column: str, name: str | None, schema: Any) -> dict[str, Any]:
    """Return the note by which pandas knows the column of its index."""
    columns = []
    for field in schema:
        text = str(field.type) == "string"
        kind = "unicode" if text else str(field.type).replace("double", "float64")
        kind = kind.replace("float", "float32") if kind == "float" else kind
        columns.append(
            {
                "name": name if field.name == column else field.name,
                "field_name": field.name,
                "pandas_type": kind,
                "numpy_type": "object" if text else kind,
                "metadata": None,
            }
        )
    return {
        "index_columns": [column],
        "column_indexes": [],
        "columns": columns,
        "pandas_version": "2.0.0",
    }
