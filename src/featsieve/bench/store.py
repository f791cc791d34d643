"""The results of a run on disk: one Parquet part per finished cell, in ``FOLDER/cells``.

A part is written under a temporary name, forced to the disk and then renamed, so that it is there
whole or not at all, whoever kills whom. The name of a part is the identity of its cell; two runs
in one folder can therefore only write the same thing twice, and there is no lock. The temporary
file is made when work on a cell begins and names the process: after a crash it tells which cells
were being worked on, and to other runs which ones they need not begin. Runs on other machines that
share the folder are neither waited for nor cleaned up after: nobody can tell whether they go on.

A part says what was computed; the listing says which cells belong to the plan that was run last.
Parts of other plans stay, are found again when that plan is run again, and are not read.
"""

import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from featsieve.bench.cells import EXPERIMENTS, SCHEMA, Cell
from featsieve.bench.listing import OF_THE_PLAN, csv_text, read_listing
from featsieve.bench.schema import PartAbout, arrow_table, part_about
from featsieve.io.files import folder_to_disk, to_disk, told_of, write_text
from featsieve.io.processes import Process, this_process
from featsieve.io.readers.guard import first_line
from featsieve.io.temporary import is_left, maker_of, remove, temporary_name

# What tells rows apart, and the order in which they are read and exported.
_ORDER = ("dataset", "method", "seed", "params", "n_features", "cell")


