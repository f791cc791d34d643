"""Tables that stay on the disk: a file as a Dask array, of which only the header is read."""

import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.child import run_in_child
from featsieve.io.formats.parquet import check_parquet, index_columns
from featsieve.io.guard import TableError, check_file, explain_errors
from featsieve.io.memory import check_memory
from featsieve.io.optional import load_optional
from featsieve.io.results import recover

# Bytes of a chunk where nothing else is asked for.
CHUNK_BYTES = 2**26
MOST_CHUNKS = 1_000_000  # Dask keeps a note of every one
LIBRARIES: dict[str, tuple[str, ...]] = {
    "NumPy": (),
    "zarr": ("zarr",),
    "Parquet": ("pyarrow.parquet",),
}
SMALLER = "save it in smaller chunks (or pass fewer rows_per_chunk)"
# Programs that unpack arrays, by zarr's names. One of those that zarr knows runs whatever the file
# holds (pickle), and others may come with any library that is installed.
CODECS = {
    *("blosc", "gzip", "zlib", "zstd", "lz4", "bz2", "lzma", "bytes", "transpose", "endian"),
    *("shuffle", "delta", "fixedscaleoffset", "bitround", "astype", "packbits", "quantize"),
    *("crc32", "crc32c", "adler32", "fletcher32"),
}


