"""Numbers that JSON can hold and people can read."""

from collections.abc import Iterable
from typing import Any

import numpy as np

INFINITY = "inf"


def plain(value: Any, digits: int = 6) -> float | str | None:
    """Return a number as JSON can hold it: rounded, "inf" or "-inf", None for NaN.

    Parameters
    ----------
    value : float
    digits : int, default=6
        Significant ones that are kept.

    Returns
    -------
    float, str or None

    Examples
    --------
    >>> from featsieve.report.selection.numbers import plain
    >>> plain(1 / 3), plain(float("nan")), plain(float("-inf"))
    (0.333333, None, '-inf')
    """
    number = float(value)
    if np.isnan(number):
        return None
    if np.isinf(number):
        return INFINITY if number > 0 else f"-{INFINITY}"
    return float(f"{number:.{digits}g}")


def plains(values: Iterable[Any], digits: int = 6) -> list[float | str | None]:
    """Return a list of numbers as JSON can hold them.

    Parameters
    ----------
    values : iterable of float
    digits : int, default=6

    Returns
    -------
    list

    Examples
    --------
    >>> from featsieve.report.selection.numbers import plains
    >>> plains([1.0, float("nan")])
    [1.0, None]
    """
    return [plain(value, digits) for value in values]


def readable(value: Any, digits: int = 3) -> str:
    """Write a number with few digits; an infinite one as its sign, none as nothing.

    Parameters
    ----------
    value : float, str or None
        As ``plain`` returns it.
    digits : int, default=3
        Significant ones.

    Returns
    -------
    str

    Examples
    --------
    >>> from featsieve.report.selection.numbers import readable
    >>> readable(0.04313), readable(12345.6), readable(0.0000123), readable("-inf"), readable(None)
    ('0.0431', '12346', '1.23e-05', '-∞', '')
    """
    if value is None:
        return ""
    number = float(value)
    if np.isinf(number):
        return "∞" if number > 0 else "-∞"
    if number == 0.0:
        return "0"
    if 10.0**digits <= abs(number) < 1e7:
        return f"{number:.0f}"
    return f"{number:.{digits}g}"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun.

    Parameters
    ----------
    number : int
    noun : str
    plural : str, optional
        By default with an s.

    Returns
    -------
    str

    Examples
    --------
    >>> from featsieve.report.selection.numbers import counted
    >>> counted(1, "feature"), counted(20000, "feature")
    ('1 feature', '20,000 features')
    """
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(names: Iterable[str], most: int = 5) -> str:
    """Return the first names in a row, and how many more there are.

    Parameters
    ----------
    names : iterable of str
    most : int, default=5

    Returns
    -------
    str

    Examples
    --------
    >>> from featsieve.report.selection.numbers import listed
    >>> listed(["a", "b"]), listed("abcdefg", 2)
    ('a and b', 'a, b and 5 more')
    """
    names = list(names)
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
