"""The selected columns of other rows, by name, and the clusters they belong to."""

from pathlib import Path
from typing import Any

import numpy as np

from featsieve.arrays.namespace import is_sparse
from featsieve.criteria.selected_clusters import fitted_attribute
from featsieve.datasets import Dataset, read_table
from featsieve.io.formats import FORMATS, SHEETS
from featsieve.io.guard import ColumnError, MissingColumnError
from featsieve.io.models import load_model
from featsieve.io.names import named_or_places, shorten
from featsieve.io.results import recover
from featsieve.io.selection_model import SelectionModel
from featsieve.io.table import table_format
from featsieve.names import counted
from featsieve.workflow.columns import count_where
from featsieve.workflow.findings import about_cells
from featsieve.workflow.impute import words_with_gaps
from featsieve.workflow.messages import by_column, list_columns, list_counts

MODEL = "model.skops"


def load_selection(path: Path) -> SelectionModel:
    """Load the model that ``featsieve select`` wrote; ``path`` is the file or its folder."""
    recover(path)
    model = load_model(path / MODEL if path.is_dir() else path)
    if not isinstance(model, SelectionModel):
        raise ValueError(
            f"{path} holds a {type(model).__name__}, which knows nothing about files: use it in "
            "Python with featsieve.load_model, or let featsieve select write a model."
        )
    return model


def apply_model(
    model: SelectionModel, path: Path, *, predict: bool = False, sheet: str | None = None
) -> tuple[Dataset, np.ndarray | None, list[str]]:
    """Return the selected columns of a file, the clusters of its rows if asked for, and notes."""
    inside = getattr(model.selector, "selector_", None)  # of AutoSelector, StabilitySelection
    if predict and not (hasattr(model.selector, "predict") or hasattr(inside, "predict")):
        raise ValueError(
            f"{model.method} cannot tell the clusters of other rows: leave out --clusters, or "
            "select the features with --method jasfs."
        )
    read = read_new(model, path, predict=predict, sheet=sheet)
    notes = [str(note) for note in about_cells(read)]
    missing = by_column(count_where(read.X, np.isnan), read.names)
    if missing and model.fill is None:
        raise ValueError(
            f"The table has {list_counts(missing, 'missing value')}. Fill such gaps first, or "
            "select the features again with --impute median: the model then knows what to fill in."
        )
    if model.id_name is not None and read.sample_names is None:
        notes.append(
            f"There is no column {model.id_name!r}, which named the samples: the rows stay without "
            "names, in the order of the table."
        )
    batches = fitted_attribute(model.selector, "batches_")
    if read.batch is not None and batches is not None:
        new = sorted({*read.batch} - {*map(str, batches.names)})
        if new:
            notes.append(
                f"Batches that the fitted table does not have: {shorten(new)}. Their rows are "
                "centred and scaled by themselves."
            )
    if missing:
        gaps, words = list_counts(missing, "missing value"), words_with_gaps(read)
        way = "from the nearest rows"
        if model.donors is None:
            way = "with medians"
            way += f" ({list_columns(words)}: the most frequent word)" if words else ""
        notes.append(f"{gaps}: filled {way} of the table that the features come from.")
        if predict and not is_sparse(read.X):
            mostly = np.isnan(np.asarray(read.X)).mean(axis=1) >= 0.5
            names = (
                np.arange(1, len(mostly) + 1) if read.sample_names is None else read.sample_names
            )
            if rows := [str(name) for name in np.asarray(names)[mostly]]:
                notes.append(
                    "Their clusters say little: half of the columns that tell them, or more, were "
                    f"filled in {counted(len(rows), 'row')} ({shorten(rows)})."
                )
    return model.transform(read), np.asarray(model.predict(read)) if predict else None, notes


def read_new(
    model: SelectionModel, path: Path, *, predict: bool = False, sheet: str | None = None
) -> Dataset:
    """Read what a model needs of a table, with names and classes of the samples where they are."""
    columns = model.feature_names if predict and model.needs_all else model.selected
    as_before = {"sheet": None, **(model.reading or {})}
    if sheet is not None or FORMATS.get(table_format(path) or "") is not SHEETS:
        as_before["sheet"] = sheet
    batch = model.batch_name if predict else None
    # Columns that had names have them still, be they numbers.
    header = None if named_or_places(model.feature_names) is None else True
    about: dict[str, Any] = {"columns": columns, "header": header, "batch_column": batch}
    about["layer"] = model.layer if path.suffix == ".h5ad" else None
    who, kind = model.id_name, model.label_name
    # New rows need not have names or classes.
    for names, classes in dict.fromkeys([(who, kind), (who, None), (None, kind), (None, None)]):
        try:
            return read_table(path, id_column=names, label_column=classes, **about, **as_before)
        except ColumnError as error:
            failure = error
    if isinstance(failure, MissingColumnError):
        k = counted(len(columns), "column")
        which = "of the fit, for totals or means of rows" if columns is not model.selected else ""
        raise MissingColumnError(
            f"{failure} A table for this model must have the {k} {which or 'that were selected'}, "
            f"under the same names{'' if batch is None else f', and the batches ({batch!r})'}."
        ) from failure
    raise failure
