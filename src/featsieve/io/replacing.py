"""Files of a folder that are replaced together, whoever is killed meanwhile.

Several renames are not one. So the new files stand ready in a hidden folder first; one rename gives
it the name `READY`, and from then on the new files are the result. Who writes next and finds that
name moves what is still in there to its place before anything else; a reader changes nothing, and
reads the files where they stand. A lock of the folder keeps two from moving at the same time: see
`featsieve.io.locks`, also for disks that know no locks.

Such a folder may come from elsewhere, as part of an archive. So nothing is moved or removed but
plain files with the names of results (`RESULTS`).
"""

import json
import os
import stat
import time
from collections.abc import Iterable
from pathlib import Path

from featsieve.io.files import folder_to_disk, take_after, to_disk, told_of, tree_to_disk
from featsieve.io.locks import LOCK, TICK, locked

READY = ".featsieve-new"
# In it: the names of files of the earlier result that the new one does not have.
STALE = ".stale.json"
# Endings of tables.
_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet", ".npz", ".mat", ".h5ad")
# All files that are ever replaced together: those of a selection and of the demo.
RESULTS = frozenset(
    (
        *("features.csv", "samples.csv", "report.html", "summary.json", "model.skops"),
        *(f"selected{ending}" for ending in _ENDINGS),
        *("report.md", "planted.html", "digits.html"),
    )
)
# Seconds that a reader gives somebody who seems to be moving files just now.
PATIENCE = 1.0


def settle(place: str | os.PathLike[str]) -> None:
    """Finish what somebody who was killed has begun, so that no mixture is read."""
    folder = Path(place)
    folder = folder if folder.is_dir() else folder.parent
    if _stands_ready(folder):
        with locked(folder):
            finish(folder)


def settled(path: str | os.PathLike[str]) -> Path:
    """Return where to read a file that may be one of the results in a folder."""
    path = Path(path)
    if path.name not in RESULTS:
        return path
    limit = time.monotonic() + PATIENCE
    while path.name in (_waiting(path.parent) or ()):
        if time.monotonic() > limit or not os.path.lexists(path.parent / LOCK):
            return path.parent / READY / path.name
        time.sleep(TICK)  # somebody moves it just now, or was killed at it
    return path


def replace_together(new: Path, folder: Path, *, stale: Iterable[str] = ()) -> None:
    """Move all files of a hidden folder into another one (`locked` by the caller)."""
    stale = set(stale)
    unknown = sorted({*os.listdir(new), *stale} - RESULTS)
    if unknown:  # nobody would finish it
        raise ValueError(f"{unknown[0]} is no result: add it to featsieve.io.replacing.RESULTS.")
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
    """Move what stands ready in a folder to its place; `locked` by the caller."""
    if not _stands_ready(folder):
        return
    ready = folder / READY
    names = _waiting(folder)
    stale = _stale(ready) if names else set()
    if names is None or stale is None:
        raise FileExistsError(
            f"{ready} was not left by featsieve: look at what is in it and remove it, or name "
            "another folder."
        )
    for name in sorted(names - {STALE}):
        with told_of(folder / name, ready / name):
            (ready / name).replace(folder / name)
    for name in sorted(stale):
        if _is_plain(folder / name):
            (folder / name).unlink(missing_ok=True)
    folder_to_disk(folder)  # before the list of what is to be done goes
    (ready / STALE).unlink(missing_ok=True)
    ready.rmdir()
    folder_to_disk(folder)


def _stands_ready(folder: Path) -> bool:
    """Tell whether there is something to finish.

    Anybody may write to a folder like /tmp: only what this user has put there counts, and no link.
    """
    try:
        about, around = os.lstat(folder / READY), os.stat(folder)
    except (OSError, ValueError):  # a name that no file can have
        return False
    if not stat.S_ISDIR(about.st_mode):
        return False
    for_all = os.name == "posix" and around.st_mode & stat.S_ISVTX
    return not for_all or about.st_uid == os.geteuid()


def _waiting(folder: Path) -> set[str] | None:
    """Return the names of what stands ready, `STALE` among them; None if it is not featsieve's."""
    if not _stands_ready(folder):
        return set()
    ready = folder / READY
    try:
        names = set(os.listdir(ready))
    except OSError:  # moved a moment ago, or not for us
        return set()
    # the list is the last that is written and the last that goes
    ours = not names or (STALE in names and names <= RESULTS | {STALE})
    return names if ours and all(_is_plain(ready / name) for name in names) else None


def _stale(ready: Path) -> set[str] | None:
    """Return the names of files to be removed; None if the list is not featsieve's."""
    try:
        stale = json.loads((ready / STALE).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        return None
    ours = isinstance(stale, list) and all(isinstance(name, str) for name in stale)
    return set(stale) if ours and RESULTS.issuperset(stale) else None


def _is_plain(path: Path) -> bool:
    """Tell whether something is a regular file and no link."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False
