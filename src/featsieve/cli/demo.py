"""``featsieve demo``."""

from pathlib import Path
from typing import Annotated

import typer

from featsieve.cli import options
from featsieve.cli.stopping import stoppable


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the reports.")] = Path(
        "demo-report"
    ),
    force: options.Force = False,
) -> None:
    """Select features of embedded tables with known truth, and write reports to look at.

    Planted columns (are they found?), noise (is it told from signal?) and handwritten digits (which
    pixels?). It takes less than a minute and needs no network. The reports of an earlier demo are
    replaced; other files only with `--force`.

    Example: `featsieve demo -o demo-report`
    """
    with stoppable():
        from rich.console import Console

        from featsieve.demo import run_demo

        console = Console()
        report = run_demo(output, console=console, overwrite=force)
    console.print(f"\nOpen [bold]{report}[/] in a browser.", soft_wrap=True)
