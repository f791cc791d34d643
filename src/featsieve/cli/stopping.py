"""Ctrl-C and SIGTERM: what was begun is taken back, and the exit code tells."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import typer

INTERRUPTED = 130
TERMINATED = 143


class Stop:
    """Whether somebody asked to stop.

    Libraries swallow an interruption now and then, when it comes while they are called back from C:
    whoever reports progress asks again.
    """

    def __init__(self) -> None:
        self.signal: int | None = None

    def check(self) -> None:
        """Stop here, if that was asked for."""
        if self.signal is not None:
            raise KeyboardInterrupt


@contextmanager
def stoppable(leaves: str = "nothing was written") -> Iterator[Stop]:
    """Turn Ctrl-C and SIGTERM in the block into one line and an exit code."""
    stop = Stop()
    handlers = {}

    def ask(number: int, frame: FrameType | None) -> None:
        stop.signal = number
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not None:  # one set from C cannot be put back
                handlers[number] = signal.signal(number, ask)
    try:
        yield stop
    except KeyboardInterrupt as error:
        # whoever could not stop any more says so
        typer.echo(f"featsieve: stopped; {str(error) or leaves}.", err=True)
        code = TERMINATED if stop.signal == signal.SIGTERM else INTERRUPTED
        raise typer.Exit(code) from None
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
