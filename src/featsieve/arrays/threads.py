"""Threads that do not fight: small products take one, many small jobs take one each.

A product of small matrices is slower on several threads than on one, and much slower beside other
work: the threads wait for one another.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, partial
from threading import Lock, local
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")

# Tables of up to this many entries are worked on by one thread.
LARGEST_UNTHREADED = 2**21
# What a thread of run_all shares with the others: a lock.
_shared = local()


@cache
def _controller() -> ThreadpoolController:
    """Return the thread pools of the libraries that are loaded; looking for them takes long."""
    return ThreadpoolController()


def n_threads() -> int:
    """Return how many threads the products of this process may take (``OMP_NUM_THREADS``, ...)."""
    pools = _controller().select(user_api="blas").info()
    return max((int(pool["num_threads"]) for pool in pools), default=1)


@contextmanager
def one_thread(if_: bool = True) -> Iterator[None]:
    """Keep products to one thread."""
    if not if_ or n_threads() == 1:
        yield
        return
    with _controller().limit(limits=1):
        yield


def run_all(tasks: Sequence[Callable[[], T]], *, n_jobs: int = 1, on_host: bool = True) -> list[T]:
    """Return the results of independent tasks, whose products take one thread each.

    A device works on one thing at a time, and torch may not start two: its tasks follow each other.
    """
    if n_jobs == 1 or len(tasks) == 1 or not on_host:
        with one_thread(not on_host):
            return [task() for task in tasks]
    join = partial(setattr, _shared, "turn", Lock())
    with one_thread(), ThreadPoolExecutor(n_jobs, initializer=join) as pool:
        return list(pool.map(lambda task: task(), tasks))


def in_turn() -> AbstractContextManager[Any]:
    """Have the tasks of :func:`run_all` do one after another what has many small steps.

    Threads that pass Python's own lock to and fro at every step take longer.
    """
    return getattr(_shared, "turn", nullcontext())
