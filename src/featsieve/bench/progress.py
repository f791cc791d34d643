"""How far a run is and how long it will still take, on standard error."""

import time
from typing import TextIO

from featsieve.progress import format_seconds

# Seconds after which there is another line.
LINE_SECONDS = 30.0


class BenchProgress:
    """Count the cells of a run, and print them now and then; without a stream it stays silent."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.total = self.done = self.failed = self._run = 0
        self._stream = stream
        self._start = time.monotonic()
        self._shown: tuple[int, int, int] | None = None

    def expect(self, cells: int, *, done: int = 0, failed: int = 0) -> None:
        """Add cells to run, and how many of the plan are there from earlier runs."""
        self.total += cells + done
        self.done += done
        self.failed += failed
        self.show()

    def advance(self, status: str) -> None:
        """Count a cell as run."""
        self.done += 1
        self._run += 1
        self.failed += status != "done"
        self.show()

    def say(self, text: str) -> None:
        """Print something."""
        if self._stream is not None:
            print(text, file=self._stream, flush=True)

    def show(self) -> None:
        """Print where the run is at every tenth of the way, and every half minute."""
        period = int((time.monotonic() - self._start) // LINE_SECONDS)
        state = (self.total, 10 * self.done // max(1, self.total), period)
        if self._shown == state:
            return
        self._shown = state
        share = 100 * self.done // self.total if self.total else 100
        text = f"{self.done} of {self.total} cells ({share} %)"
        if self.failed:
            text += f", {self.failed} without a result"
        if self._run and self.done < self.total:
            seconds = (time.monotonic() - self._start) * (self.total - self.done) / self._run
            text += f", about {format_seconds(seconds)} left"
        self.say(text)
