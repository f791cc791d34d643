"""Waves of cells: each gets an outcome, also if its process dies or another run works on it."""

import os
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from featsieve.bench.cells import Cell
from featsieve.bench.cluster import run_on_cluster
from featsieve.bench.pool import TICK, run_in_pool
from featsieve.bench.progress import Progress
from featsieve.bench.rows import failed_rows
from featsieve.bench.store import Store
from featsieve.bench.task import BUSY, Outcome, Task, is_settled

DIED = "its process died: out of memory, or a fault in compiled code"


@dataclass
class Waves:
    """The waves of one run."""

    store: Store
    data: str | None
    plan: str
    retry: bool
    progress: Progress
    client: Any = None
    failures: list[str] = field(default_factory=list)
    computed: int = 0
    settled: set[str] = field(default_factory=set)
    _in_vain: int = 0  # crashes since the last outcome

    def expect(self, cells: Sequence[Cell], sizes: Mapping[str, float]) -> dict[str, Cell]:
        """Return those of the cells that are not there yet, and count the others."""
        known = self.store.statuses()
        there = [cell for cell in cells if is_settled(known.get(cell.id), retry=self.retry)]
        waiting = {
            cell.id: cell
            for cell in sorted(cells, key=lambda cell: (-sizes[cell.dataset], cell.dataset))
            if not is_settled(known.get(cell.id), retry=self.retry)
        }
        failed = sum(known[cell.id] != "done" for cell in there)
        self.settled.update(cell.id for cell in there)
        self.progress.expect(waiting.values(), done=len(there), failed=failed)
        return waiting

    def run(self, waiting: dict[str, Cell], *, jobs: int, threads: int) -> None:
        """Run cells until each has an outcome; those of other runs are waited for."""
        told = False
        while waiting:
            try:
                with closing(self._outcomes(waiting.values(), jobs=jobs, threads=threads)) as all_:
                    for outcome in all_:
                        if outcome.status != BUSY:
                            del waiting[outcome.cell.id]
                            self._hear(outcome)
            except BrokenProcessPool as error:
                self._after_a_crash(waiting, error, threads=threads)
                continue
            if waiting:
                if not told:
                    count = f"{len(waiting)} cell{'s' if len(waiting) > 1 else ''}"
                    self.progress.say(f"Another run works on {count}: waiting for it.")
                told = True
                time.sleep(TICK)
                self.progress.tick()

    def check_there(self) -> None:
        """Raise if parts have gone that were there: the rest must not pass for the results."""
        gone = len(self.settled - self.store.finished())
        if gone:
            raise FileNotFoundError(
                f"{gone} finished cell{'s have' if gone > 1 else ' has'} gone from "
                f"{self.store.folder}: run the same command again, and what is missing is computed."
            )

    def _outcomes(
        self, cells: Iterable[Cell], *, jobs: int, threads: int
    ) -> Generator[Outcome, None, None]:
        """Run cells in worker processes or on a cluster, and give each outcome as it comes."""
        task = Task(
            out=os.fspath(self.store.folder),
            data=self.data,
            plan=self.plan,
            retry=self.retry,
            jobs=jobs,
        )
        if self.client is not None:
            return run_on_cluster(self.client, task, cells, jobs=jobs, tick=self.progress.tick)
        return run_in_pool(task, cells, jobs=jobs, threads=threads, tick=self.progress.tick)

    def _hear(self, outcome: Outcome) -> None:
        """Count an outcome and show it."""
        cell = outcome.cell
        self._in_vain = 0
        self.computed += outcome.computed
        if outcome.status != "skipped":
            self.settled.add(cell.id)
        if outcome.status != "done":
            what = f"{cell.method} on {cell.dataset} ({cell.experiment}, {cell.params_json})"
            self.failures.append(f"{outcome.status}: {what}: {outcome.reason}")
        seconds = outcome.seconds if outcome.computed else None
        self.progress.advance(cell, status=outcome.status, seconds=seconds)

    def _after_a_crash(
        self, waiting: dict[str, Cell], error: BrokenProcessPool, *, threads: int
    ) -> None:
        """Find out which cell killed its process, and record that.

        Each cell that was being worked on is run again with no other beside it.
        """
        known = self.store.statuses()
        for name in [name for name in waiting if is_settled(known.get(name), retry=self.retry)]:
            # written, but its process died before it could tell
            self._hear(Outcome(waiting.pop(name), known[name]))
        suspects = [waiting[name] for name in sorted(self.store.deserted()) if name in waiting]
        self.store.clean()
        if not suspects:
            self._in_vain += 1
            if self._in_vain > 1:
                raise ChildProcessError(
                    "Worker processes end before they begin any work: there may be too little "
                    "memory; try --jobs 1."
                ) from error
            self.progress.say("A worker process ended between two cells; trying again.")
        for cell in suspects:
            try:
                (outcome,) = self._outcomes([cell], jobs=1, threads=threads)
            except BrokenProcessPool:
                self.store.clean()
                self.store.write(cell, failed_rows(cell, DIED, plan=self.plan))
                outcome = Outcome(cell, "failed", DIED)
            if outcome.status != BUSY:
                del waiting[cell.id]
                self._hear(outcome)
