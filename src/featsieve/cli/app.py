"""The command line as a whole: its commands, and what becomes of errors."""

import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

import featsieve
from featsieve.cli.console import closed_pipe_ends, stoppable
from featsieve.cli.options import spread_groups

# Each is a module of this folder, with a function (or a group of commands) of its name.
COMMANDS = ("select", "panel", "apply", "inspect", "compare", "report", "demo", "doctor", "bench")
SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "pretty_exceptions_enable": False,
    "rich_markup_mode": "markdown",
}

# What typer raises for a mistake in the words; where it comes from depends on the version.
USAGE_ERROR: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


class StoppableCommands(TyperGroup):
    """Commands that Ctrl-C and SIGTERM can stop at any time, and whose output need not be read."""

    def make_context(self, *args: Any, **more: Any) -> Any:
        """Read the words of a command line; --help and --version print and end here."""
        with closed_pipe_ends():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with closed_pipe_ends(), stoppable():
            return super().invoke(ctx)


app = typer.Typer(cls=StoppableCommands, no_args_is_help=True, **SETTINGS)
for name in COMMANDS:
    found = getattr(import_module(f"featsieve.cli.{name}"), name)
    if isinstance(found, typer.Typer):
        app.add_typer(found, name=name)
    else:
        app.command(name)(spread_groups(found))


def _print_version(wanted: bool) -> None:
    """Print the version and end, before other options are read."""
    if wanted:
        typer.echo(f"featsieve {featsieve.__version__}")
        raise typer.Exit


@app.callback()
def featsieve_command(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print it.", callback=_print_version, is_eager=True),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    """Find, without labels, the group of features that carries a table's cluster structure.

    Look at a table first: `featsieve inspect table.csv`

    Select its features: `featsieve select table.csv -o results`, then open results/report.html

    Use the selection on other rows: `featsieve apply results/model.skops new.csv -o selected.csv`

    Every command explains itself: `featsieve select --help`. Exit codes: 0 all is well, 1 a check
    failed, 2 a mistake in the command or in the input, 130 stopped by Ctrl-C.
    """


def print_warning(message: Warning | str, *where: Any, **more: Any) -> None:
    """Print a warning as a sentence, without its place in the code."""
    print(f"featsieve: {' '.join(str(message).split())}", file=sys.stderr)


def usage_sentence(error: Any) -> str:
    """Return what typer says about a mistake in the command line, as our own errors are said."""
    message = " ".join(str(error.format_message()).split()).rstrip(".")
    command = error.ctx.command_path if getattr(error, "ctx", None) is not None else "featsieve"
    return f"{message}{'' if message.endswith('?') else '.'} See {command} --help."


def error_sentence(error: Exception) -> str:
    """Return the message of an error as one line."""
    if isinstance(error, MemoryError):
        return (
            f"There is not enough memory ({error or 'it ran out'}): use fewer rows or columns, or "
            "a sparse table."
        )
    if isinstance(error, OSError) and error.strerror and error.filename is None:
        # errors of files have their names: see featsieve.io.files
        return f"What is printed cannot be written ({error.strerror})."
    return " ".join(str(error).split()) or type(error).__name__
