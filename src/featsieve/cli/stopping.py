"""Ctrl-C and SIGTERM: what was begun is undone, and the exit code says which of them came."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import typer

EXIT_CODES: dict[int, int] = {signal.SIGINT: 130, signal.SIGTERM: 143}
_received: list[int] = []


def check_stopped() -> None:
    """Stop here if a signal has come: libraries that call back from C can lose the interruption."""
    if _received:
        raise KeyboardInterrupt


@contextmanager
def stoppable() -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM in the block into one line and an exit code."""

    def stop(number: int, frame: FrameType | None) -> None:
        _received.append(number)
        raise KeyboardInterrupt

    _received.clear()
    in_main = threading.current_thread() is threading.main_thread()
    handlers = {number: signal.signal(number, stop) for number in EXIT_CODES if in_main}
    try:
        yield
    except KeyboardInterrupt as error:
        # who was too late to stop says so in the error
        typer.echo(f"featsieve: stopped; {str(error) or 'nothing was written'}.", err=True)
        raise typer.Exit(EXIT_CODES[_received[0] if _received else signal.SIGINT]) from None
    finally:
        _received.clear()
        for number, handler in handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)
