"""``featsieve compare``: several methods on one table."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from featsieve.cli import options
from featsieve.cli.console import (
    output,
    plain_table,
    print_json,
    print_notes,
    progress_bar,
)

if TYPE_CHECKING:
    from rich.console import Console

    from featsieve.evaluation import Stability
    from featsieve.workflow import Comparison

FEWEST_SELECTIONS = 5  # for a confidence interval


def compare(
    table: options.TableFile,
    methods: Annotated[
        Any,
        typer.Option(
            parser=options.read_methods,
            metavar="NAME,NAME,...",
            help=f"Out of {options.METHODS}; or `all`, which takes long.",
        ),
    ] = "jasfs,laplacianscore,mcfs,maxvariance",
    clusters: options.Clusters = "auto",
    features: Annotated[
        Any,
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
    listed with the reason, and does not stop the others.

    Exit code 1: all methods failed.

    Example: `featsieve compare genes.csv --methods jasfs,mcfs,ndfs --features 50`

    Example: `featsieve compare genes.csv --subsamples 0 -o comparison.csv`
    """
    from featsieve.datasets import read_table
    from featsieve.io.write import check_outputs, write_csv
    from featsieve.workflow.compare import compare_methods
    from featsieve.workflow.methods import find_method

    for name in methods:
        find_method(name)  # before a large table is read
    check_outputs([output_file], sources=[table], tables=False, overwrite=force)
    with progress_bar(quiet=as_json) as progress:
        progress(f"reading {table.name}", 0, 1)
        data = read_table(
            table,
            label_column=label_column,
            id_column=id_column,
            drop=drop or (),
            drop_text=drop_text,
            header=header,
        )
        compared = compare_methods(
            data,
            methods,
            n_clusters=clusters,
            n_features=features,
            standardize=standardize,
            impute=impute,
            n_subsamples=subsamples,
            random_state=seed,
            progress=progress,
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
    judged = compared.all_features is not None
    head = ["#", "method", "seconds", "stability", *(["accuracy", "NMI"] if judged else [])]
    methods = plain_table(head, left=["method"])
    agreement = plain_table(["#", *(str(i + 1) for i in range(len(compared.entries)))])
    for i, (entry, shared) in enumerate(zip(compared.entries, compared.agreement, strict=True)):
        seconds = "failed" if entry.support is None else f"{entry.seconds:.2f}"
        stability = "" if entry.stability is None else _with_interval(entry.stability)
        scores = _scores(entry.agreement) if judged else []
        methods.add_row(str(i + 1), entry.method, seconds, stability, *scores)
        agreement.add_row(str(i + 1), *("" if v != v else f"{v:.2f}" for v in shared))
    if judged:
        methods.add_section()
        methods.add_row("", "all features", "", "", *_scores(compared.all_features))
    features = f"{compared.n_features:,} of {d:,} features of {n:,} samples"
    console.print(f"\n{features}, {compared.n_clusters} clusters\n")
    console.print(methods)
    if judged:
        console.print(
            "Accuracy and NMI: known classes found by k-means on the selected columns, and on all. "
            "Labels used to judge only."
        )
    console.print(agreement)
    console.print(
        "Share of features that two methods both select, by their numbers above. Two random "
        f"choices share {compared.by_chance:.2f}."
    )
    for entry in compared.entries:
        if entry.support is None:
            console.print(Text.assemble((f"{entry.method} failed: ", "red"), entry.reason))


def _scores(agreement: dict[str, float] | None) -> list[str]:
    """Return accuracy and mutual information as cells."""
    return ["", ""] if agreement is None else [f"{score:.2f}" for score in agreement.values()]


def _with_interval(stability: "Stability") -> str:
    """Return a stability, with its confidence interval if there are enough selections for one."""
    if stability.n_selections < FEWEST_SELECTIONS:
        return f"{stability.value:.2f}"
    low, high = stability.interval
    return f"{stability.value:.2f} ({low:.2f} to {high:.2f})"
