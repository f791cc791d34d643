"""The command line as a whole: its groups of commands, and what becomes of errors."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

import featsieve
from featsieve.cli.bench import bench

DEBUG_VARIABLE = "FEATSIEVE_DEBUG"

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
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
    """Find, without labels, the group of features that carries a table's cluster structure."""
    if debug:
        os.environ[DEBUG_VARIABLE] = "1"


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; a user's mistake ends in one sentence, not in a traceback."""
    try:
        app(arguments, prog_name="featsieve")
    except (ValueError, OSError, ImportError) as error:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        print(f"featsieve: {error}", file=sys.stderr)
        sys.exit(2)
