"""``featsieve report``: the page of a selection or of a benchmark, written again."""

from pathlib import Path
from typing import Annotated

import typer

from featsieve.cli import options


def report(
    run: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="Folder that `select` or `bench run` wrote."),
    ],
    output_file: Annotated[
        Path | None,
        options.output_option(
            "FILE", "The page [default: RUN/report.html, of a benchmark RUN/report.md]."
        ),
    ] = None,
    force: options.Force = False,
) -> None:
    """Write the report of a run again: a selection's as HTML, a benchmark's as Markdown.

    Useful where the page was lost, a newer featsieve draws a better one, or a benchmark still runs.
    Nothing is computed. The page in RUN is replaced; any other file only with `--force`.

    Example: `featsieve report results`

    Example: `featsieve bench report results -o report.md --force`
    """
    from featsieve.io.files import check_free, write_text
    from featsieve.io.results import recover

    recover(run)
    benchmark = (run / "plan.json").is_file()
    if not benchmark and not (run / "summary.json").is_file():
        raise FileNotFoundError(
            f"{run} holds no results: name the folder that `featsieve select ... -o FOLDER` or "
            "`featsieve bench run` wrote."
        )
    kind, ending = ("a page of Markdown", ".md") if benchmark else ("an HTML page", ".html")
    own = run / f"report{ending}"
    page = output_file or own
    if page.suffix.lower() != ending:
        raise ValueError(f"{page}: this report is {kind}; name it with -o FILE{ending}.")
    check_free(page, overwrite=force or page.absolute() == own.absolute())
    if benchmark:
        from featsieve.bench.store import Store
        from featsieve.report import write_bench_report

        about, rows = Store(run).about(), Store(run).read()
        if not len(rows):
            raise ValueError(f"No cell in {run} is finished yet: run the plan first.")
        write_bench_report(
            rows,
            page,
            title=about["title"],
            planned=about["cells"],
            left_out=about.get("left_out"),
        )
    else:
        from featsieve.report import render_selection
        from featsieve.workflow.outputs import read_summary

        write_text(page, render_selection(read_summary(run / "summary.json")))
    typer.echo(f"Wrote {page}")
