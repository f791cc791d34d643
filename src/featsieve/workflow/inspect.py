"""A fast look at a table before anything heavy, and the options that it calls for."""

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from featsieve import defaults
from featsieve.arrays.namespace import is_sparse
from featsieve.criteria.batches import within_batches
from featsieve.criteria.n_clusters import count_clusters
from featsieve.criteria.structure import find_structure
from featsieve.datasets import Dataset, read_table
from featsieve.io.counts import kind_of, row_totals
from featsieve.io.dataset import subset
from featsieve.workflow.columns import constant_columns, count_where, empty_columns
from featsieve.workflow.findings import (
    about_orders,
    about_samples,
    batch_words,
    class_words,
    columns_about_features,
    dense_part,
    find_notes,
    order_option,
    ordered_words,
    raw_counts,
    row_numbers,
    sample_words,
    scales,
    transposed_signs,
    twins,
)
from featsieve.workflow.impute import words_with_gaps
from featsieve.workflow.messages import Note, ProgressCallback, by_column, silent
from featsieve.workflow.prepare import prepare_table

# Columns that are nearly the same as another which a command line can name.
MOST_TWINS = 5


def read_to_inspect(
    path: Path, options: dict[str, Any], progress: ProgressCallback = silent
) -> tuple[Dataset, list[Note]]:
    """Read a table with all that can be done for it: words encoded or left out, cells repaired."""
    progress(f"reading {path.name}")
    # words that are to be left out do not take part
    known, notes = options.get("encode") or not options.get("drop_text"), list[Note]()
    options = {**options, "drop_text": True, "repair": True, "encode": known}
    table = read_table(path, **options)
    by_values, by_names, why = transposed_signs(table, dense_part(table)[0])
    if by_values + by_names > 1:
        options["transpose"] = True
        table = read_table(path, **options)
        notes.append(Note(f"The table looks transposed: {why}.", "transposed"))
    if found := columns_about_features(table):
        notes += about_samples(found)
        options["drop"] = [*(options.get("drop") or ()), *found]
        table = read_table(path, **options)
    for name in batch_words(table)[:1]:
        with suppress(ValueError):  # where the batch of a row is missing
            table = read_table(path, **options | {"batch_column": name})
            options["batch_column"] = name
    if orders := ordered_words(table):  # looked at as proposed
        named: dict[str, Any] = {"*": []}
        for words, columns in scales(orders):
            if len(columns) > 1:
                named["*"].append(words)
            else:
                named[columns[0]] = words
        options["encode"] = named | (known if isinstance(known, dict) else {})
        table = read_table(path, **options)
    return table, [*notes, *about_orders(orders)]


def inspect_table(
    table: Dataset,
    *,
    asked: Iterable[str] = (),
    notes: Iterable[Note] = (),
    random_state: int = 0,
    progress: ProgressCallback = silent,
) -> dict[str, Any]:
    """Return facts about a table: shape, gaps, columns that cannot be features, clusters."""
    X: Any = table.X
    names = table.names
    progress("counting")
    empty, infinite = empty_columns(X), count_where(X, np.isinf)
    missing = np.where(empty, 0, count_where(X, np.isnan))
    constant, numbers = constant_columns(X), row_numbers(table)
    constant &= ~np.isin(names, words_with_gaps(table))  # which --impute category makes a level
    usable = ~constant & (infinite == 0)
    usable[numbers] = False
    # whole numbers of a few units are no counts: a table of these is wider than long
    whole = X.shape[1] > X.shape[0] and not table.encodings and kind_of(X) == "counts"
    counts = whole and row_totals(X).min() > 0.0 and raw_counts(table, dense_part(table)[0])
    same = [] if counts else twins(table)  # silent genes are all alike
    needless = same if len(same) <= MOST_TWINS else []
    usable &= ~np.isin(names, [*class_words(table)[:1], *needless])
    said = [*notes, *find_notes(table, random_state=random_state, proposed=True)]
    progress("looking for clusters")
    structure = None
    try:
        columns = np.flatnonzero(usable)
        structure = _look_for_structure(table, columns, random_state, counts=counts)
    except ValueError as error:  # what select would say
        said.append(Note(str(error), "structure"))
    no_samples = table.origin.options.get("drop", ())
    parts = (X.data, X.indices, X.indptr) if is_sparse(X) else (X,)
    look = {
        "table": table.name,
        "n_samples": X.shape[0],
        "n_features": X.shape[1],
        "dtype": str(X.dtype),
        "sparse": bool(is_sparse(X)),
        "n_bytes": sum(int(part.nbytes) for part in parts),
        "zeros": 1.0 - np.count_nonzero(parts[0]) / (X.shape[0] * X.shape[1]),
        "missing": by_column(missing, names),
        "infinite": by_column(infinite, names),
        "empty": [names[j] for j in np.flatnonzero(empty)],
        "constant": [names[j] for j in np.flatnonzero(constant & ~empty)],
        "row_numbers": [names[j] for j in numbers],
        "counts": bool(counts),
        "needless": needless,
        "text": [name for name in table.dropped if name not in {*asked, *no_samples}],
        "notes": [{"kind": note.kind, "text": str(note)} for note in said],
        "structure": structure,
    }
    return look | {"options": _options(table, look)}


