"""Common to formats: what a request asks of a data frame or of a matrix, and classes to write."""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from featsieve.io.cells import Numbers, describe_odd, infinite_cells, read_numbers
from featsieve.io.dataset import Dataset, Origin, as_table, make_dataset
from featsieve.io.formats import Request
from featsieve.io.guard import ColumnError, TableError
from featsieve.io.names import (
    check_unique,
    find_columns,
    named_or_places,
    names_features,
    number_twins,
    place_names,
    shorten,
    shown,
)
from featsieve.tables import Encoding, column_words

# The classes and the batches, where the table does not say what they are called.
LABEL, BATCH = "label", "batch"
MOST_EXAMPLES = 3  # columns of which an error shows a cell
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+([eE][+-]?\d+)?\s*")
WAYS_OUT = (
    "name the classes with --label-column, name the samples with --id-column, leave a column out "
    "with --drop, or all of them with --drop-text, or let categories and dates take part with "
    '--encode (in Python label_column, ...; "FILE#COLUMN" in a plan)'
)
ENCODE = "be encoded (at most the root of the number of rows)"
REPAIR = (
    "--repair turns such cells into numbers or missing values and lists every one (in Python "
    "repair=True)"
)
REPAIR_AGAIN = (
    "turn them into numbers (repair=True does; a model of featsieve select --repair does it by "
    "itself)"
)
TRANSPOSED = "The table was transposed: its rows are features, its columns samples."
TRANSPOSE = "--transpose turns it round (in Python transpose=True)"


# Files of named columns ---------------------------------------------------------------------------


def frame_dataset(
    frame: Any,
    request: Request,
    *,
    named: bool = True,
    rows: list[str] | None = None,
    id_name: str | None = None,
    decimal: str = ".",
    origin: Origin | None = None,
) -> Dataset:
    """Return what a request asks of a pandas.DataFrame.

    ``rows`` are the names of its rows, ``id_name`` is what they are called. Of columns of text,
    those that hold numbers become such, by the ``decimal`` mark of the file.
    """
    origin, left_out = origin or Origin(), tuple[str, ...]()
    frame = frame.copy(deep=False)  # set_axis would copy the values as well
    frame.columns = [str(column) for column in frame.columns]
    if request.transpose:
        frame, rows, left_out, origin = _transposed(frame, rows, request, decimal, origin)
        rows, named, id_name = (rows if named else None), True, None
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
    told: dict[str, str] = {}
    frame, text, odd, encoded = _numbers(frame, request, decimal, told)
    origin = replace(origin, notes=(*origin.notes, *told.values()))
    if len(text) == len(kept):
        raise ColumnError(f"no column holds numbers: {shorten(text)}")
    if request.encode is not None:
        origin = _with_encodings(origin, request, encoded)
    counts = {name: 0 if name in told else _n_words(frame[name]) for name in text}
    origin = replace(origin, text=counts)
    if request.repair is not None:
        origin = _with_changes(origin, request, odd)
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
        dropped=(*request.drop, *left_out, *text),
        origin=origin,
    )


def _numbers(
    frame: Any, request: Request, decimal: str, told: dict[str, str]
) -> tuple[Any, list[str], dict[str, Numbers], dict[str, Encoding]]:
    """Return a frame with numbers in place of text, columns that stay text, odd and encoded ones.

    Text that was not asked to be left out and odd cells that were not asked to be repaired are
    refused. Notes about columns are added to ``told``.
    """
    marks, sure = request.repair or {}, request.columns is not None
    find_columns([] if sure else list(request.encode or ()), list(frame.columns))
    known = [name for name in request.encode or () if name in frame]
    frame, encoded = _encoded(frame, known, request, told)
    words = text_columns(frame)
    found = {
        name: read_numbers(frame[name], decimal=decimal, sure=sure, mark=marks.get(name))
        for name in words
        if str(frame[name].dtype).startswith(("object", "str"))
    }
    if request.repair is not None:
        floats = frame.columns[[dtype.kind == "f" for dtype in frame.dtypes]]
        found |= {name: infinite_cells(frame[name], decimal=decimal) for name in floats}
    numbers = {name: about for name, about in found.items() if about is not None}
    text = [name for name in words if name not in numbers]
    if request.encode is not None:
        frame, more = _encoded(frame, text, request, told)
        encoded, text = encoded | more, [name for name in text if name not in more]
    odd = {name: about for name, about in numbers.items() if len(about.changed)}
    refused = text if not request.drop_text or sure else []
    unrepaired = odd if request.repair is None else {}
    if refused or unrepaired:
        many = "" if request.encode is None else f" and have too many different words to {ENCODE}"
        said = [f"columns that are not numbers{many}: {shorten(refused)}"] if refused else []
        said += [describe_odd(unrepaired.items(), most=MOST_EXAMPLES)] if unrepaired else []
        if sure:
            said.append(REPAIR_AGAIN if unrepaired else "turn them into numbers")
        else:
            said += [REPAIR] if unrepaired else []
            said += [WAYS_OUT] if refused else []
        if refused and not request.transpose and names_features(refused[0]):
            said.append(f"if the rows are features, as {shown(refused[0])} says: {TRANSPOSE}")
        raise ColumnError("; ".join(said))
    if numbers:  # all columns at once: one by one is slow where many change
        columns = {name: numbers[name].values if name in numbers else frame[name] for name in frame}
        frame = type(frame)(columns, index=frame.index)
    return frame, text, odd, encoded


