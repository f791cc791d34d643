"""Values that JSON can hold and people can read."""

from collections.abc import Iterable
from typing import Any

import numpy as np


def plain(value: Any, digits: int = 6) -> float | str | None:
    """Return a number as JSON can hold it: rounded, "inf" or "-inf", None for NaN."""
    number = float(value)
    if np.isnan(number):
        return None
    if np.isinf(number):
        return "inf" if number > 0 else "-inf"
    return float(f"{number:.{digits}g}")


def plains(values: Iterable[Any], digits: int = 6) -> list[float | str | None]:
    """Return a list of numbers as JSON can hold them."""
    return [plain(value, digits) for value in values]


def readable(value: Any, digits: int = 3) -> str:
    """Write a number with few digits; an infinite one as its sign, none as nothing, words so."""
    if value is None or (isinstance(value, str) and value not in ("inf", "-inf")):
        return value or ""
    number = float(value)
    if np.isinf(number):
        return "∞" if number > 0 else "-∞"
    if 10.0**digits - 0.5 <= abs(number) < 1e7:
        return f"{number:.0f}"
    return f"{number:.{digits}g}"
