"""Files of a folder that are replaced together, whoever is killed meanwhile.

Several renames are not one. So the new files stand ready in a hidden folder first; one rename gives
it the name `READY`, and from then on the new files are the result. Whoever comes next and finds
that name, a new run or a reader, moves what is still in there to its place before it does anything
else. A lock of the folder, which ends with the process that holds it, keeps two from doing so at
the same time.
"""

import errno
import json
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from featsieve.files import folder_to_disk, told_of

READY = ".featsieve-new"
# In it: the names of files of the earlier result that the new one does not have.
STALE = ".stale.json"
# Seconds that somebody else may hold the lock; renames take milliseconds, a report a few seconds.
PATIENCE = 60.0


@contextmanager
def locked(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Keep other processes from changing the results in a folder, where the system can do that.

    Parameters
    ----------
    folder : str or path

    Raises
    ------
    OSError
        If somebody else does not let go of it.

    Examples
    --------
    >>> import tempfile
    >>> from featsieve.workflow.replacing import locked
    >>> with tempfile.TemporaryDirectory() as folder, locked(folder):
    ...     print("alone")
    alone
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        limit = time.monotonic() + PATIENCE
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if error.errno not in (errno.EWOULDBLOCK, errno.EINTR):
                    break  # a disk that knows no locks
                if time.monotonic() > limit:
                    raise OSError(
                        f"Another process holds {os.fspath(folder)}: wait until it has ended, or "
                        "name another folder."
                    ) from error
                time.sleep(0.02)
        yield
    finally:
        os.close(handle)


def settle(place: str | os.PathLike[str]) -> None:
    """Finish what somebody who was killed has begun, so that results are not taken for a mixture.

    Parameters
    ----------
    place : str or path
        A folder of results, or a file in it.

    Raises
    ------
    OSError
        If there is something to finish and the folder cannot be written.

    Examples
    --------
    >>> from featsieve.workflow.replacing import settle
    >>> settle("a-folder-that-is-not-there")
    """
    folder = Path(place)
    folder = folder if folder.is_dir() else folder.parent
    if (folder / READY).is_dir():
        with locked(folder):
            finish(folder)


def replace_together(new: Path, folder: Path, *, stale: Iterable[str] = ()) -> None:
    """Move all files of a hidden folder into another one on the same disk; `locked` by the caller.

    Parameters
    ----------
    new : Path
        Gone afterwards.
    folder : Path
        Files of other names in it stay.
    stale : iterable of str
        Names of files in it that are removed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from featsieve.workflow.replacing import replace_together
    >>> with tempfile.TemporaryDirectory() as home:
    ...     folder, new = Path(home), Path(home) / ".new"
    ...     new.mkdir()
    ...     _, _ = (folder / "a").write_text("old"), (folder / "b").write_text("old")
    ...     _ = (new / "a").write_text("new")
    ...     replace_together(new, folder, stale=["b"])
    ...     [(path.name, path.read_text()) for path in folder.iterdir()]
    [('a', 'new')]
    """
    (new / STALE).write_text(json.dumps(sorted(stale)), encoding="utf-8")
    folder_to_disk(new)
    new.rename(folder / READY)  # before it the old files are the result, after it the new ones
    folder_to_disk(folder)
    finish(folder)


def finish(folder: Path) -> None:
    """Move what stands ready in a folder to its place; `locked` by the caller.

    Examples
    --------
    >>> from pathlib import Path
    >>> from featsieve.workflow.replacing import finish
    >>> finish(Path("a-folder-that-is-not-there"))
    """
    ready = folder / READY
    if not ready.is_dir():
        return
    try:
        stale = json.loads((ready / STALE).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        stale = []
    for path in sorted(ready.iterdir()):
        if path.name != STALE:
            with told_of(folder / path.name, path):
                path.replace(folder / path.name)
    for name in stale:
        if isinstance(name, str) and Path(name).name == name:  # nothing outside the folder
            (folder / name).unlink(missing_ok=True)
    (ready / STALE).unlink(missing_ok=True)
    ready.rmdir()
    folder_to_disk(folder)
