"""What a caller wants of a file: which columns are classes, names, features, or nothing."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Request:
    """The roles of columns, as `read_table` takes them."""

    label_column: str | None = None
    id_column: str | None = None
    drop: tuple[str, ...] = ()
    drop_text: bool = False
    columns: tuple[str, ...] | None = None
    header: bool | None = None  # whether the first line of a text file names the columns

    @property
    def named(self) -> tuple[str, ...]:
        """All names that are asked for."""
        return (*self.roles, *self.drop, *(self.columns or ()))

    @property
    def roles(self) -> tuple[str, ...]:
        """Columns that are asked for and are no features."""
        return tuple(name for name in (self.label_column, self.id_column) if name is not None)

    @classmethod
    def from_parts(cls, parts: dict[str, Any]) -> "Request":
        """Return the request with these fields, whose lists another process has sent."""
        lists = {name: tuple(part) for name, part in parts.items() if isinstance(part, list)}
        return cls(**{**parts, **lists})

    def for_places(self, n_columns: int) -> "Request":
        """Return the request to columns without names: "3" is the one called x3."""

        def placed(name: str) -> str:
            return f"x{name}" if name.isdecimal() and int(name) < n_columns else name

        return replace(
            self,
            label_column=None if self.label_column is None else placed(self.label_column),
            id_column=None if self.id_column is None else placed(self.id_column),
            drop=tuple(map(placed, self.drop)),
            columns=None if self.columns is None else tuple(map(placed, self.columns)),
        )


def make_request(
    *,
    label_column: str | None,
    id_column: str | None,
    drop: Iterable[str],
    drop_text: bool,
    columns: Iterable[str] | None,
    header: bool | None = None,
) -> Request:
    """Return a request whose parts do not contradict each other."""
    request = Request(
        label_column=None if label_column is None else _name("label_column", label_column),
        id_column=None if id_column is None else _name("id_column", id_column),
        drop=tuple(dict.fromkeys(_names("drop", drop))),
        drop_text=bool(drop_text),
        columns=None if columns is None else tuple(_names("columns", columns)),
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
            raise ValueError("columns is empty: name at least one column, or pass None for all.")
        if len(set(request.columns)) < len(request.columns):
            twice = [name for name in request.columns if request.columns.count(name) > 1]
            raise ValueError(f"columns lists {twice[0]!r} twice: list every column once.")
    return request


def _name(parameter: str, value: Any) -> str:
    """Return the name of a column."""
    if not isinstance(value, str):
        raise TypeError(f"{parameter} must be the name of a column; got {value!r}.")
    return value


def _names(parameter: str, values: Any) -> list[str]:
    """Return names of columns; a single one need not be in a list."""
    if isinstance(values, str):
        return [values]
    if not isinstance(values, Iterable):
        raise TypeError(f"{parameter} must list names of columns; got {values!r}.")
    return [_name(f"every one of {parameter}", value) for value in values]
