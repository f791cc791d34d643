"""What is printed, and where: results on stdout, progress and notes on stderr."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from featsieve.cli.stopping import Stop
    from featsieve.datasets import Dataset
    from featsieve.evaluation import Stability

# A pipe has no width of its own.
WIDTH = 100
BAR_WIDTH = 20
ENOUGH = 5  # selections for a confidence interval


def output() -> "Console":
    """Return the console of results: colours on a terminal, plain text in a pipe."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDTH)
    return console


def print_json(value: Any) -> None:
    """Print a value for machines; where stdout cannot hold all letters, they are escaped."""
    ascii_only = "utf" not in (sys.stdout.encoding or "").lower()
    print(json.dumps(value, indent=2, ensure_ascii=ascii_only, allow_nan=False))


def open_streams() -> None:
    """Let what is printed to a stream that is closed (``>&-``) go nowhere."""
    if os.name == "posix":
        # The next file that is opened would get the number of the closed stream, and what libraries
        # and other processes print would go into it.
        while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
            os.set_inheritable(handle, True)
        os.close(handle)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (it stays open)
            setattr(sys, name, nowhere)


def show_all_letters() -> None:
    """Let letters that a terminal or pipe cannot show become "?": work must not fail of them.

    Among them are bytes of a file's name that are no letters: no encoding can show these.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def print_notes(notes: Iterable[str]) -> None:
    """Print what a user should know, a line each, on stderr."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    for note in notes:
        line = Text.assemble(("note: ", "yellow"), Text(note))
        console.print(line, soft_wrap=True)


def print_points(console: "Console", points: Iterable[str]) -> None:
    """Print sentences as a list."""
    from rich.text import Text

    for point in points:
        lines = Text(point).wrap(console, max(20, console.width - 2))
        for i, line in enumerate(lines):
            line.rstrip()
            mark = Text("  ") if i else Text("- ", style="yellow")
            console.print(Text.assemble(mark, line), soft_wrap=True)


def bar(console: "Console", share: float) -> str:
    """Return a bar of a length between 0 and 1, in letters that the console can show."""
    full = "█" if "utf" in console.encoding.lower() else "#"
    return full * max(1, round(BAR_WIDTH * min(max(share, 0.0), 1.0)))


def facts_grid(rows: Iterable[tuple[str, str]], *, style: str = "") -> "Table":
    """Return two columns: a word, and what there is to say; names are no markup."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style=style)
    grid.add_column(overflow="fold")
    for name, text in rows:
        grid.add_row(Text(name), Text(text))
    return grid


def plain_table(head: Iterable[str]) -> "Table":
    """Return a table without borders: a column of names, numbers on its right."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in head:
        table.add_column(name, justify="left" if name == "method" else "right")
    return table


def read_input(table: Path, progress: Any, *, drop: list[str] | None, **options: Any) -> "Dataset":
    """Read a table of the user, and say that this is going on."""
    from featsieve.datasets import read_table

    progress(f"reading {table.name}", 0, 1)
    return read_table(table, drop=drop or (), **options)


def with_interval(stability: "Stability") -> str:
    """Return a stability, with its confidence interval if there are enough selections for one."""
    if stability.n_selections < ENOUGH:
        return f"{stability.value:.2f}"
    low, high = stability.interval
    return f"{stability.value:.2f} ({low:.2f} to {high:.2f})"


@contextmanager
def progress_bar(stop: "Stop", *, quiet: bool = False) -> Iterator[Any]:
    """Give a function ``progress(text, done, total)`` that draws a bar on a terminal.

    In a pipe, or where it shall be quiet, nothing is drawn. It stops the work if that was asked
    for.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda text, done, total: stop.check()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task("starting", total=None)

        def show(text: str, done: int, total: int) -> None:
            stop.check()
            drawn.update(task, description=text, completed=done, total=total, refresh=True)

        yield show
