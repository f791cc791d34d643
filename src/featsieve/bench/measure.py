"""Seconds, peak memory and a time limit for one call."""

import ctypes
import math
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

MIB = 2.0**20
LINUX = sys.platform.startswith("linux")
# Where the first alarm is lost (raised inside a destructor, say) the next comes after so long.
AGAIN = 1.0
# Writing "5" here makes the kernel forget the largest resident set of this process.
FORGET = Path("/proc/self/clear_refs")


class TimeUpError(BaseException):
    """The time limit has passed; no ``except Exception`` of the code under it swallows it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise ``TimeUpError`` in the block after so many seconds.

    Compiled code is not interrupted: the error comes when it returns. In the main thread of Unix a
    timer of the system rings, elsewhere (in a Dask worker, say) a thread.
    """
    if not hasattr(signal, "setitimer") or threading.current_thread() is not (
        threading.main_thread()
    ):
        with _limited_thread(seconds):
            yield
        return

    limited = True

    def ring(signum: int, frame: FrameType | None) -> None:
        if limited:
            raise TimeUpError(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
        try:
            yield
        finally:
            limited = False  # an alarm before this ends up in the outer block, a later one nowhere
    finally:
        limited = False
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _limited_thread(seconds: float) -> Iterator[None]:
    """Raise ``TimeUpError`` in this thread after so many seconds: another one watches the clock."""
    limited, over, lock = threading.current_thread(), threading.Event(), threading.Lock()
    number = threading.get_ident()

    def watch() -> None:
        wait = seconds
        # The number of a thread that has ended is soon that of another: nothing may ring there.
        while not over.wait(wait) and limited.is_alive():
            with lock:
                if not over.is_set():
                    _raise_in(number, TimeUpError)
            wait = AGAIN

    try:
        try:
            # Short limits ring before `start` returns: from here on somebody must end the watch.
            threading.Thread(target=watch, daemon=True).start()
            yield
        finally:
            over.set()
            with lock:  # what rang a moment ago and has not been heard is taken back
                _raise_in(number, None)
    except TimeUpError:
        raise TimeUpError(f"more than {seconds:g} s") from None
    finally:
        over.set()


def _raise_in(thread: int, error: type[BaseException] | None) -> None:
    """Let another thread raise an error when it next runs Python code; None takes it back."""
    raised = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)


class PeakMemory:
    """Growth of the resident set from the start of a ``with`` block to its largest, in MiB.

    On Linux earlier peaks are forgotten first; elsewhere only what exceeds the largest so far is
    seen. Everything counts, also what compiled code allocates.
    """

    mib = 0.0

    def __enter__(self) -> "PeakMemory":
        """Give free memory back and forget earlier peaks."""
        if not LINUX:
            self._before = _largest()
            return self
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)
        try:
            FORGET.write_text("5", encoding="ascii")
            self._before = _status("VmRSS")
        except OSError:  # refused: what is seen later may be an earlier peak
            self._before = math.nan
        return self

    def __exit__(self, *about: object) -> None:
        """Look at the peak."""
        grown = (_status("VmHWM") if LINUX else _largest()) - self._before
        self.mib = grown if math.isnan(grown) else max(0.0, grown)


def _status(key: str) -> float:
    """Return a number of this process's status, in MiB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    return next(float(line.split()[1]) / 1024.0 for line in lines if line.startswith(key))


def _largest() -> float:
    """Return the largest resident set of this process so far, in MiB; 0 where nobody knows."""
    try:
        import resource
    except ImportError:
        return 0.0
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / MIB if sys.platform == "darwin" else size / 1024.0
