"""Parquet files that stay on the disk: their row groups, one below the other."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.optional import load_optional
from featsieve.io.readers.guard import TableError, check_file
from featsieve.io.readers.parquet import index_columns
from featsieve.io.readers.signature import check_parquet
from featsieve.io.source import Source


@dataclass(frozen=True)
class ParquetRows:
    """The row groups of Parquet files, one below the other."""

    groups: tuple[tuple[str, int], ...]
    stops: tuple[int, ...]
    names: tuple[str, ...]
    dtype: np.dtype

    def __call__(self, start: int, stop: int) -> np.ndarray:
        """Return the rows from one end of a row group to another."""
        from pyarrow.parquet import ParquetFile

        found = np.empty((stop - start, len(self.names)), dtype=self.dtype)
        first = 0
        for (path, group), last in zip(self.groups, self.stops, strict=True):
            if start <= first < stop:
                with ParquetFile(path) as file:
                    rows = file.read_row_group(group, columns=list(self.names), use_threads=False)
                for j, name in enumerate(self.names):
                    column = rows.column(name)
                    if column.null_count and self.dtype.kind != "f":
                        raise TableError(
                            f"Column {name!r} of {Path(path).name} has missing entries: fill them, "
                            "or leave it out."
                        )
                    found[first - start : last - start, j] = column.to_numpy()
            first = last
        return found


def parquet_source(path: Path) -> Source:
    """Return what a Parquet file holds, or all of those in a folder."""
    parquet = load_optional("pyarrow.parquet", "Opening Parquet files")
    files = _files(path) if path.is_dir() else [path]
    if not files:
        raise TableError(f"{path.name} is a folder without any .parquet file.")
    groups, stops = [], [0]
    for place in files:
        check_file(place)
        check_parquet(place)
    names, dtype = _numbers(parquet.read_schema(files[0]))
    for place in files:
        about, numbers = parquet.read_metadata(place), _numbers(parquet.read_schema(place))
        if names != numbers[0]:
            raise TableError(
                f"{place.name} and {files[0].name} have other columns of numbers: write all files "
                "with the same ones, in the same order."
            )
        dtype = np.promote_types(dtype, numbers[1])
        for group in range(about.num_row_groups):
            groups.append((str(place), group))
            stops.append(stops[-1] + about.row_group(group).num_rows)
    if not names:
        raise TableError(f"{path.name} has no column that holds numbers.")
    rows = ParquetRows(tuple(groups), tuple(stops[1:]), names, np.dtype(dtype))
    stamp = [place.stat().st_mtime_ns for place in files]
    shape = (stops[-1], len(names))
    return Source(shape, rows.dtype, rows, np.array(names), stops[1:], stamp)


def _files(folder: Path) -> list[Path]:
    """Return the files of a folder; hidden ones are results that are not finished."""
    found = sorted(folder.rglob("*.parquet"))
    return [
        path
        for path in found
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]


def _numbers(schema: Any) -> tuple[tuple[str, ...], np.dtype]:
    """Return the columns that hold numbers, and a type that holds all of them."""
    from pyarrow import types

    index = set(index_columns(schema))
    kinds = (types.is_integer, types.is_floating, types.is_boolean)
    found = {
        field.name: np.dtype(field.type.to_pandas_dtype())
        for field in schema
        if field.name not in index and any(kind(field.type) for kind in kinds)
    }
    return tuple(found), np.result_type(*found.values()) if found else np.dtype(np.float64)
