"""A lock of a folder: one process at a time changes the results in it.

The lock is a hidden file that the system locks (``flock``, ``msvcrt.locking`` on Windows), so that
it ends with the process that holds it, killed or not. The file is opened for writing, as network
disks (NFS) want it, and removed at the end. A disk that knows no locks gets a warning, and work
goes on: then two commands that replace the same results in the same moment can mix up their files.
"""

import errno
import importlib
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from featsieve.io.interruptions import uninterrupted

LOCK = ".featsieve-lock"
# Seconds that somebody else may hold the lock; renames take milliseconds, a report a few seconds.
PATIENCE = 60.0
# Seconds between two tries.
TICK = 0.02
# What systems say of a lock that somebody else holds.
_HELD = (errno.EAGAIN, errno.EACCES, errno.EDEADLK, errno.EINTR)
# Follow no link, and wait for nobody at the other end of a pipe.
_CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


@contextmanager
def locked(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Keep other processes from changing the results in a folder; Ctrl-C ends the wait for them."""
    path = Path(folder) / LOCK
    limit = time.monotonic() + PATIENCE
    handle = None
    try:
        try:
            while handle is None:
                with uninterrupted():  # what was taken is known, and given back
                    handle = _take(path)
                if handle is None:
                    if time.monotonic() > limit:
                        raise TimeoutError(
                            f"Another process holds {os.fspath(folder)}: wait until it has ended, "
                            "or name another folder."
                        )
                    time.sleep(TICK)
        except (TimeoutError, FileNotFoundError, NotADirectoryError):
            raise
        except OSError as error:
            if os.access(folder, os.W_OK):
                from featsieve.validation import warn  # with numpy, which nothing else here needs

                warn(
                    f"{os.fspath(folder)} cannot be locked ({error.strerror or error}): let no two "
                    "commands write to it at the same time."
                )
        yield
    finally:
        if handle is not None:
            with uninterrupted():
                _give_back(path, handle)


def _take(path: Path) -> int | None:
    """Return the lock, as an open file; None if somebody else holds it."""
    made = writable = False
    try:
        handle = os.open(path, os.O_RDWR | _CAREFUL)
        writable = True
    except FileNotFoundError:
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _CAREFUL, 0o666)
        except FileExistsError:  # somebody was faster
            return None
        made = writable = True
    except PermissionError:
        try:  # of another user, who was killed or holds it
            handle = os.open(path, os.O_RDONLY | _CAREFUL)
        except FileNotFoundError:  # who has just given it back
            return None
    ours = False
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, f"{LOCK} is no regular file")
        ours = _lock(handle, writable=writable) and _is_there(path, handle)
    except OSError:  # no locks here: nobody needs a file that was made for it
        if made:
            with suppress(OSError):
                path.unlink()
        raise
    finally:
        if not ours:
            os.close(handle)
    return handle if ours else None


def _lock(handle: int, *, writable: bool) -> bool:
    """Lock an open file unless somebody else has done so.

    Network disks refuse to lock for a reader (EBADF), who cannot tell then: it counts as held.
    """
    try:
        system: Any = importlib.import_module("fcntl")
    except ImportError:
        system = None
    try:
        if system is not None:
            system.flock(handle, system.LOCK_EX | system.LOCK_NB)
        else:
            windows: Any = importlib.import_module("msvcrt")
            windows.locking(handle, windows.LK_NBLCK, 1)
    except ImportError:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from None
    except OSError as error:
        if error.errno in _HELD or (error.errno == errno.EBADF and not writable):
            return False
        raise
    return True


def _is_there(path: Path, handle: int) -> bool:
    """Tell whether nobody has removed the file since it was opened: others lock a new one then."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(path))
    except OSError:
        return False


def _give_back(path: Path, handle: int) -> None:
    """Remove the file of the lock and let go of it; in this order, so that it is nobody else's."""
    with suppress(OSError):
        path.unlink()
    os.close(handle)
    if os.name == "nt":  # which keeps files that are open, those of others as well
        with suppress(OSError):
            path.unlink()
