"""``featsieve report``: the page of a selection or of a benchmark, written again."""

from pathlib import Path
from typing import Annotated

import typer

from featsieve.cli import options
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
    markdown: Annotated[
        Path | None, typer.Option(help="Write the page of a benchmark as Markdown, too.")
    ] = None,
    force: options.Force = False,
) -> None:
    """Write the report of a run again: one HTML page that opens without network.

    Useful where the page was lost, a newer featsieve draws a better one, or a benchmark still runs.
    Nothing is computed. RUN/report.html is replaced; any other file only with `--force`.

    Example: `featsieve report results`

    Example: `featsieve bench report results --markdown report.md --force`
    """
    from featsieve.io.results import recover

    if output_file is not None and output_file.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{output_file}: a report is an HTML page; name it with -o FILE.html.")
    page = output_file or run / PAGE
    check_free(page, overwrite=force or page.absolute() == (run / PAGE).absolute())
    if markdown is not None:
        check_free(markdown, overwrite=force)
    recover(run)
    written = [page]
    if (run / "summary.json").is_file():
        from featsieve.io.files import write_text
        from featsieve.report import render_selection
        from featsieve.workflow.outputs import read_summary

        if markdown is not None:
            raise ValueError(
                f"--markdown is for benchmarks: {run} holds a selection; omit --markdown."
            )
        write_text(page, render_selection(read_summary(run / "summary.json")))
    elif (run / "plan.json").is_file():
        from featsieve.bench.store import Store
        from featsieve.report import write_bench_report

        about, rows = Store(run).about(), Store(run).read()
        if not len(rows):
            raise ValueError(f"No cell in {run} is finished yet: run the plan first.")
        planned = {"title": about["title"], "planned": about["cells"]}
        write_bench_report(rows, page, markdown=markdown, **planned)
        written += [markdown] if markdown is not None else []
    else:
        raise FileNotFoundError(
            f"{run} holds no results: name the folder that `featsieve select ... -o FOLDER` or "
            "`featsieve bench run` wrote."
        )
    typer.echo(f"Wrote {' and '.join(map(str, written))}")
