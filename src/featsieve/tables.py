"""A small table of named columns, and columns of words as numbers."""

import csv
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, TextIO

import numpy as np

from featsieve import defaults

_TIME = r"([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?"
# 31/5/2024 or 5/31/2024: which is the day, the other dates of a column must tell.
DATE_OF_NUMBERS = re.compile(rf"(\d{{1,2}})([-/.])(\d{{1,2}})\2\d{{4}}{_TIME}")
_MONTH = "(jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*"
DATE = re.compile(
    rf"(\d{{4}}[-/.]\d{{1,2}}[-/.]\d{{1,2}}|\d{{1,2}}[-. ]+{_MONTH}[-. ,]+(\d{{4}}|\d{{2}})"
    rf"|{_MONTH}[. ]+\d{{1,2}}[, ]+\d{{4}}){_TIME}",
    re.IGNORECASE,
)
# 5-Mar-24: of this century up to 68, of the last from 69 on, as POSIX says.
SHORT_YEAR = re.compile(
    rf"(?P<date>\d{{1,2}}[-. ]+{_MONTH}[-. ,]+)(?P<year>\d{{2}})(?=$|[ T])", re.IGNORECASE
)
PIVOT = 69
DAY = 86400  # seconds
# What stands for a missing word, in small letters; "none" and "unknown" may be answers.
MISSING_WORDS = {*("", "?", "-", "--", "---", ".", ".."), *("n/a", "n.a.", "n.a", "n.d.", "nan")}
# Answers that have no place in an order, in small letters.
NO_ANSWERS = {
    *("don't know", "don\u2019t know", "dont know", "do not know", "dk", "not sure", "unsure"),
    *("no answer", "no opinion", "no response", "not applicable", "not answered", "not stated"),
    *("prefer not to say", "prefer not to answer", "refused", "refusal", "can't say", "unknown"),
    *("weiß nicht", "weiss nicht", "keine angabe", "k. a.", "k.a.", "keine antwort", "unbekannt"),
}


