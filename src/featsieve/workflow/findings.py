"""What a table is about, in sentences: `inspect` and `select` say the same ones."""

import shlex
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from featsieve import defaults
from featsieve.arrays.namespace import is_sparse
from featsieve.datasets import Dataset
from featsieve.io.cells import describe_odd
from featsieve.io.counts import LARGEST_LOG, kind_of
from featsieve.io.dataset import Origin
from featsieve.io.names import about_features, name_words, names_features
from featsieve.names import counted, first_few
from featsieve.workflow.columns import (
    NUMBER_WORDS,
    constant_columns,
    count_where,
    empty_columns,
    row_number_columns,
    sample_part,
)
from featsieve.workflow.impute import words_with_gaps
from featsieve.workflow.messages import MOST_NAMES, Note, list_columns
from featsieve.workflow.orders import find_order, join_orders

# Correlations that are held at once.
BLOCK_ELEMENTS = 2**22
# Different cells that became missing which a note names.
MOST_LOST = 10
# Words in names of columns that are classes, which nobody wants to find as features.
CLASS_WORDS = {"class", "label", "target", "species", "diagnosis", "outcome"}
# Last words of names of columns that are batches.
BATCH_WORDS = {
    *("batch", "plate", "run", "lane", "donor", "chip"),
    *("lab", "laboratory", "operator", "instrument"),
    *("analyser", "analyzer", "scanner", "sequencer"),
}
# Words in names of columns that are samples.
SAMPLE_WORDS = {
    *("sample", "patient", "subject", "donor", "individual", "case", "control", "mouse", "rat"),
    *("cell", "gsm", "srr", "tcga", "replicate", "rep"),
}


def find_notes(table: Dataset, *, random_state: int = 0, proposed: bool = False) -> Iterator[Note]:
    """Yield what a user should know about a table: how it was read, odd columns, odd values."""
    yield from about_cells(table, proposed=proposed)
    batch = [table.batch_name] if proposed and table.batch_name else batch_words(table)
    for name in batch[:1]:
        option = f"--batch-column {shlex.quote(name)} (in Python batch_column)"
        doing = "leaves it out of the features, and looks for clusters inside of batches"
        yield Note(f"{name!r} may be a batch: {option} {doing}.", "batches")
    if table.y is not None and table.complete_y is None:
        missing = counted(int(np.sum(table.y < 0)), "label")
        yield Note(
            f"{missing} of {len(table.y):,} missing in the column of the classes: the result is "
            "not compared with them.",
            "classes",
        )
    yield from _about_columns(table, words_with_gaps(table) if proposed else ())
    X, names = dense_part(table, random_state)
    if min(X.shape) > 2:
        with np.errstate(all="ignore"):  # numbers too large are refused later, in a sentence
            yield from list(_about_values(table, X, names))


def dense_part(table: Dataset, random_state: int = 0) -> tuple[np.ndarray, list[str] | None]:
    """Return a part of a table, finite numbers that vary, and their names if all are there."""
    names, coded = table.names, [k for k, one in table.encodings.items() if one.n_columns > 1]
    usable = ~constant_columns(table.X) & (count_where(table.X, np.isinf) == 0)
    usable &= ~np.isin(names, coded)  # codes of categories are no amounts
    X, columns = sample_part(table.X, np.flatnonzero(usable), random_state)
    X = np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
    return X, [names[j] for j in columns] if len(columns) == usable.sum() else None


def about_cells(table: Dataset, *, proposed: bool = False) -> Iterator[Note]:
    """Say how a file was read, which cells are no plain numbers, which words name the samples."""
    origin = table.origin
    for text in origin.notes:
        if not (proposed and text.startswith("In the order ")):  # said as a proposal
            yield Note(text, "file")
    yield from about_samples(columns_about_features(table))
    if origin.repaired:
        yield Note(_about_repairs(origin, proposed=proposed), "cells")
    most = defaults.most_levels(table.X.shape[0])
    few = {} if "encode" in origin.options else origin.text  # with it, those left are too many
    categories = [name for name, count in few.items() if 1 < count <= most]
    categories = [name for name in categories if name not in batch_words(table)[:1]]
    if categories:
        yield Note(
            f"Few different words: {list_columns(categories)}. They take part as categories with "
            "--encode (in Python encode=True).",
            "categories",
        )
    if days := [name for name, one in table.encodings.items() if one.kind == "date"]:
        yield Note(
            f"Dates take part as numbers of days: {list_columns(days)}. Leave out what only says "
            f"when something was noted, as with --drop {shlex.quote(days[0])} (in Python drop).",
            "dates",
        )
    yield from about_orders(ordered_words(table))
    for name in class_words(table)[:1]:
        yield Note(
            f"{name!r} may be the classes: --label-column (in Python label_column) leaves it out "
            "of the features.",
            "classes",
        )
    names = sample_words(table)
    if names and table.sample_names is None:
        yield Note(
            f"A different word in every row: {list_columns(names)}. Make it the name of the "
            f"samples with --id-column {shlex.quote(names[0])} (in Python id_column).",
            "names",
        )


