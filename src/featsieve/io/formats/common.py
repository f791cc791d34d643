"""Common to formats: what a request asks of a data frame or of a matrix, and classes to write."""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from featsieve.io.cells import Numbers, describe_odd, read_numbers, without_gaps
from featsieve.io.dataset import Dataset, Origin, as_table, dense, make_dataset
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
from featsieve.names import counted, first_few
from featsieve.tables import Encoding, column_words, is_answer

# The classes and the batches, where the table does not say what they are called.
LABEL, BATCH = "label", "batch"
MOST_EXAMPLES = 3  # columns of which an error shows a cell
WAYS_OUT = (
    "name the classes with --label-column, samples with --id-column, batches with --batch-column, "
    "leave a column out with --drop, or all with --drop-text, let categories and dates take part "
    'with --encode (in Python label_column, ...; "FILE#COLUMN" in a plan)'
)
REPAIR = (
    "--repair turns such cells into numbers or missing values and lists every one (in Python "
    "repair=True)"
)
AGAIN = (
    "turn them into numbers (repair=True does where numbers are written as text, and a model of "
    "featsieve select --repair by itself)"
)
TRANSPOSED = "The table was transposed: its rows are features, its columns samples."
ENCODED = {
    "category": "Encoded as categories (--encode)",
    "date": "Encoded as days since 1970-01-01 (--encode)",
}


# What stands for a column in ``encode`` that gives orders to all columns with their words.
ANY_COLUMN = "*"

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
    """Return what a request asks of a pandas.DataFrame, whose ``rows`` are named (``id_name``)."""
    origin, left_out = origin or Origin(), tuple[str, ...]()
    frame = frame.copy(deep=False)  # set_axis would copy the values as well
    frame.columns = [str(column) for column in frame.columns]
    if request.transpose:
        about = [name for name in frame.columns if name in request.drop]
        request = replace(request, drop=[name for name in request.drop if name not in about])
        if about:
            origin = replace(origin, options={**origin.options, "drop": about})
        frame = frame.drop(columns=about)
        frame, rows, left_out, origin = _transposed(frame, rows, request, decimal, origin)
        rows, named, id_name = (rows if named else None), True, None
        left_out = (*about, *left_out)
    check_unique(frame.columns)
    facts = row_facts(frame, request, rows, id_name)
    kept = _features(list(frame.columns), request)
    if not len(frame) or not kept:
        raise TableError(f"the table is empty: {len(frame)} rows, {len(kept)} columns")
    # A frame that is all features is the common case, and needs no copy.
    frame = frame[kept] if kept != list(frame.columns) else frame
    frame, text, origin = _numbers(frame, request, decimal, origin)
    if len(text) == len(kept):
        raise ColumnError(f"no column holds numbers: {shorten(text)}")
    if text:
        frame = frame.drop(columns=text)
    # float32 where all columns are, else float64
    single = {str(dtype).lower() for dtype in set(frame.dtypes)} == {"float32"}
    names = list(frame.columns)
    return make_dataset(
        frame.to_numpy(dtype=np.float32 if single else np.float64, na_value=np.nan),
        feature_names=names if named else named_or_places(names),
        dropped=(*request.drop, *left_out, *text),
        origin=origin,
        **facts,
    )


def row_facts(
    frame: Any, request: Request, rows: list[str] | None, id_name: str | None
) -> dict[str, Any]:
    """Return names, classes and batches of the rows of a frame, as `make_dataset` takes them."""
    find_columns(request.roles, list(frame.columns))
    if request.id_column is not None:
        rows, id_name = as_text(frame[request.id_column]), request.id_column
    label, batch = request.label_column, request.batch_column
    classes = None if label is None else frame[label].astype(object)
    return {
        "sample_names": rows,
        "id_name": id_name,
        "labels": None if classes is None else classes.where(classes.notna(), None),
        "label_name": label,
        "batch": None if batch is None else as_text(frame[batch]),
        "batch_name": batch,
    }


