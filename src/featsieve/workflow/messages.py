"""What a user is told: notes, the steps of a long job, and columns in messages."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from featsieve.names import counted

# Called with what is done now.
ProgressCallback = Callable[[str], None]
MOST_NAMES = 5  # that a message lists


class Note(str):
    """A sentence that a user should read, with a word for its kind."""

    kind: str

    def __new__(cls, text: str, kind: str) -> "Note":
        """Return a text with a kind."""
        note = super().__new__(cls, text)
        note.kind = kind
        return note


def silent(text: str) -> None:
    """Say nothing."""


def list_columns(names: Sequence[str]) -> str:
    """Return the first few names of columns, and how many there are."""
    if len(names) == 1:
        return f"column {names[0]!r}"
    listed = ", ".join(repr(name) for name in names[:MOST_NAMES])
    return f"{len(names):,} columns ({listed}{', ...' if len(names) > MOST_NAMES else ''})"


def by_column(counts: np.ndarray, names: Sequence[str]) -> dict[str, int]:
    """Return the counts above zero by the name of their column, the largest first."""
    order = np.argsort(-counts, kind="stable")
    return {names[j]: int(counts[j]) for j in order if counts[j]}


def list_counts(counts: Mapping[str, int], noun: str) -> str:
    """Return how many there are in all, and in which columns how many."""
    total = counted(sum(counts.values()), noun)
    if len(counts) == 1:
        return f"{total}, in column {next(iter(counts))!r}"
    listed = ", ".join(f"{name!r} {count:,}" for name, count in [*counts.items()][:MOST_NAMES])
    more = ", ..." if len(counts) > MOST_NAMES else ""
    return f"{total}, in {len(counts):,} columns ({listed}{more})"
