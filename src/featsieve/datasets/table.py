"""One function for every file of a table."""

import os
from collections.abc import Callable
from pathlib import Path

from featsieve.datasets.dataset import Content, Dataset, build_dataset
from featsieve.datasets.readers.h5ad import read_h5ad
from featsieve.datasets.readers.mat import read_mat
from featsieve.datasets.readers.npz import read_npz
from featsieve.datasets.readers.parquet import read_parquet
from featsieve.datasets.readers.text import read_text

READERS: dict[str, Callable[[Path, str | None], Content]] = {
    ".mat": read_mat,
    ".csv": read_text,
    ".csv.gz": read_text,
    ".tsv": read_text,
    ".tsv.gz": read_text,
    ".parquet": read_parquet,
    ".npz": read_npz,
    ".h5ad": read_h5ad,
}

# Between the path of a file and the name of the column with the classes.
SEPARATOR = "#"


def table_format(path: str | os.PathLike[str]) -> str | None:
    """Return the ending of a file's name that says how to read it, None where none does."""
    name = Path(path).name.lower()
    return next((ending for ending in READERS if name.endswith(ending)), None)


def join_labels(path: str, label_column: str) -> str:
    """Return one name for a file and the column of its classes, such as "mine.csv#kind"."""
    return f"{path}{SEPARATOR}{label_column}"


def split_labels(name: str | os.PathLike[str]) -> tuple[str | os.PathLike[str], str | None]:
    """Return the file and the column of its classes that a name stands for, if it names one.

    They are separated by the first "#" with the ending of a table before it.

    Examples
    --------
    >>> from featsieve.datasets.table import split_labels
    >>> split_labels("mine.csv#kind"), split_labels("mine.csv"), split_labels("no#1.csv")
    (('mine.csv', 'kind'), ('mine.csv', None), ('no#1.csv', None))
    """
    parts = name.split(SEPARATOR) if isinstance(name, str) else ()
    for i in range(1, len(parts)):
        path, column = SEPARATOR.join(parts[:i]), SEPARATOR.join(parts[i:])
        if table_format(path) is not None and column:
            return path, column
    return name, None


def read_table(path: str | os.PathLike[str], *, label_column: str | None = None) -> Dataset:
    r"""Read a table from a file.

    Parameters
    ----------
    path : str or path
        The ending of the name says how it is read:

        - ``.mat``: variables ``fea`` and ``gnd``, or ``X`` and ``Y`` (upper or lower case), of
          MATLAB 4 to 7.3.
        - ``.csv``, ``.tsv``, also ``.gz``, and ``.parquet``: one column per feature.
        - ``.npz``: arrays ``X`` and ``y``, or the parts ``data``, ``indices``, ``indptr``,
          ``shape`` of a sparse table in compressed rows, with ``y``. Nothing is ever unpickled.
        - ``.h5ad``: ``X`` of an AnnData file; the features' names are those of ``var``.
    label_column : str, optional
        What holds the true classes: a column (of ``obs`` for ``.h5ad``), or for ``.mat`` and
        ``.npz`` a variable other than the usual one. Left out of the features. Without it, only
        ``.mat`` and ``.npz`` can have classes.

    Returns
    -------
    Dataset
        Sparse tables stay sparse. Classes are 0, 1, ...

    Raises
    ------
    ValueError
        If the file is not what its name says, is cut short, or holds no table; the message names
        the file and the reason.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from featsieve.datasets import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "flowers.csv")
    ...     _ = path.write_text("length,width,kind\n1.5,2,rose\n3,4,tulip\n2,2,rose\n")
    ...     flowers = read_table(path, label_column="kind")
    >>> flowers.X.shape, flowers.feature_names, flowers.y.tolist()
    ((3, 2), ['length', 'width'], [0, 1, 0])
    """
    path = Path(path)
    ending = table_format(path)
    if ending is None:
        raise ValueError(
            f"{path}: the ending of the name does not say how to read it; use one of "
            f"{', '.join(READERS)}."
        )
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such file.")
    try:
        content = READERS[ending](path, label_column)
        return build_dataset(path.name[: -len(ending)], content)
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # readers fail on broken files in ways of their own
        reason = str(error).rstrip(".") or type(error).__name__
        raise ValueError(f"{path} cannot be read as {ending}: {reason}.") from error