def _numbers(
    frame: Any, request: Request, decimal: str, origin: Origin
) -> tuple[Any, list[str], Origin]:
    """Return a frame with numbers in place of text, columns that stay text, and what was done."""
    marks, sure = request.repair or {}, request.columns is not None
    coded = request.repair is not None and not sure  # a fit tells which columns have codes
    named = [name for name in request.encode or () if name != ANY_COLUMN]
    find_columns([] if sure else named, list(frame.columns))
    known = [name for name in named if name in frame]
    words = [name for name in text_columns(frame) if name not in known]
    found = {
        name: read_numbers(
            frame[name], decimal=decimal, sure=sure, mark=marks.get(name), coded=coded
        )
        for name in words
        if str(frame[name].dtype).startswith(("object", "str"))
    }
    if request.repair is not None:
        plain = frame.columns[[dtype.kind in "iuf" for dtype in frame.dtypes]]
        usual = None if coded else decimal
        found |= {n: _without_gaps(frame[n], decimal, marks.get(n, usual)) for n in plain}
    numbers = {name: about for name, about in found.items() if about is not None}
    text = [name for name in words if name not in numbers]
    encoded, told, spelled = dict[str, Encoding](), dict[str, str](), dict[str, Spelling]()
    if request.encode is not None:
        frame, encoded, told, spelled = _encoded(frame, [*known, *text], request)
        text = [name for name in text if name not in encoded]
    odd = {name: about for name, about in numbers.items() if len(about.changed)}
    _refuse(
        text if sure or not request.drop_text else [],
        odd if request.repair is None else {},
        request,
    )
    if numbers:  # all columns at once: one by one is slow where many change
        columns = {name: numbers[name].values if name in numbers else frame[name] for name in frame}
        frame = type(frame)(columns, index=frame.index)
    cells = {name: frame[name].dropna().astype(str) for name in text}
    counts = {name: 0 if name in told else words.nunique() for name, words in cells.items()}
    origin = replace(origin, text=counts, notes=(*origin.notes, *told.values()))
    if request.encode is not None:
        origin = _with_encodings(origin, request, encoded)
    return (
        frame,
        text,
        origin if request.repair is None else _with_changes(origin, request, odd, spelled),
    )


def _without_gaps(column: Any, decimal: str, mark: str | None) -> Numbers | None:
    """Return numbers of any width with gaps in place of those that are none."""
    kind = column.dtype.type if column.dtype.kind == "f" else np.float64
    return without_gaps(column.to_numpy(dtype=kind, na_value=np.nan), decimal, mark)


def _refuse(text: list[str], odd: dict[str, Numbers], request: Request) -> None:
    """Raise for text that was not to be left out, and odd cells that were not to be repaired."""
    if not text and not odd:
        return
    many = " and have too many different words to be encoded" if request.encode is not None else ""
    said = [f"columns that are not numbers{many}: {shorten(text)}"] if text else []
    said += [describe_odd(odd.items(), most=MOST_EXAMPLES)] if odd else []
    if request.columns is not None:
        said.append(AGAIN)
    else:
        said += ([REPAIR] if odd else []) + ([WAYS_OUT] if text else [])
    if text and not request.transpose and names_features(text[0]):
        said.append(
            f"if the rows are features, as {shown(text[0])} says: --transpose turns it round (in "
            "Python transpose=True)"
        )
    raise ColumnError("; ".join(said))


@dataclass(frozen=True)
class Spelling:
    """Cells of a column of words that got another one's capital letters."""

    changed: list[int]  # rows
    was: list[str]
    now: list[str]

    def __str__(self) -> str:
        pair = shorten([self.was[0], self.now[0]])
        return f"words that differ in capital letters only ({pair}; the second is taken)"


def _one_spelling(
    words: list[str | None], levels: Sequence[str] = ()
) -> tuple[list[str | None], Spelling]:
    """Return words with capital letters as in most cells (or as in known levels), and changes.

    AA, Aa and aa are three genotypes: two letters in three spellings stay as they are.
    """
    counts = Counter(word for word in words if word is not None)
    order = [*levels, *sorted(counts, key=lambda word: (-counts[word], word))]
    best: dict[str, str] = {}
    for word in order:
        best.setdefault(word.casefold(), word)
    spellings = Counter(word.casefold() for word in counts if len(word) == 2)
    kept = {*levels, *(word for word in counts if spellings[word.casefold()] > 2)}
    now = [word if word is None or word in kept else best[word.casefold()] for word in words]
    rows = [i for i, (old, new) in enumerate(zip(words, now, strict=True)) if old != new]
    changes = [(str(words[i]), str(now[i])) for i in rows]
    return now, Spelling(rows, [old for old, _ in changes], [new for _, new in changes])


