"""``featsieve report``: the page of a selection or of a benchmark, written again."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from featsieve.cli import options
from featsieve.cli.console import print_json
from featsieve.io.files import check_free

PAGE = "report.html"


def report(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="Folder that `select` or `bench run` wrote."),
    ],
    output_file: Annotated[
        Path | None, options.output_option("FILE", "HTML file [default: RUN/report.html].")
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Write the report of a run again: one HTML page that opens without network.

    Useful where the page was lost, or a newer featsieve draws a better one. Nothing is computed.
    RUN/report.html is replaced; any other file only with `--force`.

    Example: `featsieve report results`
    """
    from featsieve.io.results import recover, results_locked

    if output_file is not None and output_file.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{output_file}: a report is an HTML page; name it with -o FILE.html.")
    summary = run if run.name == "summary.json" else run / "summary.json"
    folder = summary.parent
    target = output_file or folder / PAGE
    check_page(target, folder, force=force)
    recover(folder)
    if summary.is_file():
        from featsieve.workflow.outputs import render_again

        inside = target.absolute().parent == folder.absolute()
        with results_locked(folder) if inside else nullcontext():
            render_again(summary, target)
    elif (folder / "cells").is_dir():
        from featsieve.cli.bench import write_report

        write_report(folder, target)
    else:
        raise FileNotFoundError(
            f"{run} holds no results: name the folder that `featsieve select ... -o FOLDER` or "
            "`featsieve bench run` wrote."
        )
    if as_json:
        print_json({"report": str(target)})
    else:
        typer.echo(f"Wrote {target}")


def check_page(target: Path, folder: Path, *, force: bool) -> None:
    """Raise if a page would replace a file, other than the page of the same run."""
    own = target.absolute() == (folder / PAGE).absolute()
    check_free(target, overwrite=force or own)
