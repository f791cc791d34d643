"""Tables that stay on the disk: a file as a Dask array, of which only the header is read."""

import math
import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.optional import load_optional
from featsieve.io.parquet_source import parquet_source
from featsieve.io.readers.archive import check_npy, old_headers
from featsieve.io.readers.guard import TableError, check_file, check_memory, reasons
from featsieve.io.readers.zarr_metadata import check_zarr
from featsieve.io.results import recover
from featsieve.io.source import Source

# Bytes of a chunk where nothing else is asked for.
CHUNK_BYTES = 2**26
# Dask keeps a note of every one.
MOST_CHUNKS = 1_000_000
SMALLER = "save it in smaller chunks (or pass fewer rows_per_chunk)"


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
    if not os.path.lexists(place):
        raise FileNotFoundError(f"There is no file or folder {os.fspath(path)!r}.")
    if not place.is_dir():
        check_file(place)
    place = place.resolve()
    with reasons(path, smaller=SMALLER):
        source = _source(place)
    n, d = source.shape
    if rows_per_chunk is None:
        rows_per_chunk = CHUNK_BYTES // max(1, d * source.dtype.itemsize)
    elif isinstance(rows_per_chunk, bool) or int(rows_per_chunk) != rows_per_chunk:
        raise TypeError(f"rows_per_chunk must be an integer; got {rows_per_chunk!r}.")
    elif rows_per_chunk < 1:
        raise ValueError(f"rows_per_chunk must be at least 1; got {rows_per_chunk}.")
    with reasons(path, smaller=SMALLER):
        lengths = _chunk_lengths(n, max(1, int(rows_per_chunk)), source.edges)
        longest = max(lengths, default=0)
        check_memory(longest * d * source.dtype.itemsize, what=f"a part of {longest} rows")
    table = da.map_blocks(
        partial(_block, source.read, str(path)),
        chunks=(lengths, (d,)),
        dtype=source.dtype,
        meta=np.zeros((0, 0), dtype=source.dtype),
        name=f"open-table-{da.core.tokenize(str(place), source.stamp, rows_per_chunk)}",
    )
    return (table, source.names) if with_names else table


def _block(read: Callable[[int, int], np.ndarray], path: str, block_info: Any = None) -> np.ndarray:
    """Return the rows of one chunk."""
    start, stop = block_info[None]["array-location"][0]
    with reasons(path):
        rows = read(start, stop)
        if len(rows) != stop - start:
            raise TableError(f"rows {start} to {stop} are not there: it was changed or cut short")
        return rows


def _chunk_lengths(n_rows: int, length: int, edges: Sequence[int]) -> tuple[int, ...]:
    """Return how many rows the chunks have; they end at edges, if there are any."""
    n_parts = len(edges) or n_rows // length
    if n_parts > MOST_CHUNKS:
        raise TableError(
            f"it would be cut into {n_parts} parts, and at most {MOST_CHUNKS} make sense: save it "
            "in larger chunks (or pass more rows_per_chunk)"
        )
    if not len(edges):
        stops = [*range(length, n_rows, length), n_rows]
    else:
        stops, last = [], 0
        for edge, following in zip(edges, [*edges[1:], np.inf], strict=True):
            if following - last > length:  # the next one would be too much
                stops.append(edge)
                last = edge
    return tuple(int(count) for count in np.diff([0, *stops]))


def _source(path: Path) -> Source:
    """Return what a path holds."""
    if path.suffix == ".npy":
        return _npy(path)
    if path.suffix == ".zarr" or (path / "zarr.json").exists() or (path / ".zarray").exists():
        return _zarr(path)
    if path.suffix in (".parquet", ".pq") or path.is_dir():
        return parquet_source(path)
    raise TableError(
        f"{path.name} cannot be opened without reading it: open_table takes .npy, .zarr and "
        ".parquet. read_table reads other files into memory; for larger ones, convert them to "
        "Parquet first."
    )


def _check(path: Path, shape: tuple[int, ...], dtype: np.dtype) -> tuple[int, int]:
    """Return the shape of a table of numbers, or say that it is none."""
    if len(shape) != 2 or dtype.kind not in "biuf":
        raise TableError(
            f"{path.name} holds an array of shape {tuple(shape)} and dtype {dtype}: a table has "
            "two dimensions (samples, features) and holds real numbers."
        )
    return shape[0], shape[1]


# NumPy ------------------------------------------------------------------------------------------


@old_headers()
def _npy(path: Path) -> Source:
    with path.open("rb") as file:
        check_npy(file, path.stat().st_size, what=path.name)
    table = np.load(path, mmap_mode="r", allow_pickle=False)
    shape = _check(path, table.shape, table.dtype)
    return Source(shape, table.dtype, partial(_read_npy, path), stamp=path.stat().st_mtime_ns)


@old_headers()
def _read_npy(path: Path, start: int, stop: int) -> np.ndarray:
    """Read some rows. The map of the file ends here: its pages would count as memory in use."""
    return np.array(np.load(path, mmap_mode="r", allow_pickle=False)[start:stop])


# zarr -------------------------------------------------------------------------------------------


def _zarr(path: Path) -> Source:
    zarr = load_optional("zarr", "Opening a zarr array", extra="dask")
    check_zarr(path)
    table = zarr.open(path, mode="r")
    if not hasattr(table, "chunks"):
        names = ", ".join(sorted(table.array_keys())) or "none"
        raise TableError(
            f"{path.name} is a group of arrays ({names}): open one of them, such as "
            f"{path.name}/NAME."
        )
    shape = _check(path, table.shape, np.dtype(table.dtype))
    step = max(1, int(table.chunks[0]))
    edges = _steps(shape[0], step)
    # zarr unpacks whole chunks, however little of one is needed
    unpacked = math.prod(map(int, table.chunks)) * np.dtype(table.dtype).itemsize
    check_memory(unpacked, what=f"a chunk of shape {table.chunks}")
    stamp = max((f.stat().st_mtime_ns for f in path.rglob("*") if f.is_file()), default=0)
    return Source(shape, np.dtype(table.dtype), partial(_read_zarr, path), None, edges, stamp)


def _steps(n_rows: int, step: int) -> Sequence[int]:
    """Return the rows at which chunks end; of too many, only that they are."""
    if n_rows // step > MOST_CHUNKS:
        return range(step, n_rows + 1, step)
    return [*range(step, n_rows, step), n_rows]


def _read_zarr(path: Path, start: int, stop: int) -> np.ndarray:
    import zarr

    return np.asarray(zarr.open_array(path, mode="r")[start:stop])
