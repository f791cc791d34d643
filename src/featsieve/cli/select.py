"""``featsieve select``: from a table to its selected features, with a report and a model."""

from pathlib import Path
from typing import Annotated, Any

import typer

from featsieve.cli import options
from featsieve.cli.console import output, print_json, progress_bar


def select(
    context: typer.Context,
    table: options.TableFile,
    output_folder: Annotated[
        Path, options.output_option("FOLDER", "Folder of the results; made if needed.")
    ],
    method: Annotated[
        str, typer.Option(metavar="NAME", help=f"One of {options.METHODS}.")
    ] = "jasfs",
    clusters: options.Clusters = "auto",
    features: Annotated[
        Any,
        options.features_option(
            "How many features: a count, a share such as 0.1, or what suffices to show the "
            "clusters."
        ),
    ] = "auto",
    standardize: options.Standardize = False,
    drop: options.Drop = None,
    drop_text: options.DropText = False,
    header: options.Header = None,
    id_column: options.IdColumn = None,
    label_column: options.LabelColumn = None,
    impute: options.Impute = None,
    image: Annotated[
        Any,
        typer.Option(
            parser=options.read_image,
            metavar="HxW",
            help="The columns are the pixels of images of this height and width, row by row: the "
            "report shows which ones are selected.",
        ),
    ] = None,
    subsamples: options.Subsamples = None,
    seed: options.Seed = 0,
    file_format: Annotated[
        Any,
        typer.Option(
            "--format",
            parser=options.read_format,
            metavar="|".join(options.FORMATS),
            help="Format of the reduced table [default: that of TABLE].",
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
    sample), `report.html` (open it in a browser), `summary.json` (the same for programs) and
    `model.skops` (for `featsieve apply`). They appear together when all is done: Ctrl-C leaves
    nothing behind.

    Example: `featsieve select genes.csv -o results`

    Example: `featsieve select genes.csv -o results --id-column patient --label-column diagnosis`

    Example: `featsieve select survey.tsv.gz -o results --drop-text --impute median --features 20`

    Example: `featsieve select faces.mat -o results --image 32x32 --clusters 10 --method mcfs`
    """
    from featsieve.cli.selection_view import show_run
    from featsieve.workflow.outputs import ESSENCE, select_file

    with progress_bar(quiet=as_json) as progress:
        run, summary, files = select_file(
            table,
            output_folder,
            reading={
                "label_column": label_column,
                "id_column": id_column,
                "drop": drop or (),
                "drop_text": drop_text,
                "header": header,
            },
            ending=file_format,
            image_shape=image,
            overwrite=force,
            command=context.obj,
            progress=progress,
            method=method,
            n_clusters=clusters,
            n_features=features,
            standardize=standardize,
            impute=impute,
            n_subsamples=subsamples,
            random_state=seed,
        )
    if as_json:
        essence = {key: summary[key] for key in ESSENCE}
        print_json(essence | {"files": {kind: str(path) for kind, path in files.items()}})
        return
    show_run(output(), run, summary, files)
