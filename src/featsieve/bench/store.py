"""The results of a run on disk: one Parquet part per finished cell, in ``FOLDER/cells``.

A part is written under a temporary name, forced to the disk and then renamed, so that it is there
whole or not at all, whoever kills whom. The name of a part is the identity of its cell; two runs
in one folder can therefore only write the same thing twice, and there is no lock. The temporary
file is made when work on a cell begins: after a crash it tells which cells were being worked on.

A part says what was computed; ``plan.json`` says which cells belong to the plan that was run last.
Parts of other plans stay, are found again when that plan is run again, and are not read.
"""

import json
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from featsieve.bench.cells import EXPERIMENTS, FIGURE_COLUMNS, SCHEMA, Cell
from featsieve.bench.schema import arrow_table, part_status

# What tells rows apart, and the order in which they are read and exported.
_ORDER = ("dataset", "method", "seed", "params", "n_features", "cell")


class Store:
    """Results of a benchmark in a folder.

    Parameters
    ----------
    folder : str or path
        Made when something is written for the first time.

    Examples
    --------
    >>> from featsieve.bench.store import Store
    >>> Store("nothing-here-yet").finished()
    set()
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.parts = self.folder / "cells"
        # what was found in a part, as long as its time and size are the same
        self._seen: dict[Path, tuple[tuple[int, int], str]] = {}

    def statuses(self) -> dict[str, str]:
        """Return the status of every finished cell; parts that cannot be read are left out."""
        return self._look()[0]

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
            return part_status(self._part(cell))
        except (FileNotFoundError, ValueError):
            return None

    def begin(self, cell: Cell) -> None:
        """Note that this process works on a cell from now on."""
        self.parts.mkdir(parents=True, exist_ok=True)
        self._temporary(cell).touch()

    def abandon(self, cell: Cell) -> None:
        """Take back what ``begin`` noted."""
        self._temporary(cell).unlink(missing_ok=True)

    def begun(self) -> set[str]:
        """Return the cells that some process began and did not finish."""
        return {path.name.split(".")[1] for path in self.parts.glob(".*.tmp")}

    def write(self, cell: Cell, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the part of a cell.

        Parameters
        ----------
        cell : Cell
        rows : sequence of mapping
            With exactly the columns of ``featsieve.bench.cells.SCHEMA``.

        Raises
        ------
        ValueError
            For rows with other columns, other types, or of another cell.
        """
        from pyarrow.parquet import write_table

        table = arrow_table(cell, rows)
        self.parts.mkdir(parents=True, exist_ok=True)
        temporary = self._temporary(cell)
        with temporary.open("wb") as file:
            write_table(table, file)
            _to_disk(file)
        temporary.replace(self._part(cell.id))
        _folder_to_disk(self.parts)

    def clean(self) -> list[str]:
        """Remove the temporary files of processes that are no more, and return their names."""
        found = [*self.parts.glob(".*.tmp"), *self.folder.glob(".*.tmp")]
        dead = [path for path in found if not _alive(path)]
        for path in dead:
            path.unlink(missing_ok=True)
        return sorted(path.name for path in dead)

    def adopt(
        self,
        cells: Iterable[Cell],
        *,
        plan: str,
        title: str,
        text: str,
        keep: Collection[str] = (),
    ) -> None:
        """Make the folder that of a plan.

        Parameters
        ----------
        cells : iterable of Cell
            Those that belong to the plan; only their rows are read from now on.
        plan, title : str
        text : str
            The plan itself, kept as ``plan.toml``.
        keep : collection of str
            Data sets of which all cells so far stay if the plan is the same: those that are away
            at present, or whose cells are not all known yet.
        """
        members = {
            cell.id: {
                "dataset": cell.dataset,
                "stands_for": cell.stands_for,
                "control": cell.control,
            }
            for cell in cells
        }
        copy, list_of_cells = self.folder / "plan.toml", self.folder / "plan.json"
        if list_of_cells.exists() and copy.exists() and copy.read_text(encoding="utf-8") == text:
            earlier = self.about()["cells"].items()
            members = {key: cell for key, cell in earlier if cell["dataset"] in keep} | members
        about = {"plan": plan, "title": title, "cells": members}
        self.folder.mkdir(parents=True, exist_ok=True)
        _replace(copy, text)
        _replace(list_of_cells, json.dumps(about, indent=1, sort_keys=True))

    def about(self) -> dict[str, Any]:
        """Return the plan that the folder belongs to: "plan", "title" and "cells".

        Raises
        ------
        FileNotFoundError
            If no plan was run into the folder.
        """
        path = self.folder / "plan.json"
        if not path.exists():
            raise FileNotFoundError(
                f"{self.folder} holds no results. Write some: featsieve bench run PLAN "
                f"--out {self.folder}"
            )
        return json.loads(path.read_text())

    def read(self) -> Any:
        """Return the rows of the plan that was run last.

        Returns
        -------
        pandas.DataFrame
            The columns of ``SCHEMA``, in the same order of rows whatever the order of running. What
            is not part of a cell's identity ("plan", "stands_for", "control") is as the present
            plan has it, even where the part was computed for another one.
        """
        import pandas as pd
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile

        about = self.about()
        members = about["cells"]
        tables = []
        for cell in sorted(self.finished() & set(members)):
            try:
                with ParquetFile(self._part(cell)) as part:
                    tables.append(part.read(use_threads=False))
            except (pa.ArrowInvalid, OSError) as error:
                raise ValueError(
                    f"cells/{cell}.parquet is damaged: remove it and run the plan again ({error})."
                ) from error
        if not tables:
            return pd.DataFrame({name: [] for name in SCHEMA})
        rows = pa.concat_tables(tables).to_pandas()
        rows["plan"] = about["plan"]
        for name in ("stands_for", "control"):
            rows[name] = [members[cell][name] for cell in rows["cell"]]
        return _sorted(rows)

    def export_csv(self, path: str | os.PathLike[str]) -> int:
        """Write the rows as a tidy CSV file, one row per run, and return how many there are.

        Parameters
        ----------
        path : str or path
            Replaced as a whole. Columns that hold lists are left out.
        """
        rows = self.read().drop(columns=list(FIGURE_COLUMNS))
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        _replace(Path(path), rows.to_csv(index=False, lineterminator="\n"))
        return len(rows)

    def _part(self, cell: str) -> Path:
        """Return where the part of a cell is or will be."""
        return self.parts / f"{cell}.parquet"

    def _temporary(self, cell: Cell) -> Path:
        """Return the name under which this process writes the part of a cell."""
        return self.parts / f".{cell.id}.{os.getpid()}.tmp"

    def _status(self, path: Path) -> str:
        """Return the status that a part carries, without reading it twice."""
        about = path.stat()
        state = (about.st_mtime_ns, about.st_size)
        if self._seen.get(path, (None, ""))[0] != state:
            self._seen[path] = (state, part_status(path))
        return self._seen[path][1]

    def _look(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the status of each readable part, and what is wrong with each other file."""
        good, bad = {}, {}
        for path in sorted(self.parts.glob("[!.]*")):
            try:
                good[path.stem] = self._status(path)
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


def _replace(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        _to_disk(file)
    temporary.replace(path)


def _to_disk(file: Any) -> None:
    """Force what was written to the disk: a rename may otherwise get there before the content."""
    file.flush()
    os.fsync(file.fileno())


def _folder_to_disk(folder: Path) -> None:
    """Force a rename to the disk, where folders can be opened for that."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _alive(temporary: Path) -> bool:
    """Tell whether the process that made a temporary file still runs (on this machine)."""
    number = temporary.name.split(".")[-2]
    if os.name != "posix" or not number.isdigit():
        return True  # nobody can tell: leave the file
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:  # killed, but its parent has not looked yet; the state follows the name in brackets
        state = Path(f"/proc/{number}/stat").read_text(errors="replace")
    except OSError:
        return True
    return not state.rpartition(")")[2].lstrip().startswith("Z")
