"""A table made ready for a selector: gaps filled or refused, columns scaled, notes taken."""

import os
import shlex
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_array

from featsieve.arrays.namespace import is_sparse
from featsieve.datasets import Dataset, read_table
from featsieve.io.dataset import as_table
from featsieve.io.names import check_unique
from featsieve.tables import Table
from featsieve.validation import check_option, check_range, refuse_text
from featsieve.workflow.columns import (
    constant_columns,
    count_infinite,
    count_missing,
    row_number_columns,
)
from featsieve.workflow.messages import (
    Note,
    by_column,
    columns_sentence,
    count_of,
    filled_note,
    list_counts,
)


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table made ready for a selector; gaps are filled and columns scaled where asked for."""

    table: Dataset  # in the units of the file, its gaps filled
    X: Any  # what a selector shall see: the same, standardised if that was asked for
    feature_names: list[str]  # x0, x1, ... where the table has none
    fill: np.ndarray | None = None  # medians that gaps were filled with
    centre: np.ndarray | None = None  # means that were taken out; sparse tables keep their zeros
    scale: np.ndarray | None = None  # standard deviations that columns were divided by
    n_filled: int = 0
    constant: tuple[str, ...] = ()  # columns that do not vary
    row_numbers: tuple[str, ...] = ()  # columns that look like row numbers

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a user should know about the table, a sentence each."""
        found = {}
        n, repeated, y = self.table.X.shape[0], count_repeated(self.table), self.table.y
        if repeated:
            found["names"] = (
                f"{count_of(repeated, 'sample')} of {n:,} have the name of another one in column "
                f"{self.table.id_name!r}: names of samples should differ."
            )
        if y is not None and self.table.complete_y is None:
            found["classes"] = (
                f"{count_of(int(np.sum(y < 0)), 'label')} of {n:,} missing in the column of the "
                "classes: the result is not compared with them."
            )
        if self.row_numbers:
            one = shlex.quote(self.row_numbers[0])
            rest = (
                "the rows and would be taken as a feature: leave a row number out with --drop "
                f"{one}, or make it the name of the samples with --id-column {one} (in Python "
                "drop, id_column)."
            )
            found["row-numbers"] = columns_sentence(self.row_numbers, "counts", "count", rest)
        if self.constant:
            rest = "constant: nothing to select."
            found["constant"] = columns_sentence(self.constant, "is", "are", rest)
        if self.n_filled:
            found["filled"] = filled_note(self.n_filled, "median of the column")
        return tuple(Note(text, kind) for kind, text in found.items())


def prepare_table(table: Any, *, impute: str | None = None, standardize: bool = False) -> Prepared:
    """Make a table ready for a selector; raise ValueError for one that cannot be used.

    Missing values are filled with the median of their column where ``impute`` is "median", and
    refused otherwise. ``standardize`` gives columns mean 0 and variance 1 (sparse ones variance 1).
    """
    table = as_dataset(table)
    if impute is not None:
        check_option("impute", impute, ("median",))
    names = table.names
    if table.X.shape[0] == 1:
        raise ValueError(
            "The table has one row only, and a selection compares rows: at least 2 are needed. "
            "Rows are samples, columns are features: if the table is the other way round, "
            "transpose it."
        )
    infinite = count_infinite(table.X)
    if infinite.any():
        raise ValueError(
            f"The table has {list_counts(by_column(infinite, names), 'infinite value')}: correct "
            "them in the file (an empty cell counts as missing), or leave such columns out (--drop "
            "COLUMN; in Python drop)."
        )
    missing = count_missing(table.X)
    if missing.any() and impute is None:
        raise ValueError(
            f"The table has {list_counts(by_column(missing, names), 'missing value')}. Fill such "
            "gaps with the median of their column (--impute median; in Python impute='median'), or "
            "leave these columns out (--drop COLUMN; in Python drop)."
        )
    fill = None
    if impute is not None:
        fill, filled = _filled(table.X, missing, names)
        table = replace(table, X=filled)
    X, centre, scale = _standardized(table.X) if standardize else (table.X, None, None)
    return Prepared(
        table,
        X,
        names,
        fill,
        centre,
        scale,
        n_filled=int(missing.sum()),
        constant=tuple(names[j] for j in np.flatnonzero(constant_columns(table.X))),
        row_numbers=tuple(names[j] for j in row_number_columns(table.X, table.feature_names)),
    )


def _standardized(X: Any) -> tuple[Any, np.ndarray | None, np.ndarray]:
    """Return the standardised table, and what was taken out, in the units of X."""
    table = check_range(X.tocsr() if is_sparse(X) else X, owner="standardize")
    scaler = StandardScaler(with_mean=not is_sparse(X)).fit(table)
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
    """Return one row per sample: its name (or its row number, from 0) and its cluster."""
    names = table.sample_names
    rows = np.arange(len(labels)) if names is None else np.asarray(names, dtype=str)
    return Table({"sample": rows, "cluster": labels})


def count_repeated(table: Dataset) -> int:
    """Return how many samples have a name that an earlier one has, in a column that names them."""
    if table.id_name is None or table.sample_names is None:
        return 0
    return len(table.sample_names) - len(set(table.sample_names))


def _filled(X: Any, missing: np.ndarray, names: list[str]) -> tuple[np.ndarray, Any]:
    """Return the medians of the columns, and the table with its gaps filled by them."""
    empty = [names[j] for j in np.flatnonzero(missing == X.shape[0])]
    if empty:
        drop = f"--drop {shlex.quote(empty[0])}; in Python drop"
        rest = f"no value at all: leave out what is empty ({drop})."
        raise ValueError(columns_sentence(empty, "has", "have", rest))
    table = X.tocsc() if is_sparse(X) else X
    imputer = SimpleImputer(strategy="median").fit(table)
    if missing.any():
        X = sp.csr_array(imputer.transform(table)) if is_sparse(X) else imputer.transform(table)
    return imputer.statistics_, X
