"""Run a plan: everything that is not there yet, in parallel, cell by cell.

Cells of one data set are run next to each other, because the workers keep what they share; the
largest data sets come first, so that no worker is left alone with one at the end. Cells that are
made from finished ones (label-free) form a second wave. Running times are taken last, one
cell at a time.
"""

import os
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from featsieve.bench.cells import ALONE, Cell, blank_row
from featsieve.bench.parse import load_plan
from featsieve.bench.plan import Plan
from featsieve.bench.pool import run_cells, threads_of
from featsieve.bench.store import Store, overall_status
from featsieve.bench.worker import run_cell
from featsieve.datasets import load_dataset
from featsieve.datasets.registry import registry
from featsieve.progress import format_seconds

LINE_SECONDS = 30.0  # after which there is another line of progress
DIED = "its process died: out of memory, or a fault in compiled code"


class BenchProgress:
    """Count the cells of a run, and print them now and then; without a stream it stays silent."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.total = self.done = self.failed = self._run = 0
        self._stream = stream
        self._start = time.monotonic()
        self._shown: tuple[int, int, int] | None = None

    def expect(self, cells: int, *, done: int = 0, failed: int = 0) -> None:
        """Add cells to run, and how many of the plan are there from earlier runs."""
        self.total += cells + done
        self.done += done
        self.failed += failed
        self.show()

    def advance(self, status: str) -> None:
        """Count a cell as run."""
        self.done += 1
        self._run += 1
        self.failed += status != "done"
        self.show()

    def say(self, text: str) -> None:
        """Print something."""
        if self._stream is not None:
            print(text, file=self._stream, flush=True)

    def show(self) -> None:
        """Print where the run is at every tenth of the way, and every half minute."""
        period = int((time.monotonic() - self._start) // LINE_SECONDS)
        state = (self.total, 10 * self.done // max(1, self.total), period)
        if self._shown == state:
            return
        self._shown = state
        share = 100 * self.done // self.total if self.total else 100
        text = f"{self.done} of {self.total} cells ({share} %)"
        if self.failed:
            text += f", {self.failed} without a result"
        if self._run and self.done < self.total:
            seconds = (time.monotonic() - self._start) * (self.total - self.done) / self._run
            text += f", about {format_seconds(seconds)} left"
        self.say(text)


@dataclass(frozen=True)
class RunSummary:
    """What a run did."""

    plan: str
    folder: Path
    statuses: dict[str, int]  # number of finished cells of the plan, by status
    computed: int  # cells that this run computed
    failures: tuple[str, ...]
    left_out: dict[str, str]  # data sets, and why
    seconds: float

    @property
    def total(self) -> int:
        """Number of finished cells of the plan."""
        return sum(self.statuses.values())

    @property
    def flawless(self) -> bool:
        """Whether every cell has a result and every data set was there."""
        return set(self.statuses) <= {"done"} and not self.left_out and not self.failures


def run_plan(
    plan: str | os.PathLike[str] | Plan,
    out: str | os.PathLike[str],
    *,
    data: str | os.PathLike[str] | None = None,
    download: bool = False,
    jobs: int = 1,
    retry: bool = False,
    rows: Iterable[str | os.PathLike[str]] | None = None,
    progress: BenchProgress | None = None,
) -> RunSummary:
    """Run the cells of a plan that are not there; ``rows``: folders to take done ones from."""
    from joblib import effective_n_jobs

    plan = plan if isinstance(plan, Plan) else load_plan(os.fspath(plan))
    if data is not None and not Path(data).is_dir():
        raise ValueError(f"{os.fspath(data)!r} is not a folder: name the one with the data sets.")
    if jobs == 0 or jobs < -1:
        raise ValueError(f"jobs must be a positive number, or -1 for one per core; got {jobs}.")
    progress = progress or BenchProgress()
    try:
        tables = load_tables(plan, data=data, download=download, progress=progress)
        folder = None if data is None else os.path.abspath(data)
        run = _Run(plan, tables, Store(out), folder, effective_n_jobs(jobs), retry, progress)
        with run.store.writing():
            for path in rows or ():
                progress.say(f"{run.store.take(path)} cells taken from {os.fspath(path)}")
            return run.whole()
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"{progress.done} of {progress.total} cells done; run the same command again to go on"
        ) from None


@dataclass
class Tables:
    """What a run must know about its data sets."""

    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    checksums: dict[str, str | None] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def load_tables(
    plan: Plan, *, data: str | os.PathLike[str] | None, download: bool, progress: BenchProgress
) -> Tables:
    """Look at the data sets, and say in one line each which of them are left out."""
    found, absent = Tables(), False
    for name in plan.datasets:
        try:
            table = load_dataset(name, data=data, download=download)
            if table.n_classes is None:
                raise ValueError(
                    "it has no classes to compare with; name their column in the plan: "
                    f'"{name}#COLUMN"'
                )
            n_columns = table.X.shape[1]
            if n_columns < min(plan.counts) and set(plan.experiments) != {"default"}:
                raise ValueError(
                    f"its {n_columns} columns are fewer than any of the plan's numbers of "
                    f"features: set counts to smaller ones than {min(plan.counts)}"
                )
        except (OSError, ValueError, ImportError) as error:
            entry = registry().get(name)
            absent |= isinstance(error, FileNotFoundError)
            found.left_out[name] = (
                f"{entry.file} is not there; get it from {entry.source}"
                if entry is not None and isinstance(error, FileNotFoundError)
                else str(error).split(". ")[0].rstrip(".")
            )
            progress.say(f"{name} is left out: {found.left_out[name]}.")
        else:
            found.shapes[name] = (*table.X.shape, table.n_classes)
            found.checksums[name] = table.checksum
    if not found.shapes:
        names = ", ".join(found.left_out)
        why = f": {found.left_out[names]}" if len(found.left_out) == 1 else ""
        where = (
            " Put the files into a folder and name it with --data, set FEATSIEVE_DATA, or add "
            "--download."
        )
        raise FileNotFoundError(
            f"No data set could be loaded ({names}{why}).{where if absent else ''}"
        )
    return found


@dataclass
class _Run:
    """One run, while it goes on."""

    plan: Plan
    tables: Tables
    store: Store
    data: str | None
    jobs: int
    retry: bool
    progress: BenchProgress
    failures: list[str] = field(default_factory=list)
    computed: int = 0
    start: float = field(default_factory=time.perf_counter)

    def whole(self) -> RunSummary:
        """Run the waves and say what came of them."""
        plan, store, tables = self.plan, self.store, self.tables
        about = (tables.shapes, tables.checksums)
        first = plan.cells(*about)
        store.adopt(plan, first, tables.left_out)
        waiting = self._expect(first)
        beside = [cell for cell in waiting if cell.experiment not in ALONE]
        self._run(beside, jobs=self.jobs, threads=threads_of(self.jobs))
        second = plan.dependent_cells(store.rows_of(cell.id for cell in first), *about)
        members = [*first, *second]
        store.adopt(plan, members, tables.left_out)
        self._run(self._expect(second), jobs=self.jobs, threads=threads_of(self.jobs))
        self._run([cell for cell in waiting if cell.experiment in ALONE], jobs=1, threads=1)

        known = store.statuses()
        return RunSummary(
            plan=plan.name,
            folder=store.folder,
            statuses=dict(Counter(known[cell.id] for cell in members if cell.id in known)),
            computed=self.computed,
            failures=tuple(self.failures),
            left_out=tables.left_out,
            seconds=time.perf_counter() - self.start,
        )

    def _expect(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return those of the cells that are to be run, the largest tables first."""
        known = self.store.statuses()
        if self.retry:
            known = {cell: status for cell, status in known.items() if status == "done"}
        there = [known[cell.id] for cell in cells if cell.id in known]
        waiting = {cell.id: cell for cell in cells if cell.id not in known}
        failed = sum(status != "done" for status in there)
        self.progress.expect(len(waiting), done=len(there), failed=failed)
        shapes = self.tables.shapes
        sizes = {name: rows * columns for name, (rows, columns, *_) in shapes.items()}
        return sorted(waiting.values(), key=lambda cell: (-sizes[cell.dataset], cell.dataset))

    def _run(self, cells: Iterable[Cell], *, jobs: int, threads: int) -> None:
        """Run cells, write each down as it comes (unless its data set went away) and show it."""
        compute: Any = partial(run_cell, data=self.data, jobs=jobs)
        results = run_cells(compute, cells, jobs=jobs, threads=threads, tick=self.progress.show)
        with closing(results):
            for cell, rows in results:
                if rows is None:
                    rows = [blank_row(cell, jobs=jobs) | {"status": "failed", "reason": DIED}]
                status = overall_status(rows)
                if status != "skipped":
                    self.store.write(rows)
                if status != "done":
                    reason = next(row["reason"] for row in rows if row["status"] != "done")
                    what = (
                        f"{cell.method} on {cell.dataset} ({cell.experiment}, {cell.params_json})"
                    )
                    self.failures.append(f"{status}: {what}: {reason}")
                self.computed += 1
                self.progress.advance(status)
