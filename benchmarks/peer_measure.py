"""Seconds and peak memory of calls that may crash, hang or fill the memory.

Every measurement is a forked child of one parent process. In the child the call is made first on a
tiny table, which starts the BLAS threads and maps the code. Peak memory is the growth of the
child's resident set during its first real call, from what is left when free memory has been given
back: everything counts, also what LAPACK allocates. The time is that of the fastest call; calls of
the two sides alternate.
"""

import multiprocessing
import resource
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from common import PeakMemory

LINUX = sys.platform.startswith("linux")
# Runs longer than this are not repeated.
LONG = 10.0
# Share of the machine's memory that a child may address on top of what the parent does.
MEMORY_SHARE = 0.7


class TimeUpError(Exception):
    """The child did not answer in time."""


@dataclass(frozen=True)
class Call:
    """One side of a comparison: ``run`` is measured, ``warm_up`` is the same on a tiny table."""

    run: Callable[[], Any]
    warm_up: Callable[[], Any]


@dataclass(frozen=True)
class Measured:
    """What one run of a call took, and what it returned."""

    seconds: float
    peak: float  # MiB
    value: Any


def in_child(function: Callable[[], Any], *, limit: float) -> Any:
    """Return function(), computed in a forked child; its error is raised here.

    Raises
    ------
    TimeUpError
        After ``limit`` seconds.
    RuntimeError
        For any error of the child, with its type and message.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def work() -> None:
        receiver.close()
        warnings.simplefilter("ignore")
        try:
            _limit_memory()
            answer = (function(), None)
        except BaseException as error:  # whatever a peer raises is a result
            answer = (None, f"{type(error).__name__}: {error}")
        sender.send(answer)

    child = context.Process(target=work)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the threads here are idle
        child.start()
    sender.close()
    try:
        if not receiver.poll(limit):
            raise TimeUpError(f"> {limit:g} s")
        value, error = receiver.recv()
    except EOFError:
        child.join()
        raise RuntimeError(f"the process died (exit code {child.exitcode})") from None
    finally:
        if child.is_alive():
            child.join(0.5)
            child.kill()
        child.join()
        receiver.close()
    if error is not None:
        raise RuntimeError(error)
    return value


def measure_once(call: Call, *, limit: float) -> Measured:
    """Return time, peak memory and value of one run in a child of its own."""

    def work() -> Measured:
        _quietly(call.warm_up)
        with PeakMemory() as peak:
            start = time.perf_counter()
            value = call.run()
            seconds = time.perf_counter() - start
        return Measured(seconds, peak.mib, value)

    return in_child(work, limit=limit)


def fastest(calls: Sequence[Call], *, repeat: int, limit: float) -> list[float]:
    """Return the shortest time of every call, run in turn in one child.

    Short calls are repeated until a second has gone by: the best of a few calls of less than a
    millisecond is a matter of luck.
    """

    def work() -> list[float]:
        for call in calls:
            _quietly(call.warm_up)
        best = [np.inf] * len(calls)
        begin, rounds = time.perf_counter(), 0
        while rounds < repeat or time.perf_counter() - begin < 1.0:
            for i, call in enumerate(calls):
                start = time.perf_counter()
                call.run()
                best[i] = min(best[i], time.perf_counter() - start)
            rounds += 1
        return best

    return in_child(work, limit=limit)


def _quietly(function: Callable[[], Any]) -> None:
    """Call a function for its side effects only."""
    with suppress(Exception):  # the measured call will say so
        function()


def _limit_memory() -> None:
    """Let a call that wants more memory than there is raise MemoryError."""
    if not LINUX:
        return
    page = resource.getpagesize()
    with open("/proc/meminfo", encoding="ascii") as file:
        total = int(file.readline().split()[1]) * 1024
    with open("/proc/self/statm", encoding="ascii") as file:
        mapped = int(file.read().split()[0]) * page
    allowed = mapped + int(MEMORY_SHARE * total)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))
