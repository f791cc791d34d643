"""Moments in which Ctrl-C and SIGTERM have to wait."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait until the end of the block, and take effect then.

    For a few file operations that belong together; never for something that may wait itself. In
    other threads than the main one, which no signal interrupts, nothing has to be done.

    Examples
    --------
    >>> import signal
    >>> from featsieve.interruptions import uninterrupted
    >>> before = signal.signal(signal.SIGTERM, lambda number, frame: print("stopped"))
    >>> with uninterrupted():
    ...     signal.raise_signal(signal.SIGTERM)
    ...     print("done")
    done
    stopped
    >>> _ = signal.signal(signal.SIGTERM, before)
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    handlers = {}
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            handlers[number] = signal.signal(number, lambda number, frame: came.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)
        for sent in dict.fromkeys(came):
            signal.raise_signal(sent)
