"""Missing values filled: with medians, from the nearest rows, or as a level of their own."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.impute import SimpleImputer

from featsieve import defaults
from featsieve.arrays.namespace import is_sparse
from featsieve.datasets import Dataset
from featsieve.io.dataset import count_where, with_filled
from featsieve.io.neighbours import fill_from_nearest, fill_with

IMPUTE = ("median", "nearest", "category")
# How a note says it, and what an answer is compared with.
SAID = {
    "median": "filled with the column's median",
    "nearest": "filled from the nearest rows",
    "category": "taken as a level of their own in categories, filled with the median elsewhere",
}
WORDS = ", {words} with the most frequent word"  # behind "median"
INSTEAD = {"median": "nearest", "nearest": "median", "category": "nearest"}


def impute_table(table: Dataset, how: str | None) -> tuple[np.ndarray, Dataset]:
    """Return what fills new rows, a number (of empty columns 0) for each, and the table filled."""
    if how == "category":
        table = _with_missing_level(table)
    X: Any = table.X
    fill = _medians(table)
    if not count_where(X, np.isnan).any():
        return fill, table
    if how == "nearest":
        filled = fill_from_nearest(X, X[donor_rows(len(X))], table.names, table.encodings)
    else:
        filled = fill_with(X, fill)
    return fill, with_filled(table, filled, "nearest rows" if how == "nearest" else "median")


def words_with_gaps(table: Dataset) -> list[str]:
    """Return the categories that have missing words, which medians would invent."""
    gaps = count_where(table.X, np.isnan)
    named = dict(zip(table.names, gaps.tolist(), strict=True)) if table.encodings else {}
    return [name for name, one in table.encodings.items() if one.kind == "category" and named[name]]


def donor_rows(n_rows: int) -> np.ndarray:
    """Return the rows that gaps are filled from: of a long table, a part."""
    rng = np.random.default_rng(0)
    return np.sort(rng.permutation(n_rows)[: defaults.DONOR_ROWS])


def _medians(table: Dataset) -> np.ndarray:
    """Return the medians of the columns, 0 for empty ones, and the most frequent level's code."""
    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    imputer.fit(sp.csc_array(table.X) if is_sparse(table.X) else table.X)
    fill = np.array(imputer.statistics_, dtype=np.float64)
    for name, encoding in table.encodings.items():
        j = table.names.index(name)
        if encoding.kind == "category":
            codes = np.asarray(table.X)[:, j]
            counts = np.bincount(codes[~np.isnan(codes)].astype(np.intp), minlength=1)
            fill[j] = float(counts.argmax())
    return fill


def _with_missing_level(table: Dataset) -> Dataset:
    """Return a table in which a missing word of a category is a level of its own."""
    X, options = np.array(table.X), dict(table.origin.options)
    known = dict(options.get("encode") or {})
    for name, encoding in table.encodings.items():
        column = X[:, table.names.index(name)]
        if encoding.kind == "category" and np.isnan(column).any():
            column[np.isnan(column)] = len(encoding.levels)
            known[name] = {"kind": "category", "levels": [*encoding.levels, ""]}
    options |= {"encode": known} if known else {}
    table = replace(table, origin=replace(table.origin, options=options))
    return with_filled(table, X, "level of its own")
