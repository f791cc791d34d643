"""How far a run is and how long it will still take: a bar on a terminal, lines in a pipe."""

import sys
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from typing import Any, TextIO

from featsieve.bench.cells import Cell

# Experiments whose cells are run with nothing beside them, so that their times can be compared.
ALONE = ("time",)
# Durations that count: as many of the latest ones of a kind.
RECENT = 10
# Seconds after which a log gets another line.
EVERY = 30.0


class TimeLeft:
    """Estimate of the time left, from the latest durations.

    A cell is expected to take as long as the latest of the same method and experiment on the same
    data set did; before there are any, as those of the method on it in other experiments; then as
    those on other data sets in proportion to the size of the table; then as all cells in
    proportion to it.
    """

    def __init__(self, sizes: Mapping[str, float], *, jobs: int = 1) -> None:
        self.sizes = sizes
        self.jobs = jobs
        self._waiting: dict[tuple[str, str, str], int] = defaultdict(int)
        # for each kind of cell, fine and coarse: seconds and entries of the tables, latest last
        self._seen: dict[tuple[str, ...], deque[tuple[float, float]]] = defaultdict(
            lambda: deque(maxlen=RECENT)
        )

    def expect(self, cells: Iterable[Cell]) -> None:
        """Add cells that are still to be run."""
        for cell in cells:
            self._waiting[cell.dataset, cell.method, cell.experiment] += 1

    def record(self, cell: Cell, seconds: float | None) -> None:
        """Take one of the expected cells as run; None: by somebody else."""
        key = (cell.dataset, cell.method, cell.experiment)
        self._waiting[key] = max(0, self._waiting[key] - 1)
        for kind in () if seconds is None else _kinds(*key):
            self._seen[kind].append((float(seconds or 0.0), self._size(cell.dataset)))

    def seconds(self) -> float | None:
        """Return the estimate, or None before the first cell."""
        if not self._seen:
            return None
        beside = alone = 0.0
        for key, count in self._waiting.items():
            seen = next(self._seen[kind] for kind in _kinds(*key) if kind in self._seen)
            seconds, entries = (sum(numbers) for numbers in zip(*seen, strict=True))
            expected = count * self._size(key[0]) * seconds / entries
            if key[2] in ALONE:
                alone += expected
            else:
                beside += expected
        return beside / self.jobs + alone

    def _size(self, dataset: str) -> float:
        """Return the entries of a table, at least one."""
        return max(1.0, float(self.sizes.get(dataset, 1.0)))


def _kinds(dataset: str, method: str, experiment: str) -> tuple[tuple[str, ...], ...]:
    """Return what a cell is like, from the closest kin to all."""
    return (
        (dataset, method, experiment),
        ("any experiment", dataset, method, ""),
        (method, experiment),
        (),
    )


class Progress:
    """What a run tells about itself; this one stays silent.

    Subclasses override ``_show``, which is called after every change, and ``say``.
    """

    def __init__(self) -> None:
        self.total = self.done = self.failed = 0
        self.to_follow = ""
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

    def advance(self, cell: Cell, *, status: str, seconds: float | None) -> None:
        """Count a cell as run; without seconds if this was done by somebody else."""
        self.done += 1
        self.failed += status in ("failed", "timeout")
        self.left.record(cell, seconds)
        self._show()

    def tick(self) -> None:
        """Be called about once a second while nothing happens."""
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
            if self.to_follow:
                text += f" before {self.to_follow}"
        return text

    def _show(self) -> None:
        """Show the present state."""


class LineProgress(Progress):
    """A line of text at every tenth of the way and every half minute: for pipes and log files."""

    def __init__(self, stream: TextIO | None = None, *, every: float = EVERY) -> None:
        super().__init__()
        self.stream = stream or sys.stderr
        self.every = every
        self._last = 0.0
        self._tenth: tuple[int, int] | None = None

    def say(self, text: str) -> None:
        """Print the text."""
        print(text, file=self.stream, flush=True)

    def _show(self) -> None:
        """Print a line if another tenth is done, more cells became known, or it is time."""
        tenth = (self.total, 10 * self.done // max(1, self.total))
        now = time.monotonic()
        late = self.done < self.total and now - self._last >= self.every
        if tenth != self._tenth or late:
            self._tenth, self._last = tenth, now
            self.say(self.line())


class BarProgress(Progress):
    """A bar drawn with rich: for terminals."""

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
    """Return a duration as people say it."""
    if seconds < 99.5:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
