"""What a zarr array may be made of, by its own description, before zarr opens it.

The description names the programs that unpack the array. One of those that zarr knows runs whatever
the file holds (pickle), and others may come with any library that is installed: so there is a list.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from featsieve.datasets.readers.guard import TableError

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

    Also if the folder holds anything but files and folders: whoever opens a pipe may wait for ever.
    """
    if not folder.is_dir():
        raise TableError("a zarr array is a folder, and this is not one")
    found = [folder / name for name in DESCRIPTIONS if (folder / name).exists()]
    for path in found:
        if not path.is_file() or path.stat().st_size > LARGEST:
            raise TableError(f"its description {path.name} is no file of a usual size")
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
    for path in folder.rglob("*"):
        if not path.is_file() and not path.is_dir():
            raise TableError(f"it holds {path.name!r}, which is not a file: save it again")


def _codecs(about: Any) -> Iterator[str]:
    """Yield the names of all programs in a description, also of those inside of others."""
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
            name = part.get("name", part.get("id"))
            yield str(name).removeprefix("numcodecs.")
            settings = part.get("configuration")
            if isinstance(settings, dict):  # a shard has programs of its own
                waiting += [settings.get(key) for key in ("codecs", "index_codecs")]
