"""``featsieve apply``: the selected columns of other rows, by name."""

from pathlib import Path
from typing import Annotated

import typer

from featsieve.cli import options
from featsieve.cli.console import print_json, print_notes
from featsieve.names import counted


def apply(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="model.skops that `featsieve select` wrote.")
    ],
    table: Annotated[
        Path,
        typer.Argument(
            metavar="NEW_TABLE",
            help="Other rows with the same columns, in any order; only the selected ones are "
            "needed.",
        ),
    ],
    output_file: Annotated[
        Path,
        options.output_option(
            "FILE",
            "The reduced table; its ending says the format: .csv .tsv (also .gz) .parquet .npz "
            ".mat .h5ad",
        ),
    ],
    clusters: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write the cluster of every row, too, as .csv (models of JASFS)."
        ),
    ] = None,
    changes: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write every cell that was repaired, and every column that was filled, as .csv.",
        ),
    ] = None,
    sheet: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|NUMBER", help="Sheet of a workbook [default: called as in the fit]."
        ),
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Reduce new rows to the features that were selected before.

    Columns are found by their names. Columns that were not selected are ignored, and need not be
    there. The table is read as the fitted one was: transposed, its cells repaired, its words
    encoded, if it was selected from with `--transpose`, `--repair` or `--encode`. Missing values
    are filled as they were there, with `--impute` (median: medians of the fitted table, of
    categories its most frequent level; nearest: its rows that are nearest in the selected columns,
    which the model holds for this), and refused otherwise. Words that the fitted table does not
    have are named, and ignored for the clusters.

    `--clusters` takes the nearest centre of a cluster: for rows of the fitted table it need not say
    the same as samples.csv, whose clusters come from all rows together (see `JASFS.predict`).

    Example: `featsieve apply results/model.skops new.csv -o new-selected.csv`

    Example: `featsieve apply results/model.skops new.csv -o new.parquet --clusters clusters.csv`
    """
    from featsieve.io.table import check_output, check_writer, table_format, write_csv, write_table
    from featsieve.workflow.apply import MODEL, apply_model, load_selection
    from featsieve.workflow.prepare import change_table, sample_table

    if table_format(model) is not None:
        raise ValueError(
            f"{model} is a table, not a model: name the model first, featsieve apply MODEL "
            f"NEW_TABLE -o {output_file}."
        )
    check_output(output_file, others=[model, model / MODEL, table], overwrite=force)
    written = [output_file]
    for path in filter(None, (clusters, changes)):
        check_output(path, others=[model, table, *written], overwrite=force, text=True)
        written.append(path)
    check_writer(output_file, instead="write another format, with -o FILE.csv")
    selection = load_selection(model)
    predict = clusters is not None
    reduced, labels, notes = apply_model(selection, table, predict=predict, sheet=sheet)
    if clusters is not None and labels is not None:
        write_csv(clusters, sample_table(reduced, labels))
    if changes is not None:
        write_csv(changes, change_table(reduced))
    write_table(output_file, reduced, like=table)
    n, k = reduced.X.shape
    if as_json:
        files = {"table": str(output_file), "clusters": clusters and str(clusters)}
        files |= {"changes": changes and str(changes)}
        shape = {"n_samples": n, "n_features": k, "selected": reduced.names}
        print_json({**shape, "notes": notes, "files": files})
        return
    if changes is None and (reduced.origin.repaired or reduced.origin.filled):
        notes.append("--changes FILE lists every cell that was repaired, and what gaps hold now.")
    print_notes(notes)
    listed = " and ".join(map(str, written))
    typer.echo(f"Wrote {listed}: {counted(n, 'row')}, {counted(k, 'selected feature')}.")
