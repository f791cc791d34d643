"""Names of columns: lists of them for people, and where they are in a table."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from featsieve.io.guard import ColumnError, MissingColumnError
from featsieve.names import did_you_mean, first_few, shown

MOST_NAMES = 8  # that an error lists
MOST_HINTS = 3  # that get a "did you mean"
NO_NAMES = (
    "these are numbers: is the line with the names of the columns missing, or are the samples "
    "columns (--transpose turns the table round)?"
)

# Words in the name of a column that holds names of features: the table's rows are features.
FEATURE_WORDS = {
    *("gene", "genes", "symbol", "probe", "probeset", "transcript", "ensembl", "entrez", "protein"),
    *("peptide", "metabolite", "compound", "feature", "features", "variable", "analyte", "cpg"),
}

# Names of columns about features, in files whose columns are samples but for these.
ABOUT_FEATURES = {
    *("chr", "chrom", "chromosome", "start", "end", "stop", "strand", "position", "pos", "length"),
    *("description", "biotype", "gc", "gc_content", "mz", "m/z", "rt", "retention_time"),
}


def name_words(name: str) -> list[str]:
    """Return the words that a name of a column is made of, in small letters."""
    return [word.lower() for word in re.findall("[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def names_features(name: str) -> bool:
    """Say whether a column is called like one that holds the names of features."""
    return not FEATURE_WORDS.isdisjoint(name_words(name))


def about_features(name: str) -> bool:
    """Say whether a column is called like something about features: no sample is called so."""
    return name.strip().lower() in ABOUT_FEATURES or names_features(name)


def shorten(names: Sequence[str]) -> str:
    """Return names for an error: the first few, and how many more."""
    return first_few(map(shown, names), MOST_NAMES)


def place_names(n_features: int) -> list[str]:
    """Return the names of features that have none: x0, x1, ... by their places."""
    return [f"x{j}" for j in range(n_features)]


def named_or_places(names: Sequence[str]) -> list[str] | None:
    """Return names, None where they only say the places."""
    return None if list(names) == place_names(len(names)) else list(names)


def check_unique(names: Iterable[str], *, fix: str | None = None) -> None:
    """Raise if a name stands twice; numbers are hardly names, and it is said so."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        fix = fix or (NO_NAMES if all(map(is_number, twice)) else "rename them")
        raise ColumnError(f"several columns have the same name: {shorten(twice)}; {fix}")


def number_twins(names: Sequence[str]) -> tuple[list[str], str]:
    """Return names with those that stand twice numbered, x.1, x.2, ..., and a sentence about it."""
    twice = [name for name, count in Counter(names).items() if count > 1 and name.strip()]
    if not twice or all(map(is_number, twice)):  # numbers are hardly names, and will be refused
        return list(names), ""
    used, seen, found = set(names), Counter[str](), []
    for name in names:
        new = name
        while name in twice and new in used:
            seen[name] += 1
            new = f"{name}.{seen[name]}"
        used.add(new)
        found.append(new)
    told = f"Several columns have the same name, {shorten(twice)}"
    return found, f"{told}: they are numbered (.1, .2, ...)."


def find_columns(
    wanted: Sequence[str], present: Sequence[str], *, role: str = "column"
) -> np.ndarray:
    """Return the places of names in a list; those that are missing are named with close matches."""
    places = {name: j for j, name in enumerate(present)}
    missing = [name for name in wanted if name not in places]
    if missing:
        hints = [f"{shown(name)}{did_you_mean(name, present)}" for name in missing[:MOST_HINTS]]
        some = first_few(hints + missing[MOST_HINTS:], MOST_HINTS)
        listed = f"{role}s are: {shorten(present) or 'none'}"
        raise MissingColumnError(f"there is no {role} {some}; {listed}")
    return np.array([places[name] for name in wanted], dtype=np.intp)


def is_number(text: str, *, decimal: str = ".") -> bool:
    """Say whether a text reads as a number; "1_2" is a name, though Python takes it for 12."""
    try:
        float(text.replace(",", ".") if decimal == "," else text)
    except ValueError:
        return False
    return "_" not in text
