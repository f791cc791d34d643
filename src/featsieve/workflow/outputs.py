"""The files of a selection: reduced table, explanations, clusters, report, summary, model."""

import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.datasets import Dataset, read_table, write_table
from featsieve.io.dataset import subset
from featsieve.io.files import write_text
from featsieve.io.formats import FORMATS
from featsieve.io.models import load_skops, save_model
from featsieve.io.optional import load_optional
from featsieve.io.results import result_folder
from featsieve.io.table import table_format
from featsieve.io.write import check_writer, write_csv
from featsieve.report import render_selection
from featsieve.workflow.messages import ProgressCallback
from featsieve.workflow.methods import find_method
from featsieve.workflow.select import SelectionRun, select_features
from featsieve.workflow.summary import summarize

DEFAULT_ENDING = ".csv"
SUMMARY = "summary.json"
# The table in one of the formats, and the rest: all files that selections have written.
KNOWN = (
    *("features.csv", "samples.csv", "report.html", SUMMARY, "model.skops"),
    *(f"selected{ending}" for ending in FORMATS),
)


def file_names(
    source: str | os.PathLike[str] | None = None, ending: str | None = None
) -> dict[str, str]:
    """Return the names of the files of a selection."""
    if ending is None and source is not None:
        ending = table_format(source)
    return {
        "selected": f"selected{ending or DEFAULT_ENDING}",
        "features": "features.csv",
        "samples": "samples.csv",
        "report": "report.html",
        "summary": SUMMARY,
        "model": "model.skops",
    }


def save_run(
    run: SelectionRun,
    folder: str | os.PathLike[str],
    *,
    source: str | os.PathLike[str] | None = None,
    ending: str | None = None,
    image_shape: tuple[int, int] | None = None,
    overwrite: bool = False,
) -> dict[str, Path]:
    """Write everything about a selection into a folder.

    Parameters
    ----------
    run : SelectionRun
    folder : str or path
        Made if it is not there. A folder with other files in it is refused.
    source : str or path, optional
        The file that the table came from. The reduced table gets its format; of a .h5ad file, all
        that belongs to the selected genes is kept.
    ending : str, optional
        Another format of the reduced table: ".csv", ".tsv", ".parquet", ".npz", ".mat", ".h5ad".
    image_shape : tuple of two int, optional
        Height and width of the images whose pixels the columns are.
    overwrite : bool, default=False
        Whether results that are there are replaced.

    Returns
    -------
    dict of str to Path
        The files, see `file_names`.

    Examples
    --------
    >>> import tempfile
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.workflow import save_run, select_features
    >>> X = make_planted(60, 20, n_informative=5, n_clusters=3, signal=3.0, random_state=0).X
    >>> run = select_features(X, n_features=5, n_subsamples=0)
    >>> with tempfile.TemporaryDirectory() as home:
    ...     sorted(path.name for path in save_run(run, f"{home}/results").values())
    ['features.csv', 'model.skops', 'report.html', 'samples.csv', 'selected.csv', 'summary.json']
    """
    names = file_names(source, ending)
    check_libraries(names)
    with result_folder(folder, names=KNOWN, overwrite=overwrite) as unfinished:
        write_files(run, unfinished, names=names, source=source, image_shape=image_shape)
    return {kind: Path(folder) / name for kind, name in names.items()}


def select_file(
    source: Path,
    folder: Path,
    *,
    reading: dict[str, Any],
    ending: str | None = None,
    image_shape: tuple[int, int] | None = None,
    overwrite: bool = False,
    command: str | None = None,
    progress: ProgressCallback,
    **settings: Any,
) -> tuple[SelectionRun, dict[str, Any], dict[str, Path]]:
    """Select features of a file and write a folder; return the run, its summary and its files.

    ``reading`` is for `read_table`, ``settings`` for `select_features`. Mistakes are found before
    a large table is read.
    """
    find_method(settings["method"])
    names = file_names(source, ending)
    if source.resolve().is_relative_to(folder.resolve()):
        raise ValueError(
            f"The results would replace the table {source}: name another folder with -o."
        )
    check_libraries(names)
    progress(f"reading {source.name}", 0, 1)
    table = read_table(source, **reading)
    check_image(image_shape, table)
    with (
        result_folder(folder, names=KNOWN, overwrite=overwrite) as unfinished,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # they are among the notes
        run = select_features(table, progress=progress, **settings)
        progress("writing", 1, 1)
        summary = write_files(
            run, unfinished, names=names, source=source, image_shape=image_shape, command=command
        )
    return run, summary, {kind: folder / name for kind, name in names.items()}


def check_libraries(names: dict[str, str]) -> None:
    """Raise if a library is missing that the files need: better before a long fit than after it."""
    load_skops("Writing model.skops")
    load_optional("jinja2", "Writing report.html", extra="report")
    instead = "write another format, with --format csv (in Python ending='.csv')"
    check_writer(names["selected"], instead=instead)


def write_files(
    run: SelectionRun,
    folder: Path,
    *,
    names: dict[str, str],
    source: str | os.PathLike[str] | None = None,
    image_shape: tuple[int, int] | None = None,
    command: str | None = None,
) -> dict[str, Any]:
    """Write the files of a selection into a folder that is there, and return the summary."""
    summary = summarize(run, names=names, source=source, image_shape=image_shape, command=command)
    reduced = subset(run.table, np.flatnonzero(run.selector.get_support()))
    write_table(folder / names["selected"], reduced, like=source)
    facts = run.features
    order = np.lexsort([facts["rank"], ~np.asarray(facts["selected"], dtype=bool)])
    write_csv(folder / names["features"], facts.rows(order))  # selected ones first, by rank
    write_csv(folder / names["samples"], run.samples)
    save_model(run.model, folder / names["model"])
    write_text(folder / names["report"], render_selection(summary))
    write_text(folder / names["summary"], json.dumps(summary, ensure_ascii=False, allow_nan=False))
    return summary


def check_image(image_shape: tuple[int, int] | None, table: Dataset) -> None:
    """Raise if the columns of a table cannot be the pixels of an image of that shape."""
    if image_shape is None:
        return
    height, width = image_shape
    d = table.X.shape[1]
    if height * width != d:
        raise ValueError(
            f"An image of {height}x{width} has {height * width} pixels, but the table has {d} "
            "features: give the height and width of the images, and leave out other columns "
            "(--drop COLUMN, --label-column, --id-column)."
        )
