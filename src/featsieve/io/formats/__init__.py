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
    table = format_module(ending).read(path, Request.checked(**request))
    return dataset_parts(replace(table, name=path.name[: -len(ending)]))


@dataclass(frozen=True)
class Request:
    """Which columns of a file are classes, names of samples, or features; see `read_table`."""

    label_column: str | None = None
    id_column: str | None = None
    drop: tuple[str, ...] = ()
    drop_text: bool = False
    columns: tuple[str, ...] | None = None
    header: bool | None = None  # whether the first line of a text file names the columns

    @classmethod
    def checked(
        cls,
        *,
        label_column: str | None = None,
        id_column: str | None = None,
        drop: Iterable[str] = (),
        drop_text: bool = False,
        columns: Iterable[str] | None = None,
        header: bool | None = None,
    ) -> "Request":
        """Return a request whose parts do not contradict each other."""
        request = cls(
            label_column=None if label_column is None else _name("label_column", label_column),
            id_column=None if id_column is None else _name("id_column", id_column),
            drop=tuple(dict.fromkeys(_names("drop", drop))),
            drop_text=bool(drop_text),
            columns=None if columns is None else _names("columns", columns),
            header=None if header is None else bool(header),
        )
        if len(set(request.roles)) < len(request.roles):
            raise ValueError(
                f"column {id_column!r} cannot hold the classes (label_column) and the names of the "
                "samples (id_column) at once: name two columns, or leave one of them out."
            )
        if request.columns is not None:
            if request.drop:
                raise ValueError("columns lists all that is read: leave drop away.")
            if not request.columns:
                raise ValueError("columns is empty: name at least one, or pass None for all.")
            if len(set(request.columns)) < len(request.columns):
                twice = [name for name in request.columns if request.columns.count(name) > 1]
                raise ValueError(f"columns lists {twice[0]!r} twice: list every column once.")
        return request

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


def _name(parameter: str, value: Any) -> str:
    """Return the name of a column."""
    if not isinstance(value, str):
        raise TypeError(f"{parameter} must be the name of a column; got {value!r}.")
    return value


def _names(parameter: str, values: Any) -> tuple[str, ...]:
    """Return names of columns; a single one need not be in a list."""
    if isinstance(values, str):
        return (values,)
    if not isinstance(values, Iterable):
        raise TypeError(f"{parameter} must list names of columns; got {values!r}.")
    return tuple(_name(f"every one of {parameter}", value) for value in values)
