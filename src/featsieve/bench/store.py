"""The results of a run on disk: ``FOLDER/plan.json`` and ``FOLDER/cells.jsonl``.

``cells.jsonl`` grows by a line for every finished cell: a JSON list of its rows. A line that a
killed run has left half written has no end, is not read, and is cut off by the next run. Of several
lines of a cell the last counts. ``plan.json`` lists the cells of the plan that was run last; those
of other plans stay, are found again when that plan is run again, and are not read.
"""

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import methodcaller
from pathlib import Path
from typing import Any

from featsieve.bench.cells import ALONE, EXPERIMENTS, SCHEMA, SCHEMA_VERSION, Cell
from featsieve.bench.environment import machine, source_hash
from featsieve.bench.plan import Plan
from featsieve.io.files import UNFINISHED, explain_write_errors, write_text
from featsieve.io.guard import read_small
from featsieve.io.optional import load_optional
from featsieve.io.results import results_locked

# The order in which rows are read and exported, after the experiment.
_ORDER = ["dataset", "method", "seed", "params", "n_features", "cell"]


class Store:
    """Results of a benchmark in a folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.path = self.folder / "cells.jsonl"

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Make the folder, and keep other runs out of it for the length of the block."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.path.touch()
        except OSError as error:
            raise OSError(
                f"Results cannot be written to {self.folder} ({error.strerror}): name another "
                "folder with --out."
            ) from error
        with results_locked(self.folder, inside=True):
            for left in self.folder.glob(f".*{UNFINISHED}"):  # by a run that was killed
                left.unlink(missing_ok=True)
            whole = self.path.read_bytes().rfind(b"\n") + 1
            os.truncate(self.path, whole)
            yield

    def write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add the rows of a cell, and force them to the disk."""
        line = json.dumps(rows, ensure_ascii=False, default=methodcaller("item")) + "\n"
        with explain_write_errors(self.path), self.path.open("ab") as file:
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())

    def cells(self) -> dict[str, list[dict[str, Any]]]:
        """Return the rows of every finished cell."""
        return _read_cells(self.path) if self.path.exists() else {}

    def take(self, path: str | os.PathLike[str]) -> int:
        """Add cells of another folder, or of its ``cells.jsonl`` (also .gz), and return how many.

        Only those that the present code has computed, that are done, and that are not done here:
        what a file held and what was asked is in a cell's identity, the time limit is not. Times of
        another machine are not taken. Versions of NumPy and other packages are not compared: they
        stay in the rows, and the report lists them.
        """
        file = Path(path) / self.path.name if Path(path).is_dir() else Path(path)
        if not file.is_file():
            raise FileNotFoundError(
                f"There is no {file}: name a folder that `featsieve bench run` wrote, or the "
                "cells.jsonl of one."
            )
        code, taken = source_hash(), 0
        here = {
            c: overall_status(rows) for c, rows in self.cells().items() if _source(rows) == code
        }
        for cell, rows in _read_cells(file).items():
            first = rows[0]
            same = _source(rows) == code and first["schema_version"] == SCHEMA_VERSION
            same &= first["experiment"] not in ALONE or first["machine"] == machine()
            if same and overall_status(rows) == "done" and here.get(cell) != "done":
                self.write(rows)
                taken += 1
        return taken

    def statuses(self) -> dict[str, str]:
        """Return the status of every finished cell."""
        return {cell: overall_status(rows) for cell, rows in self.cells().items()}

    def adopt(
        self, plan: Plan, cells: Iterable[Cell], left_out: Mapping[str, str] | None = None
    ) -> None:
        """Make the folder that of a plan with these cells, and of data sets left out (why)."""
        columns = ("experiment", "dataset", "method", "control")
        about = {
            "version": SCHEMA_VERSION,
            "plan": plan.name,
            "title": plan.title,
            "left_out": dict(left_out or {}),
            "cells": {cell.id: {name: getattr(cell, name) for name in columns} for cell in cells},
        }
        write_text(self.folder / "plan.json", json.dumps(about, indent=1, sort_keys=True))

    def about(self) -> dict[str, Any]:
        """Return the plan that the folder belongs to, with its cells."""
        path = self.folder / "plan.json"
        if not path.exists():
            raise FileNotFoundError(
                f"{self.folder} holds no results. Write some: featsieve bench run PLAN --out "
                f"{self.folder}"
            )
        try:
            about = json.loads(read_small(path, what="list of a benchmark's cells"))
            version = about.get("version")
        except (json.JSONDecodeError, AttributeError, RecursionError) as error:
            raise ValueError(f"{path} is damaged: remove it and run the plan again.") from error
        if version != SCHEMA_VERSION:
            raise ValueError(
                f"{self.folder} was written by another version of featsieve: run again."
            )
        return about

    def read(self) -> Any:
        """Return the rows of the plan that was run last."""
        about = self.about()
        rows = self.rows_of(about["cells"])
        rows["plan"] = about["plan"]
        rows["control"] = [about["cells"][cell]["control"] for cell in rows["cell"]]
        return rows

    def rows_of(self, cells: Iterable[str]) -> Any:
        """Return the rows of some cells as they were written, of those that are finished."""
        pd = load_optional("pandas", "Reading results", extra="bench")
        there = self.cells()
        found = [row for cell in set(cells) & set(there) for row in there[cell]]
        kinds = {k: type(v) for k, v in SCHEMA.items() if isinstance(v, bool | int | float)}
        rows = pd.DataFrame(found, columns=list(SCHEMA)).astype(kinds)
        place = rows["experiment"].map(EXPERIMENTS.index)
        return (
            rows.assign(_place=place)
            .sort_values(["_place", *_ORDER], ignore_index=True)
            .drop(columns="_place")
        )


def overall_status(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the status of a cell: "done" if all its rows are, else that of the first other."""
    return next((str(row["status"]) for row in rows if row["status"] != "done"), "done")


def _source(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return the state of the code that has computed a cell, None if that is not known."""
    return json.loads(rows[0]["versions"] or "{}").get("source")


def _read_cells(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of every finished cell of a file, which may be packed (.gz)."""
    found, content = {}, path.read_bytes()
    if path.suffix == ".gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{path} is damaged: it cannot be unpacked. Pack it again.") from error
    for number, line in enumerate(content.split(b"\n")[:-1], start=1):
        try:
            rows = json.loads(line)
            whole = [{**SCHEMA, **row} for row in rows]
            _source(whole)  # can be read
            found[rows[0]["cell"]] = whole
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(
                f"{path} is damaged: remove its line {number} and run the plan again."
            ) from error
    return found