def _encoded(
    frame: Any, names: Sequence[str], request: Request
) -> tuple[Any, dict[str, Encoding], dict[str, str], dict[str, Spelling]]:
    """Return a frame with codes in columns of few words or known levels, and what is left out.

    That are sentences by column. Last come words that were repaired.
    """
    codes, found, told, spelled = {}, {}, {}, dict[str, Spelling]()
    unplaced, without_answer = Counter[str](), list[str]()
    for name in names:
        known = request.encode.get(name) or _order_of(frame[name], request)
        levels = [str(one) for one in (known["levels"] if isinstance(known, dict) else known or ())]
        words = column_words(frame[name], levels)
        if request.repair is not None:
            words, changes = _one_spelling(words, levels)
            spelled |= {name: changes} if changes.changed else {}
        try:
            if known is None:
                encoding = Encoding.of(words)
            elif isinstance(known, dict):  # of a model
                encoding = Encoding(**known)
            else:
                encoding = Encoding("order", tuple(str(word) for word in known))
            if encoding is not None:
                codes[name], found[name] = encoding.codes(words)
                if encoding.kind == "order":
                    gone = [w for w in words if not is_answer(w) and w not in encoding.levels]
                    unplaced.update(map(str, gone))
                    without_answer += [name] if gone else []
        except ValueError as error:
            if not request.drop_text:
                raise ColumnError(f"{name!r}: {error}") from error
            told[name] = f"Left out, {name!r}: {error}."
    if without_answer:
        told[without_answer[0]] = (
            f"No answers, and missing in columns in an order: {shorten(list(unplaced))} "
            f"({counted(unplaced.total(), 'cell')} in {counted(len(without_answer), 'column')})."
        )
    spelled = {name: one for name, one in spelled.items() if name in found}
    return frame.assign(**codes) if codes else frame, found, told, spelled


def _order_of(column: Any, request: Request) -> list[str] | None:
    """Return the order, of those for any column, that has all words of a column."""
    orders = [[str(word) for word in order] for order in request.encode.get(ANY_COLUMN, ())]
    for order in orders:
        words = {*column_words(column, order), None} - {None}
        if len(words & {*order}) > 1 and not any(map(is_answer, words - {*order})):
            return order
    return None


def _with_encodings(origin: Origin, request: Request, found: dict[str, Encoding]) -> Origin:
    """Return what is known of a file with the words that became numbers, and those unheard of."""
    notes, in_order = [], dict[str, list[str]]()
    for kind, what in ENCODED.items():
        own = [
            repr(name) if kind == "date" else f"{name!r} ({counted(len(one.levels), 'word')})"
            for name, one in found.items()
            if one.kind == kind and name not in request.encode
        ]
        notes += [f"{what}: {first_few(own, 8)}."] if own else []
    for name, one in found.items():
        spelled: dict[str, list[str]] = {}
        for word in one.levels if one.kind == "category" else ():
            spelled.setdefault(word.casefold(), []).append(word)
        if alike := [word for words in spelled.values() if len(words) > 1 for word in words]:
            notes.append(
                f"{name!r} has words that differ in capital letters only, and count as different: "
                f"{shorten(alike)}; --repair (in Python repair=True) makes them one."
            )
        if one.kind == "order" and not isinstance(request.encode.get(name), dict):
            in_order.setdefault(", ".join(one.levels), []).append(name)
        known = request.encode.get(name, one.levels)
        of_model = isinstance(known, dict)
        new = [word for word in one.levels if word not in (known["levels"] if of_model else known)]
        if new and not of_model:
            raise ColumnError(
                f"{name!r} has words that its order lacks: {shorten(new)}: name all (those for no "
                'answer, such as "don\'t know", need not be named)'
            )
        if new:
            notes.append(
                f"{name!r} has words that the fitted table does not have: {shorten(new)}. They "
                "are ignored: the other columns decide the clusters of these rows."
            )
    notes += [
        f"In the order {words}: {first_few(list(map(repr, names)), 8)}."
        for words, names in in_order.items()
    ]
    about = {name: {"kind": one.kind, "levels": list(one.levels)} for name, one in found.items()}
    options = {**origin.options, "encode": about}
    return replace(origin, options=options, notes=(*origin.notes, *notes))


