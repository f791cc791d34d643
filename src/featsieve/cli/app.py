"""The command line as a whole: its commands, and what becomes of errors."""

import os
import shlex
import sys
import warnings
from collections.abc import Sequence
from typing import Annotated, Any

import typer

import featsieve
from featsieve.cli.apply import apply_command
from featsieve.cli.bench import bench
from featsieve.cli.compare import compare_command
from featsieve.cli.console import open_streams, show_all_letters
from featsieve.cli.demo import demo_command
from featsieve.cli.doctor import doctor_command
from featsieve.cli.inspect import inspect_command
from featsieve.cli.report import report_command
from featsieve.cli.select import select_command
from featsieve.io.files import legible

DEBUG_VARIABLE = "FEATSIEVE_DEBUG"
# A mistake of the user, or input that cannot be used; 1 is for checks that failed.
MISTAKE = 2

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.command("select")(select_command)
app.command("apply")(apply_command)
app.command("inspect")(inspect_command)
app.command("compare")(compare_command)
app.command("report")(report_command)
app.command("demo")(demo_command)
app.command("doctor")(doctor_command)
app.add_typer(bench, name="bench")


def _print_version(wanted: bool) -> None:
    """Print the version and end, before anything else is looked at."""
    if wanted:
        typer.echo(f"featsieve {featsieve.__version__}")
        raise typer.Exit


@app.callback()
def featsieve_command(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print it.", callback=_print_version, is_eager=True),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error comes from.", envvar=DEBUG_VARIABLE)
    ] = False,
) -> None:
    """Find, without labels, the group of features that carries a table's cluster structure.

    Look at a table first: `featsieve inspect table.csv`

    Select its features: `featsieve select table.csv -o results`, then open results/report.html

    Use the selection on other rows: `featsieve apply results/model.skops new.csv -o selected.csv`

    Every command explains itself: `featsieve select --help`. Exit codes: 0 all is well, 1 a check
    failed, 2 a mistake in the command or in the input, 130 stopped by Ctrl-C.
    """
    if debug:
        os.environ[DEBUG_VARIABLE] = "1"


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; a user's mistake ends in one sentence, not in a traceback."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    open_streams()
    show_all_letters()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            # commands that write down how they were called find it as the object of their context
            app(words, prog_name="featsieve", obj=legible(shlex.join(["featsieve", *words])))
    except (ValueError, OSError, ImportError, MemoryError) as error:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        print(f"featsieve: {_one_line(error)}", file=sys.stderr)
        sys.exit(MISTAKE)


def _show_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    """Print a warning as a sentence: where in the code it comes from helps nobody here."""
    print(f"featsieve: {' '.join(str(message).split())}", file=sys.stderr)


def _one_line(error: Exception) -> str:
    """Return what an error says, without line ends."""
    if isinstance(error, MemoryError):
        return (
            f"There is not enough memory ({error or 'it ran out'}): use fewer rows or columns, or "
            "a sparse table."
        )
    if isinstance(error, OSError) and error.strerror and error.filename is None:
        # errors of files have their names: see featsieve.io.files
        return f"What is printed cannot be written ({error.strerror})."
    return " ".join(str(error).split()) or type(error).__name__
