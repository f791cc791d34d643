"""Tables to files: one function for every format, and what is checked before any work."""

import os
from collections.abc import Iterable
from pathlib import Path

from featsieve.io.dataset import Dataset
from featsieve.io.files import check_free, whole_file
from featsieve.io.formats import FORMATS, TEXT, format_module
from featsieve.io.optional import load_optional
from featsieve.io.table import known_format, table_format
from featsieve.tables import Table

# What some formats need besides the rest, and the extra that brings it.
LIBRARIES = {".parquet": ("pyarrow", "data"), ".h5ad": ("anndata", "anndata")}


def write_table(
    path: str | os.PathLike[str],
    table: Dataset,
    *,
    like: str | os.PathLike[str] | None = None,
) -> None:
    r"""Write a table to a file, whole or not at all.

    Parameters
    ----------
    path : str or path
        The ending of the name says how: ``.csv``, ``.tsv`` (also ``.gz``), ``.parquet``, ``.npz``,
        ``.mat`` or ``.h5ad``. Replaced if it is there; its folder is made if needed.
    table : Dataset
        Names of samples come first (under ``id_name``, or without a name), classes last, under
        ``label_name``.
    like : str or path, optional
        The file that the table came from. If both are ``.h5ad``, all else that it holds is kept
        (obs, var, layers, obsm, uns, ...), for the table's features. If both are text, cells are
        separated as there. Of other files there is nothing to keep.

    Raises
    ------
    ValueError
        If the ending is not known, or ``like`` has other samples or lacks features.

    See Also
    --------
    read_table : The way back, which is exact: also for float32 and sparse tables, where the format
        knows them. Text knows neither; it gets the digits that give the same numbers in float64.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from featsieve.datasets import Dataset, read_table, write_table
    >>> table = Dataset("two", np.array([[0.5, 2.0], [0.1, 3.0]]), feature_names=["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "two.csv")
    ...     write_table(path, table)
    ...     path.read_text(), bool((read_table(path).X == table.X).all())
    ('a,b\n0.5,2\n0.1,3\n', True)
    """
    path = Path(path)
    ending = known_format(path, "write")
    source = None
    if like is not None and table_format(like) == ending:
        source = Path(like)
    write = format_module(ending).write
    with whole_file(path) as unfinished:
        if FORMATS[ending] is TEXT:
            write(unfinished, table, name=path.name, like=source)
        elif ending == ".h5ad":
            write(unfinished, table, like=source)
        else:
            write(unfinished, table)


def check_writer(path: str | os.PathLike[str], *, instead: str = "") -> None:
    """Raise if a library is missing that `write_table` would need; ``instead`` is a way out."""
    ending = table_format(path)
    if ending in LIBRARIES:
        library, extra = LIBRARIES[ending]
        load_optional(library, f"Writing a {ending} file", extra=extra, instead=instead)


def write_csv(path: str | os.PathLike[str], table: Table) -> None:
    """Write a table of results as comma-separated text, whole or not at all."""
    with (
        whole_file(path) as unfinished,
        unfinished.open("w", encoding="utf-8", newline="") as file,
    ):
        table.to_csv(file)


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
        if i == 0 and tables:
            known_format(path, "write")
        elif path.suffix.lower() != ".csv":
            raise ValueError(f"{path} would hold comma-separated text: let its name end in .csv.")
        check_free(path, overwrite=overwrite)
