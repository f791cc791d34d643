"""The columns of a part as Arrow types, with the checks that keep parts alike."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.bench.cells import SCHEMA, SCHEMA_VERSION, STATUSES, Cell
from featsieve.io.readers.guard import check_file, first_line

_KEY = b"featsieve"
UNKNOWN = "unknown"


@dataclass(frozen=True)
class PartAbout:
    """What a part says about itself outside its rows."""

    status: str
    source: str


def arrow_schema() -> Any:
    """Return ``SCHEMA`` as a pyarrow schema."""
    pa = _pyarrow()
    types = {
        "string": pa.string(),
        "int64": pa.int64(),
        "float64": pa.float64(),
        "bool": pa.bool_(),
        "list<float64>": pa.list_(pa.float64()),
        "list<int64>": pa.list_(pa.int64()),
    }
    return pa.schema([pa.field(name, types[kind], nullable=False) for name, kind in SCHEMA.items()])


def arrow_table(cell: Cell, rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as a table that carries the cell's identity and status."""
    if not rows:
        raise ValueError(f"The cell {cell.id} has no rows; a failed one has one, with its reason.")
    for row in rows:
        _check_row(cell, row)
    pa = _pyarrow()
    schema = arrow_schema()
    columns = []
    for field in schema:
        try:
            columns.append(pa.array([row[field.name] for row in rows], type=field.type))
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
            raise ValueError(
                f"The column {field.name!r} must be {SCHEMA[field.name]}: {error}"
            ) from error
    about = f"{SCHEMA_VERSION} {cell.id} {overall_status(rows)} {_source(rows[0])}"
    return pa.table(columns, schema=schema.with_metadata({_KEY: about.encode()}))


def overall_status(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the status of a cell: "done" if all its rows are, else that of the first other."""
    return next((str(row["status"]) for row in rows if row["status"] != "done"), "done")


def part_about(path: Path) -> PartAbout:
    """Return what a part says about itself; only its end is read."""
    _pyarrow()
    from pyarrow.parquet import read_schema

    if path.suffix != ".parquet":
        raise ValueError("not a Parquet file")
    try:
        check_file(path)
        metadata = read_schema(path).metadata or {}
    except FileNotFoundError:
        raise
    except Exception as error:  # pyarrow fails on broken files in many ways
        raise ValueError(f"damaged, or not a Parquet file ({first_line(error)})") from error
    about = metadata.get(_KEY, b"").decode(errors="replace").split(" ")
    if len(about) < 3:
        raise ValueError("not written by featsieve")
    if about[0] != str(SCHEMA_VERSION):
        raise ValueError(f"written with version {about[0]} of the columns, not {SCHEMA_VERSION}")
    if about[1] != path.stem:
        raise ValueError(f"a copy of the part of another cell, {about[1]}")
    return PartAbout(*about[2:4])


def _source(row: Mapping[str, Any]) -> str:
    """Return the hash of the library's files that a row carries among its versions."""
    try:
        source = str(json.loads(row["versions"])["source"])
    except (ValueError, KeyError, TypeError):
        return UNKNOWN
    return "".join(source.split()) or UNKNOWN


def _check_row(cell: Cell, row: Mapping[str, Any]) -> None:
    """Raise a ValueError for a row that does not fit."""
    missing = [name for name in SCHEMA if name not in row]
    unknown = [name for name in row if name not in SCHEMA]
    if missing or unknown:
        raise ValueError(
            f"A row must have exactly the columns of SCHEMA; missing: {missing}, "
            f"unknown: {unknown}."
        )
    empty = [name for name in SCHEMA if row[name] is None]
    if empty:
        raise ValueError(f"No value may be None (use NaN, '' or []): {empty}.")
    for name, kind in SCHEMA.items():
        # Arrow would cut 1.5 to 1 and take 1 for True
        entries = row[name] if kind.startswith("list") else [row[name]]
        if ("int64" in kind and not all(map(_is_whole, entries))) or (
            kind == "bool" and not isinstance(row[name], bool | np.bool_)
        ):
            raise ValueError(f"The column {name!r} must be {kind}, not {row[name]!r}.")
    if row["cell"] != cell.id:
        raise ValueError(f"A row of the cell {row['cell']!r} cannot go into the part of {cell.id}.")
    if row["status"] not in STATUSES:
        raise ValueError(f"The status must be one of {STATUSES}, not {row['status']!r}.")


def _is_whole(value: Any) -> bool:
    """Tell whether a value is an integer, and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def _pyarrow() -> Any:
    """Import pyarrow, or say how to get it."""
    try:
        import pyarrow
    except ImportError as error:
        raise ImportError(
            "Results are stored with pyarrow: pip install 'featsieve[bench]'."
        ) from error
    return pyarrow
