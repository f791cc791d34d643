"""A folder of results that appears whole: files are written beside it, and moved at the end."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from featsieve.io.files import folder_to_disk, tree_to_disk
from featsieve.io.interruptions import uninterrupted
from featsieve.io.locks import locked
from featsieve.io.replacing import finish, replace_together, settle
from featsieve.io.temporary import clean_up, temporary_name


@contextmanager
def staged(
    folder: str | os.PathLike[str],
    *,
    names: Iterable[str] = (),
    overwrite: bool = False,
    stale: Callable[[], Iterable[str]] = tuple,
) -> Iterator[Path]:
    """Give a temporary folder for the files of a folder; move them there when all is well.

    An error or Ctrl-C in the block leaves the folder as it was: absent, or with its old files. So
    does kill -9, but for a hidden folder, which the next call removes. The new files take the place
    of the old ones all at once: see `replacing`. Ctrl-C in that moment takes effect after
    it, as a KeyboardInterrupt that says that the results are complete.
    """
    folder, names = Path(folder), tuple(names)
    settle(folder)
    check_place(folder, names=names, overwrite=overwrite)
    target = folder.resolve()
    inside = target / (target.name or "results")
    for place in (target, inside):
        clean_up(place)
    made, done = _missing_parents(target), False
    # hidden, and on the same disk: in the folder where it exists, else beside it
    temporary = temporary_name(inside if target.is_dir() else target)
    try:
        try:
            temporary.mkdir(parents=True)
        except OSError as error:
            raise OSError(
                f"Nothing can be written to {folder} ({error.strerror}): name another folder."
            ) from error
        yield temporary
        _check_complete(temporary, folder, names)
        tree_to_disk(temporary)
        with uninterrupted():
            done = not target.exists() and _renamed(temporary, target)
        if not done:
            with locked(target), uninterrupted():
                finish(target)
                # others may have written there in the meantime
                check_place(folder, names=names, overwrite=overwrite)
                replace_together(temporary, target, stale=stale())
                done = True
    except BaseException as error:
        if done and isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(f"the results in {folder} are complete") from None
        with uninterrupted():
            _remove(temporary, made)
        if isinstance(error, OSError) and str(temporary) in str(error):
            # the user knows the folder, not its hidden name
            raise type(error)(str(error).replace(str(temporary), str(folder))) from error
        raise


def check_place(folder: Path, *, names: Iterable[str] = (), overwrite: bool = False) -> None:
    """Raise if a folder cannot take files of these names."""
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file: name a folder for the results.")
    there = [name for name in names if (folder / name).exists()]
    blocked = [name for name in there if (folder / name).is_dir()]
    if blocked:
        raise FileExistsError(f"{folder / blocked[0]} is a folder: name another one for results.")
    if there and not overwrite:
        raise FileExistsError(
            f"{folder} holds results already ({', '.join(there)}): add --force to replace them (in "
            "Python overwrite=True), or name another folder."
        )


def _remove(temporary: Path, made: list[Path]) -> None:
    """Remove a temporary folder, and the parents that were made for it."""
    shutil.rmtree(temporary, ignore_errors=True)
    for parent in made:  # the deepest first; one with other files in it stays
        try:
            parent.rmdir()
        except OSError:
            break


def _missing_parents(folder: Path) -> list[Path]:
    """Return the parents that would have to be made, the deepest first."""
    return [parent for parent in folder.parents if not parent.exists()]


def _check_complete(temporary: Path, folder: Path, names: Iterable[str]) -> None:
    """Raise if files are missing that were written: the rest must not pass for a result."""
    if not all((temporary / name).exists() for name in names):
        raise FileNotFoundError(
            f"Files of {folder} were removed while they were written: run the same command again."
        )


def _renamed(temporary: Path, folder: Path) -> bool:
    """Make a finished folder the one that was asked for; say whether nobody else was faster."""
    try:
        temporary.rename(folder)
    except OSError:
        if folder.exists():
            return False
        raise
    folder_to_disk(folder.parent)
    return True