class Store:
    """Results of a benchmark in a folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.parts = self.folder / "cells"
        self._token = secrets.token_hex(4)  # threads have stores of their own
        # what was found in a part, as long as its time and size are the same
        self._seen: dict[Path, tuple[tuple[int, int], PartAbout]] = {}

    def make(self) -> None:
        """Make the folder, and see whether something can be written to it."""
        trial = temporary_name(self.parts / "trial")
        try:
            self.parts.mkdir(parents=True, exist_ok=True)
            trial.touch()
            trial.unlink()
        except OSError as error:
            raise OSError(
                f"Results cannot be written to {self.folder} ({error.strerror}): name another "
                "folder with --out."
            ) from error

    def statuses(self) -> dict[str, str]:
        """Return the status of every finished cell; parts that cannot be read are left out."""
        return {cell: about.status for cell, about in self._look()[0].items()}

    def sources(self) -> dict[str, str]:
        """Return the hash of the library's files with which each finished cell was computed."""
        return {cell: about.source for cell, about in self._look()[0].items()}

    def finished(self) -> set[str]:
        """Return the identities of the cells whose part is there and can be read."""
        return set(self.statuses())

    def unreadable(self) -> dict[str, str]:
        """Return what in the folder of parts is not one, by file name, and why.

        Nothing of it is removed. A damaged part is replaced when its cell is run again.
        """
        return self._look()[1]

    def status(self, cell: str) -> str | None:
        """Return the status of one cell; None if it has no readable part."""
        try:
            return part_about(self._part(cell)).status
        except (FileNotFoundError, ValueError):
            return None

    def begin(self, cell: Cell) -> None:
        """Note that this process works on a cell from now on."""
        with self._told_of(cell):
            self.parts.mkdir(parents=True, exist_ok=True)
            self._temporary(cell).touch()

    def abandon(self, cell: Cell) -> None:
        """Take back what ``begin`` noted."""
        with suppress(OSError):  # whoever comes next does it
            self._temporary(cell).unlink(missing_ok=True)

    def begun(self) -> set[str]:
        """Return the cells that some process began and did not finish."""
        return {path.name.split(".")[1] for path in self.parts.glob(".*.tmp")}

    def deserted(self) -> set[str]:
        """Return those of the begun cells on which no process works, as far as one can see."""
        found = list(self.parts.glob(".*.tmp"))
        alive = {path.name.split(".")[1] for path in found if not is_left(path)}
        return {path.name.split(".")[1] for path in found} - alive

    def others(self, cell: Cell) -> set[Process]:
        """Return the other processes of this machine that work on a cell."""
        makers = {maker_of(path) for path in self.parts.glob(f".{cell.id}.*.tmp")}
        return {maker for maker in makers if maker and maker.is_alive()} - {this_process()}

    def write(self, cell: Cell, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the part of a cell."""
        from pyarrow.parquet import write_table

        table = arrow_table(cell, rows)
        temporary = self._temporary(cell)
        try:
            with self._told_of(cell):
                self.parts.mkdir(parents=True, exist_ok=True)
                with temporary.open("wb") as file:
                    write_table(table, file)
                    to_disk(file)
                temporary.replace(self._part(cell.id))
                folder_to_disk(self.parts)
        except BaseException:
            self.abandon(cell)
            raise

    def clean(self) -> list[str]:
        """Remove what processes that are no more have left, and return the names."""
        found = [*self.parts.glob(".*.tmp"), *self.folder.glob(".*.tmp")]
        dead = [path for path in found if is_left(path)]
        for path in dead:
            remove(path)
        return sorted(path.name for path in dead)

    def about(self) -> dict[str, Any]:
        """Return the plan that the folder belongs to; see `featsieve.bench.listing`."""
        return read_listing(self.folder)

    def read(self) -> Any:
        """Return the rows of the plan that was run last."""
        about = self.about()
        members = about["cells"]
        rows = self.rows_of(members)
        rows["plan"] = about["plan"]
        for name in OF_THE_PLAN:
            rows[name] = [members[cell][name] for cell in rows["cell"]]
        return rows

    def rows_of(self, cells: Iterable[str]) -> Any:
        """Return the rows of some cells as they were written, of those that are finished."""
        import pandas as pd
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile

        tables = []
        for cell in sorted(self.finished() & set(cells)):
            try:
                with ParquetFile(self._part(cell)) as part:
                    tables.append(part.read(use_threads=False))
            except Exception as error:  # pyarrow fails on broken files in many ways
                raise ValueError(
                    f"cells/{cell}.parquet is damaged: remove it and run the plan again "
                    f"({first_line(error)})."
                ) from error
        if not tables:
            return pd.DataFrame({name: [] for name in SCHEMA})
        return _sorted(pa.concat_tables(tables).to_pandas())

    def export_csv(self, path: str | os.PathLike[str]) -> int:
        """Write the rows as a tidy CSV file, one row per run, and return how many there are."""
        rows = self.read()
        write_text(path, csv_text(rows))
        return len(rows)

    def _part(self, cell: str) -> Path:
        """Return where the part of a cell is or will be."""
        return self.parts / f"{cell}.parquet"

    def _temporary(self, cell: Cell) -> Path:
        """Return the name under which this process writes the part of a cell."""
        return temporary_name(self.parts / cell.id, token=self._token)

    def _told_of(self, cell: Cell) -> AbstractContextManager[None]:
        """Let errors of the system in the block name the part of a cell."""
        return told_of(self._part(cell.id), self._temporary(cell), self.parts, self.folder)

    def _about(self, path: Path) -> PartAbout:
        """Return what a part says about itself, without reading it twice."""
        about = path.stat()
        state = (about.st_mtime_ns, about.st_size)
        known = self._seen.get(path)
        if known is None or known[0] != state:
            known = self._seen[path] = (state, part_about(path))
        return known[1]

    def _look(self) -> tuple[dict[str, PartAbout], dict[str, str]]:
        """Return what each readable part says, and what is wrong with each other file."""
        good, bad = {}, {}
        for path in sorted(self.parts.glob("[!.]*")):
            try:
                good[path.stem] = self._about(path)
            except ValueError as error:
                bad[path.name] = str(error)
            except FileNotFoundError:  # another process replaced it a moment ago
                continue
        return good, bad


def _sorted(rows: Any) -> Any:
    """Return the rows in the one order: experiments as they run, then by name and number."""
    keys = rows.assign(_experiment=rows["experiment"].map(EXPERIMENTS.index))
    return rows.loc[keys.sort_values(["_experiment", *_ORDER], kind="stable").index].reset_index(
        drop=True
    )
