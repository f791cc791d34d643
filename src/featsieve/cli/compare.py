"""``featsieve compare``: several methods on one table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from featsieve.cli import options
from featsieve.cli.console import output, plain_table, print_json, print_notes, progress_line

if TYPE_CHECKING:
    from rich.console import Console


def compare(
    table: options.TableFile,
    *,
    methods: Annotated[
        Any,
        typer.Option(
            parser=options.read_methods,
            metavar="NAME,NAME,...",
            help=f"Out of {options.METHODS}; or `all`, which takes long.",
        ),
    ] = "jasfs,laplacianscore,mcfs,maxvariance",
    reading: options.Reading,
    choosing: options.Choosing,
    keeping: options.Keeping,
    output_file: Annotated[
        Path | None,
        options.output_option(
            "FILE.csv", "Write the numbers, and the selected features, as a table."
        ),
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Let several methods select as many features, and compare: agreement, stability, time.

    Agreement is the Jaccard index: features that two methods share over features that either
    selects. Stability says whether a method selects the same features again from 80 % of the rows;
    it is no proof of being right. With `--label-column`, k-means on the selected columns is judged
    by these classes, and so is k-means on all columns; no method sees them. A method that fails is
    listed with the reason, and does not stop the others.

    Exit code 1: all methods failed.

    Example: `featsieve compare genes.csv --methods jasfs,mcfs,ndfs --features 50`

    Example: `featsieve compare genes.csv --subsamples 0 -o comparison.csv`
    """
    from featsieve.io.table import check_output, write_csv
    from featsieve.tables import Table
    from featsieve.workflow.compare import compare_methods
    from featsieve.workflow.methods import find_method

    for name in methods:
        find_method(name)  # before a large table is read
    constraints = keeping.read()
    if output_file is not None:
        check_output(output_file, others=[table], overwrite=force, text=True)
    with progress_line(quiet=as_json) as progress:
        data = reading.read(table, progress, batch_column=keeping.batch_column)
        settings = vars(choosing) | constraints
        compared = compare_methods(data, methods, progress=progress, **settings)
    if output_file is not None:
        rows = compared["methods"]
        write_csv(output_file, Table({key: [row[key] for row in rows] for key in rows[0]}))
    if as_json:
        print_json(compared)
    else:
        print_notes(compared["notes"])
        _show(output(), compared)
        if output_file is not None:
            typer.echo(f"Wrote {output_file}")
    if all(row["status"] != "done" for row in compared["methods"]):
        raise typer.Exit(1)


def _show(console: "Console", compared: dict[str, Any]) -> None:
    """Print a line per method, and how far they agree."""
    from rich.text import Text

    rows = [row for row in compared["methods"] if row["status"] != "reference"]
    judged = ["accuracy", "nmi"] if "accuracy" in rows[0] else []
    keys = ["seconds", "stability", *judged]
    cells, shared = [], []
    for number, row in enumerate(compared["methods"], start=1):
        place = "" if row["status"] == "reference" else str(number)
        cells.append([place, row["method"], *(_cell(row[key]) for key in keys)])
        shared.append([place, *(_cell(row[f"jaccard_{other['method']}"]) for other in rows)])
    n, d = compared["n_samples"], compared["n_features"]
    features = f"{compared['n_selected']:,} of {d:,} features of {n:,} samples"
    console.print(f"\n{features}, {compared['n_clusters']} clusters\n")
    head = ["#", "method", *keys[:-1], "NMI"] if judged else ["#", "method", *keys]
    console.print(plain_table(head, cells, left=["method"]))
    if judged:
        console.print(
            "Accuracy and NMI: known classes found by k-means on the selected columns, and on all. "
            "Labels used to judge only."
        )
    head = ["#", *(str(number) for number in range(1, len(rows) + 1))]
    console.print(plain_table(head, shared[: len(rows)]))
    console.print(
        "Share of features that two methods both select, by their numbers above. Two random "
        f"choices share {compared['jaccard_by_chance']:.2f}."
    )
    for row in rows:
        if row["status"] == "failed":
            console.print(Text.assemble((f"{row['method']} failed: ", "red"), row["reason"]))


def _cell(value: float | None) -> str:
    """Return a number as text, nothing for none."""
    return "" if value is None else f"{value:.2f}"
