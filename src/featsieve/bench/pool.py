"""Where cells are run: in worker processes of this machine, or on a Dask cluster.

Both compute rows; the calling process writes them down. Also one job is run in another process,
which may die without harm.
"""

import os
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from signal import SIG_IGN, SIGINT, SIGTERM, signal
from typing import Any

from featsieve.bench.cells import Cell
from featsieve.io.optional import load_optional

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
# The pool of processes that runs, by its jobs and threads.
_pools: dict[tuple[int, int], Any] = {}


def run_cells(
    compute: Callable[[Cell], Rows],
    cells: Iterable[Cell],
    *,
    jobs: int,
    threads: int,
    tick: Callable[[], None] = lambda: None,
) -> Results:
    """Run cells on the cluster of joblib's Dask backend or in processes; give each as it comes.

    If the iterator is closed before its end, what was begun is given up and no worker is left.
    """
    from joblib.parallel import get_active_backend

    client = getattr(get_active_backend()[0], "client", None)
    if client is None:
        yield from _in_processes(compute, deque(cells), jobs=jobs, threads=threads, tick=tick)
        return
    from distributed.scheduler import KilledWorker

    executor, under_way = client.get_executor(pure=False), dict[Any, Cell]()
    try:
        for future in _ended(executor, compute, deque(cells), under_way, jobs=jobs, tick=tick):
            died = isinstance(future.exception(), KilledWorker)
            yield under_way.pop(future), None if died else future.result()
    finally:
        executor.shutdown(wait=False)


def _in_processes(
    compute: Callable[[Cell], Rows],
    waiting: deque[Cell],
    *,
    jobs: int,
    threads: int,
    tick: Callable[[], None],
    alone: bool = False,
) -> Results:
    """Run cells in worker processes.

    When a process dies, the cells that were under way are run again one by one: what dies ``alone``
    is its own fault.
    """
    while waiting:
        under_way: dict[Any, Cell] = {}
        try:
            executor = _executor(jobs, threads)
            for future in _ended(executor, compute, waiting, under_way, jobs=jobs, tick=tick):
                rows = future.result()
                yield under_way.pop(future), rows
        except BrokenProcessPool:
            stop_workers()
        except BaseException:
            stop_workers()
            raise
        for cell in under_way.values():
            if alone:
                yield cell, None
            else:
                yield from _in_processes(
                    compute, deque([cell]), jobs=1, threads=threads, tick=tick, alone=True
                )


def _ended(
    executor: Any,
    compute: Callable[[Cell], Rows],
    waiting: deque[Cell],
    under_way: dict[Any, Cell],
    *,
    jobs: int,
    tick: Callable[[], None],
) -> Iterator[Any]:
    """Keep some of the waiting cells under way, and give each future that has ended."""
    # One cell more waits for the next free worker; a single job is timed with nothing beside it.
    most = jobs + (jobs > 1)
    while waiting or under_way:
        while waiting and len(under_way) < most:
            future = executor.submit(compute, waiting[0])
            under_way[future] = waiting.popleft()
        yield from wait(under_way, timeout=TICK_SECONDS, return_when=FIRST_COMPLETED).done
        tick()


def _executor(jobs: int, threads: int) -> Any:
    """Return a pool of processes: that of the last call if it wants the same.

    Not loky's reusable executor, which joblib takes for its own.
    """
    from joblib.externals.loky import ProcessPoolExecutor

    if (jobs, threads) not in _pools:
        stop_workers()
        try:
            _pools[jobs, threads] = ProcessPoolExecutor(
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
    return _pools[jobs, threads]


def stop_workers() -> None:
    """End the worker processes, whatever they do."""
    with warnings.catch_warnings():  # about systems on which only the workers can be found
        warnings.simplefilter("ignore")
        while _pools:
            _pools.popitem()[1].shutdown(wait=True, kill_workers=True)


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


@contextmanager
def on_cluster(address: str) -> Iterator[Any]:
    """Make a Dask cluster the backend of joblib, and so of benchmarks, in the block."""
    from joblib import parallel_config

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
