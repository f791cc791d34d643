"""Names that lead to open streams, such as ``/dev/stdout``: written to, never replaced."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Links from one name to the next that are followed.
_MOST_LINKS = 40


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Tell whether a name leads to a stream or a device, whatever that leads to.

    Where a shell sends the output of a command to a file, ``/dev/stdout`` is a regular file: to
    rename another one over it would destroy what is in it.
    """
    return _stream(path) is not None


@contextmanager
def appended(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a file to write to, and add what is in it to a stream if all went well."""
    with tempfile.TemporaryDirectory() as folder:
        temporary = Path(folder) / Path(path).name
        yield temporary
        if sys.stdout is not None:  # as where it was closed
            sys.stdout.flush()  # what was said before comes before
        with temporary.open("rb") as file, open(_open(path), "wb") as stream:
            shutil.copyfileobj(file, stream)


def _open(path: str | os.PathLike[str]) -> int:
    """Return a handle that adds to a stream; of one of this process, where it is just now."""
    name = _stream(path) or os.fspath(path)
    own = re.fullmatch(rf"/dev/(stdout|stderr)|(?:/dev|/proc/{os.getpid()})/fd/(\d+)", name)
    if own is None:
        return os.open(name, os.O_WRONLY | os.O_APPEND)
    return os.dup(int(own[2]) if own[2] else {"stdout": 1, "stderr": 2}[own[1]])


def _stream(path: str | os.PathLike[str]) -> str | None:
    """Return the first name of a stream on the way along the links; None if there is none."""
    name = os.path.abspath(path)
    for _ in range(_MOST_LINKS if os.name == "posix" else 0):
        folder, last = os.path.split(name)
        name = os.path.join(os.path.realpath(folder), last)
        if re.match(r"/(?:dev(?!/shm/)|proc)/", name):
            return name
        if not os.path.islink(name):
            return None
        name = os.path.join(os.path.dirname(name), os.readlink(name))
    return None
