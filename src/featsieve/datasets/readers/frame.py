"""What files of named columns have in common: features, one column of labels, no text."""

from typing import Any

import numpy as np

from featsieve.datasets.dataset import Content

MOST_NAMES = 8  # that an error lists


def frame_content(frame: Any, label_column: str | None, *, named: bool = True) -> Content:
    """Return table, labels and names of a pandas.DataFrame."""
    from pandas.api.types import is_complex_dtype, is_numeric_dtype

    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    if not frame.columns.is_unique:
        twice = frame.columns[frame.columns.duplicated()].unique().tolist()
        raise ValueError(f"several columns have the same name: {shorten(twice)}")
    labels = None
    if label_column is not None:
        if label_column not in frame.columns:
            raise ValueError(
                f"there is no column {label_column!r}; columns are: {shorten(list(frame.columns))}"
            )
        labels = _values(frame[label_column])
        frame = frame.drop(columns=label_column)
    if not len(frame) or not len(frame.columns):
        raise ValueError(f"the table is empty: {len(frame)} rows, {len(frame.columns)} columns")
    text = [
        column
        for column, dtype in frame.dtypes.items()
        if not is_numeric_dtype(dtype) or is_complex_dtype(dtype)
    ]
    if text:
        raise ValueError(
            f"columns that are not numbers: {shorten(text)}; name the one with the classes as "
            "label_column (labels in a plan), and remove the others or turn them into numbers"
        )
    X = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    return Content(X, labels, list(frame.columns) if named else None)


def shorten(names: list[str]) -> str:
    """Return names for an error: the first few, and how many more."""
    shown = ", ".join(repr(name) for name in names[:MOST_NAMES])
    more = len(names) - MOST_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


def _values(column: Any) -> np.ndarray:
    """Return labels as an array in which a missing one is None."""
    values = column.to_numpy()
    if column.isna().any():
        values = column.astype(object).where(column.notna(), None).to_numpy()
    return values
