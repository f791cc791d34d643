"""Worker processes: also one job is run in another process, which may die without harm."""

import os
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable
from queue import Empty, SimpleQueue
from typing import Any

from featsieve.bench.cells import Cell
from featsieve.bench.task import Outcome, start_worker

# Seconds until a worker without work ends, and between two looks at the clock.
IDLE = 60.0
TICK = 1.0
# Cells handed out before somebody is free: few, so that little is to be taken back at the end.
AHEAD = 1
DATA_VARIABLES = ("FEATSIEVE_DATA", "FEATSIEVE_CACHE")
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)

# The pool of the last call: {settings: executor}.
_kept: dict[Any, Any] = {}


def run_in_pool(
    task: Callable[[Cell], Outcome],
    cells: Iterable[Cell],
    *,
    jobs: int,
    threads: int,
    tick: Callable[[], None] = lambda: None,
) -> Generator[Outcome, None, None]:
    """Run cells in worker processes, and give each outcome as it comes.

    If anything goes wrong, and if the iterator is closed before its end, no worker is left.
    """
    try:
        variables = dict.fromkeys(THREAD_VARIABLES, str(threads)) | _own_variables()
        executor = _executor(jobs, variables)
    except OSError as error:  # such as no room for their locks
        raise OSError(
            f"Worker processes cannot be started ({error.strerror or error}): make room in "
            "/dev/shm and in the folder for temporary files."
        ) from error
    ended: SimpleQueue[Any] = SimpleQueue()
    waiting = deque(cells)
    under_way = 0
    try:
        while waiting or under_way:
            while waiting and under_way < jobs + AHEAD:
                executor.submit(task, waiting.popleft()).add_done_callback(ended.put)
                under_way += 1
            outcome = next_ended(ended, tick).result()
            under_way -= 1
            yield outcome
    except BaseException:
        with warnings.catch_warnings():  # about systems on which only the workers can be found
            warnings.simplefilter("ignore")
            _kept.clear()
            executor.shutdown(wait=True, kill_workers=True)
        raise


def _executor(jobs: int, variables: dict[str, str]) -> Any:
    """Return a pool of processes with these variables: the one of the last call if it has them.

    Not loky's reusable executor, which joblib takes for its own.
    """
    from joblib.externals.loky import ProcessPoolExecutor

    settings = (jobs, tuple(sorted(variables.items())))
    if settings not in _kept:
        while _kept:
            _kept.popitem()[1].shutdown(wait=True, kill_workers=True)
        _kept[settings] = ProcessPoolExecutor(
            max_workers=jobs,
            timeout=IDLE,
            env=variables,
            initializer=start_worker,
            initargs=(os.getpid(),),
        )
    return _kept[settings]


def _own_variables() -> dict[str, str]:
    """Return the variables that say where data are: workers that know other ones are not kept."""
    return {name: os.environ[name] for name in DATA_VARIABLES if name in os.environ}


def next_ended(ended: "SimpleQueue[Any]", tick: Callable[[], None]) -> Any:
    """Wait for the next future that has ended."""
    while True:
        try:
            return ended.get(timeout=TICK)
        except Empty:
            tick()


def threads_of(jobs: int) -> int:
    """Return the threads of each job: together no more than cores, nor than the user wants."""
    from joblib import cpu_count

    wanted = os.environ.get("OMP_NUM_THREADS", "")
    share = max(1, cpu_count() // jobs)
    return min(share, int(wanted)) if wanted.isdigit() and int(wanted) > 0 else share
