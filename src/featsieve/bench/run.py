"""Run a plan: everything that is not there yet, in parallel, cell by cell.

Cells of one data set are run next to each other, because the workers keep what they share; the
largest data sets come first, so that no worker is left alone with one at the end. Cells that are
made from finished ones (label-free, curve) form a second wave. Running times are taken last, one
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
from typing import Any

from featsieve.bench.cells import ALONE, DEPENDENT, Cell, blank_row
from featsieve.bench.environment import source_hash
from featsieve.bench.parse import load_plan
from featsieve.bench.plan import Plan
from featsieve.bench.pool import (
    cluster_client,
    run_in_processes,
    run_on_cluster,
    stop_workers,
    threads_of,
)
from featsieve.bench.progress import BenchProgress
from featsieve.bench.store import Store, overall_status
from featsieve.bench.worker import compute_cell
from featsieve.datasets import load_dataset
from featsieve.datasets.registry import registry

DIED = "its process died: out of memory, or a fault in compiled code"


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
    progress: BenchProgress | None = None,
) -> RunSummary:
    """Run the cells of a plan that are not there yet; ``retry``: also those without a result."""
    from joblib import effective_n_jobs

    start = time.perf_counter()
    plan = plan if isinstance(plan, Plan) else load_plan(os.fspath(plan))
    if data is not None and not Path(data).is_dir():
        raise ValueError(f"{os.fspath(data)!r} is not a folder: name the one with the data sets.")
    if jobs == 0 or jobs < -1:
        raise ValueError(f"jobs must be a positive number, or -1 for one per core; got {jobs}.")
    progress = progress or BenchProgress()
    try:
        tables = load_tables(plan, data=data, download=download, progress=progress)
        folder = None if data is None else os.path.abspath(data)
        run = _Run(plan, Store(out), folder, effective_n_jobs(jobs), retry, progress)
        with run.store.writing():
            return run.whole(tables, start=start)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(
            f"{progress.done} of {progress.total} cells done; run the same command again to go on"
        ) from None
    finally:
        stop_workers()
        progress.end()


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
    found = Tables()
    for name in plan.datasets:
        try:
            table = load_dataset(name, data=data, download=download)
        except (OSError, ValueError, ImportError) as error:
            entry = registry().get(name)
            found.left_out[name] = (
                f"{entry.file} is not there; get it from {entry.source}"
                if entry is not None and isinstance(error, FileNotFoundError)
                else str(error).split(". ")[0].rstrip(".")
            )
        else:
            if table.n_classes is None:
                found.left_out[name] = (
                    "it has no classes to compare with; name their column in the plan: "
                    f'{{ file = "{name}", labels = "COLUMN" }}'
                )
            else:
                found.shapes[name] = (*table.X.shape, table.n_classes)
                found.checksums[name] = table.checksum
        if name in found.left_out:
            progress.say(f"{name} is left out: {found.left_out[name]}.")
    if not found.shapes:
        names = ", ".join(found.left_out)
        why = f": {found.left_out[names]}" if len(found.left_out) == 1 else ""
        raise FileNotFoundError(
            f"No data set could be loaded ({names}{why}). Put the files into a folder and name it "
            "with --data, set FEATSIEVE_DATA, or add --download."
        )
    progress.sizes = {name: float(shape[0] * shape[1]) for name, shape in found.shapes.items()}
    return found


@dataclass
class _Run:
    """One run, while it goes on."""

    plan: Plan
    store: Store
    data: str | None
    jobs: int
    retry: bool
    progress: BenchProgress
    failures: list[str] = field(default_factory=list)
    computed: int = 0

    def whole(self, tables: Tables, *, start: float) -> RunSummary:
        """Run the waves and say what came of them."""
        plan, store = self.plan, self.store
        parts, unreadable = store.look()
        for name, reason in unreadable.items():
            self.progress.say(f"cells/{name} is not counted: {reason}.")

        first = plan.cells(tables.shapes, tables.checksums)
        follow = any(kind in DEPENDENT for kind in plan.experiments)
        store.adopt(plan, first, keep=plan.datasets, whole=not follow)
        self._say_what_other_code_computed(parts)
        waiting = self._expect(first)
        threads = threads_of(self.jobs)
        beside = [cell for cell in waiting if cell.experiment not in ALONE]
        self._run(beside, jobs=self.jobs, threads=threads)
        rows = store.rows_of(cell.id for cell in first)
        found = plan.dependent_cells(rows, tables.checksums)
        second = [cell for cell in found if cell.dataset in tables.shapes]
        store.adopt(plan, [*first, *second], keep=tables.left_out)
        self._run(self._expect(second), jobs=self.jobs, threads=threads)
        self._run([cell for cell in waiting if cell.experiment in ALONE], jobs=1, threads=1)

        known = store.statuses()
        members = [cell.id for cell in [*first, *second]]
        return RunSummary(
            plan=plan.name,
            folder=store.folder,
            statuses=dict(Counter(known[cell] for cell in members if cell in known)),
            computed=self.computed,
            failures=tuple(self.failures),
            left_out=tables.left_out,
            seconds=time.perf_counter() - start,
        )

    def _say_what_other_code_computed(self, parts: dict[str, dict[str, str]]) -> None:
        """Count the cells of earlier runs that this version of the library did not compute."""
        members = self.store.about()["cells"]
        count = sum(parts[cell]["source"] != source_hash() for cell in members if cell in parts)
        if count:
            self.progress.say(
                f"{count} cell{'s were' if count > 1 else ' was'} computed by other code (another "
                f"version of featsieve's files); delete {self.store.folder} or use another folder "
                "to compute them anew."
            )

    def _expect(self, cells: Sequence[Cell]) -> list[Cell]:
        """Return those of the cells that are to be run, the largest tables first."""
        known = self.store.statuses()
        if self.retry:
            known = {cell: status for cell, status in known.items() if status == "done"}
        there = [known[cell.id] for cell in cells if cell.id in known]
        waiting = {cell.id: cell for cell in cells if cell.id not in known}
        sizes = self.progress.sizes
        ordered = sorted(waiting.values(), key=lambda cell: (-sizes[cell.dataset], cell.dataset))
        failed = sum(status != "done" for status in there)
        self.progress.expect(ordered, done=len(there), failed=failed)
        return ordered

    def _run(self, cells: Iterable[Cell], *, jobs: int, threads: int) -> None:
        """Run cells on the cluster or in processes, and write each down as it comes."""
        client = cluster_client()
        compute: Any = partial(
            compute_cell, data=self.data, plan=self.plan.name, jobs=jobs, folder=os.getcwd()
        )
        tick = self.progress.show
        results = (
            run_in_processes(compute, cells, jobs=jobs, threads=threads, tick=tick)
            if client is None
            else run_on_cluster(compute, cells, client=client, jobs=jobs, tick=tick)
        )
        with closing(results):
            for cell, rows in results:
                if rows is None:
                    blank = blank_row(cell, plan=self.plan.name, jobs=jobs)
                    rows = [blank | {"status": "failed", "reason": DIED}]
                self._keep(cell, rows)

    def _keep(self, cell: Cell, rows: list[dict[str, Any]]) -> None:
        """Write down what came of a cell, unless its data set went away, and show it."""
        status = overall_status(rows)
        if status != "skipped":
            self.store.write(cell, rows)
        if status != "done":
            reason = next(row["reason"] for row in rows if row["status"] != "done")
            what = f"{cell.method} on {cell.dataset} ({cell.experiment}, {cell.params_json})"
            self.failures.append(f"{status}: {what}: {reason}")
        self.computed += 1
        self.progress.advance(cell, status=status)
