"""The command ``featsieve``; it needs the extra "cli" (typer and rich).

Each group of commands is a file of this folder, and does its heavy imports inside the commands: a
help text must not wait for them.
"""

import shlex
import sys
import warnings
from collections.abc import Sequence
from importlib.util import find_spec

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, and end the process; a mistake ends in one sentence.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process if not given.

    Examples
    --------
    >>> from featsieve.cli import main
    >>> main(["--version"])
    Traceback (most recent call last):
    SystemExit: 0
    """
    if find_spec("typer") is None or find_spec("rich") is None:
        print(
            "The command featsieve needs typer and rich: pip install 'featsieve[cli]'.",
            file=sys.stderr,
        )
        sys.exit(1)
    from typer import echo  # to a stream that is closed it writes nothing

    from featsieve.cli.app import USAGE_ERROR, app, error_sentence, print_warning, usage_sentence
    from featsieve.cli.console import prepare_streams
    from featsieve.io.files import legible

    words = sys.argv[1:] if arguments is None else list(arguments)
    prepare_streams()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = print_warning
            # commands that write down how they were called find it as the object of their context
            told = legible(shlex.join(["featsieve", *words]))
            sys.exit(app(words, prog_name="featsieve", obj=told, standalone_mode=False) or 0)
    except USAGE_ERROR as error:
        if error.format_message():  # there is none behind the help, which was printed
            echo(f"featsieve: {usage_sentence(error)}", err=True)
        sys.exit(2)
    except (ValueError, OSError, ImportError, MemoryError) as error:
        if "--debug" in words:
            raise
        echo(f"featsieve: {error_sentence(error)}", err=True)
        sys.exit(2)  # a mistake in the command or its input; 1 is for checks that failed
