"""Tables from and to files: one function each for every format."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from featsieve.io.child import run_in_child, time_limit
from featsieve.io.dataset import Dataset, dataset_from_parts
from featsieve.io.files import check_free, whole_file
from featsieve.io.formats import FORMATS, SHEETS, Request, format_module, read_parts
from featsieve.io.guard import check_file, explain_errors, memory_limit
from featsieve.io.optional import load_optional
from featsieve.tables import Table

# Between the path of a file and the name of the column with the classes.
SEPARATOR = "#"


def table_format(path: str | os.PathLike[str]) -> str | None:
    """Return the ending of a file's name that says how to read it, None where none does."""
    name = Path(path).name.lower()
    return next((ending for ending in FORMATS if name.endswith(ending)), None)


def known_format(path: Path, task: str) -> str:
    """Return the ending of a file's name, or say which ones are known for a task."""
    ending = table_format(path)
    known = [name for name, about in FORMATS.items() if about.writes or task == "read"]
    if ending is None or ending not in known:
        raise ValueError(
            f"{path}: the ending of the name does not say how to {task} it; use one of "
            f"{', '.join(known)}."
        )
    return ending


def split_labels(name: str | os.PathLike[str]) -> tuple[str | os.PathLike[str], str | None]:
    """Return the file and, behind a "#", the column of its classes that a name stands for."""
    parts = name.split(SEPARATOR) if isinstance(name, str) else ()
    for i in range(1, len(parts)):
        path, column = SEPARATOR.join(parts[:i]), SEPARATOR.join(parts[i:])
        if table_format(path) is not None and column:
            return path, column
    return name, None


