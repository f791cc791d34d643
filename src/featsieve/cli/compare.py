"""``featsieve compare``: several methods on one table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from featsieve.cli import options
from featsieve.cli.console import (
    output,
    plain_table,
    print_json,
    print_notes,
    progress_bar,
    read_input,
    with_interval,
)
from featsieve.cli.stopping import stoppable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

    from featsieve.workflow import Comparison

MOST_TOGETHER = 5  # methods whose agreement has place beside the other numbers


def compare(
    table: options.TableFile,
    methods: Annotated[
        str,
        typer.Option(
            metavar="NAME,NAME,...", help=f"Out of {options.METHODS}; or `all`, which takes long."
        ),
    ] = "jasfs,laplacianscore,mcfs,maxvariance",
    clusters: options.Clusters = "auto",
    features: Annotated[
        str,
        options.features_option(
            "How many features each method selects: a count, a share, or as many as JASFS finds."
        ),
    ] = "auto",
    standardize: options.Standardize = False,
    drop: options.Drop = None,
    drop_text: options.DropText = False,
    header: options.Header = None,
    id_column: options.IdColumn = None,
    label_column: options.LabelColumn = None,
    impute: options.Impute = None,
    subsamples: options.Subsamples = None,
    seed: options.Seed = 0,
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
    told, and does not stop the others.

    Exit code 1: all methods failed.

    Example: `featsieve compare genes.csv --methods jasfs,mcfs,ndfs --features 50`

    Example: `featsieve compare genes.csv --subsamples 0 -o comparison.csv`
    """
    settings = options.read_selection(clusters, features, impute)
    names = options.read_methods(methods)
    with stoppable() as stop:
        from featsieve.io.write import check_outputs, write_csv
        from featsieve.workflow.compare import compare_methods
        from featsieve.workflow.methods import find_method

        for name in names:
            find_method(name)  # mistakes are told before a large table is read
        check_outputs([output_file], sources=[table], tables=False, overwrite=force)
        with progress_bar(stop, quiet=as_json) as progress:
            data = read_input(
                table,
                progress,
                label_column=label_column,
                id_column=id_column,
                drop=drop,
                drop_text=drop_text,
                header=header,
            )
            compared = compare_methods(
                data,
                names,
                standardize=standardize,
                n_subsamples=subsamples,
                random_state=seed,
                progress=progress,
                **settings,
            )
        if output_file is not None:
            write_csv(output_file, compared.table())
    if as_json:
        print_json(compared.as_dict())
    else:
        print_notes(compared.notes)
        _show(output(), compared)
        if output_file is not None:
            typer.echo(f"Wrote {output_file}")
    if all(entry.support is None for entry in compared.entries):
        raise typer.Exit(1)


def _show(console: "Console", compared: "Comparison") -> None:
    """Print a line per method, and how far they agree."""
    from rich.text import Text

    n, d = compared.prepared.X.shape
    console.print(
        f"\n{compared.n_features:,} of {d:,} features of {n:,} samples, {compared.n_clusters} "
        "clusters\n"
    )
    together = len(compared.entries) <= MOST_TOGETHER
    for table in _tables(compared, together=together):
        console.print(table)
    where = "Columns with the name of a method" if together else "The second table"
    console.print(
        f"{where}: share of features that both select. Two random choices share "
        f"{compared.by_chance:.2f}."
    )
    if compared.all_features is not None:
        console.print(
            "Accuracy and NMI: known classes found by k-means on the selected columns, and on all. "
            "Labels used to judge only."
        )
    for entry in compared.entries:
        if entry.support is None:
            console.print(Text.assemble((f"{entry.method} failed: ", "red"), Text(entry.reason)))


def _tables(compared: "Comparison", *, together: bool) -> list["RichTable"]:
    """Return the methods and their agreement, in one table or in two with numbered methods."""
    judged = compared.all_features is not None
    numbers = [] if together else ["#"]
    names = [entry.method for entry in compared.entries]
    shared = [[f"{v:.2f}" if v == v else "" for v in row] for row in compared.agreement]
    head = ["seconds", "stability", *(["accuracy", "NMI"] if judged else [])]
    methods = plain_table([*numbers, "method", *head, *(names if together else [])])
    for i, entry in enumerate(compared.entries):
        cells = [entry.method, f"{entry.seconds:.2f}" if entry.support is not None else "failed"]
        cells.append("" if entry.stability is None else with_interval(entry.stability))
        cells += _scores(entry.agreement) if judged else []
        methods.add_row(*([] if together else [str(i + 1)]), *cells, *(shared[i] * together))
    if judged:
        methods.add_section()
        blank = [""] * len(numbers)
        methods.add_row(*blank, "all features", "", "", *_scores(compared.all_features))
    if together:
        return [methods]
    agreement = plain_table(["#", *(str(i + 1) for i in range(len(names)))])
    for i, row in enumerate(shared):
        agreement.add_row(str(i + 1), *row)
    return [methods, agreement]


def _scores(agreement: dict[str, float] | None) -> list[str]:
    """Return accuracy and mutual information as cells."""
    return ["", ""] if agreement is None else [f"{score:.2f}" for score in agreement.values()]
