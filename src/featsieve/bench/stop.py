"""SIGTERM as a way to stop like Ctrl-C: what was begun is left in order."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Terminated(KeyboardInterrupt):
    """SIGTERM was received: whoever handles Ctrl-C handles this."""


@contextmanager
def terminable() -> Iterator[None]:
    """Raise `Terminated` in the block at the first SIGTERM; further ones are ignored.

    Outside the main thread, where signals cannot be caught, nothing changes.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(signum: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)
