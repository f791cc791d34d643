"""Parquet tables."""

from pathlib import Path

from featsieve.datasets.dataset import Content
from featsieve.datasets.optional import load_optional
from featsieve.datasets.readers.frame import frame_content


def read_parquet(path: Path, label_column: str | None = None) -> Content:
    """Return table and labels of a Parquet file; ``label_column`` names the column of labels."""
    load_optional("pandas", "Reading a .parquet file")
    parquet = load_optional("pyarrow.parquet", "Reading a .parquet file")
    with parquet.ParquetFile(path) as file:
        return frame_content(file.read().to_pandas(), label_column)
