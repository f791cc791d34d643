"""Run a plan: everything that is not there yet, in parallel, cell by cell.

Cells of one data set are run next to each other, because the workers keep what they share; the
largest data sets come first, so that no worker is left alone with one at the end. Cells that are
made from finished ones (label-free, curve) form a second wave. Running times are taken last, one
cell at a time.
"""

import os
import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from featsieve.bench.cells import DEPENDENT, Cell
from featsieve.bench.cluster import cluster_client
from featsieve.bench.environment import source_hash
from featsieve.bench.listing import write_listing
from featsieve.bench.plan import Plan, load_plan
from featsieve.bench.pool import threads_of
from featsieve.bench.progress import ALONE, Progress
from featsieve.bench.stop import Terminated, terminable
from featsieve.bench.store import Store
from featsieve.bench.tables import Tables, load_tables
from featsieve.bench.waves import Waves


@dataclass(frozen=True)
class RunSummary:
    """What a run did."""

    plan: str
    folder: Path
    statuses: dict[str, int]
    computed: int
    failures: tuple[str, ...]
    left_out: dict[str, str]
    unreadable: dict[str, str]
    other_code: int
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
    progress: Progress | None = None,
) -> RunSummary:
    """Run the cells of a plan that are not there yet."""
    plan = plan if isinstance(plan, Plan) else load_plan(os.fspath(plan))
    if data is not None and not Path(data).is_dir():
        raise ValueError(f"{os.fspath(data)!r} is not a folder: name the one with the data sets.")
    progress = progress or Progress()
    try:
        with terminable():
            run = _Run(plan, Store(out), data, download, _n_jobs(jobs), retry, progress)
            return run.whole()
    except KeyboardInterrupt as stop:
        kind = Terminated if isinstance(stop, Terminated) else KeyboardInterrupt
        raise kind(
            f"{progress.done} of {progress.total} cells done; run the same command again to go on"
        ) from None
    finally:
        Store(out).clean()
        progress.end()


@dataclass
class _Run:
    """One run of a plan, in the order in which things happen."""

    plan: Plan
    store: Store
    data: str | os.PathLike[str] | None
    download: bool
    jobs: int
    retry: bool
    progress: Progress

    def whole(self) -> RunSummary:
        """Run the waves and say what came of them."""
        start = time.perf_counter()
        tables = load_tables(
            self.plan.datasets, data=self.data, download=self.download, say=self.progress.say
        )
        self.store.make()
        self.store.clean()
        unreadable = self.unreadable()
        self.progress.begin(tables.sizes, jobs=self.jobs)

        first = self.plan.cells(tables.shapes, tables.checksums)
        follow = [kind for kind in self.plan.experiments if kind in DEPENDENT]
        self.adopt(first, keep=self.plan.datasets, whole=not follow)
        other_code = self.other_code()

        data = None if self.data is None else os.fspath(self.data)
        waves = Waves(self.store, data, self.plan.name, self.retry, self.progress, cluster_client())
        waiting = waves.expect(first, tables.sizes)
        alone = {name: cell for name, cell in waiting.items() if cell.experiment in ALONE}
        beside = {name: cell for name, cell in waiting.items() if name not in alone}
        self.progress.to_follow = " and ".join(follow)
        waves.run(beside, jobs=self.jobs, threads=threads_of(self.jobs))
        waves.check_there()
        second = self.following(first, tables)
        self.adopt([*first, *second], keep=tables.left_out)
        self.progress.to_follow = ""
        after = waves.expect(second, tables.sizes)
        waves.run(after, jobs=self.jobs, threads=threads_of(self.jobs))
        waves.run(alone, jobs=1, threads=1)
        waves.check_there()
        self.store.clean()

        known = self.store.statuses()
        members = [cell.id for cell in [*first, *second]]
        return RunSummary(
            plan=self.plan.name,
            folder=self.store.folder,
            statuses=dict(Counter(known[cell] for cell in members if cell in known)),
            computed=waves.computed,
            failures=tuple(waves.failures),
            left_out=tables.left_out,
            unreadable=unreadable,
            other_code=other_code,
            seconds=time.perf_counter() - start,
        )

    def unreadable(self) -> dict[str, str]:
        """Return which files are no parts, and say so: one line for those with the same reason."""
        found = self.store.unreadable()
        for reason, count in Counter(found.values()).items():
            name = next(name for name in found if found[name] == reason)
            which = f"cells/{name} is" if count == 1 else f"{count} files like cells/{name} are"
            self.progress.say(f"{which} left alone and not counted: {reason}.")
        return found

    def adopt(self, cells: Sequence[Cell], *, keep: Collection[str], whole: bool = True) -> None:
        """Make the folder that of this plan."""
        plan = self.plan
        about = {"plan": plan.name, "title": plan.title, "resolved": plan.resolved}
        write_listing(self.store.folder, cells, keep=keep, whole=whole, **about)

    def other_code(self) -> int:
        """Count the cells of earlier runs that this version of the library did not compute."""
        sources, members = self.store.sources(), self.store.about()["cells"]
        count = sum(sources.get(cell, source_hash()) != source_hash() for cell in members)
        if count:
            self.progress.say(
                f"{count} cell{'s were' if count > 1 else ' was'} computed by other code (another "
                f"version of featsieve's files); delete {self.store.folder} or use another folder "
                "to compute them anew."
            )
        return count

    def following(self, cells: Sequence[Cell], tables: Tables) -> list[Cell]:
        """Return the cells that follow from finished ones of this plan, not of others."""
        rows = self.store.rows_of(cell.id for cell in cells)
        found = self.plan.dependent_cells(rows, tables.checksums)
        return [cell for cell in found if cell.dataset in tables.shapes]


def _n_jobs(jobs: int) -> int:
    """Return the number of cells to run at the same time."""
    from joblib import effective_n_jobs

    if jobs == 0 or jobs < -1:
        raise ValueError(f"jobs must be a positive number, or -1 for one per core; got {jobs}.")
    return int(effective_n_jobs(jobs))