def _with_changes(
    origin: Origin, request: Request, odd: dict[str, Numbers], spelled: dict[str, Spelling]
) -> Origin:
    """Return what is known of a file with every cell that was repaired."""
    changes: dict[str, list[Any]] = {"row": [], "column": [], "was": [], "now": []}
    both: list[tuple[str, Numbers | Spelling]] = [*odd.items(), *spelled.items()]
    for name, one in both:
        changes["row"] += [int(row) + 1 for row in one.changed]
        changes["column"] += [name] * len(one.changed)
        changes["was"] += one.was
        changes["now"] += one.now
    marks = {**request.repair, **{name: about.decimal for name, about in odd.items()}}
    repaired = {name: str(one) for name, one in {**odd, **spelled}.items()}
    options = {**origin.options, "repair": marks}
    return replace(origin, options=options, repaired=repaired, changes=changes)


def _transposed(
    frame: Any, features: list[str] | None, request: Request, decimal: str, origin: Origin
) -> tuple[Any, list[str], tuple[str, ...], Origin]:
    """Return a table of features x samples as samples x features, names of samples, and notes."""
    text = text_columns(frame)
    words = [name for name in text if read_numbers(frame[name], decimal=decimal) is None]
    first = frame.columns[0]
    if features is None and (first in words or names_features(first)):
        features, frame = as_text(frame[first]), frame.iloc[:, 1:]
        words = [name for name in words if name != first]
    again = request.columns is not None  # of a model, whose table may have had such columns
    if words and not request.drop_text and not again:
        raise ColumnError(
            f"columns that are not numbers: {shorten(words)}; in a table that is transposed, all "
            "columns but the first are samples: leave these out with --drop-text (in Python "
            "drop_text)"
        )
    told = [f"Columns of words, which are no samples: {shorten(words)}."] if words and again else []
    frame = frame.drop(columns=words)
    names = features or place_names(len(frame))
    names = [name if name.strip() else f"Unnamed: {j}" for j, name in enumerate(names)]
    names, twins = number_twins(names)
    transposed = frame.T.set_axis(names, axis=1).reset_index(drop=True)
    origin = replace(
        origin,
        options={**origin.options, "transpose": True},
        notes=(*origin.notes, TRANSPOSED, *told, *filter(None, [twins])),
    )
    return transposed, list(frame.columns), tuple(words), origin


def text_columns(frame: Any) -> list[str]:
    """Return the names of the columns that do not hold real numbers."""
    return [name for name, dtype in frame.dtypes.items() if dtype.kind not in "biuf"]


def as_text(column: Any) -> list[str]:
    """Return the names of samples; one that is missing is an empty text."""
    return column.astype(object).map(str).where(column.notna(), "").tolist()


def _features(names: list[str], request: Request) -> list[str]:
    """Return the columns that are features, in the order in which they are wanted."""
    both = {*request.roles} & {*request.drop, *(request.columns or ())}
    if both:
        raise ColumnError(
            f"{shorten(sorted(both))} cannot be named as label_column, id_column or batch_column "
            "and in drop or columns as well: name each column once"
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
    """Return the classes as numbers or text, whichever keeps their order when read again."""
    if table.y is None:
        return None
    if table.class_names is None:
        return np.asarray(table.y)
    names = table.class_names if table.complete_y is not None else [*table.class_names, ""]
    classes = written_numbers(names)
    return np.array(classes if classes == sorted(classes) else names)[table.y]


def written_numbers(words: list[str]) -> list[Any]:
    """Return words as numbers if all are written as these are, else as they are: "01" is a word."""
    for kind in (int, float):
        with suppress(ValueError, OverflowError):
            numbers = [kind(word) for word in words]
            if [str(number) for number in numbers] == words:
                return numbers
    return words


def labelled_frame(table: Dataset, *, taken: Iterable[str] = ()) -> Any:
    """Return features (words in the place of their codes), classes and batches as a data frame."""
    import pandas

    frame = pandas.DataFrame(dense(table.X), columns=table.names)
    for name, one in table.encodings.items():
        frame[name] = [word or None for word in one.words(frame[name].to_numpy())]
    labels = label_values(table)
    if labels is not None:
        frame[free_name(table.label_name, LABEL, [*frame, *taken])] = labels
    if table.batch is not None:
        frame[free_name(table.batch_name, BATCH, [*frame, *taken])] = table.batch
    return frame


def free_name(wanted: str | None, default: str, taken: Iterable[str]) -> str:
    """Return a name for something beside the features: the wanted one, unless it is taken."""
    used = set(taken)
    name = wanted if wanted is not None and wanted not in used else default
    while name in used:
        name += "_"
    return name