def _about_repairs(origin: Origin, *, proposed: bool) -> str:
    """Say which columns have cells that are no plain numbers, and what becomes of these cells.

    Those that become missing are named: values that could not be read may be among them.
    """
    about, words = origin.changes, 0
    lost, limit = Counter[tuple[str, str]](), ""
    for name, was, now in zip(about["column"], about["was"], about["now"], strict=True):
        if isinstance(now, str):
            words += 1
        elif now != now:
            lost[name, str(was)] += 1
        elif not limit and str(was).lstrip()[:1] in ("<", ">"):
            limit = f" A limit counts as its number: {was!r} as {now:g}."
    n_lost = lost.total()
    cells = [f"{count:,} {was!r} in {name!r}" for (name, was), count in lost.most_common()]
    ways = {"as numbers": len(about["now"]) - n_lost - words, "in one spelling": words}
    ways[f"as missing ({first_few(cells, MOST_LOST)})"] = n_lost
    said = ", ".join(f"{count:,} {way}" for way, count in ways.items() if count)
    how = "With --repair (in Python repair=True) these" if proposed else "With --repair, these"
    odd = describe_odd(origin.repaired.items(), most=MOST_NAMES)
    return f"{odd}. {how} cells are read: {said}.{limit}"


def about_samples(names: list[str]) -> Iterator[Note]:
    """Say which samples of a transposed table are called like something about the features."""
    if names:
        yield Note(
            f"Called like something about the features, and no sample: {list_columns(names)}. "
            f"--drop {shlex.quote(names[0])} leaves it out (in Python drop).",
            "samples",
        )


def about_orders(orders: Mapping[str, list[str]]) -> Iterator[Note]:
    """Say which categories seem to be ordered, those of one scale together."""
    for words, alike in scales(orders):
        option = order_option(words, alike)
        yield Note(
            f"In an order, it seems: {list_columns(alike)}, from low to high {', '.join(words)}. "
            f"If so, give --encode-order {shlex.quote(option)} (in Python encode), which makes it "
            "0, 1, 2, ...",
            "order",
        )


def scales(orders: Mapping[str, list[str]]) -> list[tuple[list[str], list[str]]]:
    """Return the different orders, joined where they are parts of one, and their columns."""
    joined = join_orders(list(orders.values()))
    return [(one, [name for name, own in orders.items() if {*own} <= {*one}]) for one in joined]


def order_option(words: Sequence[str], columns: Sequence[str]) -> str:
    """Return the value of --encode-order: a column's order, or one for all columns with it."""
    own = ",".join(words)
    return own if len(columns) > 1 else f"{columns[0]}={own}"


def columns_about_features(table: Dataset) -> list[str]:
    """Return the samples of a transposed table that are called like something about features."""
    if not table.origin.options.get("transpose"):
        return []
    return [name for name in table.sample_names or () if about_features(name)]


def class_words(table: Dataset) -> list[str]:
    """Return columns of words that are called like classes, where none is named as such."""
    if table.y is not None:
        return []
    text = [name for name, count in table.origin.text.items() if 1 < count <= table.X.shape[0] / 2]
    words = [*text, *(name for name, one in table.encodings.items() if one.kind == "category")]
    return [name for name in words if CLASS_WORDS & {*name_words(name)}]


def batch_words(table: Dataset) -> list[str]:
    """Return columns of few words or whole numbers that are called like batches, then few days."""
    X: Any = table.X
    if table.cells or table.batch is not None or is_sparse(X):
        return []
    counts = {name: k for name, k in table.origin.text.items() if _names_batches(name)}
    days = [name for name, one in table.encodings.items() if one.kind == "date"]
    for name in [*filter(_names_batches, table.feature_names or ()), *days]:
        levels, sizes = np.unique(X[:, table.names.index(name)], return_counts=True)
        few = len(levels) <= defaults.most_levels(len(X)) and sizes.min() > 1
        whole = (levels % 1 == 0).all()  # NaN, a missing batch, is not
        counts[name] = len(levels) if few and whole else 0
    return [name for name, k in counts.items() if 1 < k <= len(X) / 2]


