"""Values that JSON can hold and people can read."""

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

# Settings with longer values (arrays, matrices) are only named.
LONGEST_VALUE = 200


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


def json_safe(value: Any) -> Any:
    """Return a setting as JSON can hold it: what is too long is only described."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.bool_ | Integral):
        return value.item() if isinstance(value, np.generic) else int(value)
    if isinstance(value, Real):
        return plain(value, 12)
    if isinstance(value, Mapping):
        return {str(key): json_safe(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset) and len(value) <= LONGEST_VALUE:
        return [json_safe(entry) for entry in value]
    shape = getattr(value, "shape", None)
    if shape is not None:
        return f"{type(value).__name__} of shape {tuple(shape)}"
    if hasattr(value, "get_params"):
        return f"{type(value).__name__}(...)"
    text = getattr(value, "__name__", None) if callable(value) else str(value)
    return (text or type(value).__name__)[:LONGEST_VALUE]


def readable(value: Any, digits: int = 3) -> str:
    """Write a number with few digits; an infinite one as its sign, none as nothing."""
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
    """Return a number with its noun."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(names: Iterable[str], most: int = 5) -> str:
    """Return the first names in a row, and how many more there are."""
    names = list(names)
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
