"""``featsieve bench``: run the benchmarks, and read what came of them."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from featsieve.cli import options
from featsieve.cli.console import print_json
from featsieve.cli.report import report
from featsieve.io.files import check_free

if TYPE_CHECKING:
    from featsieve.bench.run import RunSummary

PLANS = "open, open_thin, paper, planted, smoke"  # as in featsieve.bench.plan_names
MOST_FAILURES = 5  # cells without a result that are listed

bench = typer.Typer(
    no_args_is_help=True,
    help="Compare selectors on data sets with known classes, and reproduce the paper's tables.",
)


@bench.command("run")
def run_command(
    plan: Annotated[str, typer.Argument(help=f"One of {PLANS}, or a TOML file.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of the results [default: bench-PLAN].")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder of the data sets [default: $FEATSIEVE_DATA].")
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Cells run at the same time; -1: one per core.")
    ] = 1,
    retry: Annotated[
        bool, typer.Option("--retry", help="Run cells again that failed or took too long before.")
    ] = False,
    rows: Annotated[
        list[Path] | None,
        typer.Option(
            help="Results to start from: a folder of another run, or its cells.jsonl (also .gz); "
            "only what the same code computed is taken. Can be repeated."
        ),
    ] = None,
    download: Annotated[
        bool,
        typer.Option("--download", help="Fetch data sets that are not there, where possible."),
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with exit code 1 unless every cell has a result.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Run a plan.

    Every finished cell (one fit of one method on one data set) is written at once. Stop when you
    like: the same command goes on where it stopped, and computes nothing twice. Data sets that are
    not there are left out; run again when they are.

    Cells without a result and data sets that are left out are listed, and are no error: the exit
    code is 0, or 1 with `--strict`.

    Example: `featsieve bench run smoke --out results --jobs 2`

    Example: `featsieve bench run paper --data my-data --jobs 2`
    """
    from featsieve.bench.parse import load_plan
    from featsieve.bench.run import BenchProgress, run_plan

    loaded = load_plan(plan)
    summary = run_plan(
        loaded,
        out or Path(f"bench-{loaded.name}"),
        data=data,
        download=download,
        jobs=jobs,
        retry=retry,
        rows=rows,
        progress=BenchProgress(sys.stderr),
    )
    if as_json:
        total = {"total": summary.total, "flawless": summary.flawless}
        print_json({**vars(summary), "folder": str(summary.folder), **total})
    else:
        _print_summary(summary)
    raise typer.Exit(int(strict and not summary.flawless))


bench.command("report")(report)


@bench.command("export")
def export_command(
    folder: Annotated[Path, typer.Argument(help="Folder that `bench run` wrote.")],
    output: Annotated[Path, options.output_option("FILE", "CSV file, or .parquet.")],
    force: options.Force = False,
) -> None:
    """Write the results as one tidy table for other tools: a row for every score.

    `featsieve.bench.load_results` reads it again; the page on benchmarks explains its columns.

    A file that is there is replaced only with `--force`.

    Example: `featsieve bench export results -o results.csv --force`
    """
    from featsieve.bench.results import export_results

    check_free(output, overwrite=force)
    count = export_results(folder, output)
    typer.echo(f"Wrote {output}: {count} rows")


def _print_summary(summary: "RunSummary") -> None:
    """Print what a run did, what is missing and what can be done next."""
    from featsieve.progress import format_seconds

    counts = ", ".join(f"{count} {status}" for status, count in sorted(summary.statuses.items()))
    typer.echo(
        f"{summary.plan}: {summary.total} cells ({counts}); {summary.computed} of them computed "
        f"now, in {format_seconds(summary.seconds)}."
    )
    for line in summary.failures[:MOST_FAILURES]:
        typer.echo(f"  {line}")
    more = len(summary.failures) - MOST_FAILURES
    if more > 0:
        typer.echo(f"  ... and {more} more; see the column 'reason'.")
    for name, why in summary.left_out.items():
        typer.echo(f"Left out: {name} ({why}). Mended, the same command adds it.")
    typer.echo(f"Results are in {summary.folder}: featsieve bench report {summary.folder}")
