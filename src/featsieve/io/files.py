"""Files that are replaced as a whole: an error, an interruption or a kill leaves the old one."""

import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

# Errors that go away when there is room again.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# How the hidden names of unfinished files end.
UNFINISHED = ".tmp"
# Letters of a file's name in its hidden name: file systems take 255 bytes, a letter has up to four.
_LONGEST = 50


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a hidden name beside ``path`` to write under, and rename it to ``path`` at the end."""
    path = Path(path)
    # a file renamed to /dev/null would take its place
    device = os.name == "posix" and re.match(r"/(?:dev(?!/shm/)|proc)/", os.path.abspath(path))
    if device or (path.exists() and not path.is_file() and not path.is_dir()):
        raise ValueError(f"{path} is a stream, a pipe or a device: name a file.")
    target = path.resolve()
    hidden = f".{target.name[:_LONGEST]}.{secrets.token_hex(4)}{UNFINISHED}"
    unfinished = target.with_name(hidden)
    with explain_write_errors(path, unfinished, target, *target.parents):
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            # what it replaces may be private
            unfinished.touch(mode=0o600 if target.is_file() else 0o666, exist_ok=False)
            yield unfinished
            with unfinished.open("rb+") as file:
                os.fsync(file.fileno())  # or the rename may get to the disk first
            if target.exists():
                with suppress(OSError):  # a disk without permissions
                    shutil.copymode(target, unfinished)
            unfinished.replace(target)
        except BaseException:
            with suppress(OSError):  # the error that is on its way says more
                unfinished.unlink(missing_ok=True)
            raise


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text file (UTF-8) whole or not at all."""
    with (
        whole_file(path) as unfinished,
        unfinished.open("w", encoding="utf-8", newline="") as file,
    ):
        file.write(text)


@contextmanager
def explain_write_errors(path: Path, *hidden: Path) -> Iterator[None]:
    """Let system errors about a file, or its ``hidden`` names, say the reason and what to do."""
    try:
        yield
    except OSError as error:
        # an error without a reason of the system is a sentence already
        if error.strerror is None or error.errno is None:
            raise
        if error.filename is not None and Path(os.fsdecode(error.filename)) not in (path, *hidden):
            raise
        room = "make room, or " if error.errno in _NO_ROOM else ""
        reason = os.strerror(error.errno)  # libraries add words of their own
        explained = type(error)(f"{path} cannot be written ({reason}): {room}name another place.")
        explained.errno = error.errno
        raise explained from error


def check_free(path: Path, *, overwrite: bool = False) -> None:
    """Raise if a path is a folder, or a file that nobody asked to replace."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name a file.")
    if path.is_file() and not overwrite:
        raise FileExistsError(
            f"{path} is there already: add --force to replace it (in Python overwrite=True), or "
            "name another file."
        )


def legible(text: str) -> str:
    """Return a name without the half characters by which Python keeps bytes it cannot decode."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