def read_table(
    path: str | os.PathLike[str],
    *,
    label_column: str | None = None,
    id_column: str | None = None,
    batch_column: str | None = None,
    drop: Iterable[str] | None = None,
    drop_text: bool = False,
    columns: Iterable[str] | None = None,
    header: bool | None = None,
    layer: str | None = None,
    transpose: bool = False,
    sheet: str | int | None = None,
    repair: bool | Mapping[str, str] = False,
    encode: bool | Mapping[str, Any] = False,
    trusted: bool = False,
) -> Dataset:
    r"""Read a table from a file.

    The library of the format reads it in a process of its own with limits of memory and time
    (the environment variables FEATSIEVE_MAX_MEMORY and FEATSIEVE_MAX_SECONDS change them), which
    takes about a second more.

    Parameters
    ----------
    path : str or path
        The ending of the name says how it is read:

        - ``.mat``: variables ``fea`` and ``gnd``, or ``X`` and ``Y`` (upper or lower case), of
          MATLAB 4 to 7.3, with ``feature_names`` and ``sample_names`` where there are any.
        - ``.csv``, ``.tsv``, also ``.gz``, ``.txt``, and ``.parquet``: one column per feature. A
          first column without a name, and an index of pandas, hold the names of the samples. Text
          may be separated by commas, semicolons, tabulators or ``|``, with decimal points or
          commas.
        - ``.npz``: arrays ``X`` and ``y``, or the parts ``data``, ``indices``, ``indptr``,
          ``shape`` of a sparse table in compressed rows, with ``y``, ``feature_names`` and
          ``sample_names`` where there are any. Nothing is ever unpickled.
        - ``.h5ad``: ``X`` of an AnnData file; features and samples are called as in ``var`` and
          ``obs``.
        - ``.xlsx``, also ``.xls``, ``.xlsb`` and ``.ods``: one sheet of a workbook, as text.

        Of text and workbooks, titles and comments ("# ...") above the header, units below it and
        rows without any value are left out, and columns of the same name are numbered;
        ``origin.notes`` of the data set says so.
    label_column : str, optional
        What holds the true classes: a column (of ``obs`` for ``.h5ad``), or for ``.mat`` and
        ``.npz`` a variable other than the usual one. Left out of the features. Without it, only
        ``.mat`` and ``.npz`` can have classes.
    id_column : str, optional
        What holds the names of the samples: a column or variable, as for ``label_column``. Left
        out of the features.
    batch_column : str, optional
        What holds the batch of every sample (a plate, a donor): a column or variable likewise. Left
        out of the features; a missing one is an error.
    drop : iterable of str, optional
        Names of features to leave out; of a table that is transposed also of columns of the file
        that are no samples.
    drop_text : bool, default=False
        Whether to leave out every column that does not hold numbers. They are refused otherwise.
    columns : iterable of str, optional
        The only features to read, in this order, whatever their order in the file. Others may hold
        anything. Features without names are called x0, x1, ... by their places in the file (in a
        text file without a header, a column may also be called by its place alone, "0", "1", ...).
    header : bool, optional
        Whether the first line of a text file names the columns. Without it: unless the line holds
        numbers only. (Many whole numbers in equal steps, such as wavelengths, are names all the
        same.)
    layer : str, optional
        The layer of a ``.h5ad`` file to read in the place of ``X``.
    transpose : bool, default=False
        Whether rows are features and columns are samples, as in many files of gene expression. The
        first column names the features if it holds text, has no name or is called so ("gene").
        The other parameters are about the transposed table.
    sheet : str or int, optional
        Which sheet of a workbook: its name, or its number from 1 on. Without it, the largest.
    repair : bool or mapping, default=False
        Whether numbers that are written as text ("<50", "12.3%", "$1,234.00", "1 234") become
        numbers, the limit in place of "<50", and other cells of such a column ("<LOD") become
        missing; such columns are refused otherwise. "26.2 g" is 26.2, unless cells of the column
        have different units: those are missing. Infinite numbers become missing as well.
        ``origin.changes`` of the data set lists every cell. A mapping of columns to decimal marks
        (``origin.options["repair"]``) settles what "1,234" is, whether "50%" is 50 or, with "%"
        behind the mark, 0.5, and which unit is left out.
    encode : bool or mapping, default=False
        Whether columns of few words (at most √n different ones in n rows) and of dates take part.
        They stand in ``X`` as one column of codes; a selection takes them for indicators that
        count as one feature (see `featsieve.tables.encode`). A mapping of columns to lists of
        words, from low to high, makes these 0, 1, 2, ...; "*" in place of a column has lists for
        all columns whose words are in one of them. "Don't know" and alike are missing then.
    trusted : bool, default=False
        Whether to read the file right here instead: quicker for many small files that you have
        made yourself.

    Returns
    -------
    Dataset
        Sparse tables stay sparse, missing values are NaN, classes are 0, 1, ... (-1: missing).

    Raises
    ------
    ValueError
        If the file is not what its name says, is cut short, or holds no table, or if its columns
        are not what was asked for; the message names the file and the reason.

    See Also
    --------
    write_table : The way back.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from featsieve.datasets import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "flowers.csv")
    ...     _ = path.write_text("length,width,kind\n1.5,2,rose\n3,4,tulip\n2,2,rose\n")
    ...     flowers = read_table(path, label_column="kind")
    ...     widths = read_table(path, columns=["width"])
    >>> flowers.X.shape, flowers.feature_names, flowers.y.tolist(), flowers.class_names
    ((3, 2), ['length', 'width'], [0, 1, 0], ['rose', 'tulip'])
    >>> widths.X.ravel()
    array([2., 4., 2.])
    """
    asked_for = {name: value for name, value in locals().items() if name not in ("path", "trusted")}
    path = Path(path)
    ending = known_format(path, "read")
    check_file(path)
    if sheet is not None and FORMATS[ending] is not SHEETS:
        raise ValueError(f"{path} is no workbook and has no sheets: leave --sheet (sheet) out.")
    # They say what is wrong with their variables, for which the file is not to blame.
    memory_limit()
    time_limit(path)
    request = Request(**asked_for)
    if layer is not None and ending != ".h5ad":
        raise ValueError(f"{path}: only .h5ad files have layers: leave layer (--layer) out.")
    asked: dict[str, Any] = {"ending": ending, "request": asdict(request)}
    with explain_errors(path, kind=ending):
        if trusted:
            return dataset_from_parts(read_parts(path, **asked))
        function, libraries = "featsieve.io.formats:read_parts", FORMATS[ending].libraries
        return dataset_from_parts(run_in_child(function, path, imports=libraries, **asked))


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
        Names of samples (under ``id_name``, or without a name) and classes (under ``label_name``)
        are written beside the features.
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
    check_writer(path)
    if table.encodings and FORMATS[ending].writer in (None, "anndata"):
        raise ValueError(
            f"{path}: {ending} files hold no words, which {next(iter(table.encodings))!r} has: "
            "write .csv or .parquet."
        )
    source = Path(like) if like is not None and table_format(like) == ending else None
    with whole_file(path) as unfinished:
        format_module(ending).write(unfinished, table, name=path.name, like=source)


def check_writer(path: str | os.PathLike[str], *, instead: str = "") -> None:
    """Raise if a library is missing that `write_table` would need; ``instead`` is a way out."""
    ending = known_format(Path(path), "write")
    about = FORMATS[ending]
    if about.writer is not None:
        purpose = f"Writing a {ending} file"
        load_optional(about.writer, purpose, extra=about.extra, instead=instead)


def write_csv(path: str | os.PathLike[str], table: Table) -> None:
    """Write a table of results as comma-separated text, whole or not at all."""
    with whole_file(path) as unfinished:
        table.to_csv(unfinished)


def check_output(
    path: Path, *, others: Iterable[Path], overwrite: bool = True, text: bool = False
) -> None:
    """Raise if a file to be written is one of others, has no known format, or is there already."""
    if path.resolve() in {other.resolve() for other in others}:
        raise ValueError(f"{path} would be written over: name another file.")
    if text and path.suffix.lower() != ".csv":
        raise ValueError(f"{path} would hold comma-separated text: let its name end in .csv.")
    known_format(path, "write")
    check_free(path, overwrite=overwrite)
