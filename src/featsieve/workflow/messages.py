"""What a user is told: notes, steps of a long job, and words of messages."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from featsieve import defaults

# Called with what is done now, the number of steps that are finished, and of all steps.
ProgressCallback = Callable[[str, int, int], None]
MOST_NAMES = 5  # that a message lists


class Note(str):
    """A sentence that a user should read, with a word for its kind."""

    kind: str

    def __new__(cls, text: str, kind: str) -> "Note":
        """Return a text with a kind."""
        note = super().__new__(cls, text)
        note.kind = kind
        return note


class Steps:
    """Steps of a job, counted and reported."""

    def __init__(self, total: int, progress: ProgressCallback | None) -> None:
        self.total = total
        self._progress = progress
        self._begun = 0

    def next(self, text: str) -> None:
        """Begin the next step: the one before is finished."""
        if self._progress is not None:
            self._progress(text, self._begun, self.total)
        self._begun += 1

    def skip(self, count: int) -> None:
        """Leave out steps that will not be needed."""
        self._begun += count

    def end(self) -> None:
        """Report that all is done."""
        self._begun = self.total
        self.next("done")


def count_of(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun}{'s'[: count != 1]}"


def list_columns(names: Sequence[str]) -> str:
    """Return the first few names of columns, and how many there are."""
    if len(names) == 1:
        return f"column {names[0]!r}"
    listed = ", ".join(repr(name) for name in names[:MOST_NAMES])
    return f"{len(names):,} columns ({listed}{', ...' if len(names) > MOST_NAMES else ''})"


def columns_sentence(names: Sequence[str], one: str, several: str, rest: str) -> str:
    """Return a sentence about columns, with the verb for one or for several."""
    text = f"{list_columns(names)} {one if len(names) == 1 else several} {rest}"
    return text[:1].upper() + text[1:]


def by_column(counts: np.ndarray, names: Sequence[str]) -> dict[str, int]:
    """Return the counts above zero by the name of their column, the largest first."""
    order = np.argsort(-counts, kind="stable")
    return {names[j]: int(counts[j]) for j in order if counts[j]}


def list_counts(counts: Mapping[str, int], noun: str) -> str:
    """Return how many there are in all, and in which columns."""
    total = count_of(sum(counts.values()), noun)
    if len(counts) == 1:
        return f"{total}, in column {next(iter(counts))!r}"
    listed = ", ".join(f"{name!r} ({n})" for name, n in list(counts.items())[:MOST_NAMES])
    more = len(counts) - MOST_NAMES
    others = f" and {more:,} more" if more > 0 else ""
    return f"{total}, in {len(counts):,} columns: {listed}{others}"


def filled_note(count: int, whose: str) -> str:
    """Say how many missing values were filled."""
    verb = "was" if count == 1 else "were"
    return f"{count_of(count, 'missing value')} {verb} filled with the {whose}."


def structure_verdict(score: float, noise: float, *, certain: bool | None = False) -> str:
    """Say what a structure score means."""
    if score < noise and certain:
        return "no more than after shuffling, yet nearly all neighbours agree on the clusters"
    if score < noise:
        return "no clearer than noise: a selection means little"
    clear = score >= defaults.DOUBTFUL_STRUCTURE * noise
    return "there are clusters" if clear else "hardly clearer than noise"
