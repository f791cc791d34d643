"""Formats of table files, one module each: ``read(path, request)``, ``write(path, table, ...)``.

Readers call the format's own library, in a child process; see `featsieve.io.child`.
"""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple


class Format(NamedTuple):
    """A module of this package, the libraries that its reader calls, and what its writer needs."""

    module: str
    libraries: tuple[str, ...] = ()
    writer: str | None = None
    extra: str = "data"
    writes: bool = True


TEXT = Format("text", ("pandas",), "pandas")
SHEETS = Format("excel", ("pandas", "python_calamine"), extra="excel", writes=False)
FORMATS: dict[str, Format] = {
    ".mat": Format("variables", ("scipy.io", "h5py")),
    ".csv": TEXT,
    ".csv.gz": TEXT,
    ".tsv": TEXT,
    ".tsv.gz": TEXT,
    ".txt": TEXT._replace(writes=False),
    ".parquet": Format("parquet", ("pandas", "pyarrow.parquet"), "pyarrow"),
    ".npz": Format("variables"),
    ".h5ad": Format("h5ad", ("anndata",), "anndata", "anndata"),
    **dict.fromkeys((".xlsx", ".xls", ".xlsb", ".ods"), SHEETS),
}


def format_module(ending: str) -> Any:
    """Return the module that reads and writes files with this ending."""
    return importlib.import_module(f"{__name__}.{FORMATS[ending].module}")


def read_parts(path: Path, *, ending: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of the data set in a file as values and arrays; called in the child."""
    table = format_module(ending).read(path, Request(**request))
    return vars(table) | {"name": path.name[: -len(ending)], "origin": vars(table.origin)}


@dataclass
class Request:
    """Which columns of a file are classes, names of samples, or features; see `read_table`."""

    label_column: str | None = None
    id_column: str | None = None
    batch_column: str | None = None
    drop: Any = ()
    drop_text: bool = False
    columns: Any = None
    header: bool | None = None  # whether the first line of a text file names the columns
    layer: str | None = None  # of an AnnData file
    transpose: bool = False  # features are rows
    sheet: str | int | None = None  # of a workbook: a name, or a number from 1 on
    repair: Any = None  # whether odd cells become numbers; decimal marks of some columns
    encode: Any = None  # whether words become numbers; levels of some columns, in their order

    def __post_init__(self) -> None:
        for parameter in ("label_column", "id_column", "batch_column", "layer"):
            if not isinstance(getattr(self, parameter), str | None):
                what = parameter.rpartition("_")[2]
                raise TypeError(
                    f"{parameter} must be the name of a {what}; got {getattr(self, parameter)!r}."
                )
        if len(set(self.roles)) < len(self.roles):
            raise ValueError(
                "label_column, id_column and batch_column must be different columns; got "
                f"{', '.join(map(repr, self.roles))}: name another, or leave one out."
            )
        if self.sheet is not None:
            self.sheet = str(self.sheet)
        self.drop_text, self.transpose = bool(self.drop_text), bool(self.transpose)
        for name in ("repair", "encode"):
            value = getattr(self, name)
            of_columns = isinstance(value, Mapping)
            setattr(self, name, dict(value) if of_columns else {} if value else None)
        self.drop = _names("drop", self.drop or ())
        if self.columns is not None:
            self.columns = _names("columns", self.columns)
            if self.drop and not self.transpose:  # there it may name columns about features
                raise ValueError("columns lists all that is read: do not pass drop as well.")
            if not self.columns:
                raise ValueError("columns is empty: name at least one, or pass None for all.")

    @property
    def roles(self) -> tuple[str, ...]:
        """Columns that are asked for and are not features."""
        named = (self.label_column, self.id_column, self.batch_column)
        return tuple(name for name in named if name is not None)


def _names(parameter: str, values: Any) -> tuple[str, ...]:
    """Return names of columns, each once; a single one need not be in a list."""
    names = (values,) if isinstance(values, str) else tuple(values)
    if not all(isinstance(name, str) for name in names):
        raise TypeError(f"{parameter} must list names of columns; got {values!r}.")
    return tuple(dict.fromkeys(names))
