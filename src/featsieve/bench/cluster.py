"""Cells on a Dask cluster: the workers compute, this process writes what they send back.

The cluster is that of joblib's Dask backend, where that is in force
(``joblib.parallel_config(backend="dask")``). The folder of the results need not be seen by the
workers; the data sets must.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any

from featsieve.bench.cells import Cell
from featsieve.bench.pool import AHEAD, next_ended
from featsieve.bench.rows import failed_rows
from featsieve.bench.schema import overall_status
from featsieve.bench.store import Store
from featsieve.bench.task import BUSY, Outcome, Task, is_settled

DIED = "the workers that ran it died: out of memory, or a fault in compiled code"


@contextmanager
def on_cluster(address: str) -> Iterator[Any]:
    """Make a Dask cluster the backend of joblib, and so of benchmarks, in the block."""
    from joblib import parallel_config

    from featsieve.io.optional import load_optional

    distributed = load_optional("distributed", "Running on a cluster", extra="dask")
    try:
        client = distributed.Client(address)
    except (OSError, ValueError) as error:
        raise OSError(
            f"There is no Dask scheduler at {address!r}: start one with `dask scheduler`, workers "
            "with `dask worker ADDRESS --nthreads 1`, and pass the address that it prints."
        ) from error
    with client, parallel_config(backend="dask"):
        yield client


def cluster_client() -> Any:
    """Return the client of joblib's Dask backend; None where another backend is in force."""
    from joblib.parallel import get_active_backend

    return getattr(get_active_backend()[0], "client", None)


def run_on_cluster(
    client: Any,
    task: Task,
    cells: Iterable[Cell],
    *,
    jobs: int,
    tick: Callable[[], None] = lambda: None,
) -> Generator[Outcome, None, None]:
    """Run cells on the workers of a cluster, and give each outcome as it comes.

    If the iterator is closed before its end, what was begun is cancelled.
    """
    from distributed.scheduler import KilledWorker

    store = Store(task.out)
    ended: SimpleQueue[Any] = SimpleQueue()
    waiting = deque(cells)
    under_way: dict[Any, tuple[Cell, float]] = {}
    data = None if task.data is None else os.path.abspath(task.data)
    try:
        while waiting or under_way:
            while waiting and len(under_way) < jobs + (AHEAD if jobs > 1 else 0):
                cell = waiting.popleft()
                settled = _begin(store, cell, retry=task.retry)
                if settled is not None:
                    yield settled
                    continue
                future = client.submit(
                    compute_cell, cell, data, task.plan, jobs, folder=task.folder, pure=False
                )
                under_way[future] = cell, time.perf_counter()
                future.add_done_callback(ended.put)
            if not under_way:
                continue
            future = next_ended(ended, tick)
            cell, start = under_way[future]
            try:
                rows = future.result()
            except KilledWorker:
                rows = failed_rows(cell, DIED, plan=task.plan, jobs=jobs)
            if overall_status(rows) != "skipped":  # its data set is not there: left for later
                store.write(cell, rows)
            store.abandon(cell)
            del under_way[future]
            reason = next((str(row["reason"]) for row in rows if row["status"] != "done"), "")
            yield Outcome(cell, overall_status(rows), reason, time.perf_counter() - start)
    finally:
        client.cancel(list(under_way), force=True)
        for cell, _ in under_way.values():
            store.abandon(cell)


def _begin(store: Store, cell: Cell, *, retry: bool) -> Outcome | None:
    """Note that a cell is worked on from now on, or return why it need not be."""
    known = store.status(cell.id)
    if is_settled(known, retry=retry):
        return Outcome(cell, str(known), computed=False)
    if store.others(cell):
        return Outcome(cell, BUSY, computed=False)
    store.begin(cell)
    return None


def compute_cell(
    cell: Cell, data: str | None, plan: str, jobs: int, *, folder: str
) -> list[dict[str, Any]]:
    """Run a cell and return its rows. Runs on a worker."""
    from featsieve.bench.worker import run_cell

    if os.path.isdir(folder):  # where relative paths of the plan begin
        os.chdir(folder)
    return run_cell(cell, data=data, plan=plan, jobs=jobs)