def open_table(
    path: str | os.PathLike[str], *, rows_per_chunk: int | None = None, with_names: bool = False
) -> Any:
    """Open a table as a Dask array of whole rows, without reading it.

    Parameters
    ----------
    path : str or path
        A ``.npy`` file, a zarr array (a folder ``.zarr``), a Parquet file, or a folder of Parquet
        files, which are taken in the order of their names (without hidden ones, whose names begin
        with a dot). Workers on other machines must see it under the same path.
    rows_per_chunk : int, optional
        About how many rows a chunk has. Default: as many as take 64 MiB. zarr arrays are cut at
        their own chunks, Parquet files at their row groups.
    with_names : bool, default=False
        Whether to return the names of the columns as well.

    Returns
    -------
    dask.array.Array of shape (n_samples, n_features)
        To be passed to ``fit``, ``transform`` or ``predict`` of a selector. Of Parquet files, the
        columns that hold numbers (an index of pandas is none of them).
    names : ndarray of str, or None
        With ``with_names=True``; None where the file has no names.

    Raises
    ------
    ValueError
        If the file is of another kind, or not a table of numbers.
    ImportError
        If dask, zarr or pyarrow is needed and not installed.

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
    ...     path = pathlib.Path(folder) / "table.npy"
    ...     np.save(path, np.random.default_rng(0).normal(size=(1000, 6)) * [1, 2, 3, 4, 5, 6])
    ...     X = open_table(path, rows_per_chunk=300)
    ...     X.chunks, MaxVariance(n_features_to_select=2).fit(X).get_support().tolist()
    (((300, 300, 300, 100), (6,)), [False, False, False, False, True, True])
    """
    da = load_optional("dask.array", "Opening a table without reading it", extra="dask")
    place = Path(path)
    recover(place)
    if not place.is_dir():
        check_file(place)
    place = place.resolve()
    with explain_errors(path, smaller=SMALLER):
        kind = _format(place)
        about = run_in_child(
            "featsieve.io.lazy:look_through", place, imports=LIBRARIES[kind], kind=kind
        )
        n, d = about["shape"]
        dtype = np.dtype(about["dtype"])
    if rows_per_chunk is None:
        rows_per_chunk = max(1, CHUNK_BYTES // max(1, d * dtype.itemsize))
    elif rows_per_chunk < 1:
        raise ValueError(f"rows_per_chunk must be at least 1; got {rows_per_chunk}.")
    with explain_errors(path, smaller=SMALLER):
        lengths = _chunk_lengths(n, rows_per_chunk, about["edges"])
        longest = max(lengths, default=0)
        check_memory(longest * d * dtype.itemsize, what=f"a part of {longest} rows")
    table = da.map_blocks(
        partial(_block, place, about, str(path)),
        chunks=(lengths, (d,)),
        dtype=dtype,
        meta=np.zeros((0, 0), dtype=dtype),
        name=f"open-table-{da.core.tokenize(str(place), about['stamp'], rows_per_chunk)}",
    )
    names = None if about["names"] is None else np.array(about["names"])
    return (table, names) if with_names else table


def _format(path: Path) -> str:
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


def _chunk_lengths(n_rows: int, length: int, edges: list[int]) -> tuple[int, ...]:
    """Return how many rows the chunks have; they end at edges, if there are any."""
    if not edges:
        _check_parts(n_rows // length)
        stops = [*range(length, n_rows, length), n_rows]
    else:
        stops, last = [], 0
        for edge, following in zip(edges, [*edges[1:], np.inf], strict=True):
            if following - last > length:  # the next one would be too much
                stops.append(edge)
                last = edge
    return tuple(int(count) for count in np.diff([0, *stops]))


def _check_parts(n_parts: int) -> None:
    """Raise if a table would be cut into too many parts."""
    if n_parts > MOST_CHUNKS:
        raise TableError(
            f"it would be cut into {n_parts} parts, and at most {MOST_CHUNKS} make sense: save it "
            "in larger chunks (or pass more rows_per_chunk)"
        )


def look_through(path: Path, *, kind: str) -> dict[str, Any]:
    """Return what a table says about itself, after its first rows were read; called in the child.

    The answer is enough to read rows in any other process.
    """
    look = {"NumPy": _look_at_npy, "zarr": _look_at_zarr, "Parquet": _look_at_parquet}[kind]
    about: dict[str, Any] = {"kind": kind, "names": None, "edges": [], **look(path)}
    shape, dtype = about["shape"], np.dtype(about["dtype"])
    if len(shape) != 2 or dtype.kind not in "biuf":
        raise TableError(
            f"{path.name} holds an array of shape {tuple(shape)} and dtype {dtype}: a table has "
            "two dimensions (samples, features) and holds real numbers."
        )
    _read_rows(path, about, 0, min(shape[0], about["edges"][0] if about["edges"] else 1))
    return about


def _block(path: Path, about: dict[str, Any], name: str, block_info: Any = None) -> np.ndarray:
    """Return the rows of one chunk."""
    start, stop = block_info[None]["array-location"][0]
    with explain_errors(name):
        rows = _read_rows(path, about, start, stop)
        if len(rows) != stop - start:
            raise TableError(f"rows {start} to {stop} are not there: it was changed or cut short")
        return rows


def _read_rows(path: Path, about: dict[str, Any], start: int, stop: int) -> np.ndarray:
    """Return some rows of a table that was looked through."""
    if about["kind"] == "Parquet":
        return _parquet_rows(about, start, stop)
    if about["kind"] == "NumPy":  # the map of the file ends here: its pages would count as memory
        return np.array(np.load(path, mmap_mode="r", allow_pickle=False)[start:stop])
    import zarr

    return np.asarray(zarr.open_array(path, mode="r")[start:stop])


def _look_at_npy(path: Path) -> dict[str, Any]:
    """Return the shape, type and time of an array of NumPy."""
    table = np.load(path, mmap_mode="r", allow_pickle=False)
    about = {"shape": list(table.shape), "dtype": table.dtype.str}
    return {**about, "stamp": path.stat().st_mtime_ns}


def _look_at_zarr(path: Path) -> dict[str, Any]:
    """Return the shape, type, ends of chunks and time of a zarr array."""
    zarr = load_optional("zarr", "Opening a zarr array", extra="dask")
    if not path.is_dir():
        raise TableError("a zarr array is a folder, and this is not one")
    files = [part for part in path.rglob("*") if not part.is_dir() or part.is_symlink()]
    for part in files:
        if part.is_symlink():  # it may lead to a file of yours
            raise TableError(f"its part {part.name!r} is a link, and links are not followed")
        if not part.is_file():  # a reader of a pipe may wait for ever
            raise TableError(f"it holds {part.name!r}, which is not a file: save it again")
    table = zarr.open(path, mode="r")
    if not hasattr(table, "chunks"):
        names = ", ".join(sorted(table.array_keys())) or "none"
        raise TableError(
            f"{path.name} is a group of arrays ({names}): open one of them, such as "
            f"{path.name}/NAME."
        )
    for codec in (*table.filters, getattr(table, "serializer", None), *table.compressors):
        if codec is None:
            continue
        # of numcodecs in version 2 of the format, of zarr in version 3
        name = getattr(codec, "codec_id", None) or codec.to_dict()["name"]
        if str(name).removeprefix("numcodecs.") not in CODECS:
            raise TableError(
                f"it is packed with {name!r}, which is not among the programs that are used to "
                "unpack files: save it with another one, such as zstd"
            )
    n, step = int(table.shape[0]), int(table.chunks[0])
    _check_parts(n // step)
    return {
        "shape": list(table.shape),
        "dtype": np.dtype(table.dtype).str,
        "edges": [*range(step, n, step), n],
        "stamp": max(file.stat().st_mtime_ns for file in files),
    }


def _look_at_parquet(path: Path) -> dict[str, Any]:
    """Return what a Parquet file holds, or all of those in a folder, one below the other."""
    parquet = load_optional("pyarrow.parquet", "Opening Parquet files")
    files = [path]
    if path.is_dir():  # hidden files are results that are not finished
        files = [
            file
            for file in sorted(path.rglob("*.parquet"))
            if not any(part.startswith(".") for part in file.relative_to(path).parts)
        ]
    if not files:
        raise TableError(f"{path.name} is a folder without any .parquet file.")
    groups, edges = [], [0]
    columns: dict[str, np.dtype] = {}
    for place in files:
        check_file(place)
        check_parquet(place)
        about = parquet.read_metadata(place)
        found = _number_columns(about.schema.to_arrow_schema())
        if columns and list(columns) != list(found):
            raise TableError(
                f"{place.name} and {files[0].name} have other columns of numbers: write all files "
                "with the same ones, in the same order."
            )
        columns = {
            name: np.result_type(kind, columns.get(name, kind)) for name, kind in found.items()
        }
        for group in range(about.num_row_groups):
            groups.append([str(place), group, edges[-1]])
            edges.append(edges[-1] + about.row_group(group).num_rows)
    if not columns:
        raise TableError(f"{path.name} has no column that holds numbers.")
    return {
        "shape": [edges[-1], len(columns)],
        "dtype": np.result_type(*columns.values()).str,
        "names": list(columns),
        "edges": edges[1:],
        "groups": groups,
        "stamp": [place.stat().st_mtime_ns for place in files],
    }


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


def _parquet_rows(about: dict[str, Any], start: int, stop: int) -> np.ndarray:
    """Return the rows from one end of a row group to another."""
    from pyarrow.parquet import ParquetFile

    names = about["names"]
    found = np.empty((stop - start, len(names)), dtype=about["dtype"])
    for path, group, first in about["groups"]:
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
