"""How far a run is and how long it will still take: a bar on a terminal, lines in a pipe."""

import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

from featsieve.bench.cells import Cell


class TimeLeft:
    """Estimate of the time left, from the durations so far.

    A cell is expected to take as long as those of the same method and experiment on the same data
    set did; before there are any, as those on other data sets in proportion to the size of the
    table; before that, as all cells in proportion to it.

    Parameters
    ----------
    sizes : mapping of str to float
        Number of entries of each data set's table.
    jobs : int, default=1
        Cells that run at the same time.

    Examples
    --------
    >>> from featsieve.bench.cells import Cell
    >>> from featsieve.bench.progress import TimeLeft
    >>> left = TimeLeft({"small": 100, "large": 1000})
    >>> cells = [Cell("default", name, "NDFS", "NDFS") for name in ("small", "large")]
    >>> left.expect(cells)
    >>> left.record(cells[0], 2.0)
    >>> left.seconds()
    20.0
    """

    def __init__(self, sizes: Mapping[str, float], *, jobs: int = 1) -> None:
        self.sizes = sizes
        self.jobs = jobs
        self._waiting: dict[tuple[str, str, str], int] = defaultdict(int)
        # for each kind of cell, coarse and fine: seconds and table entries that they went through
        self._seconds: dict[tuple[str, ...], float] = defaultdict(float)
        self._entries: dict[tuple[str, ...], float] = defaultdict(float)

    def expect(self, cells: Iterable[Cell]) -> None:
        """Add cells that are still to be run."""
        for cell in cells:
            self._waiting[cell.dataset, cell.method, cell.experiment] += 1

    def record(self, cell: Cell, seconds: float) -> None:
        """Take one of the expected cells as run."""
        key = (cell.dataset, cell.method, cell.experiment)
        self._waiting[key] = max(0, self._waiting[key] - 1)
        for kind in (key, key[1:], ()):
            self._seconds[kind] += seconds
            self._entries[kind] += self._size(cell.dataset)

    def seconds(self) -> float | None:
        """Return the estimate, or None before the first cell."""
        if not self._entries:
            return None
        total = 0.0
        for key, count in self._waiting.items():
            kind = next(kind for kind in (key, key[1:], ()) if kind in self._entries)
            total += count * self._size(key[0]) * self._seconds[kind] / self._entries[kind]
        return total / self.jobs

    def _size(self, dataset: str) -> float:
        """Return the entries of a table, at least one."""
        return max(1.0, float(self.sizes.get(dataset, 1.0)))


class Progress:
    """What a run tells about itself; this one stays silent.

    Subclasses override ``_show``, which is called after every change, and ``say``.

    Attributes
    ----------
    total, done, failed : int
        Cells of the plan as far as known, those finished (also in earlier runs), and those of them
        without a result.
    """

    def __init__(self) -> None:
        self.total = self.done = self.failed = 0
        self.left = TimeLeft({})

    def begin(self, sizes: Mapping[str, float], *, jobs: int) -> None:
        """Start, with the sizes of the tables by data set."""
        self.left = TimeLeft(sizes, jobs=jobs)

    def expect(self, cells: Iterable[Cell], *, done: int = 0, failed: int = 0) -> None:
        """Add cells to run, and how many of the plan are there from earlier runs."""
        cells = list(cells)
        self.total += len(cells) + done
        self.done += done
        self.failed += failed
        self.left.expect(cells)
        self._show()

    def advance(self, cell: Cell, *, status: str, seconds: float) -> None:
        """Count a cell as run."""
        self.done += 1
        self.failed += status in ("failed", "timeout")
        self.left.record(cell, seconds)
        self._show()

    def say(self, text: str) -> None:
        """Tell the reader something beside the numbers."""

    def end(self) -> None:
        """Stop showing."""

    def line(self) -> str:
        """Return where the run is as a line of text."""
        share = 100 * self.done // self.total if self.total else 100
        text = f"{self.done} of {self.total} cells ({share} %)"
        if self.failed:
            text += f", {self.failed} without a result"
        seconds = self.left.seconds()
        if seconds is not None and self.done < self.total:
            text += f", about {in_words(seconds)} left"
        return text

    def _show(self) -> None:
        """Show the present state."""


class LineProgress(Progress):
    """A line of text at every tenth of the way: for pipes and log files.

    Parameters
    ----------
    stream : text file, optional
        Standard error if not given.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__()
        self.stream = stream or sys.stderr
        self._tenth: tuple[int, int] | None = None

    def say(self, text: str) -> None:
        """Print the text."""
        print(text, file=self.stream, flush=True)

    def _show(self) -> None:
        """Print a line if another tenth is done, or more cells became known."""
        tenth = (self.total, 10 * self.done // max(1, self.total))
        if tenth != self._tenth:
            self._tenth = tenth
            self.say(self.line())


class BarProgress(Progress):
    """A bar drawn with rich: for terminals.

    Parameters
    ----------
    console : rich.console.Console, optional
        On standard error if not given.
    """

    def __init__(self, console: Any = None) -> None:
        super().__init__()
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Bar

        self.console = console or Console(stderr=True)
        self._bar = Bar(BarColumn(), TextColumn("{task.description}"), console=self.console)
        self._task: Any = None

    def say(self, text: str) -> None:
        """Print the text above the bar."""
        self.console.print(text, markup=False, highlight=False)

    def end(self) -> None:
        """Leave the bar as it is and go on below it."""
        self._bar.stop()

    def _show(self) -> None:
        """Draw the bar."""
        if self._task is None:
            self._task = self._bar.add_task("")
            self._bar.start()
        self._bar.update(self._task, total=self.total, completed=self.done, description=self.line())


def terminal_progress() -> Progress:
    """Return what suits standard error: a bar on a terminal with rich installed, else lines."""
    if sys.stderr.isatty():
        try:
            return BarProgress()
        except ImportError:
            pass
    return LineProgress()


def in_words(seconds: float) -> str:
    """Return a duration as people say it.

    Examples
    --------
    >>> from featsieve.bench.progress import in_words
    >>> [in_words(seconds) for seconds in (0.2, 42, 170, 5000)]
    ['1 s', '42 s', '3 min', '1 h 23 min']
    """
    if seconds < 99.5:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
