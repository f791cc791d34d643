"""Files that are there whole or not at all, whoever is killed while they are written."""

import os
from pathlib import Path
from typing import Any


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
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
            to_disk(file)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


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
