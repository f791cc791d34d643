"""Parquet tables."""

from pathlib import Path

from featsieve.io.dataset import Dataset
from featsieve.io.optional import load_optional
from featsieve.io.writers.parts import LABEL, dense, free_name, label_values


def write_parquet(path: Path, table: Dataset) -> None:
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
