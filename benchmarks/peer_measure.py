"""Seconds and peak memory of calls that may crash, hang or fill the memory.

Every measurement is a forked child of one parent process. In the child the call is made first on a
tiny table, which starts the BLAS threads and maps the code. Peak memory is the growth of the
child's resident set during its first real call, from what is left when free memory has been given
back: everything counts, also what LAPACK allocates. The time is that of the fastest call; calls of
the two sides alternate.
"""

import ctypes
import multiprocessing
import resource
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

MIB = 2.0**20
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

    def work() -> tuple[float, float, Any]:
        _quietly(call.warm_up)
        before = _settle_memory()
        start = time.perf_counter()
        value = call.run()
        return time.perf_counter() - start, _peak() - before, value

    seconds, peak, value = in_child(work, limit=limit)
    return Measured(seconds, max(peak, 0.0), value)


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
    try:
        function()
    except Exception:  # the measured call will say so
        return


def _settle_memory() -> float:
    """Give free memory back, forget earlier peaks; return the resident set in MiB."""
    if not LINUX:
        return _peak()
    with suppress(OSError, AttributeError):  # not the C library, or not the kernel, for it
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _status("VmRSS")


def _peak() -> float:
    """Return the largest resident set since then, in MiB."""
    if LINUX:
        return _status("VmHWM")
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / MIB if sys.platform == "darwin" else size / 1024.0


def _status(key: str) -> float:
    """Return a number of this process's status, in MiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(float(line.split()[1]) / 1024.0 for line in lines if line.startswith(key))


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
