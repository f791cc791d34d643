"""Tables that stay on the disk: a child process looks through a file, then Dask reads its rows."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.child import run_in_child
from featsieve.io.formats.parquet import index_columns
from featsieve.io.guard import TableError, check_file, check_memory, explain_errors
from featsieve.io.names import check_unique
from featsieve.io.optional import load_optional
from featsieve.io.results import recover

CHUNK_BYTES = 2**26
MOST_CHUNKS = 1_000_000  # Dask keeps a note of every one
SMALLER = "save it in smaller chunks, or set the environment variable FEATSIEVE_MAX_MEMORY to more."
LIBRARIES = {"npy": (), "zarr": ("zarr",), "parquet": ("pyarrow.parquet",)}
# Codecs that unpack zarr arrays. Another one that zarr knows is pickle, which runs what it unpacks.
CODECS = {
    *("blosc", "gzip", "zlib", "zstd", "lz4", "bz2", "lzma", "bytes", "transpose", "shuffle"),
    *("delta", "fixedscaleoffset", "bitround", "quantize", "crc32", "crc32c", "fletcher32"),
}


def open_table(path: str | os.PathLike[str], *, with_names: bool = False) -> Any:
    """Open a table as a Dask array of whole rows, without reading all of it.

    A process of its own with limits of memory and time looks through the file first: what it says
    about itself, and its first chunk.

    Parameters
    ----------
    path : str or path
        A ``.npy`` file, a zarr array (a folder), a Parquet file, or a folder of Parquet files,
        which are taken in the order of their names (without hidden ones, whose names begin with a
        dot). Workers on other machines must see it under the same path.
    with_names : bool, default=False
        Whether to return the names of the columns as well.

    Returns
    -------
    dask.array.Array of shape (n_samples, n_features)
        To be passed to ``fit``, ``transform`` or ``predict`` of a selector. Chunks have about
        64 MiB; of Parquet files, each is a row group. Of these the columns that hold numbers are
        taken (not an index of pandas), as float32 if all of them are, else as float64.
    names : ndarray of str, or None
        With ``with_names=True``; None where the file has no names.

    See Also
    --------
    read_table : Reads a file of many more kinds into memory.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from featsieve import MaxVariance
    >>> from featsieve.datasets import open_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "table.npy")
    ...     np.save(path, np.random.default_rng(0).normal(size=(1000, 4)) * [1, 2, 3, 4])
    ...     X = open_table(path)
    ...     X.shape, MaxVariance(n_features_to_select=2).fit(X).get_support().tolist()
    ((1000, 4), [False, False, True, True])
    """
    da = load_optional("dask.array", "Opening a table without reading it", extra="dask")
    place = Path(path)
    recover(place)
    if not place.is_dir():
        check_file(place)
    place = place.resolve()
    with explain_errors(path, smaller=SMALLER):
        kind = place.suffix[1:]
        if place.is_dir():
            marks = [(place / name).exists() for name in ("zarr.json", ".zarray", ".zgroup")]
            kind = "zarr" if any(marks) else "parquet"
        if kind not in LIBRARIES:
            raise TableError("open_table takes .npy, .zarr and .parquet; read_table reads others")
        look = "featsieve.io.lazy:look_through"
        about = run_in_child(look, place, imports=LIBRARIES[kind], kind=kind)
    dtype = np.dtype(about["dtype"])
    table = da.map_blocks(
        partial(_chunk, place, about, str(path)),
        chunks=(tuple(about["lengths"]), (about["width"],)),
        dtype=dtype,
        meta=np.zeros((0, 0), dtype=dtype),
        name=f"open-table-{da.core.tokenize(str(place), about)}",
    )
    return (table, about["names"] and np.array(about["names"])) if with_names else table


def look_through(path: Path, *, kind: str) -> dict[str, Any]:
    """Return how a table is cut and read, after its first chunk was read; called in a child."""
    files = [path]
    if path.is_dir():
        files = sorted(f for f in path.rglob("*") if f.is_symlink() or not f.is_dir())
    about = _look_at_parquet(path, files) if kind == "parquet" else _look_at_array(path, files)
    about |= {"kind": kind, "changed": max(file.lstat().st_mtime_ns for file in files)}
    longest = max(about["lengths"])
    size = longest * about["width"] * np.dtype(about["dtype"]).itemsize
    check_memory(size, what=f"a chunk of {longest} rows")
    _read_rows(path, about, 0, slice(about["lengths"][0]))
    return about


def _look_at_array(path: Path, files: list[Path]) -> dict[str, Any]:
    """Return what a NumPy or zarr array holds."""
    table = np.load(path, mmap_mode="r") if path.is_file() else _zarr_array(path, files)
    dtype = np.dtype(table.dtype)
    if table.ndim != 2 or 0 in table.shape or dtype.kind not in "biuf":
        raise TableError(
            f"it holds an array of shape {table.shape} and type {dtype}: a table has two "
            "dimensions, samples x features, and holds real numbers"
        )
    (n, d), step = table.shape, getattr(table, "chunks", (1,))[0]
    length = max(1, CHUNK_BYTES // (d * dtype.itemsize) // step) * step
    parts = max(n // length, getattr(table, "nchunks", 0))
    if parts > MOST_CHUNKS:
        most = f"at most {MOST_CHUNKS} make sense: save it in larger chunks"
        raise TableError(f"it is cut into {parts} parts, and {most}")
    lengths = [min(length, n - start) for start in range(0, n, length)]
    return {"width": d, "dtype": dtype.str, "names": None, "lengths": lengths}


def _zarr_array(path: Path, files: list[Path]) -> Any:
    """Return a zarr array, all of which lies in its folder, and is unpacked by known codecs."""
    zarr = load_optional("zarr", "Opening a zarr array", extra="dask")
    for file in files:  # a link may lead to a file of yours, and a pipe may have no end
        if file.is_symlink() or not file.is_file():
            what = "is a link or a pipe, which is not a file"
            raise TableError(f"its part {file.name!r} {what}: put a copy of the file there")
    table = zarr.open_array(path, mode="r")
    for codec in (*table.filters, getattr(table, "serializer", None), *table.compressors):
        # numcodecs' in version 2 of the format, zarr's in version 3
        name = getattr(codec, "codec_id", None) or (codec and codec.to_dict()["name"]) or "bytes"
        if str(name).removeprefix("numcodecs.") not in CODECS:
            raise TableError(f"it is packed with {name!r}: save it with another codec, like zstd")
    return table


def _look_at_parquet(path: Path, files: list[Path]) -> dict[str, Any]:
    """Return what a Parquet file holds, or all of those in a folder, one below the other."""
    parquet = load_optional("pyarrow.parquet", "Opening Parquet files")
    from pyarrow import float32, types

    kinds = (types.is_integer, types.is_floating, types.is_boolean)
    columns: list[tuple[str, Any]] = []
    groups, lengths = [], []
    for file in files:
        inside = file.relative_to(path).parts  # hidden files are not finished
        if inside and (file.suffix != ".parquet" or any(p.startswith(".") for p in inside)):
            continue
        check_file(file)
        metadata = parquet.read_metadata(file)
        schema = metadata.schema.to_arrow_schema()
        check_unique(schema.names)
        index = index_columns(schema)
        numbers = [f for f in schema if any(is_kind(f.type) for is_kind in kinds)]
        found = [(field.name, field.type) for field in numbers if field.name not in index]
        if columns not in ([], found):
            raise TableError(f"{file.name} has other columns of numbers than the files before it")
        columns = found
        for i in range(metadata.num_row_groups):
            if metadata.row_group(i).num_rows:
                groups.append((str(file), i))
                lengths.append(metadata.row_group(i).num_rows)
    if not columns or not lengths:
        raise TableError("there is no .parquet file with columns that hold numbers")
    dtype = "<f4" if all(kind == float32() for _, kind in columns) else "<f8"
    names = [name for name, _ in columns]
    about = {"width": len(names), "dtype": dtype, "names": names, "lengths": lengths}
    return {**about, "groups": groups}


def _chunk(path: Path, about: dict[str, Any], name: str, block_info: Any = None) -> np.ndarray:
    """Return the rows of one chunk."""
    (start, stop), _ = block_info[None]["array-location"]
    with explain_errors(name):
        rows = _read_rows(path, about, block_info[None]["chunk-location"][0], slice(start, stop))
        if len(rows) != stop - start:
            raise TableError(f"rows {start} to {stop} are not there: it was changed or cut short")
        return rows


def _read_rows(path: Path, about: dict[str, Any], chunk: int, rows: slice) -> np.ndarray:
    """Return one chunk of a table that was looked through."""
    if about["kind"] == "npy":  # the map of the file ends here: its pages would count as memory
        return np.array(np.load(path, mmap_mode="r")[rows])
    if about["kind"] == "zarr":
        import zarr

        return np.asarray(zarr.open_array(path, mode="r")[rows])
    from pyarrow import from_numpy_dtype
    from pyarrow.parquet import ParquetFile

    file, group = about["groups"][chunk]
    with ParquetFile(file) as opened:
        table = opened.read_row_group(group, columns=about["names"], use_threads=False)
    number = from_numpy_dtype(np.dtype(about["dtype"]))
    return np.column_stack([c.cast(number, safe=False).to_numpy() for c in table.columns])
