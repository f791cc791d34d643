"""What is printed, and where: results on stdout, progress and notes on stderr."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from featsieve.cli.stopping import check_stopped

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDTH = 100  # of a pipe, which has none of its own


def prepare_streams() -> None:
    """Let nothing fail because a stream is closed (``>&-``) or cannot show a letter."""
    if os.name == "posix":
        # The next file that is opened would get the number of the closed stream, and what libraries
        # and other processes print would go into it.
        while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
            os.set_inheritable(handle, True)
        os.close(handle)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def output() -> "Console":
    """Return the console of results: colours on a terminal, plain text in a pipe."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = WIDTH
    return console


def print_json(value: Any) -> None:
    """Print a value for machines; where stdout cannot hold all letters, they are escaped."""
    ascii_only = "utf" not in (getattr(sys.stdout, "encoding", None) or "").lower()
    print(json.dumps(value, indent=2, ensure_ascii=ascii_only, allow_nan=False))


def print_notes(notes: Iterable[str]) -> None:
    """Print what a user should know, a line each, on stderr."""
    for note in notes:
        typer.echo(typer.style("note: ", fg="yellow") + note, err=True)


def facts_grid(rows: Iterable[tuple[str, str]], *, style: str = "", gap: int = 2) -> "Table":
    """Return two columns: a word, and what there is to say; names are no markup."""
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, gap))
    grid.add_column(no_wrap=True, style=style)
    grid.add_column(overflow="fold")
    for name, text in rows:
        grid.add_row(Text(name), Text(text))
    return grid


def plain_table(head: Iterable[str], *, left: Iterable[str] = ()) -> "Table":
    """Return a table without borders; columns are aligned on the right but for those named."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in head:
        table.add_column(name, justify="left" if name in left else "right", overflow="fold")
    return table


@contextmanager
def progress_bar(*, quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """Give a function ``progress(text, done, total)`` that draws a bar on a terminal.

    In a pipe, or where it shall be quiet, nothing is drawn.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda text, done, total: check_stopped()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), BarColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task("starting", total=None)

        def show(text: str, done: int, total: int) -> None:
            check_stopped()
            drawn.update(task, description=text, completed=done, total=total, refresh=True)

        yield show
