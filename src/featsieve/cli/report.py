"""``featsieve report``: the page of a selection or of a benchmark, written again."""

from pathlib import Path
from typing import Annotated

import typer

from featsieve.cli import options
from featsieve.cli.console import print_json
from featsieve.cli.stopping import stoppable

SUMMARY = "summary.json"


def report_command(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="Folder that `select` or `bench run` wrote."),
    ],
    output_file: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="HTML file [default: RUN/report.html]."
        ),
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Write the report of a run again: one HTML page that opens without network.

    Useful where the page was lost, or a newer featsieve draws a better one. Nothing is computed.

    Example: `featsieve report results -o report.html`
    """
    if output_file is not None and output_file.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{output_file}: a report is an HTML page; name it with -o FILE.html.")
    with stoppable():
        from featsieve.workflow.replacing import settle

        settle(run)
        summary = run if run.name == SUMMARY else run / SUMMARY
        if summary.is_file():
            from featsieve.workflow.replacing import finish, locked
            from featsieve.workflow.summary import render_again

            target = output_file or summary.with_name("report.html")
            with locked(summary.parent):  # nobody puts another summary beside the page meanwhile
                finish(summary.parent)
                render_again(summary, target)
            _tell(target, as_json=as_json)
            return
        if not (run / "cells").is_dir():
            raise FileNotFoundError(
                f"{run} holds no results: name the folder that `featsieve select ... -o FOLDER` or "
                "`featsieve bench run` wrote."
            )
        from featsieve.cli.bench import write_report

        target = output_file or run / "report.html"
        write_report(run, target, quiet=True)
        _tell(target, as_json=as_json)


def _tell(target: Path, *, as_json: bool) -> None:
    """Say where the page is."""
    if as_json:
        print_json({"report": str(target)})
    else:
        typer.echo(f"Wrote {target}")
