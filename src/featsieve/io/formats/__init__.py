"""Formats of table files, one module each: ``read(path, request)``, ``write(path, table)``.

Readers call the format's own library, in a child process; see `featsieve.io.child`.
"""

import importlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from featsieve.io.dataset import dataset_parts


class Format(NamedTuple):
    """A module of this package, and the libraries that its reader calls."""

    module: str
    libraries: tuple[str, ...] = ()


TEXT = Format("text", ("pandas",))
FORMATS: dict[str, Format] = {
    ".mat": Format("mat", ("scipy.io", "h5py")),
    ".csv": TEXT,
    ".csv.gz": TEXT,
    ".tsv": TEXT,
    ".tsv.gz": TEXT,
    ".parquet": Format("parquet", ("pandas", "pyarrow.parquet")),
    ".npz": Format("npz"),
    ".h5ad": Format("h5ad", ("h5py",)),
}


def format_module(ending: str) -> Any:
    """Return the module that reads and writes files with this ending."""
    return importlib.import_module(f"{__name__}.{FORMATS[ending].module}")


def read_parts(path: Path, *, ending: str, request: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of the data set in a file; called in the child."""
    table = format_module(ending).read(path, Request(**request))
    return dataset_parts(replace(table, name=path.name[: -len(ending)]))


@dataclass
class Request:
    """Which columns of a file are classes, names of samples, or features; see `read_table`."""

    label_column: str | None = None
    id_column: str | None = None
    drop: tuple[str, ...] = ()
    drop_text: bool = False
    columns: tuple[str, ...] | None = None
    header: bool | None = None  # whether the first line of a text file names the columns

    def __post_init__(self) -> None:
        # names may come in any container
        for parameter in ("label_column", "id_column"):
            if getattr(self, parameter) is not None:
                _check_name(parameter, getattr(self, parameter))
        self.drop = tuple(dict.fromkeys(_names("drop", self.drop)))
        if len(set(self.roles)) < len(self.roles):
            raise ValueError(
                f"column {self.id_column!r} cannot hold the classes (label_column) and the names "
                "of the samples (id_column) at once: name two columns, or leave one of them out."
            )
        if self.columns is not None:
            self.columns = _names("columns", self.columns)
            if self.drop:
                raise ValueError("columns lists all that is read: do not pass drop as well.")
            if not self.columns:
                raise ValueError("columns is empty: name at least one, or pass None for all.")
            if len(set(self.columns)) < len(self.columns):
                twice = [name for name in self.columns if self.columns.count(name) > 1]
                raise ValueError(f"columns lists {twice[0]!r} twice: list every column once.")

    @property
    def roles(self) -> tuple[str, ...]:
        """Columns that are asked for and are not features."""
        return tuple(name for name in (self.label_column, self.id_column) if name is not None)

    @property
    def named(self) -> tuple[str, ...]:
        """All names that are asked for."""
        return (*self.roles, *self.drop, *(self.columns or ()))

    def for_places(self, n_columns: int) -> "Request":
        """Return the request for columns without names: "3" is the one called x3."""

        def placed(name: str) -> str:
            return f"x{name}" if name.isdecimal() and int(name) < n_columns else name

        return replace(
            self,
            label_column=None if self.label_column is None else placed(self.label_column),
            id_column=None if self.id_column is None else placed(self.id_column),
            drop=tuple(map(placed, self.drop)),
            columns=None if self.columns is None else tuple(map(placed, self.columns)),
        )


def _check_name(parameter: str, value: Any) -> None:
    """Raise unless a value is the name of a column."""
    if not isinstance(value, str):
        raise TypeError(f"{parameter} must be the name of a column; got {value!r}.")


def _names(parameter: str, values: Any) -> tuple[str, ...]:
    """Return names of columns; a single one need not be in a list."""
    if isinstance(values, str):
        return (values,)
    if not isinstance(values, Iterable):
        raise TypeError(f"{parameter} must list names of columns; got {values!r}.")
    names = tuple(values)
    for name in names:
        _check_name(f"every one of {parameter}", name)
    return names
