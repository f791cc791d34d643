"""Where cells are run: in worker processes, also a single job: a process may die without harm."""

import os
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from signal import SIG_IGN, SIGINT, SIGTERM, signal
from typing import Any

from featsieve.bench.cells import Cell

Rows = list[dict[str, Any]]
Results = Generator[tuple[Cell, Rows | None], None, None]  # None: the workers that ran it died

TICK_SECONDS = 1.0
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)


def run_cells(
    compute: Callable[[Cell], Rows],
    cells: Iterable[Cell],
    *,
    jobs: int,
    threads: int,
    tick: Callable[[], None] = lambda: None,
    alone: bool = False,
) -> Results:
    """Run cells in processes, each given as it comes; what dies ``alone`` is its own fault."""
    waiting = deque(cells)
    # One cell more waits for the next free worker; a single job is timed with nothing beside it.
    most = jobs + (jobs > 1)
    while waiting:
        under_way: dict[Any, Cell] = {}
        executor = _executor(jobs, threads)
        try:
            while waiting or under_way:
                while waiting and len(under_way) < most:
                    under_way[executor.submit(compute, waiting[0])] = waiting[0]
                    waiting.popleft()
                for future in wait(under_way, TICK_SECONDS, return_when=FIRST_COMPLETED).done:
                    rows = future.result()
                    yield under_way.pop(future), rows
                tick()
        except BrokenProcessPool:
            pass
        finally:
            with warnings.catch_warnings():  # about systems on which only the workers can be found
                warnings.simplefilter("ignore")
                executor.shutdown(wait=True, kill_workers=True)
        for cell in under_way.values():
            if alone:
                yield cell, None
            else:
                yield from run_cells(
                    compute, [cell], jobs=1, threads=threads, tick=tick, alone=True
                )


def _executor(jobs: int, threads: int) -> Any:
    """Return a pool of processes."""
    # not loky's reusable executor, which joblib takes for its own
    from joblib.externals.loky import ProcessPoolExecutor

    try:
        return ProcessPoolExecutor(
            max_workers=jobs,
            env=dict.fromkeys(THREAD_VARIABLES, str(threads)),
            initializer=_start_worker,
            initargs=(os.getpid(),),
        )
    except OSError as error:  # such as no room for their locks
        raise OSError(
            f"Worker processes cannot be started ({error.strerror or error}): make room in "
            "/dev/shm and in the folder for temporary files."
        ) from error


def _start_worker(parent: int) -> None:
    """Begin a worker process: it leaves signals to the parent, and ends soon after it."""

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    signal(SIGINT, SIG_IGN)
    signal(SIGTERM, SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()


def threads_of(jobs: int) -> int:
    """Return the threads of each job: together no more than cores, nor than the user wants."""
    from joblib import cpu_count

    wanted = os.environ.get("OMP_NUM_THREADS", "")
    share = max(1, cpu_count() // jobs)
    return min(share, int(wanted)) if wanted.isdigit() and int(wanted) > 0 else share
