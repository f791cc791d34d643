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
    """
    with (
        whole_file(path) as unfinished,
        unfinished.open("w", encoding="utf-8", newline="") as file,
    ):
        file.write(text)


@contextmanager
def told_of(path: Path, *hidden: Path) -> Iterator[None]:
    """Let errors of the system in the block name the file, the reason and a way out."""
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
    """Raise if a file is there already that nobody asked to replace."""
    if path.is_file() and not is_stream(path) and not overwrite:
        raise FileExistsError(
            f"{path} is there already: add --force to replace it, or name another file."
        )


def take_after(new: Path, old: Path) -> None:
    """Give a file the owner, the group and the permissions of the one that it will replace."""
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
    """
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def to_disk(file: Any) -> None:
    """Force what was written to the disk: a rename may otherwise get there before the content."""
    file.flush()
    os.fsync(file.fileno())


def folder_to_disk(folder: str | os.PathLike[str]) -> None:
    """Force a rename to the disk, where that can be done with folders.

    Some network disks refuse it: what was renamed is there all the same.
    """
    with suppress(OSError):
        _to_disk(folder)


def tree_to_disk(folder: Path) -> None:
    """Force a folder to the disk, and all that is in it."""
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