def _options(table: Dataset, look: dict[str, Any]) -> list[str]:
    """Return options of ``featsieve select`` that a table needs, as words of a command line."""
    made = table.origin
    words = ["--transpose"] if made.options.get("transpose") else []
    words += [word for name in made.options.get("drop", ()) for word in ("--drop", name)]
    words += ["--sheet", made.options["sheet"]] if "sheet" in made.options else []
    words += ["--repair"] if made.repaired else []
    words += ["--counts"] if look["counts"] else []
    names = [] if table.sample_names is not None else sample_words(table)[:1]
    classes = class_words(table)[:1]
    categories = {*table.encodings} - {*classes}
    words += [] if table.batch_name is None else ["--batch-column", table.batch_name]
    words += ["--encode"] if categories else []
    orders = {name: [*one.levels] for name, one in table.encodings.items() if one.kind == "order"}
    for order, columns in scales(orders):
        words += ["--encode-order", order_option(order, columns)]
    words += ["--drop-text"] if set(look["text"]) - {*names, *classes, *categories} else []
    for name in classes:
        words += ["--label-column", name]
    for name in (*names, *look["row_numbers"]):
        named = table.sample_names is not None or "--id-column" in words
        words += ["--drop" if named else "--id-column", name]
    for name in (*look["infinite"], *look["needless"]):
        words += ["--drop", name] * (name not in words)
    return [*words, "--impute", _way_to_fill(table)] if look["missing"] else words


def _way_to_fill(table: Dataset) -> str:
    """Return the proposed way to fill gaps, which never makes up a word."""
    return "category" if words_with_gaps(table) else "median"


def _look_for_structure(
    table: Dataset, usable: np.ndarray, random_state: int, *, counts: bool
) -> dict[str, Any] | None:
    """Return structure and number of clusters as ``select`` finds them; None if it is too small.

    Of a large table a part is looked at.
    """
    n, shape, columns = table.X.shape[0], table.X.shape, usable
    if not len(usable):
        return None
    if sampled := n * len(usable) > defaults.INSPECTED_ELEMENTS:
        rng = np.random.RandomState(random_state)
        rows = np.sort(rng.permutation(n)[: defaults.INSPECTED_SAMPLES])
        if table.batch:  # one row of a batch is no batch
            drawn = Counter(table.batch[i] for i in rows)
            rows = rows[[drawn[table.batch[i]] > 1 for i in rows]]
        most = max(1, defaults.INSPECTED_ELEMENTS // len(rows))
        columns = np.sort(rng.permutation(usable)[:most])
        batch = table.batch and [table.batch[i] for i in rows]
        table = replace(table, X=table.X[rows], y=None, sample_names=None, batch=batch)
    settings: dict[str, Any] = {"counts": True} if counts else {}
    seen = prepare_table(subset(table, columns), impute=_way_to_fill(table), **settings)
    X, codes, _ = within_batches(seen.X, seen.in_batches.get("batch"))
    found = find_structure(X, random_state=random_state, codes=codes, variables=seen.owner)
    if found is None:
        return None
    count = count_clusters(X, codes=codes, variables=seen.owner)
    return replace(found, table_shape=shape).summary() | {
        "n_clusters": count.n_clusters,
        "plausible_range": count.plausible_range,
        "sampled": sampled,
        "sampled_columns": len(columns) < len(usable),
    }