def _names_batches(name: str) -> bool:
    """Say whether a column is called like batches; "donor age" is not, "plate no" is."""
    words = [word for word in name_words(name) if word not in NUMBER_WORDS]
    return not BATCH_WORDS.isdisjoint(words[-1:])


def ordered_words(table: Dataset) -> dict[str, list[str]]:
    """Return the categories, but for the classes, whose words are obviously ordered, with these."""
    classes = class_words(table)[:1]
    several = {name: one.levels for name, one in table.encodings.items() if one.n_columns > 1}
    found = {name: find_order(words) for name, words in several.items() if name not in classes}
    # as --encode-order can take them
    return {name: own for name, own in found.items() if own and not {*",="} & {*"".join(own)}}


def row_numbers(table: Dataset) -> list[int]:
    """Return the columns that look like row numbers, which dates in a row do not."""
    names, encoded = table.names, table.encodings
    found = row_number_columns(table.X, table.feature_names).tolist()
    return [j for j in found if names[j] not in encoded]


def sample_words(table: Dataset) -> list[str]:
    """Return the columns of text, left out, that have another word in every row."""
    n = table.X.shape[0]
    few = n < defaults.ROW_NUMBERS_FEWEST
    return [] if few else [name for name, count in table.origin.text.items() if count == n]


def _about_columns(table: Dataset, varying: Collection[str] = ()) -> Iterator[Note]:
    """Say which columns are empty, row numbers, or have one value (without those that vary)."""
    names, empty = table.names, empty_columns(table.X)
    if empty.any():
        without = list_columns([names[j] for j in np.flatnonzero(empty)])
        yield Note(f"Without any value, and left out: {without}.", "empty")
    numbers = [names[j] for j in row_numbers(table)]
    if numbers:
        one = shlex.quote(numbers[0])
        yield Note(
            f"Numbers of rows would be taken as features: {list_columns(numbers)}. Leave them out "
            f"with --drop {one}, or make them the names of the samples with --id-column {one} (in "
            "Python drop, id_column).",
            "row-numbers",
        )
    constant = [names[j] for j in np.flatnonzero(constant_columns(table.X) & ~empty)]
    constant = [name for name in constant if name not in varying]
    if constant:
        yield Note(f"Constant, and nothing to select: {list_columns(constant)}.", "constant")


def _about_values(table: Dataset, X: np.ndarray, names: list[str] | None) -> Iterator[Note]:
    """Say what the values of a dense part of a table, whose columns vary, look like."""
    by_values, by_names, why = transposed_signs(table, X)
    if by_values or by_names > 1 or (by_names and len(X) > X.shape[1]):
        may = "looks" if by_values or by_names > 1 else "may be"  # rows can be proteins
        said = f"The table {may} transposed: {why}. If its rows are features and its columns "
        said += "samples, give --transpose (in Python transpose=True)."
        if not by_names:
            said += (
                " If something moves all columns of a row alike (brightness, dilution, depth), "
                "take it out with --center-rows (in Python center_rows=True)."
            )
        yield Note(said, "transposed")
        return  # what follows is about features in columns
    spread = X.std(axis=0)
    wide = spread.max() > defaults.WIDE_SPREAD * np.quantile(spread, defaults.NARROW_SHARE)
    if raw_counts(table, X):
        yield Note(
            f"The values look like raw counts (whole numbers, none below 0, up to {X.max():,.0f}, "
            "that vary more than their mean): if they are, give --counts (in Python counts=True), "
            "which brings rows to one total and takes logarithms.",
            "counts",
        )
    Z = (X - X.mean(axis=0)) / spread
    if wide and spread.max() > defaults.REPORT_DIFFERENT_UNITS * spread.min() and names:
        widest, narrowest = (names[int(j)] for j in (spread.argmax(), spread.argmin()))
        yield Note(
            f"The columns vary by different amounts ({widest!r} most, by {spread.max():.3g}; "
            f"{narrowest!r} least, by {spread.min():.3g}). JASFS scales columns itself; "
            "MaxVariance does not: give it --standardize if these are different units.",
            "scales",
        )
    share = None if wide or table.batch is not None else _common_share(Z)  # batches move all
    if share is not None:
        yield Note(
            f"One direction moves nearly every column, and makes up {share:.0%} of the variance "
            "(brightness, dilution, depth?). If it is not what you look for, take the mean of "
            "every row out with --center-rows (in Python center_rows=True).",
            "offset",
        )
    if names is not None:
        yield from _about_duplicates(Z, names)


