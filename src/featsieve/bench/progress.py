"""How far a run is and how long it will still take: a bar on a terminal, lines in a pipe."""

import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any

from featsieve.bench.cells import Cell

# Seconds after which a log gets another line.
LINE_SECONDS = 30.0


class BenchProgress:
    """What a run tells about itself; this one stays silent.

    The time left follows from the entries of the tables of the cells that were run and are to run.
    """

    def __init__(self) -> None:
        self.total = self.done = self.failed = 0
        self.sizes: Mapping[str, float] = {}
        self._waiting = self._run = 0.0  # entries of the tables of cells
        self._start = time.monotonic()

    def expect(self, cells: Iterable[Cell], *, done: int = 0, failed: int = 0) -> None:
        """Add cells to run, and how many of the plan are there from earlier runs."""
        cells = list(cells)
        self.total += len(cells) + done
        self.done += done
        self.failed += failed
        self._waiting += sum(self._size(cell) for cell in cells)
        self.show()

    def advance(self, cell: Cell, *, status: str) -> None:
        """Count a cell as run."""
        self.done += 1
        self.failed += status != "done"
        self._waiting -= self._size(cell)
        self._run += self._size(cell)
        self.show()

    def say(self, text: str) -> None:
        """Tell the reader something beside the numbers."""

    def show(self) -> None:
        """Show the present state; called after every change, and about once a second."""

    def end(self) -> None:
        """Stop showing."""

    def line(self) -> str:
        """Return where the run is as a line of text."""
        share = 100 * self.done // self.total if self.total else 100
        text = f"{self.done} of {self.total} cells ({share} %)"
        if self.failed:
            text += f", {self.failed} without a result"
        if self._run and self.done < self.total:
            seconds = (time.monotonic() - self._start) * self._waiting / self._run
            text += f", about {duration(seconds)} left"
        return text

    def _size(self, cell: Cell) -> float:
        """Return the entries of the table of a cell."""
        return self.sizes.get(cell.dataset, 1.0)


class LineProgress(BenchProgress):
    """A line of text at every tenth of the way and every half minute: for pipes and log files."""

    _shown: tuple[int, int, int] | None = None

    def say(self, text: str) -> None:
        """Print the text."""
        print(text, file=sys.stderr, flush=True)

    def show(self) -> None:
        """Print a line if another tenth is done, more cells became known, or it is time."""
        tenth = 10 * self.done // max(1, self.total)
        period = int((time.monotonic() - self._start) // LINE_SECONDS)
        if self._shown != (self.total, tenth, period):
            self._shown = (self.total, tenth, period)
            self.say(self.line())


class BarProgress(BenchProgress):
    """A bar drawn with rich: for terminals."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        self._bar: Any = Bar(BarColumn(), TextColumn("{task.description}"), console=console)
        self._task = self._bar.add_task("")
        self._bar.start()

    def say(self, text: str) -> None:
        """Print the text above the bar."""
        self._bar.console.print(text, markup=False, highlight=False)

    def show(self) -> None:
        """Draw the bar."""
        self._bar.update(self._task, total=self.total, completed=self.done, description=self.line())

    def end(self) -> None:
        """Leave the bar as it is and go on below it."""
        self._bar.stop()


def terminal_progress() -> BenchProgress:
    """Return what suits standard error: a bar on a terminal, else lines."""
    return BarProgress() if sys.stderr.isatty() else LineProgress()


def duration(seconds: float) -> str:
    """Return a duration as people say it."""
    if seconds < 99.5:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
