"""A table made ready for a selector: gaps filled or refused, columns scaled, notes taken."""

import os
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array

from featsieve.arrays.namespace import is_sparse
from featsieve.constraints import UnmatchedPatternWarning, unmatched_patterns
from featsieve.datasets import Dataset, read_table
from featsieve.io.counts import read_expression, row_means, without_row_means
from featsieve.io.dataset import as_table
from featsieve.io.names import check_unique
from featsieve.io.neighbours import expand
from featsieve.tables import Table
from featsieve.validation import check_number, check_option, check_range, refuse_text
from featsieve.workflow.columns import count_where, empty_columns
from featsieve.workflow.constraints import (
    count_or_budget,
    place_constraints,
    spread_constraints,
)
from featsieve.workflow.findings import find_notes
from featsieve.workflow.impute import IMPUTE, SAID, WORDS, impute_table, words_with_gaps
from featsieve.workflow.messages import Note, by_column, list_columns, list_counts
from featsieve.workflow.methods import check_counts, check_subsamples


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table made ready for a selector, with the numbers to select by, which were checked."""

    table: Dataset  # in the units of the file, its gaps filled
    X: Any  # what a selector shall see: the same, standardised if that was asked for
    n_clusters: Any  # a count or "auto"
    n_features: Any  # the same
    n_subsamples: int
    random_state: int
    fill: np.ndarray | None = None  # what gaps of other rows are filled with
    centre: np.ndarray | None = None  # means that were taken out; sparse tables keep their zeros
    scale: np.ndarray | None = None  # standard deviations that columns were divided by
    target: float | None = None  # total that the counts of every row were brought to
    center_rows: bool = False  # whether the mean of every row was taken out, of all columns
    constraints: dict[str, Any] = field(default_factory=dict)  # in positions of columns of X
    owner: np.ndarray | None = None  # feature of every column of X, where some have several
    columns: Any = None  # what the columns of X are called
    n_filled: int = 0  # gaps
    notes: tuple[Note, ...] = ()  # what a user should know about the table

    @property
    def in_batches(self) -> dict[str, Any]:
        """What a fit is told of the batches, if there are any."""
        batch = self.table.batch
        return {} if batch is None else {"batch": np.asarray(batch)}


def prepare_table(
    table: Any,
    *,
    n_clusters: int | str = "auto",
    n_features: int | float | str = "auto",
    standardize: bool = False,
    impute: str | None = None,
    counts: bool | None = None,
    center_rows: bool = False,
    n_subsamples: int | None = None,
    random_state: int = 0,
    what: str = "feature",
    **constraints: Any,
) -> Prepared:
    """Make a table ready for a selector; raise ValueError for one that cannot be used."""
    check_number("random_state", random_state, low=0, integer=True)
    table = as_dataset(table)
    if impute is not None:
        check_option("impute", impute, IMPUTE)
    names = table.names
    if table.X.shape[0] == 1:
        raise ValueError(
            "The table has one row only, and a selection compares rows: at least 2 are needed. "
            "Rows are samples, columns are features: if the table is the other way round, give "
            "--transpose (in Python transpose=True of read_table)."
        )
    infinite = count_where(table.X, np.isinf)
    if infinite.any():
        raise ValueError(
            f"The table has {list_counts(by_column(infinite, names), 'infinite value')}: correct "
            "them in the file (an empty cell counts as missing), make them missing (--repair; in "
            "Python repair=True of read_table; for text, workbooks and .parquet), or leave such "
            "columns out (--drop COLUMN; in Python drop)."
        )
    notes = list(find_notes(table, random_state=random_state))
    empty = empty_columns(table.X)
    if empty.all():
        raise ValueError("There is no value at all in the table: is it the right file?")
    missing = np.where(empty, 0, count_where(table.X, np.isnan))
    if missing.any() and impute is None:
        raise ValueError(
            f"The table has {list_counts(by_column(missing, names), 'missing value')}. Fill such "
            "gaps with the median of their column (--impute median; in Python impute='median'), "
            "from the nearest rows (nearest), or take them as a level of their own (category; with "
            "--encode), or leave these columns out (--drop COLUMN; in Python drop)."
        )
    fill, words = None, words_with_gaps(table)
    if impute is not None or empty.any():
        if impute == "nearest" and is_sparse(table.X):
            raise ValueError("The nearest rows fill dense tables only: give --impute median.")
        fill, table = impute_table(table, impute)
        dropped = (*table.dropped, *(names[j] for j in np.flatnonzero(empty)))
        table = replace(table, dropped=dropped)
        fill = None if impute is None else fill
    if table.encodings and (counts or center_rows):
        raise ValueError(
            "Totals and means of rows make no sense beside categories and dates: leave --encode or "
            "--counts and --center-rows out (in Python encode, counts, center_rows)."
        )
    X, several, columns = expand(table.X, names, table.encodings)
    owner = several if len(several) > len(names) else None
    target = None
    if table.cells if counts is None else counts:
        found = read_expression(X, counts=counts)
        X, target = found.X, found.target
        notes += [Note(text, "values") for text in (found.sentence, found.doubt) if text]
    if center_rows:
        X = without_row_means(X, row_means(X))
        notes.append(Note("The mean of every row was taken out.", "rows"))
    centre, scale = None, None
    if standardize:
        X, centre, scale = _standardized(X, owner)
    # what was asked for is settled, and what selectors do themselves (see note_about_units)
    settled = {"scales": True, "counts": counts is not None, "offset": center_rows}
    notes = [note for note in notes if not settled.get(note.kind)]
    if missing.any():
        said = SAID[impute or "median"]
        if impute == "median" and words:
            said += WORDS.format(words=list_columns(words))
        gaps = list_counts(by_column(missing, names), "missing value")
        notes.append(Note(f"{gaps}: {said}.", "filled"))
    n_features = count_or_budget(n_features, constraints.get("budget"), what=what)
    numbers = check_counts(n_clusters, n_features, table.X.shape, what=what)
    with warnings.catch_warnings():  # a note is enough
        warnings.simplefilter("ignore", UnmatchedPatternWarning)
        placed = place_constraints(names, constraints, flags=table.flags)
        placed = placed if owner is None else spread_constraints(placed, owner, names)
    for pattern in unmatched_patterns(constraints.get("exclude"), names):
        text = f"No {what} is like {pattern!r}, so that nothing was left out for it."
        notes.append(Note(text, "constraints"))
    return Prepared(
        table,
        X,
        *numbers,
        check_subsamples(n_subsamples, X),
        random_state,
        fill=fill,
        centre=centre,
        scale=scale,
        target=target,
        center_rows=center_rows,
        constraints=placed,
        owner=owner,
        columns=columns,
        n_filled=int(missing.sum()),
        notes=tuple(notes),
    )


def _standardized(X: Any, owner: Any) -> tuple[Any, np.ndarray | None, np.ndarray]:
    """Return the table standardised, but for indicators, and what was taken out, in its units."""
    table = check_range(X.tocsr() if is_sparse(X) else X, owner="standardize")
    scaler = StandardScaler(with_mean=not is_sparse(X)).fit(table)
    if owner is not None:
        several = np.bincount(owner)[owner] > 1
        scaler.mean_[several], scaler.scale_[several] = 0.0, 1.0
    return scaler.transform(table), None if is_sparse(X) else scaler.mean_, scaler.scale_


def as_dataset(table: Any) -> Dataset:
    """Return a Dataset, a path, a data frame (pandas or polars) or an array as a Dataset."""
    if isinstance(table, Dataset):
        return table
    if isinstance(table, str | os.PathLike):
        return read_table(table)
    names, rows = None, None
    if hasattr(table, "columns"):
        names = [str(name) for name in table.columns]
        check_unique(names)
        refuse_text(table)
        index = getattr(table, "index", None)  # of pandas
        if index is not None and type(index).__name__ != "RangeIndex":
            rows = [str(name) for name in index]
        table = check_array(table, dtype="numeric", ensure_all_finite=False)  # gaps become NaN
    return Dataset("table", as_table(table), feature_names=names, sample_names=rows)


def sample_table(table: Dataset, labels: np.ndarray) -> Table:
    """Return one row per sample: its name (or its row number, from 1) and its cluster."""
    names = table.sample_names
    rows = np.arange(1, len(labels) + 1) if names is None else np.asarray(names, dtype=str)
    return Table({"sample": rows, "cluster": labels})


def change_table(table: Dataset) -> Table:
    """Return a row per repaired cell (where it stands, what it was and is), and per filled column.

    Gaps may be many: how many cells of a column were filled, and what with, is one row.
    """
    changes, filled = table.origin.changes, table.origin.filled
    rows, n_filled = list(changes.get("row", ())), len(filled.get("column", ()))
    parts: dict[str, list[Any]] = {"row": [*rows, *[""] * n_filled]}
    if table.sample_names is not None:
        parts["sample"] = [*(table.sample_names[row - 1] for row in rows), *[""] * n_filled]
    parts["column"] = [*changes.get("column", ()), *filled.get("column", ())]
    parts["was"] = [*changes.get("was", ()), *["missing"] * n_filled]
    parts["now"] = [*changes.get("now", ()), *filled.get("now", ())]
    parts["cells"] = [*[1] * len(rows), *filled.get("cells", ())]
    parts["how"] = [*["repaired"] * len(rows), *filled.get("how", ())]
    return Table({name: np.array(cells, dtype=object) for name, cells in parts.items()})
