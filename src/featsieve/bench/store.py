"""The results of a run on disk: ``FOLDER/plan.json`` and one Parquet part per finished cell.

A part, ``FOLDER/cells/ID.parquet``, is written under a hidden name and then renamed, so that it is
there whole or not at all. ``plan.json`` lists the cells of the plan that was run last; parts of
other plans stay, are found again when that plan is run again, and are not read.
"""

import json
import os
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from featsieve.bench.cells import EXPERIMENTS, SCHEMA, SCHEMA_VERSION, Cell
from featsieve.bench.plan import Plan
from featsieve.io.files import UNFINISHED, whole_file, write_text
from featsieve.io.guard import read_small
from featsieve.io.results import results_locked

_KEY = b"featsieve"  # of what a part says about itself
# Columns that are not part of a cell's identity: as the present plan has them.
_OF_THE_PLAN = ("stands_for", "inert", "control")
# The order in which rows are read and exported, after the experiment.
_ORDER = ["dataset", "method", "seed", "params", "n_features", "cell"]
# In a CSV file single runs are text with four decimals; other lists are left out.
_RUNS = ("acc_runs", "nmi_runs")


class Store:
    """Results of a benchmark in a folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.parts = self.folder / "cells"

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Make the folder, and keep other runs out of it for the length of the block."""
        try:
            self.parts.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.parts):
                pass
        except OSError as error:
            raise OSError(
                f"Results cannot be written to {self.folder} ({error.strerror}): name another "
                "folder with --out."
            ) from error
        with results_locked(self.folder, inside=True):
            for folder in (self.parts, self.folder):
                for left in folder.glob(f".*{UNFINISHED}"):  # by a run that was killed
                    with suppress(OSError):
                        left.unlink()
            yield

    def write(self, cell: Cell, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the part of a cell."""
        pa = _pyarrow()
        from pyarrow.parquet import write_table

        about = {
            "version": SCHEMA_VERSION,
            "status": overall_status(rows),
            "source": json.loads(rows[0]["versions"])["source"],
        }
        metadata = {_KEY: json.dumps(about)}
        table = pa.Table.from_pylist(list(rows), schema=arrow_schema().with_metadata(metadata))
        with whole_file(self._part(cell.id)) as unfinished:
            write_table(table, unfinished)

    def statuses(self) -> dict[str, str]:
        """Return the status of every finished cell; parts that cannot be read are left out."""
        return {cell: about["status"] for cell, about in self.look()[0].items()}

    def look(self) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
        """Return what each part says about itself (by cell), and why others cannot be used."""
        _pyarrow()
        from pyarrow.parquet import read_schema

        good, bad = {}, {}
        for path in sorted(self.parts.glob("[!.]*.parquet")):
            try:
                about = json.loads((read_schema(path).metadata or {}).get(_KEY, b"{}"))
            except Exception as error:  # pyarrow fails on broken files in many ways
                bad[path.name] = (
                    f"damaged, or not a Parquet file ({str(error).partition(chr(10))[0]})"
                )
                continue
            if about.get("version") == SCHEMA_VERSION:
                good[path.stem] = about
            else:
                bad[path.name] = "not written by this version of featsieve"
        return good, bad

    def adopt(
        self, plan: Plan, cells: Iterable[Cell], *, whole: bool = True, keep: Collection[str] = ()
    ) -> None:
        """Make the folder that of a plan.

        Cells of the data sets in ``keep`` stay listed if the same plan was run before: their files
        are away today, their results are there. ``whole`` says that no further cells follow.
        """
        columns = ("experiment", "dataset", "method", "stands_for", "control")
        members = {
            cell.id: {name: getattr(cell, name) for name in columns}
            | {"inert": json.dumps(dict(cell.inert), sort_keys=True)}
            for cell in cells
        }
        try:
            earlier = self.about()
        except (FileNotFoundError, ValueError):
            earlier = {}
        if earlier.get("resolved") == plan.resolved:
            kept = earlier["cells"].items()
            members = {key: cell for key, cell in kept if cell["dataset"] in keep} | members
        about = {
            "version": SCHEMA_VERSION,
            "plan": plan.name,
            "title": plan.title,
            "cells": members,
            "whole": whole,
            "resolved": plan.resolved,
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
        for name in _OF_THE_PLAN:
            rows[name] = [about["cells"][cell][name] for cell in rows["cell"]]
        return rows

    def rows_of(self, cells: Iterable[str]) -> Any:
        """Return the rows of some cells as they were written, of those that are finished."""
        pa = _pyarrow()
        from pyarrow.parquet import ParquetFile

        tables = [arrow_schema().empty_table()]
        for cell in sorted(set(self.statuses()) & set(cells)):
            try:
                with ParquetFile(self._part(cell)) as part:
                    tables.append(part.read(use_threads=False))
            except Exception as error:  # pyarrow fails on broken files in many ways
                raise ValueError(
                    f"cells/{cell}.parquet is damaged: remove it and run the plan again "
                    f"({str(error).partition(chr(10))[0]})."
                ) from error
        rows = pa.concat_tables(tables).to_pandas()
        keys = rows.assign(_place=rows["experiment"].map(EXPERIMENTS.index))
        return rows.loc[keys.sort_values(["_place", *_ORDER]).index].reset_index(drop=True)

    def export_csv(self, path: str | os.PathLike[str]) -> int:
        """Write the rows as a tidy CSV file, one row per run, and return how many there are."""
        rows = self.read()
        lists = [name for name, kind in SCHEMA.items() if kind.startswith("list")]
        runs = {
            name: [" ".join(f"{value:.4f}" for value in values) for values in rows[name]]
            for name in _RUNS
        }
        table = rows.assign(**runs).drop(columns=[name for name in lists if name not in _RUNS])
        write_text(path, table.to_csv(index=False, lineterminator="\n", float_format="%.6g"))
        return len(rows)

    def _part(self, cell: str) -> Path:
        """Return where the part of a cell is or will be."""
        return self.parts / f"{cell}.parquet"


def overall_status(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return the status of a cell: "done" if all its rows are, else that of the first other."""
    return next((str(row["status"]) for row in rows if row["status"] != "done"), "done")


def arrow_schema() -> Any:
    """Return ``SCHEMA`` as a pyarrow schema."""
    pa = _pyarrow()
    lists = {"list<float64>": pa.list_(pa.float64()), "list<int64>": pa.list_(pa.int64())}
    return pa.schema(
        [
            pa.field(
                name, lists[kind] if kind in lists else pa.type_for_alias(kind), nullable=False
            )
            for name, kind in SCHEMA.items()
        ]
    )


def _pyarrow() -> Any:
    """Import pyarrow, or say how to get it."""
    from featsieve.io.optional import load_optional

    return load_optional("pyarrow", "Storing results", extra="bench")
