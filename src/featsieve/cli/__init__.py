"""The command ``featsieve``; it needs the extra "cli" (typer and rich).

Each group of commands is a file of this folder, and does its heavy imports inside the commands: a
help text must not wait for them.
"""

import sys
from collections.abc import Sequence
from importlib.util import find_spec

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, and end the process.

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
    from featsieve.cli.app import run

    run(arguments)
