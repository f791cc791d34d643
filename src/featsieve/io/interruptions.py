"""Moments in which Ctrl-C and SIGTERM have to wait."""

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

NUMBERS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Let Ctrl-C and SIGTERM wait until the end of the block, and take effect then.

    For a few file operations that belong together; never for something that may wait itself. In
    other threads than the main one, which no signal interrupts, nothing has to be done; nor for a
    signal that a library written in C takes care of. To block the signals in the main thread would
    not do: the system then hands them to another one, and Python acts on them all the same.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting = _Waiting()
    try:
        for number in NUMBERS:
            waiting.begin(number)
        yield
    finally:
        waiting.end()


class _Waiting:
    """A handler that notes signals; once it has ended, it hands them on to the one before."""

    def __init__(self) -> None:
        self.before: dict[int, Any] = {}
        self.came: list[int] = []
        self.ended = False

    def begin(self, number: int) -> None:
        """Take the place of the handler of a signal."""
        handler = signal.getsignal(number)
        if handler is not None:
            self.before[number] = handler
            signal.signal(number, self)

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Note a signal, or hand it on, if something has kept this handler in place."""
        if not self.ended:
            self.came += [] if number in self.came else [number]
        elif callable(self.before[number]):
            self.before[number](number, frame)
        else:  # the default, or to ignore it
            signal.signal(number, self.before[number])
            signal.raise_signal(number)

    def end(self) -> None:
        """Put the handlers back, then let the signals take effect: all, whatever one raises."""
        back = [partial(signal.signal, *pair) for pair in self.before.items()]
        _do_all([*back, partial(setattr, self, "ended", True), *[self._let_one] * len(back)])

    def _let_one(self) -> None:
        """Let the first signal that waits take effect."""
        if self.came:
            signal.raise_signal(self.came.pop(0))


def _do_all(actions: Sequence[Callable[[], Any]]) -> None:
    """Do one thing after the other, also after an error."""
    if actions:
        try:
            actions[0]()
        finally:
            _do_all(actions[1:])