def _encoded(
    frame: Any, names: Sequence[str], request: Request, told: dict[str, str]
) -> tuple[Any, dict[str, Encoding]]:
    """Return a frame with codes in some columns, those of few words or known levels."""
    codes, found = {}, {}
    for name in names:
        words, known = column_words(frame[name]), request.encode.get(name)
        try:
            if known is None:
                encoding = Encoding.of(words)
            elif isinstance(known, dict):  # of a model
                encoding = Encoding(**known)
            else:
                encoding = Encoding("order", tuple(str(word) for word in known))
            if encoding is not None:
                codes[name], found[name] = encoding.codes(words)
        except ValueError as error:
            if not request.drop_text:
                raise ColumnError(f"{name!r}: {error}") from error
            told[name] = f"Left out, {name!r}: {error}."
    frame = frame.copy(deep=False) if codes else frame
    for name, values in codes.items():
        frame[name] = values
    return frame, found


def _with_encodings(origin: Origin, request: Request, found: dict[str, Encoding]) -> Origin:
    """Return what is known of a file with the words that became numbers, and those unheard of."""
    notes = []
    for kind, what in (
        ("category", "Categories that take part (--encode)"),
        ("order", "Categories in their order, as 0, 1, 2, ..."),
        ("date", "Dates that take part (--encode), as days since 1970-01-01"),
    ):
        own = [
            repr(name) if kind == "date" else f"{name!r} ({len(one.levels)} words)"
            for name, one in found.items()
            if one.kind == kind and name not in request.encode
        ]
        more = f" and {len(own) - 8} more" if len(own) > 8 else ""
        notes += [f"{what}: {', '.join(own[:8])}{more}."] if own else []
    for name, one in found.items():
        known = request.encode.get(name, one.levels)
        known = known["levels"] if isinstance(known, dict) else known
        new = [word for word in one.levels if word not in known]
        if new and not isinstance(request.encode.get(name), dict):
            raise ColumnError(f"{name!r} has words that its order lacks: {shorten(new)}: name all")
        if new:
            notes.append(
                f"{name!r} has words that the fitted table does not have: {shorten(new)}. They "
                "are ignored: the other columns decide the clusters of these rows."
            )
    about = {name: {"kind": one.kind, "levels": list(one.levels)} for name, one in found.items()}
    options = {**origin.options, "encode": about}
    return replace(origin, options=options, notes=(*origin.notes, *notes))


def _n_words(column: Any) -> int:
    """Return how many different words a column has, 0 where that makes no sense."""
    try:
        return int(column.nunique())
    except TypeError:  # lists and the like
        return 0


def _with_changes(origin: Origin, request: Request, odd: dict[str, Numbers]) -> Origin:
    """Return what is known of a file with every cell that was repaired."""
    changes: dict[str, list[Any]] = {"row": [], "column": [], "was": [], "now": []}
    for name, about in odd.items():
        changes["row"] += (about.changed + 1).tolist()
        changes["column"] += [name] * len(about.changed)
        changes["was"] += about.was
        changes["now"] += about.values[about.changed].tolist()
    marks = {**request.repair, **{name: about.decimal for name, about in odd.items()}}
    return replace(
        origin,
        options={**origin.options, "repair": marks},
        repaired={name: str(about) for name, about in odd.items()},
        changes=changes,
    )


def _transposed(
    frame: Any, features: list[str] | None, request: Request, decimal: str, origin: Origin
) -> tuple[Any, list[str], tuple[str, ...], Origin]:
    """Return a table of features x samples as samples x features, names of samples, and notes.

    The first column names the features if it is text, or called so. Other columns that hold no
    numbers describe features, and are left out if that is asked for.
    """
    text = text_columns(frame)
    words = [name for name in text if read_numbers(frame[name], decimal=decimal) is None]
    first = frame.columns[0]
    if features is None and (first in words or names_features(first)):
        features, frame = as_text(frame[first]), frame.iloc[:, 1:]
        words = [name for name in words if name != first]
    if words and not request.drop_text:
        raise ColumnError(
            f"columns that are not numbers: {shorten(words)}; in a table that is transposed, all "
            "columns but the first are samples: leave these out with --drop-text (in Python "
            "drop_text)"
        )
    frame = frame.drop(columns=words)
    names = features or place_names(len(frame))
    names = [name if name.strip() else f"Unnamed: {j}" for j, name in enumerate(names)]
    names, twins = number_twins(names)
    transposed = frame.T.set_axis(names, axis=1).reset_index(drop=True)
    origin = replace(
        origin,
        options={**origin.options, "transpose": True},
        notes=(*origin.notes, TRANSPOSED, *filter(None, [twins])),
    )
    return transposed, list(frame.columns), tuple(words), origin


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


# Files of a matrix, beside its names and classes --------------------------------------------------


def matrix_dataset(
    X: Any, request: Request, *, features: list[str] | None, **about: Any
) -> Dataset:
    """Return what a request asks of a matrix whose features may have names; else x0, x1, ..."""
    X, origin = as_table(X), Origin()
    if request.transpose:
        X, origin = X.T, Origin({"transpose": True}, (TRANSPOSED,))
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
    return make_dataset(X, feature_names=features, dropped=request.drop, origin=origin, **about)


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


def feature_frame(pandas: Any, table: Dataset, X: np.ndarray) -> Any:
    """Return the features as a data frame, with words in the place of their codes."""
    frame = pandas.DataFrame(X, columns=table.names)
    for name, one in table.encodings.items():
        frame[name] = [word or None for word in one.words(frame[name].to_numpy())]
    return frame


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
