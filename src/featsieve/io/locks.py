"""Locks between processes, kept by `filelock`: they end with the process that holds them."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from featsieve.io.optional import load_optional

# What disks without locks answer.
_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP)


class LockedError(TimeoutError):
    """Another process holds a lock."""


@contextmanager
def locked(place: Path, *, timeout: float = 0.0) -> Iterator[None]:
    """Hold a lock, a file that is made for it (in a folder: ``.lock``); raise if it is held."""
    path = place / ".lock" if place.is_dir() else place
    filelock = load_optional("filelock", "Writing results", extra="cli")
    lock = filelock.FileLock(path, timeout=timeout)
    try:
        lock.acquire()
    except filelock.Timeout:
        raise LockedError(
            f"Another process writes to {place}: wait until it has ended, or name another folder."
        ) from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        from featsieve.validation import warn  # imports numpy, which nothing else here needs

        warn(
            f"{path.parent} cannot be locked ({error.strerror}): let no two commands write to it "
            "at the same time."
        )
    try:
        yield
    finally:
        # While it is held: filelock tries again where it has locked a file that was removed.
        with suppress(OSError):
            os.unlink(path)
        lock.release()
