"""Tables that stay on the disk: a file as a Dask array, of which only the header is read."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.child import run_in_child
from featsieve.io.formats import parquet, zarr
from featsieve.io.guard import TableError, check_file, explain_errors
from featsieve.io.memory import check_memory
from featsieve.io.optional import load_optional
from featsieve.io.results import recover

# Bytes of a chunk where nothing else is asked for.
CHUNK_BYTES = 2**26
LIBRARIES: dict[str, tuple[str, ...]] = {
    "NumPy": (),
    "zarr": ("zarr",),
    "Parquet": ("pyarrow.parquet",),
}
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
    with explain_errors(path, smaller=SMALLER):
        kind = _format(place)
        about = run_in_child(
            "featsieve.io.lazy:look_through", place, imports=LIBRARIES[kind], kind=kind
        )
        n, d = about["shape"]
        dtype = np.dtype(about["dtype"])
    if rows_per_chunk is None:
        rows_per_chunk = CHUNK_BYTES // max(1, d * dtype.itemsize)
    elif isinstance(rows_per_chunk, bool) or int(rows_per_chunk) != rows_per_chunk:
        raise TypeError(f"rows_per_chunk must be an integer; got {rows_per_chunk!r}.")
    elif rows_per_chunk < 1:
        raise ValueError(f"rows_per_chunk must be at least 1; got {rows_per_chunk}.")
    with explain_errors(path, smaller=SMALLER):
        lengths = _chunk_lengths(n, max(1, int(rows_per_chunk)), about["edges"])
        longest = max(lengths, default=0)
        check_memory(longest * d * dtype.itemsize, what=f"a part of {longest} rows")
    table = da.map_blocks(
        partial(_block, _row_reader(place, about), str(path)),
        chunks=(lengths, (d,)),
        dtype=dtype,
        meta=np.zeros((0, 0), dtype=dtype),
        name=f"open-table-{da.core.tokenize(str(place), about['stamp'], rows_per_chunk)}",
    )
    names = None if about["names"] is None else np.array(about["names"])
    return (table, names) if with_names else table


def _block(read: Callable[[int, int], np.ndarray], path: str, block_info: Any = None) -> np.ndarray:
    """Return the rows of one chunk."""
    start, stop = block_info[None]["array-location"][0]
    with explain_errors(path):
        rows = read(start, stop)
        if len(rows) != stop - start:
            raise TableError(f"rows {start} to {stop} are not there: it was changed or cut short")
        return rows


def _chunk_lengths(n_rows: int, length: int, edges: Sequence[int]) -> tuple[int, ...]:
    """Return how many rows the chunks have; they end at edges, if there are any."""
    n_parts = len(edges) or n_rows // length
    if n_parts > zarr.MOST_CHUNKS:
        raise TableError(
            f"it would be cut into {n_parts} parts, and at most {zarr.MOST_CHUNKS} make sense: "
            "save it in larger chunks (or pass more rows_per_chunk)"
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


def look_through(path: Path, *, kind: str) -> dict[str, Any]:
    """Return what a table says about itself, after its first rows were read; called in the child.

    The answer is enough to read rows in any other process.
    """
    look = {"NumPy": _look_at_npy, "zarr": zarr.look_through, "Parquet": parquet.look_through}[kind]
    about: dict[str, Any] = {"kind": kind, "names": None, "edges": [], **look(path)}
    shape, dtype = about["shape"], np.dtype(about["dtype"])
    if len(shape) != 2 or dtype.kind not in "biuf":
        raise TableError(
            f"{path.name} holds an array of shape {tuple(shape)} and dtype {dtype}: a table has "
            "two dimensions (samples, features) and holds real numbers."
        )
    _row_reader(path, about)(0, min(shape[0], about["edges"][0] if about["edges"] else 1))
    return about


def _row_reader(path: Path, about: dict[str, Any]) -> Callable[[int, int], np.ndarray]:
    """Return a function that reads rows: from one of them to another."""
    if about["kind"] == "Parquet":
        return partial(parquet.read_rows, about["groups"], about["names"], about["dtype"])
    return partial(_read_npy if about["kind"] == "NumPy" else zarr.read_rows, path)


def _look_at_npy(path: Path) -> dict[str, Any]:
    table = np.load(path, mmap_mode="r", allow_pickle=False)
    about = {"shape": list(table.shape), "dtype": table.dtype.str}
    return {**about, "stamp": path.stat().st_mtime_ns}


def _read_npy(path: Path, start: int, stop: int) -> np.ndarray:
    """Return some rows. The map of the file ends here: its pages would count as memory in use."""
    return np.array(np.load(path, mmap_mode="r", allow_pickle=False)[start:stop])
