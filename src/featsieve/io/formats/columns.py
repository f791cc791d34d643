"""Common to files of named columns: features, classes, names of samples, and what is text."""

import re
from typing import Any

import numpy as np

from featsieve.io.dataset import Dataset, make_dataset
from featsieve.io.formats import Request
from featsieve.io.guard import ColumnError, TableError
from featsieve.io.names import check_unique, find_columns, named_or_places, shorten, shown

MOST_EXAMPLES = 3  # columns of which an error shows a cell
FEWEST_NAMES = 3  # rows: distinct words in fewer rows mean nothing
DECIMAL_COMMA = re.compile(r"[+-]?\d{1,99},\d{1,99}")
NUMBER = r"[+-]?\d*[.,]?\d+([eE][+-]?\d+)?"
EVERYTHING = Request()
WAYS_OUT = (
    "name the classes with --label-column, name the samples with --id-column, leave a column out "
    "with --drop, or all of them with --drop-text, or turn them into numbers (in Python "
    "label_column, ...; labels in a plan)"
)


def frame_dataset(
    frame: Any,
    request: Request = EVERYTHING,
    *,
    named: bool = True,
    rows: list[str] | None = None,
    id_name: str | None = None,
    unread: tuple[str, ...] = (),
) -> Dataset:
    """Return what a request asks of a pandas.DataFrame.

    ``rows`` are the names of its rows, ``id_name`` is what they are called.
    """
    frame = frame.copy(deep=False)  # set_axis would copy the values as well
    frame.columns = [str(column) for column in frame.columns]
    check_unique(frame.columns)
    find_columns(request.roles, frame.columns)
    labels = None if request.label_column is None else _values(frame[request.label_column])
    if request.id_column is not None:
        rows, id_name = as_text(frame[request.id_column]), request.id_column
    kept = _features(list(frame.columns), request)
    if not len(frame) or not kept:
        raise TableError(f"the table is empty: {len(frame)} rows, {len(kept)} columns")
    # A frame that is all features is the common case, and needs no copy.
    frame = frame[kept] if kept != list(frame.columns) else frame
    text = text_columns(frame)
    if text and (not request.drop_text or request.columns is not None):
        fix = WAYS_OUT if request.columns is None else "turn them into numbers"
        raise ColumnError(f"{_about_text(frame, text)}; {fix}")
    if len(text) == len(kept):
        raise ColumnError(f"no column holds numbers: {shorten(text)}")
    identifying = tuple(name for name in text if _names_rows(frame[name]))
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
        dropped=(*request.drop, *text),
        identifying=identifying,
        unread=unread,
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


def _features(names: list[str], request: Request) -> list[str]:
    """Return the columns that are features, in the order in which they are wanted."""
    both = {*request.roles} & {*request.drop, *(request.columns or ())}
    if both:
        raise ColumnError(
            f"{shorten(sorted(both))} cannot be named as label_column or id_column and in drop or "
            "columns as well: label and id columns are left out of the features by themselves"
        )
    if request.columns is not None:
        find_columns(request.columns, names)
        return list(request.columns)
    find_columns(request.drop, names)
    left_out = {*request.roles, *request.drop}
    return [name for name in names if name not in left_out]


def _names_rows(column: Any) -> bool:
    """Say whether a column of text has another word in every row, and not numbers."""
    if len(column) < FEWEST_NAMES or column.isna().any() or column.nunique() < len(column):
        return False
    words = column.astype(str).str.strip()
    numbers = words.str.fullmatch(NUMBER).sum()
    return bool(numbers <= len(words) / 2 and words.nunique() == len(words))


def _about_text(frame: Any, text: list[str]) -> str:
    """Say which columns are not numbers, and what a few of them hold."""
    import pandas

    examples = []
    for name in text[:MOST_EXAMPLES]:
        column = frame[name].dropna()
        # A text is looked at once, in however many rows it stands.
        codes, different = pandas.factorize(column)
        texts = pandas.Series(np.asarray(different, dtype=object))
        if not pandas.api.types.is_string_dtype(texts) or not len(column):
            continue
        numbers = pandas.to_numeric(texts, errors="coerce").notna().to_numpy()
        odd = codes[~numbers[codes]]
        if 0 < len(odd) <= len(column) / 2:  # a column of numbers with a few cells that are none
            cells = shorten([str(text) for text in texts[~numbers][:2]])
            where = f"{len(odd)} cell{'s'[: len(odd) != 1]}"
            examples.append(f"{shown(name)} has numbers except in {where} ({cells})")
        elif len(odd) and all(DECIMAL_COMMA.fullmatch(str(text)) for text in texts[~numbers]):
            examples.append(f"{shown(name)} has commas for decimal points ({texts[odd[0]]!r})")
    return "; ".join([f"columns that are not numbers: {shorten(text)}", *examples])


def _values(column: Any) -> np.ndarray:
    """Return labels as an array in which a missing one is None."""
    values = column.to_numpy()
    if column.isna().any():
        values = column.astype(object).where(column.notna(), None).to_numpy()
    return values
