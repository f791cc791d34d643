"""Folders of results that appear whole or not at all.

Results are written into a hidden folder beside the target, ``.NAME.new``. At the end an earlier
result is renamed to ``.NAME.old``, the new folder is renamed to ``NAME``, and the old one is
removed. After a kill between the two renames the next command that opens the folder renames
``.NAME.old`` back. A lock, ``.NAME.lock``, keeps a second command from writing the same results.
The folder around the results must therefore be writable.
"""

import os
import re
import secrets
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from featsieve.io.files import UNFINISHED
from featsieve.io.optional import load_optional

# Files that file managers leave in every folder.
_CLUTTER = {".DS_Store", "Thumbs.db", "desktop.ini"}
# Seconds that a reader waits for a command that renames the folder at this moment.
_PATIENCE = 1.0


@contextmanager
def result_folder(
    folder: str | os.PathLike[str], *, names: Collection[str], overwrite: bool = False
) -> Iterator[Path]:
    """Give a hidden folder for results (``names``), which becomes ``folder`` if all goes well."""
    folder = Path(folder)
    target = folder.resolve()
    new, old = _beside(target, "new"), _beside(target, "old")
    try:
        with results_locked(folder):
            _clean(target)
            check_results(folder, names=names, overwrite=overwrite)
            new.mkdir(mode=0o700 if target.exists() else 0o777)
            try:
                yield new
                _check_again(folder, new, names=names)
                if target.exists():
                    with suppress(OSError):  # a disk without permissions
                        for file in (target, *target.iterdir()):
                            if (new / file.relative_to(target)).exists():
                                shutil.copymode(file, new / file.relative_to(target))
                    target.rename(old)
                new.rename(target)
            finally:
                _clean(target)
    except OSError as error:
        if str(new) in str(error):  # the user knows the folder, not its hidden name
            raise type(error)(str(error).replace(str(new), str(folder))) from error
        raise


def check_results(folder: Path, *, names: Collection[str], overwrite: bool = False) -> None:
    """Raise unless a folder can be made, or be replaced without the loss of anything else."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise FileExistsError(f"{folder} is a file: name a folder for the results.")
    there = sorted(
        entry.name
        for entry in os.scandir(folder)
        if entry.name not in _CLUTTER
        # left by a killed command, see `whole_file`
        and not (entry.is_file() and re.fullmatch(rf"\..*{re.escape(UNFINISHED)}", entry.name))
    )
    foreign = [name for name in there if name not in names or (folder / name).is_dir()]
    if foreign:
        raise FileExistsError(
            f"{folder} holds {foreign[0]}, which is not a result of this command: name another "
            "folder, or move what is in it elsewhere."
        )
    if there and not overwrite:
        raise FileExistsError(
            f"{folder} holds results already ({', '.join(there)}): add --force to replace them (in "
            "Python overwrite=True), or name another folder."
        )
    if os.path.ismount(folder) or folder.resolve() == Path.cwd():
        raise FileExistsError(
            f"{folder} cannot be replaced as a whole: name a folder in it for the results."
        )


def _check_again(folder: Path, new: Path, *, names: Collection[str]) -> None:
    """Keep the results beside the folder if somebody has put other files into it meanwhile."""
    try:
        check_results(folder, names=names, overwrite=True)
    except FileExistsError as error:
        kept = folder.with_name(f"{folder.name}-{secrets.token_hex(4)}")
        new.rename(kept)
        raise FileExistsError(f"{error} The new results are in {kept}.") from error


@contextmanager
def results_locked(
    folder: str | os.PathLike[str], *, timeout: float = 0.0, inside: bool = False
) -> Iterator[None]:
    """Keep others out of a folder by a lock beside it (or ``inside``), until the process ends."""
    target = Path(folder).resolve()
    path = target / ".lock" if inside else _beside(target, "lock")
    filelock = load_optional("filelock", "Writing results", extra="cli")
    lock = filelock.FileLock(path, timeout=timeout)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except filelock.Timeout:
        raise TimeoutError(
            f"Another command is writing to {os.fspath(folder)}: wait until it has ended, or name "
            "another folder."
        ) from None
    except OSError as error:
        raise type(error)(
            f"Nothing can be written to {os.fspath(folder)}: {path.parent} cannot be written to or "
            f"locked ({error.strerror}). Name another folder."
        ) from error
    try:
        yield
    finally:
        # While it is held: filelock tries again where it has locked a file that was removed.
        with suppress(OSError):
            os.unlink(path)
        lock.release()


def recover(path: str | os.PathLike[str]) -> None:
    """Bring back results that a killed command had renamed; before they, or a file, are opened."""
    path = Path(path)
    # Whoever opens the path says what is wrong with it.
    with suppress(OSError, ValueError, ImportError, RuntimeError):
        if not path.exists():
            for target in (path.resolve(), path.parent.resolve()):
                if not target.exists() and _beside(target, "old").is_dir():
                    with results_locked(target, timeout=_PATIENCE):
                        _clean(target)


def _beside(target: Path, ending: str) -> Path:
    """Return a hidden name beside a result folder."""
    return target.parent / f".{target.name}.{ending}"


def _clean(target: Path) -> None:
    """Bring an earlier result back unless there is a new one, and remove all else; locked."""
    new, old = _beside(target, "new"), _beside(target, "old")
    if old.is_dir() and not target.exists():
        old.rename(target)
    shutil.rmtree(new, ignore_errors=True)
    if old.is_dir():  # half of it must never be brought back
        old.rename(new)
        shutil.rmtree(new, ignore_errors=True)
