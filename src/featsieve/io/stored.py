"""Tables that stay on the disk, by their formats: what they hold, and some rows of them.

`look_through` runs in a child process; its answer is enough for `row_reader` in any other one.
"""

import json
import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.guard import TableError, check_file
from featsieve.io.optional import load_optional
from featsieve.io.readers.parquet import check_parquet, index_columns

# Dask keeps a note of every one.
MOST_CHUNKS = 1_000_000
LIBRARIES: dict[str, tuple[str, ...]] = {
    "NumPy": (),
    "zarr": ("zarr",),
    "Parquet": ("pyarrow.parquet",),
}


def stored_kind(path: Path) -> str:
    """Return the format of a table that stays on the disk."""
    if path.suffix == ".npy":
        return "NumPy"
    if path.suffix == ".zarr" or (path / "zarr.json").exists() or (path / ".zarray").exists():
        return "zarr"
    if path.suffix in (".parquet", ".pq") or path.is_dir():
        return "Parquet"
    raise TableError(
        f"{path.name} cannot be opened without reading it: open_table takes .npy, .zarr and "
        ".parquet. read_table reads other files into memory; for larger ones, convert them to "
        "Parquet first."
    )


def look_through(path: Path, *, kind: str) -> dict[str, Any]:
    """Return what a table says about itself, after its first rows have been read."""
    look = {"NumPy": _npy, "zarr": _zarr, "Parquet": _parquet}[kind]
    about = {"kind": kind, "names": None, "edges": [], **look(path)}
    n = about["shape"][0]
    row_reader(path, about)(0, min(n, about["edges"][0] if about["edges"] else 1))
    return about


def row_reader(path: Path, about: dict[str, Any]) -> Callable[[int, int], np.ndarray]:
    """Return a function that reads rows: from one of them to another."""
    if about["kind"] == "Parquet":
        return partial(_parquet_rows, about["groups"], about["names"], about["dtype"])
    return partial(_npy_rows if about["kind"] == "NumPy" else _zarr_rows, path)


def _numbers(path: Path, shape: tuple[int, ...], dtype: np.dtype) -> dict[str, Any]:
    """Return the shape and the type of a table of numbers, or say that it is none."""
    if len(shape) != 2 or dtype.kind not in "biuf":
        raise TableError(
            f"{path.name} holds an array of shape {tuple(shape)} and dtype {dtype}: a table has "
            "two dimensions (samples, features) and holds real numbers."
        )
    return {"shape": [int(length) for length in shape], "dtype": dtype.str}


# NumPy ------------------------------------------------------------------------------------------


def _npy(path: Path) -> dict[str, Any]:
    table = np.load(path, mmap_mode="r", allow_pickle=False)
    return {**_numbers(path, table.shape, table.dtype), "stamp": path.stat().st_mtime_ns}


def _npy_rows(path: Path, start: int, stop: int) -> np.ndarray:
    """Read some rows. The map of the file ends here: its pages would count as memory in use."""
    return np.array(np.load(path, mmap_mode="r", allow_pickle=False)[start:stop])


# Parquet ----------------------------------------------------------------------------------------


def _parquet(path: Path) -> dict[str, Any]:
    """Return what a Parquet file holds, or all of those in a folder, one below the other."""
    parquet = load_optional("pyarrow.parquet", "Opening Parquet files")
    files = _parquet_files(path) if path.is_dir() else [path]
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


def _parquet_files(folder: Path) -> list[Path]:
    """Return the files of a folder; hidden ones are results that are not finished."""
    found = sorted(folder.rglob("*.parquet"))
    return [
        path
        for path in found
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    ]


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


def _parquet_rows(
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


# zarr -------------------------------------------------------------------------------------------

# Programs that unpack arrays, by zarr's names. One of those that zarr knows runs whatever the file
# holds (pickle), and others may come with any library that is installed: so there is a list.
CODECS = {
    *("blosc", "gzip", "zlib", "zstd", "lz4", "bz2", "lzma", "bytes", "transpose", "endian"),
    *("sharding_indexed", "shuffle", "delta", "fixedscaleoffset", "bitround", "astype"),
    *("crc32", "crc32c", "adler32", "fletcher32", "packbits", "quantize"),
}


def _zarr(path: Path) -> dict[str, Any]:
    zarr = load_optional("zarr", "Opening a zarr array", extra="dask")
    if not path.is_dir():
        raise TableError("a zarr array is a folder, and this is not one")
    _check_folder(path)
    _check_codecs(path)
    table = zarr.open(path, mode="r")
    if not hasattr(table, "chunks"):
        names = ", ".join(sorted(table.array_keys())) or "none"
        raise TableError(
            f"{path.name} is a group of arrays ({names}): open one of them, such as "
            f"{path.name}/NAME."
        )
    about = _numbers(path, table.shape, np.dtype(table.dtype))
    n, step = about["shape"][0], int(table.chunks[0])
    if step < 1 or n // step > MOST_CHUNKS:
        raise TableError(
            f"it would be cut into {n // max(1, step)} parts, and at most {MOST_CHUNKS} make "
            "sense: it is damaged, cut short, or to be saved in larger chunks"
        )
    stamp = max((file.stat().st_mtime_ns for file in path.rglob("*") if file.is_file()), default=0)
    return {**about, "edges": [*range(step, n, step), n], "stamp": stamp}


def _zarr_rows(path: Path, start: int, stop: int) -> np.ndarray:
    import zarr

    return np.asarray(zarr.open_array(path, mode="r")[start:stop])


def _check_folder(folder: Path) -> None:
    """Raise unless a folder holds nothing but files and folders of its own.

    Whoever opens a pipe may wait for ever; a link may lead to a file of yours, which would be read
    as a part of the table.
    """
    root = folder.resolve()
    for place, *names in os.walk(folder):
        for part in (Path(place, name) for some in names for name in some):
            if not part.resolve().is_relative_to(root):
                raise TableError(
                    f"its part {part.name!r} is a link out of its folder, and such links are not "
                    "followed: put all that belongs to it into the folder"
                )
            if not part.is_file() and not part.is_dir():
                raise TableError(f"it holds {part.name!r}, which is not a file: save it again")


def _check_codecs(folder: Path) -> None:
    """Raise if the description of an array names a program that is not in the list."""
    for path in (folder / "zarr.json", folder / ".zarray"):
        if not path.exists():
            continue
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise TableError(f"its description {path.name} is not JSON: save it again") from error
        for name in _codecs(about):
            if name not in CODECS:
                raise TableError(
                    f"it is packed with {name!r}, which is not among the programs that are used to "
                    "unpack files: save it with another one, such as zstd"
                )


def _codecs(about: Any) -> Iterator[str]:
    """Yield the names of all programs in a description, also of those inside of others.

    Version 2 calls a program by its "id", version 3 by its "name": where both stand, both count.
    """
    waiting: list[Any] = []
    if isinstance(about, dict):
        waiting += [about.get(key) for key in ("codecs", "compressor", "filters")]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, str):  # version 3 may name one without settings
            yield part.removeprefix("numcodecs.")
        elif isinstance(part, dict):
            called = [str(part[key]) for key in ("name", "id") if key in part] or ["None"]
            yield from (name.removeprefix("numcodecs.") for name in called)
            settings = part.get("configuration")
            if isinstance(settings, dict):  # a shard has programs of its own
                waiting += [settings.get(key) for key in ("codecs", "index_codecs")]
