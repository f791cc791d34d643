"""Names and numbers in messages: counted, listed, cut where they are long, probably meant."""

import difflib
from collections.abc import Iterable, Sequence

LONGEST_NAME = 100  # that an error shows in full


def shown(name: str) -> str:
    """Return a name in quotation marks, cut where it is long: a file can name anything."""
    return repr(name) if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]!r}..."


def did_you_mean(name: str, present: Sequence[str]) -> str:
    """Return the names most like one, as a question in brackets; nothing where none is."""
    key = name.strip().casefold()
    same = [other for other in present if other.strip().casefold() == key]
    close = same[:1] or difflib.get_close_matches(name, present, n=2, cutoff=0.75)
    return f" (did you mean {' or '.join(map(shown, close))}?)" if close else ""


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def listed(names: Iterable[str], most: int = 5) -> str:
    """Return the first names in a row, and how many more there are."""
    names = list(names)
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def first_few(names: Iterable[str], most: int = 5) -> str:
    """Return the first names for an error, and how many more there are."""
    names = list(names)
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
