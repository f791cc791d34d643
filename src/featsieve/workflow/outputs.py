"""The files of a selection: reduced table, explanations, clusters, report, summary, model."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.datasets import Dataset, write_table
from featsieve.io.dataset import subset
from featsieve.io.files import legible, write_text
from featsieve.io.formats import FORMATS
from featsieve.io.guard import read_small
from featsieve.io.models import load_skops, save_model
from featsieve.io.names import find_columns
from featsieve.io.optional import load_optional
from featsieve.io.results import result_folder
from featsieve.io.table import check_writer, table_format, write_csv
from featsieve.report import render_selection, summarize_selection
from featsieve.workflow.prepare import change_table
from featsieve.workflow.select import SelectionRun

# Besides the reduced table, which is called selected and ends like its format.
FILES = {
    "features": "features.csv",
    "samples": "samples.csv",
    "report": "report.html",
    "summary": "summary.json",
    "model": "model.skops",
}
CHANGES = "changes.csv"  # every cell that was repaired, every column that was filled, if any was
# All files that selections have written.
KNOWN = (*FILES.values(), CHANGES, *(f"selected{ending}" for ending in FORMATS))
# Kinds of notes that a report finds out for itself.
REPORTED = {"constant", "NoStructureWarning", "ConvergenceWarning"}


def save_run(
    run: SelectionRun,
    folder: str | os.PathLike[str],
    *,
    source: str | os.PathLike[str] | None = None,
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
    image_shape : tuple of two int, optional
        Height and width of the images whose pixels the columns are.
    overwrite : bool, default=False
        Whether results that are there are replaced.

    Returns
    -------
    dict of str to Path
        The files: "selected", "features", "samples", "report", "summary" and "model"; "changes" if
        cells of the table were repaired or filled.

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
    names = plan_files(source) | change_file(run.table)
    with result_folder(folder, names=KNOWN, overwrite=overwrite) as unfinished:
        write_files(run, unfinished, names, source=source, image_shape=image_shape)
    return {kind: Path(folder) / name for kind, name in names.items()}


def plan_files(source: str | os.PathLike[str] | None = None) -> dict[str, str]:
    """Return the names of the files; raise if a library is missing that they need."""
    ending = None if source is None else table_format(source)
    ending = ending if ending is not None and FORMATS[ending].writes else None
    names = {"selected": f"selected{ending or '.csv'}", **FILES}
    load_skops("Writing model.skops")
    load_optional("jinja2", "Writing report.html", extra="report")
    check_writer(names["selected"], instead="convert the table to another format first")
    return names


def change_file(table: Dataset) -> dict[str, str]:
    """Return the name of the file that lists repaired cells and filled columns, if any."""
    return {"changes": CHANGES} if table.origin.repaired or table.origin.filled else {}


def write_files(
    run: SelectionRun, folder: Path, names: dict[str, str], *, source: Any = None, **about: Any
) -> dict[str, Any]:
    """Write the files of a selection into a folder that is there, and return the summary."""
    summary = summarize(run, names=names, source=source, **about)
    reduced = subset(run.table, find_columns(run.selected, run.table.names))
    write_table(folder / names["selected"], reduced, like=source)
    facts = run.features
    order = np.lexsort([facts["rank"], ~np.asarray(facts["selected"], dtype=bool)])
    write_csv(folder / names["features"], facts.rows(order))  # selected ones first, by rank
    write_csv(folder / names["samples"], run.samples)
    if "changes" in names:
        write_csv(folder / CHANGES, change_table(run.table))
    save_model(run.model, folder / names["model"])
    write_text(folder / names["report"], render_selection(summary))
    write_text(folder / names["summary"], json.dumps(summary, ensure_ascii=False, allow_nan=False))
    return summary


def summarize(
    run: SelectionRun,
    *,
    names: dict[str, str] | None = None,
    source: str | os.PathLike[str] | None = None,
    image_shape: tuple[int, int] | None = None,
    command: str | None = None,
) -> dict[str, Any]:
    """Return everything that the report of a selection shows."""
    table, scaled = run.table, run.prepared.scale is not None
    own_units = (scaled and run.prepared.target is None) or table.encodings
    about = {
        "title": legible(f"Selected features of {table.name}"),
        "file": None if source is None else legible(Path(source).name),
        "command": command,
        "seconds": run.seconds,
        "dropped": table.dropped,
        "standardized": scaled,
        "original": table.X if own_units else None,
        "encodings": table.encodings,
        "notes": [note for note in run.notes if note.kind not in REPORTED],
        "files": names or {},
        "label_column": table.label_name,
        "libraries": ["anndata"] if table.cells else [],  # which reads and writes .h5ad files
    }
    y = table.complete_y
    if y is not None and table.class_names is not None:
        y = np.array(table.class_names)[y]
    return summarize_selection(
        run.found,
        frequency=run.frequency,
        stability=run.stability,
        structure=run.structure,
        y=y,
        image_shape=image_shape,
        about=about,
    )


def read_summary(path: Path) -> dict[str, Any]:
    """Return the summary of a selection."""
    try:
        summary = json.loads(read_small(path, what="summary of a selection"))
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is not a summary of a selection: {error}.") from error
    if not isinstance(summary, dict) or "format" not in summary:
        raise ValueError(f"{path} is not a summary of a selection: it has no format number.")
    return summary
