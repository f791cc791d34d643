"""Numbers that are written as text, such as "<50", "12.3%", "$1,234.00", "26.2 g" or "1 234"."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.io.names import is_number, shorten
from featsieve.names import counted

# Words for a gap, in small letters: nothing, something below the limit of detection, or no number.
_WORDS = """- -- --- . .. ? na n/a n.a. n.a n.d. nd nan <na> none null nil missing unknown error
#n/a #div/0! #value! #ref! #num! #name? #null! bdl bql blq trace traces"""
GAPS = {
    *("", *_WORDS.split()),
    *(f"not {word}" for word in ("available", "determined", "measured", "detected")),
    *(sign + word for sign in ("", "<", "< ") for word in ("lod", "loq", "lloq", "dl", "mdl")),
    *(sign + word for sign in ("", "+", "-") for word in ("inf", "infinity")),
}
TRUTHS = {"true": 1.0, "false": 0.0}
_CURRENCY = "[$€£¥₹₽₩₺₪฿¢]?"
# "(5)" is how accountants write -5; a star is a footnote, "90+" is 90 or more, and no group of
# thousands begins with 0.
_NUMBER = (
    r"(?P<limit>[<>=≤≥~≈]*|ca?\.)\s*(?P<open>\()?(?P<sign>[+-]?)\s*{currency}\s*(?P<inner>[+-]?)"
    r"(?P<whole>[1-9]\d{{0,2}}(?P<group>{groups})\d{{3}}(?:(?P=group)\d{{3}})*|\d*)"
    r"(?:{decimal}(?P<part>\d*))?(?P<power>[eE][+-]?\d+)?\s*(?:{currency}|%?)(?(open)\))\s*[+*]*"
)
NUMBERS = {
    decimal: re.compile(
        _NUMBER.format(currency=_CURRENCY, groups=groups, decimal=re.escape(decimal))
    )
    for decimal, groups in ((".", "[ ,'\u2019]"), (",", "[ .'\u2019]"))
}
# A number with a unit behind it: "26.2 g", "5 mg/dl", "21 °C", "3 m²"; not the footnote of "2.1¹".
WITH_UNIT = re.compile(
    r"(?P<number>[\W\d]*\d[.,]?)\s*(?P<unit>(?![¹²³])[^\W\d_][^\s\d]*|°[^\s\d]*)"
)
# "EUR 103" is "103 EUR".
CURRENCY_FIRST = re.compile(r"(EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|BRL)\s*(.*\d.*)")
# The unit in a name such as "Iron (ug/L)", and the prefixes of units that measure the same.
NAMED_UNIT = re.compile(r"[(\[]\s*([^\W\d_][^\s()\[\]]*)\s*[)\]]")
PREFIX = re.compile(r"(?<![^/])[kcdmunpM](?=[^\W\d_])")
# A level such as "18-29", beside which "<18" and "65+" are no numbers either.
RANGE = re.compile(r"\d+(\.\d+)?\s*(-|\u2013|to)\s*\d+(\.\d+)?")
DIFFERENT = "?"  # in the place of the unit, where there are several and none is that of most
CODE = "="  # behind the mark of a column of plain numbers: what stands for a missing one


@dataclass(frozen=True, eq=False)
class Numbers:
    """The numbers that a column of text holds, and which of its cells are not written as such."""

    values: np.ndarray
    changed: np.ndarray  # rows whose cells are odd
    was: list[str]  # these cells
    decimal: str  # mark they were read by, then "%" if "50%" is 0.5, then their unit ("?": several)
    n_cells: int  # that are not empty
    units: tuple[str, ...] = ()  # behind numbers; several cannot be compared
    unit: str = ""  # of those that count

    @property
    def now(self) -> list[float]:
        """What the odd cells are read as."""
        return self.values[self.changed].tolist()

    def __str__(self) -> str:
        """Say what is odd."""
        shown = shorten(list(dict.fromkeys(self.was))[:2])
        if len(self.units) > 1:
            which = "such cells" if self.unit == DIFFERENT else f"those that are not in {self.unit}"
            shown += f"; units differ, {shorten(self.units)}: {which} become missing"
        if len(self.was) == self.n_cells:
            return f"numbers written as text ({shown})"
        return f"numbers except in {len(self.was):,} cell{'s'[: len(self.was) != 1]} ({shown})"


