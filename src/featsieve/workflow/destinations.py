"""Files that are to be written: whether they can be, asked before any work."""

from collections.abc import Iterable
from pathlib import Path

from featsieve.io.files import check_free
from featsieve.io.table import READERS, table_format


def check_outputs(
    outputs: Iterable[Path | None],
    *,
    sources: Iterable[Path],
    tables: bool = True,
    overwrite: bool = True,
) -> None:
    """Raise if a file to be written has no known format, no folder, or is there already."""
    read = {source.resolve() for source in sources}
    seen: set[Path] = set()
    for i, path in enumerate(outputs):
        if path is None:
            continue
        if path.resolve() in read:
            raise ValueError(f"{path} would be written over while it is read: name another file.")
        if path.resolve() in seen:
            raise ValueError(f"{path} is named twice: name one file for each thing to write.")
        seen.add(path.resolve())
        if path.is_dir():
            raise ValueError(f"{path} is a folder: name a file.")
        if not path.absolute().parent.is_dir():
            raise FileNotFoundError(f"There is no folder {path.parent}: make it, or name another.")
        if i == 0 and tables and table_format(path) is None:
            raise ValueError(
                f"{path}: the ending of the name does not say how to write it; use one of "
                f"{', '.join(READERS)}."
            )
        if not (i == 0 and tables) and path.suffix.lower() != ".csv":
            raise ValueError(f"{path} would hold comma-separated text: let its name end in .csv.")
        check_free(path, overwrite=overwrite)
