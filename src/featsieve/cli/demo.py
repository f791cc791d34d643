"""``featsieve demo``."""

from pathlib import Path
from typing import Annotated

import typer

from featsieve.cli import options
from featsieve.cli.console import output


def demo(
    output_folder: Annotated[
        Path, options.output_option("FOLDER", "Folder of the reports.")
    ] = Path("demo-report"),
    force: options.Force = False,
) -> None:
    """Select features of embedded tables with known truth, and write reports to look at.

    Planted columns (are they found?), noise (is it told from signal?) and handwritten digits (which
    pixels?). It takes less than a minute and needs no network. Earlier reports are replaced with
    `--force` only.

    Example: `featsieve demo -o demo-report`
    """
    from featsieve.demo import run_demo

    report = run_demo(output_folder, console=output(), overwrite=force)
    typer.echo(f"\nOpen {report} in a browser.")
