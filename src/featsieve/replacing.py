"""Files of a folder that are replaced together, whoever is killed meanwhile.

Several renames are not one. So the new files stand ready in a hidden folder first; one rename gives
it the name `READY`, and from then on the new files are the result. Whoever comes next and finds
that name, a new run or a reader, moves what is still in there to its place before it does anything
else. A lock of the folder keeps two from doing so at the same time: see `featsieve.locks`, also for
disks that know no locks.
"""

import errno
import json
import os
import stat
from collections.abc import Iterable
from pathlib import Path

from featsieve.files import folder_to_disk, take_after, to_disk, told_of, tree_to_disk
from featsieve.locks import locked

READY = ".featsieve-new"
# In it: the names of files of the earlier result that the new one does not have.
STALE = ".stale.json"
# What the system says where nothing can be written.
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)


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
    >>> from featsieve.replacing import settle
    >>> settle("a-folder-that-is-not-there")
    """
    folder = Path(place)
    folder = folder if folder.is_dir() else folder.parent
    if _stands_ready(folder):
        with locked(folder):
            finish(folder)


def settled(path: str | os.PathLike[str]) -> Path:
    """Return where to read a file that may be one of the results in a folder, after `settle`.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    Path
        The same. Where something is to be finished and the folder cannot be written, the new file
        where it stands ready.

    Examples
    --------
    >>> from featsieve.replacing import settled
    >>> settled("table.csv").name
    'table.csv'
    """
    path = Path(path)
    try:
        settle(path)
    except OSError as error:
        if error.errno not in _READ_ONLY:
            raise
        new = path.parent / READY / path.name
        return new if new.is_file() else path
    return path


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
    >>> from featsieve.replacing import replace_together
    >>> with tempfile.TemporaryDirectory() as home:
    ...     folder, new = Path(home), Path(home) / ".new"
    ...     new.mkdir()
    ...     _, _ = (folder / "a").write_text("old"), (folder / "b").write_text("old")
    ...     _ = (new / "a").write_text("new")
    ...     replace_together(new, folder, stale=["b"])
    ...     [(path.name, path.read_text()) for path in folder.iterdir()]
    [('a', 'new')]
    """
    for path in new.iterdir():
        take_after(path, folder / path.name)
    with (new / STALE).open("w", encoding="utf-8") as file:
        json.dump(sorted(stale), file)
        to_disk(file)
    tree_to_disk(new)  # all of it before the rename, which says that it is there
    with told_of(folder / READY, new):
        new.rename(folder / READY)  # before it the old files are the result, after it the new ones
    folder_to_disk(folder)
    finish(folder)


def finish(folder: Path) -> None:
    """Move what stands ready in a folder to its place; `locked` by the caller.

    Examples
    --------
    >>> from pathlib import Path
    >>> from featsieve.replacing import finish
    >>> finish(Path("a-folder-that-is-not-there"))
    """
    if not _stands_ready(folder):
        return
    ready = folder / READY
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
    folder_to_disk(folder)  # before the list of what is to be done goes
    (ready / STALE).unlink(missing_ok=True)
    ready.rmdir()
    folder_to_disk(folder)


def _stands_ready(folder: Path) -> bool:
    """Tell whether there is something to finish that can be trusted.

    Anybody may write to a folder like /tmp: only what this user has put there is, and no link.
    """
    try:
        about, around = os.lstat(folder / READY), os.stat(folder)
    except (OSError, ValueError):  # a name that no file can have
        return False
    if not stat.S_ISDIR(about.st_mode):
        return False
    for_all = os.name == "posix" and around.st_mode & stat.S_ISVTX
    return not for_all or about.st_uid == os.geteuid()
