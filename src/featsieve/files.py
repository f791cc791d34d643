"""Files that are there whole or not at all, whoever is killed while they are written."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a hidden name beside ``path`` to write under, and rename it at the end.

    The hidden name holds the number of the process. What was written is forced to the disk before
    it is renamed; after an error or an interruption it is removed, and ``path`` is as it was.

    Parameters
    ----------
    path : str or path
        Replaced if it is there; its folder is made if needed.

    Yields
    ------
    path
        Where to write.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from featsieve.files import whole_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "a.bin") as unfinished:
    ...         _ = unfinished.write_bytes(b"abc")
    ...     (Path(folder) / "a.bin").read_bytes()
    b'abc'
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        with temporary.open("rb+") as file:
            to_disk(file)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file whole or not at all.

    It is written beside its place under a hidden name that holds the number of the process, forced
    to the disk, and renamed.

    Parameters
    ----------
    path : str or path
        Replaced if it is there; its folder is made if needed.
    text : str
        Stored as UTF-8, its line ends as they are.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from featsieve.files import write_text
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_text(Path(folder) / "new" / "a.txt", "café")
    ...     (Path(folder) / "new" / "a.txt").read_text(encoding="utf-8")
    'café'
    """
    with (
        whole_file(path) as unfinished,
        unfinished.open("w", encoding="utf-8", newline="") as file,
    ):
        file.write(text)


def to_disk(file: Any) -> None:
    """Force what was written to the disk: a rename may otherwise get there before the content.

    Parameters
    ----------
    file : open file
    """
    file.flush()
    os.fsync(file.fileno())


def folder_to_disk(folder: str | os.PathLike[str]) -> None:
    """Force a rename to the disk, where folders can be opened for that.

    Parameters
    ----------
    folder : str or path
    """
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
