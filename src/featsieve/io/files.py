"""Files that are there whole or not at all, whoever is killed while they are written."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from featsieve.io.streams import appended, is_stream
from featsieve.io.temporary import clean_up, temporary_name

# Errors that go away when there is room again.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a hidden name beside ``path`` to write under, and rename it at the end.

    What was written is forced to the disk before it is renamed; after an error or an interruption
    it is removed, and ``path`` is as it was. What a process that was killed has left beside
    ``path`` is removed by the next one of the same machine: see `temporary`. A file that
    is replaced hands its permissions on.

    Parameters
    ----------
    path : str or path
        Replaced if it is there; its folder is made if needed. Of a symbolic link, what it points to
        is replaced. What is neither file nor folder (a pipe) is written directly, and to a stream
        (``/dev/stdout``) the content is added at the end: see `featsieve.io.streams`.

    Yields
    ------
    path
        Where to write.

    Raises
    ------
    OSError
        With the name of the file and the reason, if it cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from featsieve.io.files import whole_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "a.bin") as unfinished:
    ...         _ = unfinished.write_bytes(b"abc")
    ...     (Path(folder) / "a.bin").read_bytes()
    b'abc'
    """
    path = Path(path)
    if is_stream(path):
        with told_of(path), appended(path) as unfinished:
            yield unfinished
        return
    if path.exists() and not path.is_file() and not path.is_dir():
        with told_of(path):
            yield path
        return
    target = path.resolve()
    temporary = temporary_name(target)
    with told_of(path, temporary, target, *target.parents):
        target.parent.mkdir(parents=True, exist_ok=True)
        clean_up(target)
        try:
            if os.name == "posix" and target.is_file():
                temporary.touch(mode=0o600, exist_ok=False)  # what it replaces may be private
            yield temporary
            with temporary.open("rb+") as file:
                to_disk(file)
            take_after(temporary, target)
            temporary.replace(target)
        except BaseException:
            with suppress(OSError):  # the error that is on its way says more
                temporary.unlink(missing_ok=True)
            raise


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file whole or not at all.

    It is written beside its place under a hidden name, forced to the disk, and renamed.

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
    >>> from featsieve.io.files import write_text
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


@contextmanager
def told_of(path: Path, *hidden: Path) -> Iterator[None]:
    """Let errors of the system in the block name the file, the reason and a way out.

    Parameters
    ----------
    path : Path
        The file as the user knows it.
    *hidden : Path
        Other names that it has while it is written. Errors about other files stay as they are.

    Examples
    --------
    >>> from pathlib import Path
    >>> from featsieve.io.files import told_of
    >>> with told_of(Path("a.csv")):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    OSError: a.csv cannot be written (No space left on device): make room, or name another place.
    """
    try:
        yield
    except OSError as error:
        # an error without a reason of the system is a sentence already
        if error.strerror is None or error.errno is None:
            raise
        if error.filename is not None and Path(os.fsdecode(error.filename)) not in (path, *hidden):
            raise
        way_out = "make room, or name another place" if error.errno in _NO_ROOM else None
        reason = os.strerror(error.errno)  # libraries add words of their own
        told = type(error)(
            f"{path} cannot be written ({reason}): {way_out or 'name another place'}."
        )
        told.errno = error.errno
        raise told from error


def check_free(path: Path, *, overwrite: bool = False) -> None:
    """Raise if a file is there already that nobody asked to replace.

    Parameters
    ----------
    path : Path
    overwrite : bool, default=False
        Whether it may be replaced.

    Examples
    --------
    >>> from pathlib import Path
    >>> from featsieve.io.files import check_free
    >>> check_free(Path("a-file-that-is-not-there.csv"))
    """
    if path.is_file() and not is_stream(path) and not overwrite:
        raise FileExistsError(
            f"{path} is there already: add --force to replace it, or name another file."
        )


def take_after(new: Path, old: Path) -> None:
    """Give a file the owner, the group and the permissions of the one that it will replace.

    Parameters
    ----------
    new : Path
    old : Path
        If it is not there, nothing changes.

    Examples
    --------
    >>> import os, tempfile
    >>> from pathlib import Path
    >>> from featsieve.io.files import take_after
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     new, old = Path(folder, "new"), Path(folder, "old")
    ...     new.touch()
    ...     old.touch(mode=0o600)
    ...     take_after(new, old)
    ...     oct(new.stat().st_mode)[-3:] if os.name == "posix" else "600"
    '600'
    """
    if os.name != "posix" or not old.is_file():
        return
    about = old.stat()
    mode = stat.S_IMODE(about.st_mode)
    try:
        os.chown(new, about.st_uid, about.st_gid)
    except OSError:  # only root gives files away
        try:
            os.chown(new, -1, about.st_gid)
        except OSError:  # a group that this user is not in: what it might do is not for another one
            mode &= ~stat.S_IRWXG
    with suppress(OSError):  # a disk that knows no permissions
        new.chmod(mode)


def legible(text: str) -> str:
    r"""Return a name or a command that can be written as UTF-8.

    Where the locale cannot tell the letters (``LC_ALL=C``), or a file's name is not in UTF-8,
    Python hands its bytes on as half characters, which no file can hold.

    Parameters
    ----------
    text : str

    Returns
    -------
    str
        The letters, if the bytes are UTF-8; a replacement for those that are not.

    Examples
    --------
    >>> from featsieve.io.files import legible
    >>> legible("table-\udcc3\udcbc.csv"), legible("table-\udcff.csv")
    ('table-ü.csv', 'table-\ufffd.csv')
    """
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def to_disk(file: Any) -> None:
    """Force what was written to the disk: a rename may otherwise get there before the content.

    Parameters
    ----------
    file : open file
    """
    file.flush()
    os.fsync(file.fileno())


def folder_to_disk(folder: str | os.PathLike[str]) -> None:
    """Force a rename to the disk, where that can be done with folders.

    Some network disks refuse it: what was renamed is there all the same.

    Parameters
    ----------
    folder : str or path
    """
    with suppress(OSError):
        _to_disk(folder)


def tree_to_disk(folder: Path) -> None:
    """Force a folder to the disk, and all that is in it.

    Parameters
    ----------
    folder : Path
    """
    for path in folder.rglob("*"):
        if path.is_dir():
            folder_to_disk(path)
        else:
            _to_disk(path)
    folder_to_disk(folder)


def _to_disk(path: str | os.PathLike[str]) -> None:
    """Force a closed file or a folder to the disk, where they can be opened for that."""
    if os.name != "posix":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
