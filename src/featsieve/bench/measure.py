"""A time limit for one call."""

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager

# An error that was swallowed (raised inside a destructor, say) is raised again after so long.
AGAIN_SECONDS = 1.0


class TimeUpError(BaseException):
    """The time limit has passed; no ``except Exception`` of the code under it swallows it."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise ``TimeUpError`` in the block after so many seconds; another thread watches the clock.

    Compiled code is not interrupted: the error comes when it returns. Works in any thread, such as
    those of a Dask worker.
    """
    limited, over, lock = threading.current_thread(), threading.Event(), threading.Lock()

    def watch() -> None:
        wait = seconds
        # The number of a thread that has ended is soon that of another: nothing may ring there.
        while not over.wait(wait) and limited.is_alive():
            with lock:
                if not over.is_set():
                    _raise_in(limited, TimeUpError)
            wait = AGAIN_SECONDS

    try:
        try:
            threading.Thread(target=watch, daemon=True).start()
            yield
        finally:
            over.set()
            with lock:  # what rang a moment ago and has not been heard is taken back
                _raise_in(limited, None)
    except TimeUpError:
        raise TimeUpError(f"more than {seconds:g} s") from None
    finally:
        over.set()


def _raise_in(thread: threading.Thread, error: type[BaseException] | None) -> None:
    """Let a thread raise an error when it next runs Python code; None takes it back."""
    raised = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), raised)
