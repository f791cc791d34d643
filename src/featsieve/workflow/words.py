"""Words of messages: lists that are not too long, counts, and the way out."""

import shlex

import numpy as np

MOST_NAMES = 5  # that a message lists


class Note(str):
    """A sentence that a user should read, with a word for its kind.

    Parameters
    ----------
    text : str
    kind : str
        "names", "row-numbers", "constant", "filled", "units", "subsamples", or the name of a
        warning's class.

    Examples
    --------
    >>> from featsieve.workflow.words import Note
    >>> note = Note("Column 'a' is constant.", "constant")
    >>> note, note.kind
    ("Column 'a' is constant.", 'constant')
    """

    kind: str

    def __new__(cls, text: str, kind: str) -> "Note":
        """Return a text with a kind."""
        note = super().__new__(cls, text)
        note.kind = kind
        return note


def missing_facts(missing: np.ndarray, names: list[str]) -> str:
    """Say how many values are missing, and where.

    Parameters
    ----------
    missing : ndarray of shape (n_features,)
        Number of missing values of every column.
    names : list of str

    Returns
    -------
    str

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve.workflow.words import missing_facts
    >>> missing_facts(np.array([2, 0]), ["age", "height"])
    "The table has 2 missing values, in column 'age'"
    >>> missing_facts(np.array([1, 3]), ["age", "height"])
    "The table has 4 missing values, in 2 columns: 'height' (3), 'age' (1)"
    """
    order = [int(j) for j in np.argsort(-missing, kind="stable") if missing[j]]
    count = count_of(int(missing.sum()), "missing value")
    if len(order) == 1:
        return f"The table has {count}, in column {names[order[0]]!r}"
    listed = ", ".join(f"{names[j]!r} ({missing[j]})" for j in order[:MOST_NAMES])
    more = len(order) - MOST_NAMES
    others = f" and {more:,} more" if more > 0 else ""
    return f"The table has {count}, in {len(order):,} columns: {listed}{others}"


def in_words(names: tuple[str, ...] | list[str], noun: str) -> str:
    """Return names for a sentence: the first few, and how many there are.

    Examples
    --------
    >>> from featsieve.workflow.words import in_words
    >>> in_words(["a"], "column"), in_words(list("abcdefg"), "column")
    ("column 'a'", "7 columns ('a', 'b', 'c', 'd', 'e', ...)")
    """
    if len(names) == 1:
        return f"{noun} {names[0]!r}"
    listed = ", ".join(repr(name) for name in names[:MOST_NAMES])
    return f"{len(names)} {noun}s ({listed}{', ...' if len(names) > MOST_NAMES else ''})"


def count_of(count: int, noun: str) -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> from featsieve.workflow.words import count_of
    >>> count_of(1, "row"), count_of(20000, "row")
    ('1 row', '20,000 rows')
    """
    return f"{count:,} {noun}{'s'[: count != 1]}"


def sentence(text: str) -> str:
    """Return a text that begins with a capital, its other letters as they are.

    Examples
    --------
    >>> from featsieve.workflow.words import sentence
    >>> sentence("column 'Age' is constant.")
    "Column 'Age' is constant."
    """
    return text[:1].upper() + text[1:]


def shell_word(name: str) -> str:
    """Return a name as a shell takes it.

    Examples
    --------
    >>> from featsieve.workflow.words import shell_word
    >>> shell_word("age"), shell_word("body mass")
    ('age', "'body mass'")
    """
    return shlex.quote(name)
