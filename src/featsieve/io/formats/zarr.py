"""zarr arrays, which `open_table` opens."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.guard import TableError
from featsieve.io.optional import load_optional

MOST_CHUNKS = 1_000_000  # Dask keeps a note of every one
# Programs that unpack arrays, by zarr's names. One of those that zarr knows runs whatever the file
# holds (pickle), and others may come with any library that is installed.
CODECS = {
    *("blosc", "gzip", "zlib", "zstd", "lz4", "bz2", "lzma", "bytes", "transpose", "endian"),
    *("shuffle", "delta", "fixedscaleoffset", "bitround", "astype", "packbits", "quantize"),
    *("crc32", "crc32c", "adler32", "fletcher32"),
}


def look_through(path: Path) -> dict[str, Any]:
    """Return the shape, type, ends of chunks and time of an array."""
    zarr = load_optional("zarr", "Opening a zarr array", extra="dask")
    if not path.is_dir():
        raise TableError("a zarr array is a folder, and this is not one")
    _check_folder(path)
    table = zarr.open(path, mode="r")
    if not hasattr(table, "chunks"):
        names = ", ".join(sorted(table.array_keys())) or "none"
        raise TableError(
            f"{path.name} is a group of arrays ({names}): open one of them, such as "
            f"{path.name}/NAME."
        )
    for codec in (*table.filters, getattr(table, "serializer", None), *table.compressors):
        if codec is not None and _name(codec) not in CODECS:
            raise TableError(
                f"it is packed with {_name(codec)!r}, which is not among the programs that are "
                "used to unpack files: save it with another one, such as zstd"
            )
    n, step = int(table.shape[0]), int(table.chunks[0])
    if step < 1 or n // step > MOST_CHUNKS:
        raise TableError(
            f"it would be cut into {n // max(1, step)} parts, and at most {MOST_CHUNKS} make "
            "sense: it is damaged, cut short, or to be saved in larger chunks"
        )
    return {
        "shape": list(table.shape),
        "dtype": np.dtype(table.dtype).str,
        "edges": [*range(step, n, step), n],
        "stamp": max(file.stat().st_mtime_ns for file in path.rglob("*") if file.is_file()),
    }


def _name(codec: Any) -> str:
    """Return the name of a codec: of numcodecs in version 2 of the format, of zarr in version 3."""
    name = getattr(codec, "codec_id", None) or codec.to_dict()["name"]
    return str(name).removeprefix("numcodecs.")


def read_rows(path: Path, start: int, stop: int) -> np.ndarray:
    """Return some rows."""
    import zarr

    return np.asarray(zarr.open_array(path, mode="r")[start:stop])


def _check_folder(folder: Path) -> None:
    """Raise unless a folder holds nothing but files and folders of its own.

    A reader of a pipe may wait for ever; a link may lead to a file of yours, which would be read
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
