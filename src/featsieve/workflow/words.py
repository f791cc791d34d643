"""Words of messages: lists that are not too long, counts, and the way out."""

import shlex

import numpy as np

MOST_NAMES = 5  # that a message lists


class Note(str):
    """A sentence that a user should read, with a word for its kind."""

    kind: str

    def __new__(cls, text: str, kind: str) -> "Note":
        """Return a text with a kind."""
        note = super().__new__(cls, text)
        note.kind = kind
        return note


def missing_facts(missing: np.ndarray, names: list[str]) -> str:
    """Say how many values are missing, and where."""
    order = [int(j) for j in np.argsort(-missing, kind="stable") if missing[j]]
    count = count_of(int(missing.sum()), "missing value")
    if len(order) == 1:
        return f"The table has {count}, in column {names[order[0]]!r}"
    listed = ", ".join(f"{names[j]!r} ({missing[j]})" for j in order[:MOST_NAMES])
    more = len(order) - MOST_NAMES
    others = f" and {more:,} more" if more > 0 else ""
    return f"The table has {count}, in {len(order):,} columns: {listed}{others}"


def in_words(names: tuple[str, ...] | list[str], noun: str) -> str:
    """Return names for a sentence: the first few, and how many there are."""
    if len(names) == 1:
        return f"{noun} {names[0]!r}"
    listed = ", ".join(repr(name) for name in names[:MOST_NAMES])
    return f"{len(names)} {noun}s ({listed}{', ...' if len(names) > MOST_NAMES else ''})"


def count_of(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun}{'s'[: count != 1]}"


def sentence(text: str) -> str:
    """Return a text that begins with a capital, its other letters as they are."""
    return text[:1].upper() + text[1:]


def shell_word(name: str) -> str:
    """Return a name as a shell takes it."""
    return shlex.quote(name)
