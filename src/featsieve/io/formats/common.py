"""Common to formats: what a request asks of a data frame or of a matrix, and classes to write."""

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np

from featsieve.io.dataset import Dataset, as_table, make_dataset
from featsieve.io.formats import Request
from featsieve.io.guard import ColumnError, TableError
from featsieve.io.names import (
    check_unique,
    find_columns,
    named_or_places,
    place_names,
    shorten,
    shown,
)

# The classes and the batches, where the table does not say what they are called.
LABEL, BATCH = "label", "batch"
MOST_EXAMPLES = 3  # columns of which an error shows a cell
NUMBER = re.compile(r"\s*[+-]?\d*[.,]?\d+([eE][+-]?\d+)?\s*")
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")
WAYS_OUT = (
    "name the classes with --label-column, name the samples with --id-column, leave a column out "
    "with --drop, or all of them with --drop-text, or turn them into numbers (in Python "
    "label_column, ...; labels in a plan)"
)


# Files of named columns ---------------------------------------------------------------------------


def frame_dataset(
    frame: Any,
    request: Request,
    *,
    named: bool = True,
    rows: list[str] | None = None,
    id_name: str | None = None,
) -> Dataset:
    """Return what a request asks of a pandas.DataFrame.

    ``rows`` are the names of its rows, ``id_name`` is what they are called.
    """
    frame = frame.copy(deep=False)  # set_axis would copy the values as well
    frame.columns = [str(column) for column in frame.columns]
    check_unique(frame.columns)
    find_columns(request.roles, frame.columns)
    labels = None if request.label_column is None else _labels(frame[request.label_column])
    if request.id_column is not None:
        rows, id_name = as_text(frame[request.id_column]), request.id_column
    batch = None if request.batch_column is None else as_text(frame[request.batch_column])
    kept = _features(list(frame.columns), request)
    if not len(frame) or not kept:
        raise TableError(f"the table is empty: {len(frame)} rows, {len(kept)} columns")
    # A frame that is all features is the common case, and needs no copy.
    frame = frame[kept] if kept != list(frame.columns) else frame
    text = text_columns(frame)
    if text and (not request.drop_text or request.columns is not None):
        fix = WAYS_OUT if request.columns is None else "turn them into numbers"
        examples = filter(None, (_odd_cells(frame[name]) for name in text[:MOST_EXAMPLES]))
        about = "; ".join([f"columns that are not numbers: {shorten(text)}", *examples])
        raise ColumnError(f"{about}; {fix}")
    if len(text) == len(kept):
        raise ColumnError(f"no column holds numbers: {shorten(text)}")
    if text:
        frame = frame.drop(columns=text)
    # float32 where all columns are, else float64
    single = {str(dtype).lower() for dtype in set(frame.dtypes)} == {"float32"}
    names = list(frame.columns)
    return make_dataset(
        frame.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan),
        labels=labels,
        feature_names=names if named else named_or_places(names),
        sample_names=rows,
        id_name=id_name,
        label_name=request.label_column,
        batch=batch,
        batch_name=request.batch_column,
        dropped=(*request.drop, *text),
    )


def text_columns(frame: Any) -> list[str]:
    """Return the names of the columns that do not hold real numbers."""
    from pandas.api.types import is_complex_dtype, is_numeric_dtype

    kinds = {dtype: is_numeric_dtype(dtype) for dtype in set(frame.dtypes)}
    numbers = {dtype: kind and not is_complex_dtype(dtype) for dtype, kind in kinds.items()}
    return [column for column, dtype in frame.dtypes.items() if not numbers[dtype]]


def as_text(column: Any) -> list[str]:
    """Return the names of samples; one that is missing is an empty text."""
    values = zip(column.astype(object), column.isna(), strict=True)
    return ["" if missing else str(value) for value, missing in values]


def _labels(column: Any) -> np.ndarray:
    """Return labels as an array in which a missing one is None."""
    if column.isna().any():
        return column.astype(object).where(column.notna(), None).to_numpy()
    return column.to_numpy()


def _features(names: list[str], request: Request) -> list[str]:
    """Return the columns that are features, in the order in which they are wanted."""
    both = {*request.roles} & {*request.drop, *(request.columns or ())}
    if both:
        raise ColumnError(
            f"{shorten(sorted(both))} cannot be named as label_column, id_column or batch_column "
            "and in drop or columns as well: such columns are left out of the features by "
            "themselves"
        )
    find_columns(request.drop if request.columns is None else request.columns, names)
    if request.columns is not None:
        return list(request.columns)
    left_out = {*request.roles, *request.drop}
    return [name for name in names if name not in left_out]


def _odd_cells(column: Any) -> str:
    """Say why a column of text is no column of numbers, where only a few cells are to blame."""
    words = column[column.map(lambda value: isinstance(value, str))]
    odd = [word for word in words if not NUMBER.fullmatch(word) or "," in word]
    if 0 < len(odd) <= len(column.dropna()) / 2:
        where = f"{len(odd)} cell{'s'[: len(odd) != 1]}"
        return f"{shown(column.name)} has numbers except in {where} ({shorten(odd[:2])})"
    if odd and all(map(DECIMAL_COMMA.fullmatch, odd)):
        return f"{shown(column.name)} has commas for decimal points ({odd[0]!r})"
    return ""


# Files of a matrix, beside its names and classes --------------------------------------------------


def matrix_dataset(
    X: Any, request: Request, *, features: list[str] | None, **about: Any
) -> Dataset:
    """Return what a request asks of a matrix whose features may have names; else x0, x1, ..."""
    X = as_table(X)
    if (request.columns is not None or request.drop) and len(features or ()) in (0, X.shape[1]):
        present = place_names(X.shape[1]) if features is None else features
        check_unique(present)
        wanted = request.drop if request.columns is None else request.columns
        chosen = find_columns(wanted, present, role="feature")
        if request.columns is None:
            chosen = np.setdiff1d(np.arange(X.shape[1]), chosen)
        X, features = X[:, chosen], named_or_places([present[j] for j in chosen])
        if flags := about.get("flags"):
            about["flags"] = {name: mask[chosen] for name, mask in flags.items()}
    return make_dataset(X, feature_names=features, dropped=request.drop, **about)


# What is written ----------------------------------------------------------------------------------


def label_values(table: Dataset) -> np.ndarray | None:
    """Return the classes of the samples as numbers or text, whichever keeps their order.

    So that, read again, class k is class k.
    """
    if table.y is None:
        return None
    if table.class_names is None:
        return np.asarray(table.y)
    missing = table.complete_y is None
    for kind in (int, float):
        with suppress(ValueError):
            classes = [kind(name) for name in table.class_names]
            same = [str(value) for value in classes] == table.class_names
            if same and classes == sorted(classes) and not missing:
                return np.array(classes)[table.y]
    return np.array([*table.class_names, *([""] if missing else [])], dtype=str)[table.y]


def free_name(wanted: str | None, default: str, taken: Iterable[str]) -> str:
    """Return a name for something beside the features: the wanted one, unless it is taken."""
    used = set(taken)
    name = wanted if wanted is not None and wanted not in used else default
    while name in used:
        name += "_"
    return name


def dense(X: Any) -> np.ndarray:
    """Return a table with its zeros."""
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)
