"""What is printed and where (results on stdout, progress and notes on stderr), and Ctrl-C."""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDTH = 100  # of a pipe, which has none of its own
EXIT_CODES: dict[int, int] = {signal.SIGINT: 130, signal.SIGTERM: 143}
_received: list[int] = []


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
        # a benchmark says in the error how to go on
        typer.echo(f"featsieve: stopped; {str(error) or 'nothing is left half written'}.", err=True)
        raise typer.Exit(EXIT_CODES[_received[0] if _received else signal.SIGINT]) from None
    finally:
        _received.clear()
        for number, handler in handlers.items():
            signal.signal(number, handler or signal.SIG_DFL)


@contextmanager
def closed_pipe_ends() -> Iterator[None]:
    """End well where nobody reads on: ``featsieve ... | head`` has its lines, all is written."""
    ended = typer.Exit(0)
    try:
        try:
            yield
        except typer.Exit as error:  # behind --help, for one
            ended = error
            print(end="", flush=True)
            raise
        print(end="", flush=True)
    except (BrokenPipeError, SystemExit):  # rich turns the first into the second
        # what is left in the buffer goes nowhere
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        raise ended from None


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


def text_grid(rows: Iterable[Sequence[str]], *, gap: int = 2) -> "Table":
    """Return texts in columns, of which the last is wrapped; names are no markup."""
    from rich.table import Table
    from rich.text import Text

    rows = list(rows)
    grid = Table.grid(padding=(0, gap))
    for j in range(len(rows[0]) if rows else 0):
        grid.add_column(no_wrap=j < len(rows[0]) - 1, overflow="fold")
    for row in rows:
        grid.add_row(*map(Text, row))
    return grid


def plain_table(
    head: Sequence[str], rows: Iterable[Iterable[str]], *, left: Iterable[str] = ()
) -> "Table":
    """Return a table without borders; columns are aligned on the right but for those named."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in head:
        table.add_column(name, justify="left" if name in left else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(Text, row))
    return table


@contextmanager
def progress_line(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Give a function that shows on a terminal what is done now; in a pipe it shows nothing."""
    if quiet or not sys.stderr.isatty():
        yield lambda text: check_stopped()
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status("starting") as status:

        def show(text: str) -> None:
            check_stopped()
            status.update(Text(text))

        yield show
