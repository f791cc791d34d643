"""What a worker process does: run one cell and write its part, before anybody else hears of it."""

import os
import signal
import threading
import time
from dataclasses import dataclass, field

from featsieve.bench.cells import Cell
from featsieve.bench.schema import overall_status
from featsieve.bench.store import Store
from featsieve.io.processes import this_process

# Status of a cell at which another run works at present; never written.
BUSY = "busy"


@dataclass(frozen=True)
class Outcome:
    """What the parent hears of a cell: the rows themselves are on the disk."""

    cell: Cell
    status: str
    reason: str = ""
    seconds: float = 0.0
    computed: bool = True


@dataclass(frozen=True)
class Task:
    """How cells of one run are worked on; called with a cell, in any process."""

    out: str
    data: str | None
    plan: str
    retry: bool = False
    jobs: int = 1
    folder: str = field(default_factory=os.getcwd)

    def __call__(self, cell: Cell) -> Outcome:
        """Run a cell unless somebody else does so or has done so, and write its part."""
        from featsieve.bench.worker import run_cell

        os.chdir(self.folder)
        store = Store(self.out)
        known = store.status(cell.id)
        if is_settled(known, retry=self.retry):
            return Outcome(cell, str(known), computed=False)
        if store.others(cell):
            return Outcome(cell, BUSY, computed=False)
        start = time.perf_counter()
        store.begin(cell)
        try:
            # of two that begin in the same moment one goes on
            if any(other < this_process() for other in store.others(cell)):
                return Outcome(cell, BUSY, computed=False)
            rows = run_cell(cell, data=self.data, plan=self.plan, jobs=self.jobs)
            if overall_status(rows) != "skipped":  # its data set went away: left for later
                store.write(cell, rows)
        finally:
            store.abandon(cell)
        reason = next((str(row["reason"]) for row in rows if row["status"] != "done"), "")
        return Outcome(cell, overall_status(rows), reason, time.perf_counter() - start)


def is_settled(status: str | None, *, retry: bool) -> bool:
    """Tell whether a cell with this status need not be run (again)."""
    return status is not None and not (retry and status in ("failed", "timeout"))


def start_worker(parent: int) -> None:
    """Begin a worker process: it leaves signals to the parent, and ends soon after it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: int) -> None:
    """Wait until this process has another parent, then end it."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