def transposed_signs(table: Dataset, X: np.ndarray) -> tuple[bool, int, str]:
    """Say whether values, and how many names, speak for features in rows; and the reasons."""
    if table.origin.options.get("transpose") or table.cells or not X.size:
        return False, 0, ""
    total = X.var() or 1.0
    rows, columns = X.mean(axis=1).var() / total, X.mean(axis=0).var() / total
    by_values = rows > defaults.TRANSPOSED_SHARE and rows > defaults.TRANSPOSED_RATIO * columns
    reasons = []
    if by_values:
        reasons.append(
            f"{rows:.0%} of the variance lies between the means of its rows, {columns:.0%} between "
            "those of its columns"
        )
    called = [table.id_name or "", *table.origin.text][:2]
    first = next((name for name in called if names_features(name)), None)
    if first is not None:
        reasons.append(f"{first!r} is a name for features")
    sampled = [not SAMPLE_WORDS.isdisjoint(name_words(name)) for name in table.feature_names or ()]
    if sampled and np.mean(sampled) > 0.5:
        reasons.append(f"columns are called like samples ({table.names[0]!r})")
    return bool(by_values), len(reasons) - int(by_values), ", and ".join(reasons)


def raw_counts(table: Dataset, X: np.ndarray) -> bool:
    """Say whether a part of a table looks like counts that were not normalised.

    Whole, with zeros, a long tail, more variance than mean, in columns that differ much.
    """
    if table.cells or not X.size or kind_of(X) != "counts":
        return False
    largest, spread = X.max(), X.std(axis=0)
    wide = spread.max() > defaults.WIDE_SPREAD * np.quantile(spread, defaults.NARROW_SHARE)
    if not wide or largest <= LARGEST_LOG or X.min() > 0:
        return False
    over = np.median(X.var(axis=0) / X.mean(axis=0))
    return bool(over > 1.0 and np.count_nonzero(largest == X) == 1)


def _common_share(Z: np.ndarray) -> float | None:
    """Return the share of variance of the columns' mean, None unless nearly all go with it."""
    n, d = Z.shape
    total = Z.sum(axis=1)
    along = Z.T @ total / n
    share = float(np.mean(total**2)) / d**2
    r = (along - 1.0) / np.sqrt(np.maximum(d**2 * share - 2.0 * along + 1.0, 1e-12))
    if np.quantile(r, defaults.NARROW_SHARE) <= 2.0 / np.sqrt(n):
        return None
    return share if share > defaults.OFFSET_SHARE else None


def twins(table: Dataset, random_state: int = 0) -> list[str]:
    """Return the columns that are nearly the same as one before them."""
    X, names = dense_part(table, random_state)
    if names is None or min(X.shape) < 3:
        return []
    with np.errstate(all="ignore"):
        found = _twins((X - X.mean(axis=0)) / X.std(axis=0))
    return [names[j] for j in found]


def _twins(Z: np.ndarray) -> dict[int, tuple[int, float]]:
    """Return columns that are nearly the same as one before them: that one, and the correlation."""
    n, d = Z.shape
    found: dict[int, tuple[int, float]] = {}
    for start in range(0, d, step := max(1, BLOCK_ELEMENTS // d)):  # never a d x d array
        block = np.arange(start, min(start + step, d))
        r = np.abs(Z[:, : block[-1] + 1].T @ Z[:, block]) / n
        r[np.arange(len(r))[:, None] >= block] = 0.0
        closest, most = r.argmax(axis=0), r.max(axis=0)
        chosen = np.flatnonzero(most >= defaults.TABLE_DUPLICATE)
        found |= {int(block[k]): (int(closest[k]), float(most[k])) for k in chosen}
    return found


def _about_duplicates(Z: np.ndarray, names: list[str]) -> Iterator[Note]:
    """Say which columns are nearly the same."""
    found = _twins(Z)
    if found:
        j = max(found, key=lambda j: found[j][1])
        i, r = found[j]
        yield Note(
            f"Nearly the same as a column before: {counted(len(found), 'column')} of "
            f"{len(names):,}, such as {names[j]!r} with {names[i]!r} (r = {r:.3f}). A selection "
            "needs one of them.",
            "duplicates",
        )
