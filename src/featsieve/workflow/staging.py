"""A folder of results that appears whole: files are written beside it, and moved at the end."""

import os
import shutil
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from featsieve.files import folder_to_disk


@contextmanager
def staged(
    folder: str | os.PathLike[str], *, names: Iterable[str] = (), overwrite: bool = False
) -> Iterator[Path]:
    """Give a temporary folder for the files of a folder; move them there when all is well.

    An error or Ctrl-C in the block leaves the folder as it was: absent, or with its old files.

    Parameters
    ----------
    folder : str or path
        Made if it is not there. Other files in it stay.
    names : iterable of str
        Files that must not be there already, unless ``overwrite``.
    overwrite : bool, default=False
        Whether files of the same names are replaced.

    Yields
    ------
    Path
        The temporary folder.

    Raises
    ------
    FileExistsError
        If one of the files is there.
    OSError
        If nothing can be written there. Both are found out before the block begins.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from featsieve.workflow.staging import staged
    >>> with tempfile.TemporaryDirectory() as home:
    ...     with staged(Path(home) / "out") as temporary:
    ...         _ = (temporary / "a.txt").write_text("done")
    ...     sorted(path.name for path in Path(home).rglob("*"))
    ['a.txt', 'out']
    """
    folder = Path(folder)
    check_place(folder, names=names, overwrite=overwrite)
    made = _missing_parents(folder)
    temporary = _temporary(folder)
    try:
        try:
            temporary.mkdir(parents=True)
        except OSError as error:
            raise OSError(
                f"Nothing can be written to {folder} ({error.strerror}): name another folder."
            ) from error
        yield temporary
        with _uninterrupted():
            _move(temporary, folder)
    except BaseException:
        with _uninterrupted():
            _remove(temporary, made)
        raise


def check_place(folder: Path, *, names: Iterable[str] = (), overwrite: bool = False) -> None:
    """Raise if a folder cannot take files of these names.

    Examples
    --------
    >>> from pathlib import Path
    >>> from featsieve.workflow.staging import check_place
    >>> check_place(Path("a-folder-that-is-not-there"), names=["report.html"])
    """
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


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ignore Ctrl-C and SIGTERM for a moment: renames that belong together are all done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)


def _remove(temporary: Path, made: list[Path]) -> None:
    """Remove a temporary folder, and the parents that were made for it."""
    shutil.rmtree(temporary, ignore_errors=True)
    for parent in made:  # the deepest first; one with other files in it stays
        try:
            parent.rmdir()
        except OSError:
            break


def _temporary(folder: Path) -> Path:
    """Return a hidden place on the same disk: in the folder where it exists, else beside it."""
    name = f".{folder.resolve().name}.{os.getpid()}.tmp"
    return folder / name if folder.is_dir() else folder.with_name(name)


def _missing_parents(folder: Path) -> list[Path]:
    """Return the parents that would have to be made, the deepest first."""
    return [parent for parent in folder.parents if not parent.exists()]


def _move(temporary: Path, folder: Path) -> None:
    """Move a finished folder, or its files one by one into one that is there."""
    if not folder.exists():
        temporary.rename(folder)
        folder_to_disk(folder.parent)
        return
    for path in sorted(temporary.iterdir()):
        path.replace(folder / path.name)
    temporary.rmdir()
    folder_to_disk(folder)
