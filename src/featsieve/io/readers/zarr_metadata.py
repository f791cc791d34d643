"""What a zarr array may be made of, by its own description, before zarr opens it.

The description names the programs that unpack the array. One of those that zarr knows runs whatever
the file holds (pickle), and others may come with any library that is installed: so there is a list.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from featsieve.io.readers.guard import TableError

# By zarr's names; those of version 2 may stand behind "numcodecs." in version 3.
CODECS = {
    *("blosc", "gzip", "zlib", "zstd", "lz4", "bz2", "lzma", "bytes", "transpose", "endian"),
    *("sharding_indexed", "shuffle", "delta", "fixedscaleoffset", "bitround", "astype"),
    *("crc32", "crc32c", "adler32", "fletcher32", "packbits", "quantize"),
}
DESCRIPTIONS = ("zarr.json", ".zarray")
# A description is a few lines.
LARGEST = 2**20


def check_zarr(folder: Path) -> None:
    """Raise if the description of an array names a program that is not in the list.

    Also if the folder holds anything but files and folders (whoever opens a pipe may wait for
    ever), or a link that leads out of it: a file of yours would be read as a part of the table.
    """
    if not folder.is_dir():
        raise TableError("a zarr array is a folder, and this is not one")
    _check_inside(folder)
    found = [folder / name for name in DESCRIPTIONS if (folder / name).exists()]
    for path in found:
        if not path.is_file() or path.stat().st_size > LARGEST:
            raise TableError(f"its description {path.name} is no file of a usual size")
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise TableError(f"its description {path.name} is not JSON: save it again") from error
        for size in _chunk_sizes(about):  # zarr 3.4 reads 0 as 1
            if isinstance(size, int) and size < 1:
                raise TableError(
                    f"its description {path.name} is damaged, cut short or changed: chunks of "
                    f"length {size}. Get it or save it again"
                )
        for name in _codecs(about):
            if name not in CODECS:
                raise TableError(
                    f"it is packed with {name!r}, which is not among the programs that are used to "
                    "unpack files: save it with another one, such as zstd"
                )


def _check_inside(folder: Path) -> None:
    """Raise unless a folder holds nothing but files and folders of its own."""
    root = folder.resolve()
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                place = Path(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(place)
                elif not entry.is_symlink() and entry.is_file():
                    continue
                elif not place.is_file() and not place.is_dir():
                    raise TableError(f"it holds {entry.name!r}, which is not a file: save it again")
                elif not place.resolve().is_relative_to(root):
                    raise TableError(
                        f"its part {entry.name!r} is a link out of its folder, and such links are "
                        "not followed: put all that belongs to it into the folder"
                    )


def _chunk_sizes(about: Any) -> list[Any]:
    """Return the lengths of a chunk: "chunks" in version 2, inside of "chunk_grid" in version 3."""
    sizes = about.get("chunks") if isinstance(about, dict) else None
    if sizes is None and isinstance(about, dict):
        grid = about.get("chunk_grid")
        settings = grid.get("configuration") if isinstance(grid, dict) else None
        sizes = settings.get("chunk_shape") if isinstance(settings, dict) else None
    return sizes if isinstance(sizes, list) else []


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
