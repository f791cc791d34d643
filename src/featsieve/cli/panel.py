"""``featsieve panel``: genes for the bench, as a folder with a page, tables and figures."""

from pathlib import Path
from typing import Annotated

import typer

from featsieve.cli import options
from featsieve.cli.console import output
from featsieve.cli.select import show_selection


def panel(
    context: typer.Context,
    table: options.TableFile,
    output_folder: Annotated[
        Path | None,
        options.output_option("FOLDER", "Folder of the panel [default: NAME-panel, here]."),
    ] = None,
    *,
    reading: options.Reading,
    choosing: options.Choosing,
    constraining: options.Constraining,
    qvalues: Annotated[
        bool, typer.Option("--qvalues", help="Test every gene, by some forty fits.")
    ] = False,
    force: options.Force = False,
) -> None:
    """Select a panel of genes, and write what it takes to choose, buy and publish it.

    Into FOLDER go: `index.html` (open it in a browser: all of it), `panel.csv` (a row per gene:
    which cluster it tells, how many cells express it there and elsewhere, the gene of the panel
    that is most like it), `curve.csv` (what each next gene adds), `cells.csv` (cluster of every
    cell), `methods.md` (a paragraph for the paper), a dot plot and a matrix by cluster as `.svg`.
    Genes are in the order of the path: the first k are a good panel of k.

    Raw counts of `.h5ad` files are normalised. With `--label-column` the page says how well known
    types are kept; the selection never sees them. Subsamples are drawn if `--subsamples` asks.

    Example: `featsieve panel cells.h5ad --genes 150 --exclude 'MT-*,RP[SL]*' -o panel`

    Example: `featsieve panel cells.h5ad --keep CD3E,CD19 --costs prices.csv --budget 200 -o panel`
    """
    from featsieve.io.table import known_format
    from featsieve.workflow.panel import KNOWN, check_libraries, write_panel
    from featsieve.workflow.select import select_features

    constraints = constraining.read()  # mistakes are found before a large table is read
    check_libraries()
    folder = output_folder or Path(f"{table.name[: -len(known_format(table, 'read'))]}-panel")
    new = options.new_results(table, folder, KNOWN, reading, constraining, force=force)
    with new as (data, unfinished, progress):
        settings = vars(choosing) | constraints | {"qvalues": qvalues, "what": "gene"}
        settings["n_subsamples"] = choosing.n_subsamples or 0
        run = select_features(data, progress=progress, **settings)
        progress("drawing and writing")
        summary = write_panel(run, unfinished, source=table, command=context.obj)
    files = [
        ("Open in a browser", folder / "index.html"),
        ("For the bench", folder / "panel.csv"),
        ("For the paper", folder / "methods.md"),
    ]
    show_selection(output(), summary, files, listed="panel.csv")
