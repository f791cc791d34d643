"""The selected columns of other rows, by name, and the clusters they belong to."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.datasets import Dataset, read_table, write_table
from featsieve.io.files import whole_file
from featsieve.io.guard import ColumnError, MissingColumnError
from featsieve.io.models import load_model
from featsieve.io.names import named_or_places
from featsieve.io.results import recover
from featsieve.io.selection_model import SelectionModel
from featsieve.tables import Table
from featsieve.workflow.columns import count_missing
from featsieve.workflow.messages import (
    by_column,
    columns_sentence,
    count_of,
    filled_note,
    list_counts,
)
from featsieve.workflow.prepare import as_dataset, sample_table

MODEL = "model.skops"


@dataclass(frozen=True, eq=False)
class Applied:
    """Other rows, reduced to the selected columns.

    Attributes
    ----------
    table : Dataset
    clusters : ndarray of shape (n_samples,), or None
        Cluster of every row, if it was asked for.
    ignored : tuple of str
        Columns that were not needed.
    n_filled : int
        Number of missing values that were filled with the medians of the fitted table.
    no_names : str or None
        The column with the names of the samples that the fitted table had and this one has not.
    """

    table: Dataset
    clusters: np.ndarray | None = None
    ignored: tuple[str, ...] = ()
    n_filled: int = 0
    no_names: str | None = None

    @property
    def samples(self) -> Table:
        """One row per sample: its name (or its row number, from 0) and its cluster."""
        if self.clusters is None:
            raise ValueError("There are no clusters: apply the model with predict=True.")
        return sample_table(self.table, self.clusters)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know, a sentence each."""
        found = []
        if self.no_names is not None:
            found.append(
                f"There is no column {self.no_names!r}, which named the samples: the rows stay "
                "without names, in the order of the table."
            )
        if self.ignored:
            rest = "not needed and left out."
            found.append(columns_sentence(self.ignored, "is", "are", rest))
        if self.n_filled:
            whose = "medians of the table that the features were selected from"
            found.append(filled_note(self.n_filled, whose))
        return tuple(found)

    def as_dict(self) -> dict[str, Any]:
        """Return the essence as plain values for JSON."""
        n, k = self.table.X.shape
        return {
            "n_samples": int(n),
            "n_features": int(k),
            "selected": self.table.names,
            "n_ignored": len(self.ignored),
            "n_filled": self.n_filled,
        }


def apply_model(model: SelectionModel, table: Any, *, predict: bool = False) -> Applied:
    """Reduce other rows to the features that a model has selected.

    Parameters
    ----------
    model : SelectionModel
        ``run.model`` of `select_features`, or what `featsieve.io.models.load_model` returns.
    table : Dataset, path, data frame or array
        Columns are found by name, in any order; only the selected ones are needed.
    predict : bool, default=False
        Whether to say to which cluster every row belongs, which models of JASFS can.

    Returns
    -------
    Applied

    Raises
    ------
    ValueError
        If selected columns are missing, hold missing values (unless the model fills them), or the
        model cannot tell clusters.

    Examples
    --------
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.workflow import apply_model, select_features
    >>> X = make_planted(90, 40, n_informative=6, n_clusters=3, signal=3.0, random_state=0).X
    >>> run = select_features(X[:60], n_features=6, n_subsamples=0)
    >>> applied = apply_model(run.model, X[60:], predict=True)
    >>> applied.table.X.shape, len(applied.clusters), len(applied.ignored)
    ((30, 6), 30, 34)
    """
    if not isinstance(model, SelectionModel):
        raise TypeError(
            "model must be a SelectionModel: the model of select_features, or the file model.skops "
            f"that featsieve select wrote; got {type(model).__name__}."
        )
    inside = getattr(model.selector, "selector_", None)  # of AutoSelector, StabilitySelection
    if predict and not (hasattr(model.selector, "predict") or hasattr(inside, "predict")):
        raise ValueError(
            f"{model.method} cannot tell the clusters of other rows: leave out --clusters (in "
            "Python predict), or select the features with --method jasfs."
        )
    from_file = isinstance(table, str | os.PathLike)
    read = read_new(model, table) if from_file else as_dataset(table)
    selected = set(model.selected)
    missing = {
        name: count
        for name, count in by_column(count_missing(read.X), read.names).items()
        if name in selected
    }
    if missing and model.fill is None:
        raise ValueError(
            f"The table has {list_counts(missing, 'missing value')}. Fill such gaps first, or "
            "select the features again with --impute median (in Python impute='median'): the model "
            "then knows what to fill in."
        )
    return Applied(
        model.transform(read),
        np.asarray(model.predict(read)) if predict else None,
        read.unread if from_file else tuple(name for name in read.names if name not in selected),
        n_filled=sum(missing.values()),
        no_names=model.id_name if from_file and read.sample_names is None else None,
    )


def load_selection(path: str | os.PathLike[str]) -> SelectionModel:
    """Load the model that ``featsieve select`` wrote."""
    path = Path(path)
    recover(path)
    model = load_model(path / MODEL if path.is_dir() else path)
    if not isinstance(model, SelectionModel):
        raise ValueError(
            f"{path} holds a {type(model).__name__}, which knows nothing about files: use it in "
            "Python with featsieve.load_model, or let featsieve select write a model."
        )
    return model


def read_new(model: SelectionModel, path: str | os.PathLike[str]) -> Dataset:
    """Read what a model needs of a table, with names and classes of the samples where they are."""
    # Columns that had names have them still, be they numbers.
    header = None if named_or_places(model.feature_names) is None else True
    who, kind = model.id_name, model.label_name
    # New rows need not have names or classes.
    for names, classes in dict.fromkeys([(who, kind), (who, None), (None, kind), (None, None)]):
        try:
            return read_table(
                path,
                columns=model.selected,
                id_column=names,
                label_column=classes,
                header=header,
            )
        except ColumnError as error:
            failure = error
    if isinstance(failure, MissingColumnError):
        k = count_of(len(model.selected), "column")
        raise MissingColumnError(
            f"{failure} A table for this model must have the {k} that were selected, under the "
            "same names."
        ) from failure
    raise failure


def write_applied(
    applied: Applied,
    output: str | os.PathLike[str],
    *,
    clusters: str | os.PathLike[str] | None = None,
    source: str | os.PathLike[str] | None = None,
) -> None:
    """Write the reduced table, and the clusters of its rows if there are any."""
    if clusters is None:
        write_table(output, applied.table, like=source)
        return
    with whole_file(clusters) as unfinished:  # none of the two is replaced if one cannot be written
        with unfinished.open("w", encoding="utf-8", newline="") as file:
            applied.samples.to_csv(file)
        write_table(output, applied.table, like=source)