class Table(dict[str, np.ndarray]):
    """Columns by name, all of one length; a dict that prints as a table where pandas is.

    ``pandas.DataFrame(table)`` and ``polars.DataFrame(table)`` take it as it is.

    Parameters
    ----------
    columns : mapping of str to array-like
        In the order in which they are shown.

    Examples
    --------
    >>> from featsieve.tables import Table
    >>> table = Table({"feature": ["age", "height"], "score": [0.25, 0.5]})
    >>> table
      feature  score
    0     age   0.25
    1  height   0.50
    >>> table.rows(table["score"] > 0.3)
      feature  score
    0  height    0.5
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        super().__init__()
        for name, values in columns.items():
            self[name] = values

    def __setitem__(self, name: str, values: Any) -> None:
        column = np.asarray(values)
        if column.ndim != 1:
            raise ValueError(f"Column {name!r} of a table must have one dimension: pass a list.")
        others = {key: len(value) for key, value in self.items() if key != name}
        if others and len(column) not in others.values():
            raise ValueError(
                f"All columns of a table need the same length; got {others | {name: len(column)}}."
            )
        super().__setitem__(name, column)

    def __missing__(self, name: str) -> np.ndarray:
        raise KeyError(f"There is no column {name!r}, only {', '.join(map(repr, self))}.")

    def __eq__(self, other: object) -> bool:
        """Say whether all columns are equal; NaN equals NaN."""
        if not isinstance(other, dict) or set(self) != set(other):
            return False
        return all(_equal(values, np.asarray(other[name])) for name, values in self.items())

    def __ne__(self, other: object) -> bool:
        return not self == other

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.values()), ()))

    def select(self, *names: str) -> "Table":
        """Return the named columns, in that order."""
        return Table({name: self[name] for name in names})

    def rows(self, chosen: Any) -> "Table":
        """Return the rows that a mask, a slice or indices choose."""
        return Table({name: values[chosen] for name, values in self.items()})

    def head(self, n: int = 5) -> "Table":
        """Return the first rows."""
        return self.rows(slice(n))

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(dict(self))

    def to_csv(self, path: str | os.PathLike[str] | TextIO) -> None:
        """Write a CSV file (UTF-8, with a header): all digits, and nothing for NaN."""
        if isinstance(path, str | os.PathLike):
            with open(path, "w", encoding="utf-8", newline="") as file:
                self.to_csv(file)
            return
        writer = csv.writer(path, lineterminator="\n")
        writer.writerow(self)
        for row in zip(*(values.tolist() for values in self.values()), strict=True):
            writer.writerow([cell if cell == cell else "" for cell in row])

    def __repr__(self) -> str:
        return str(self.to_pandas()) if find_spec("pandas") else super().__repr__()


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    """Say whether two columns are equal; NaN equals NaN."""
    return a.shape == b.shape and bool(np.all((a == b) | ((a != a) & (b != b))))


# Columns of words ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Encoding:
    """How the words of a column become numbers.

    Attributes
    ----------
    kind : {"category", "order", "date"}
        A category of more than two levels has an indicator for each, one of two is 0 and 1; levels
        in an order are 0, 1, 2, ..., and "don't know" and alike missing, unless they are levels;
        a date is its number of days since 1970-01-01.
    levels : tuple of str
        The words; "" is a missing one that counts as a level. Of dates what stands first in
        31/05/2024, "day" or "month", where some are written so.
    """

    kind: str
    levels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        levels = tuple(self.levels)
        if self.kind not in ("category", "order", "date") or len(set(levels)) < len(levels):
            raise ValueError(f"an encoding is a category, order or date of distinct words: {self}")
        if not all(isinstance(word, str) for word in levels):
            raise TypeError(f"levels are words; got {levels!r:.200}.")
        object.__setattr__(self, "levels", levels)

    @classmethod
    def of(cls, words: Sequence[str | None]) -> "Encoding | None":
        """Return how a column of words (None: missing) is encoded, None if it has too many.

        At most as many as the root of their number, so that a level has several rows. The most
        frequent comes first, but of two the first in the alphabet. Dates of which nobody can say
        what is the day and what the month are a ValueError.
        """
        counts = Counter(word for word in words if word is not None)
        dates = _dates(counts) if counts else None
        if dates is not None:
            return dates
        if not 0 < len(counts) <= defaults.most_levels(counts.total()):
            return None
        by_count = sorted(counts, key=lambda word: (-counts[word] * (len(counts) > 2), word))
        return cls("category", tuple(by_count))

    @property
    def n_columns(self) -> int:
        """How many columns it makes."""
        return len(self.levels) if self.kind == "category" and len(self.levels) > 2 else 1

    def codes(self, words: Sequence[str | None]) -> tuple[np.ndarray, "Encoding"]:
        """Return the number of every word, NaN for a missing one, and the levels with new ones."""
        if self.kind == "date":
            days = np.full(len(words), np.nan)
            known = [i for i, word in enumerate(words) if word is not None]
            written = [str(words[i]) for i in known]
            _check_dates(written, order_known=bool(self.levels))
            days[known] = _days(written, day_first="month" not in self.levels)
            return days, self
        new = [word for word in dict.fromkeys(words) if word not in (None, *self.levels)]
        if self.kind == "order":  # what has no place in it is missing
            new = [word for word in new if is_answer(word)]
        every = replace(self, levels=(*self.levels, *map(str, new)))
        place: dict[str | None, float] = {word: k for k, word in enumerate(every.levels)}
        missing = place.get("", np.nan)
        return np.array([place.get(word, missing) for word in words], dtype=np.float64), every

    def words(self, codes: np.ndarray) -> list[str]:
        """Return the words of numbers, "" for NaN."""
        if self.kind == "date":
            return [_date(day) for day in np.asarray(codes, dtype=np.float64).tolist()]
        known = np.where(np.isnan(codes), len(self.levels), codes).astype(np.intp)
        return [(*self.levels, "")[k] for k in known]

    def columns(self, codes: np.ndarray) -> np.ndarray:
        """Return what a selector sees of numbers: themselves, or indicators; NaN stays.

        A number beyond the levels has no indicator, and is half way between two levels.
        """
        codes = np.asarray(codes, dtype=np.float64)
        if self.n_columns == 1:
            beyond = codes >= max(len(self.levels), 1)
            middle = 0.5 * (len(self.levels) - 1)
            return np.where(beyond & (self.kind != "date"), middle, codes)[:, None]
        found = (codes[:, None] == np.arange(self.n_columns)).astype(np.float64)
        found[np.isnan(codes)] = np.nan
        return found

    def names(self, name: str) -> list[str]:
        """Return what these columns are called."""
        if self.n_columns == 1:
            return [name]
        return [f"{name} = {level or 'missing'}" for level in self.levels]


def encode(frame: Any) -> tuple[Any, dict[str, list[str]]]:
    """Turn the text columns of a data frame into numbers, so that a selector can use them.

    A column of words becomes indicators (0 and 1), one for each word, if it has at most √n
    different ones in n rows, so that a word has several rows; one of two words becomes one column.
    Dates (2024-05-31, 31 May 2024; 31/05/2024 where one of them tells days from months) become days
    since 1970-01-01. Missing words stay missing.

    Parameters
    ----------
    frame : pandas.DataFrame
        Its other columns stay as they are.

    Returns
    -------
    frame : pandas.DataFrame
        Indicators are called "column = word".
    groups : dict of str to list of str
        The indicators of each column: what ``groups`` of a selector takes, which then counts them
        as one feature of the weight of one column, and selects all of them or none.

    Raises
    ------
    ValueError
        If a column has too many different words; the message names it.

    Examples
    --------
    >>> import pandas as pd
    >>> from featsieve.tables import encode
    >>> pets = pd.DataFrame({"legs": [4, 2, 0] * 3, "coat": ["fur", "feathers", "scales"] * 3})
    >>> table, groups = encode(pets)
    >>> groups
    {'coat': ['coat = feathers', 'coat = fur', 'coat = scales']}
    >>> table.shape  # for JASFS(..., groups=groups).fit(table)
    (9, 4)
    """
    columns: dict[Any, Any] = {}
    groups: dict[str, list[str]] = {}
    refused: list[str] = []
    for name in frame.columns:
        column = frame[name]
        if column.dtype.kind in "biuf":
            columns[name] = column
            continue
        words = column_words(column)
        try:
            found = Encoding.of(words)
        except ValueError as error:
            raise ValueError(f"{name!r}: {error}.") from error
        if found is None:
            refused.append(f"{name!r} ({len(set(words) - {None})})")
            continue
        values = found.columns(found.codes(words)[0])
        own = found.names(str(name))
        columns.update(zip(own if len(own) > 1 else [name], values.T, strict=True))
        groups |= {str(name): own} if len(own) > 1 else {}
    if refused:
        raise ValueError(
            f"There are too many different words for {len(frame)} rows in {', '.join(refused)}: at "
            f"most {defaults.most_levels(len(frame))} (the root) can be encoded. Drop such columns "
            "or turn them into numbers where they hold some (read_table reads '<5' with "
            "repair=True)."
        )
    return type(frame)(columns, index=frame.index), groups


def column_words(column: Any, levels: Iterable[str] = ()) -> list[str | None]:
    """Return the cells of a pandas.Series as words, None for missing ones; 1.0 is "1".

    A known level is no missing word, nor is "-" beside "+".
    """
    words: list[str] = []
    for cell, missing in zip(column.tolist(), column.isna().tolist(), strict=True):
        whole = isinstance(cell, float) and not missing and cell.is_integer()
        word = "" if missing else str(int(cell) if whole else cell).strip()
        words.append(word)
    known = {"-", "--", "---"} if any(word.startswith("+") for word in words) else set[str]()
    gaps = MISSING_WORDS - known - {level.lower() for level in levels if level}
    return [None if word.lower() in gaps else word for word in words]


def is_answer(word: Any) -> bool:
    """Say whether a word is none of those that stand for no answer, such as "don't know"."""
    return " ".join(str(word).lower().split()) not in NO_ANSWERS


def _dates(words: Iterable[str]) -> Encoding | None:
    """Return how dates are written, None if a word is none."""
    numbers = [found for found in map(DATE_OF_NUMBERS.fullmatch, words) if found]
    if len(numbers) < sum(not DATE.fullmatch(word) for word in words):
        return None
    first, second = (max((int(found[k]) for found in numbers), default=0) for k in (1, 3))
    slashes = {found[2] for found in numbers} - {"."}  # 3.4.2024 is the third of April
    if slashes and max(first, second) <= 12:
        raise ValueError(
            f"dates such as {numbers[0][0]!r} may begin with the day or the month: write them as "
            "2024-05-31 (year, month, day), or leave the column out with --drop (in Python drop)"
        )
    found = Encoding("date", (("month" if second > 12 else "day"),) if numbers else ())
    try:
        found.codes(list(words))
    except ValueError:  # 2024-13-45, or 31/12/2024 beside 12/31/2024
        return None
    return found


def _check_dates(words: Iterable[str], *, order_known: bool) -> None:
    """Refuse what is no date, and dates of which nobody has said whether the day comes first."""
    for word in words:
        numbers = DATE_OF_NUMBERS.fullmatch(word)
        if numbers is None and DATE.fullmatch(word) is None:
            raise ValueError(f"{word!r} is no date: correct it, or leave the cell empty")
        if numbers is not None and numbers[2] != "." and not order_known:
            raise ValueError(
                f"the date {word!r} may begin with the day or the month, and those of the fit were "
                "written otherwise: write it as 2024-05-31 (year, month, day)"
            )


def _days(words: list[str], *, day_first: bool = False) -> np.ndarray:
    """Return dates as days since 1970-01-01."""
    try:  # ISO dates
        seconds = np.array(words, dtype="datetime64[s]")
    except ValueError:
        import pandas

        ordered = pandas.Series([_year_first(word, day_first) for word in words])
        moments = pandas.to_datetime(ordered, format="mixed", errors="coerce")
        if moments.isna().any():
            odd = words[int(moments.isna().argmax())]
            text = f"{odd!r} is no date: correct it, or leave the cell empty"
            raise ValueError(text) from None
        seconds = moments.to_numpy("datetime64[s]")
    return seconds.astype(np.int64) / DAY


def _year_first(word: str, day_first: bool) -> str:
    """Return 31/05/2024 as 2024-05-31, years with four digits; pandas would swap at need."""
    if short := SHORT_YEAR.match(word):
        century = "20" if int(short["year"]) < PIVOT else "19"
        return f"{short['date']}{century}{word[short.start('year') :]}"
    if DATE_OF_NUMBERS.fullmatch(word) is None:
        return word
    date, blank, time = word.replace("T", " ").partition(" ")
    first, second, year = re.split("[-/.]", date)
    day, month = (first, second) if day_first else (second, first)
    return f"{year}-{int(month):02d}-{int(day):02d}{blank}{time}"


def _date(day: float) -> str:
    """Return the date of a number of days, with its time if it has any."""
    if np.isnan(day):
        return ""
    moment = str(np.datetime64(round(day * DAY), "s")).replace("T", " ")
    return moment.removesuffix(" 00:00:00")
