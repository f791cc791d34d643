"""``featsieve select``: from a table to its selected features, with a report and a model."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from featsieve.cli import options
from featsieve.cli.console import output, plain_table, print_json, text_grid

if TYPE_CHECKING:
    from rich.console import Console

MOST_FEATURES = 10
# What of a summary --json prints: the rest is drawings, and a row for every feature and sample.
ESSENCE = (
    *("title", "table", "method", "number", "selected", "clusters", "structure", "stability"),
    *("evaluation", "reproduce", "answer", "words", "caveats"),
)
# Files that are named at the end, each with what it is.
FOUND = {
    "report": "Open in a browser",
    "selected": "The reduced table",
    "features": "Why each feature",
    "samples": "Cluster of samples",
    "changes": "Changed cells",
}


def select(
    context: typer.Context,
    table: options.TableFile,
    output_folder: Annotated[
        Path, options.output_option("FOLDER", "Folder of the results; made if needed.")
    ],
    *,
    method: Annotated[
        str, typer.Option(metavar="NAME", help=f"One of {options.METHODS}.")
    ] = "jasfs",
    reading: options.Reading,
    choosing: options.Choosing,
    constraining: options.Constraining,
    image: Annotated[
        Any,
        typer.Option(
            parser=options.read_image,
            metavar="HxW",
            help="The columns are the pixels of images of this height and width, row by row: the "
            "report shows which ones are selected.",
        ),
    ] = None,
    qvalues: Annotated[
        bool | None,
        typer.Option(
            "--qvalues/--no-qvalues",
            help="Test every feature against the clusters, by some forty fits: which ones go with "
            "them, at which false discovery rate. Done for small tables if --features is auto.",
        ),
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Select the features that carry the clusters of a table, and write everything into a folder.

    Nothing but the table is needed: how many clusters and how many features is found without
    labels.

    Into FOLDER go: `selected.csv` (the table with the selected columns only; in the format of
    TABLE), `features.csv` (why each feature was selected or not), `samples.csv` (cluster of every
    sample), `report.html` (open it in a browser), `summary.json` (the same for programs),
    `model.skops` (for `featsieve apply`) and, with `--repair` or `--impute`, `changes.csv` (every
    cell that was repaired, every column that was filled). They appear together when all is done:
    Ctrl-C leaves none of them.

    Example: `featsieve select genes.csv -o results`

    Example: `featsieve select genes.csv -o results --id-column patient --label-column diagnosis`

    Example: `featsieve select survey.tsv.gz -o results --drop-text --impute median --features 20`

    Example: `featsieve select lab.xlsx -o results --sheet Values --repair --impute median`

    Example: `featsieve select cells.h5ad -o results --features 100 --exclude 'MT-*,RP[SL]*'`

    Example: `featsieve select faces.mat -o results --image 32x32 --clusters 10 --method mcfs`
    """
    from featsieve.tuning.selection import check_shape
    from featsieve.workflow.methods import find_method
    from featsieve.workflow.outputs import KNOWN, change_file, plan_files, write_files
    from featsieve.workflow.select import select_features

    find_method(method)  # mistakes are found before a large table is read
    names, constraints = plan_files(table), constraining.read()
    new = options.new_results(
        table, output_folder, KNOWN, reading, constraining, force=force, quiet=as_json
    )
    with new as (data, unfinished, progress):
        check_shape(image, data.X.shape[1])
        settings = vars(choosing) | constraints | {"method": method, "qvalues": qvalues}
        settings["n_jobs"] = -1
        run = select_features(data, progress=progress, **settings)
        names |= change_file(run.table)
        progress("writing")
        summary = write_files(
            run, unfinished, names, source=table, image_shape=image, command=context.obj
        )
    files = {kind: output_folder / name for kind, name in names.items()}
    if as_json:
        essence = {key: summary[key] for key in ESSENCE}
        print_json(essence | {"files": {kind: str(path) for kind, path in files.items()}})
        return
    ending = "".join(files["selected"].suffixes) or ".csv"
    apply = f"featsieve apply {files['model']} NEW{ending} -o NEW-selected{ending}"
    lines = [(text, files[kind]) for kind, text in FOUND.items() if kind in files]
    show_selection(output(), summary, [*lines, ("For other rows", apply)], listed="features.csv")


def show_selection(
    console: "Console", summary: dict[str, Any], files: Iterable[tuple[str, Any]], *, listed: str
) -> None:
    """Print what was found (features beyond the best are ``listed`` in a file), and the files."""
    from rich.text import Text

    console.print(Text(f"\n{' '.join(summary['answer'])}\n", style="bold"))
    console.print(_best_features(summary, listed))
    console.print(text_grid([("-", word) for word in summary["words"][1:]], gap=1))
    if summary["caveats"]:
        console.print("\n[bold]Mind that[/]")
        console.print(text_grid([("-", each["text"]) for each in summary["caveats"]], gap=1))
    console.print()
    for text, where in files:
        console.print(Text(f"{text:<18}  {where}"), soft_wrap=True)


def _best_features(summary: dict[str, Any], listed: str) -> Any:
    """Return a table of the best features, with the words of the report."""
    facts, total = summary["features"], summary["number"]["selected"]
    shown = range(min(total, MOST_FEATURES))
    columns = {"rank": [str(facts["rank"][i]) for i in shown], "feature": facts["name"]}
    for title, fact in (("selected in", "frequency"), ("explained", "eta_squared")):
        if facts[fact] is not None:
            columns[title] = ["" if share is None else f"{share:.0%}" for share in facts[fact]]
    pairs = zip(facts["cluster"], facts["side"], strict=True)
    columns["tells cluster"] = ["" if one is None else f"{one}, {side}" for one, side in pairs]
    rows = [[cells[i] for cells in columns.values()] for i in shown]
    table = plain_table(list(columns), rows, left=["feature", "tells cluster"])
    if total > len(rows):
        table.caption = f"and {total - len(rows):,} more in {listed}"
        table.caption_justify = "left"
    return table