def read_number(text: str, *, decimal: str = ".") -> float | None:
    """Return the number in a cell ("<50" is 50): NaN for a gap, None for any other word."""
    if any(letter.isnumeric() and not letter.isdecimal() for letter in text):
        return None
    text = unicodedata.normalize("NFKC", text).replace("\u2212", "-").strip()
    if text.lower() in GAPS:
        return float("nan")
    if is_plain(text, decimal=decimal):
        return float(text.replace(",", "."))
    found = NUMBERS[decimal].fullmatch(text)
    if found is None or not (found["whole"] or found["part"]):
        return None
    whole = re.sub(r"\D", "", found["whole"])
    value = float(f"{whole or '0'}.{found['part'] or '0'}{found['power'] or ''}")
    if np.isinf(value):
        return None
    return -value if "-" in found["sign"] + found["inner"] or found["open"] else value


def is_plain(text: str, *, decimal: str = ".") -> bool:
    """Say whether a cell is a number as computers write it, and neither infinite nor too large."""
    if not is_number(text, decimal=decimal) or (decimal == "," and "." in text):
        return False
    return not np.isinf(float(text.replace(",", ".")))


def read_numbers(
    column: Any,
    *,
    decimal: str = ".",
    sure: bool = False,
    mark: str | None = None,
    coded: bool = False,
) -> Numbers | None:
    """Return the numbers in a pandas.Series of text, None if it holds too few of them.

    Too few is less than half of its cells, unless it is ``sure`` that it should hold numbers. The
    ``decimal`` mark of the file counts unless the other makes more cells numbers. "50%" is 50, but
    0.5 beside bare numbers that all lie between 0 and 1. ``mark`` is what `Numbers.decimal` was for
    this column before, and settles these, and the unit. ``coded`` looks for a code such as -999.
    """
    mark, _, code = (mark or "").partition(CODE)
    decimal, scaled = (mark[:1], mark[1:2] == "%") if mark else (decimal, False)
    try:
        codes, cells = column.factorize()
    except TypeError:  # lists and the like
        return None
    # Beside text there may be true numbers, of a table that was transposed.
    words = [cell if isinstance(cell, str) else str(cell).replace(".", decimal) for cell in cells]
    small = [word.strip().lower() for word in words]
    counts = np.bincount(codes[codes >= 0], minlength=len(words))
    n_ranges = sum(RANGE.fullmatch(word) is not None for word in small)
    if not mark and 0 < len(words) <= 2 * n_ranges and len(words) ** 2 <= counts.sum():
        return None
    used, plain = decimal, np.array([is_plain(word, decimal=decimal) for word in words], dtype=bool)
    known = _spelt(mark[1:].lstrip("%"))
    cells, unit, units = _without_unit(words, counts, known, str(column.name))
    if all(word in TRUTHS or word in GAPS for word in small) and set(small) & set(TRUTHS):
        values = np.array([TRUTHS.get(word, np.nan) for word in small])
        plain = np.isfinite(values)
    else:
        values, other = _read(cells, decimal), "," if decimal == "." else "."
        if np.isnan(values).any():
            others = _read(cells, other)
            if counts[np.isfinite(others)].sum() > counts[np.isfinite(values)].sum():
                used, values = other, others
        known = counts[[word not in GAPS for word in small]].sum()
        numbers = counts[np.isfinite(values)].sum()
        if known and (numbers == 0 or (2 * numbers < known and not sure)):
            return None
        plain &= used == decimal
        signed = np.array(["%" in word for word in words], dtype=bool)
        bare = values[~signed & np.isfinite(values)]
        if not mark and signed.any() and len(bare):
            scaled = bool(((bare >= 0) & (bare <= 1)).all())
        if scaled:
            values[signed] /= 100
            used += "%"
        used += unit
    if coded and not mark and (found := _missing_code(np.repeat(values, counts))) is not None:
        code = f"{found:.0f}"
    if code:
        plain &= values != float(code)
        values[values == float(code)] = np.nan
        used += CODE + code
    rows = np.flatnonzero(np.append(~plain, False)[codes])  # -1 is an empty cell
    return Numbers(
        np.append(values, np.nan)[codes],
        rows,
        [words[k] for k in codes[rows]],
        used,
        int(counts.sum()),
        units,
        unit,
    )


def without_gaps(values: np.ndarray, decimal: str, mark: str | None = None) -> Numbers | None:
    """Return plain numbers with NaN for infinite ones and a code such as -999, None if none is.

    A code is written in nines only, stands in several cells, and is further from all other values
    than these are from each other. ``mark`` is what `Numbers.decimal` was for this column before.
    """
    known, _, before = (mark or decimal).partition(CODE)
    code = float(before) if before else _missing_code(values) if mark is None else None
    odd = np.isinf(values) if code is None else np.isinf(values) | (values == code)
    rows, n_cells = np.flatnonzero(odd), int(np.count_nonzero(values == values))
    if not len(rows) and not before:
        return None
    was = [f"{value:.0f}" if np.isfinite(value) else str(value) for value in values[rows].tolist()]
    used = known if code is None else f"{known}{CODE}{code:.0f}"
    return Numbers(np.where(odd, np.nan, values), rows, was, used, n_cells)


def _missing_code(values: np.ndarray) -> float | None:
    """Return the smallest or the largest value of a column if it looks like a code."""
    known = values[np.isfinite(values)]
    for code in (known.min(), known.max()) if len(known) else ():
        if code % 1 == 0 and re.fullmatch("-9{2,}|9{3,}", f"{code:.0f}"):
            others = known[known != code]
            several = 1 < len(known) - len(others) < len(others) and len(np.unique(others)) > 2
            if several and np.abs(others - code).min() > np.ptp(others):
                return float(code)
    return None


def _without_unit(
    words: list[str], counts: np.ndarray, known: str, name: str
) -> tuple[list[str], str, tuple[str, ...]]:
    """Return cells without the unit that counts, that unit, and all units found.

    It is the one that they had before; of several that of most cells, but the one in the name of
    the column where cells have it with another prefix ("1.9 mg/L" below "Iron (ug/L)").
    """
    found = {}
    for k, word in enumerate(words):
        match = WITH_UNIT.fullmatch(CURRENCY_FIRST.sub(r"\2 \1", word.strip()))
        if match is None or any(read_number(word, decimal=mark) is not None for mark in NUMBERS):
            continue
        if any(read_number(match["number"], decimal=mark) is not None for mark in NUMBERS):
            found[k] = match["number"], _spelt(match["unit"]).rstrip(".")
    cells: dict[str, int] = {}
    for k, (_, unit) in found.items():
        cells[unit] = cells.get(unit, 0) + int(counts[k])
    named = NAMED_UNIT.search(name)
    if not known and named is not None:
        own = _spelt(named[1])
        alike = any(PREFIX.sub("", unit) == PREFIX.sub("", own) for unit in cells)
        known = own if alike and (own in cells or len(found) < len(words)) else ""
    units = tuple(dict.fromkeys([*([known] if known.strip(DIFFERENT) else []), *cells]))
    most = max(cells, key=cells.__getitem__, default="")
    unit = known or (
        most if 2 * cells.get(most, 0) > sum(cells.values()) else DIFFERENT[: len(units)]
    )
    bare = {k: number for k, (number, own) in found.items() if own == unit}
    return [bare.get(k, word) for k, word in enumerate(words)], unit, units


def _spelt(unit: str) -> str:
    """Return a unit in one spelling: micro and litre are written in several ways."""
    unit = unicodedata.normalize("NFKC", unit).replace("\u03bc", "u")
    return re.sub(r"(?<![^/])([cdmu]?)l(?![^/])", r"\1L", unit)


def _read(words: Sequence[str], decimal: str) -> np.ndarray:
    """Return the numbers in cells, NaN where there is none."""
    return np.array([read_number(word, decimal=decimal) for word in words], dtype=np.float64)


def describe_odd(found: Iterable[tuple[str, Any]], *, most: int) -> str:
    """Say which columns hold numbers written as text: the first few, and how many more."""
    said: Sequence[str] = [f"{name!r} has {about}" for name, about in found]
    more = f"; and {counted(len(said) - most, 'more column')}" if len(said) > most else ""
    return "; ".join(said[:most]) + more
