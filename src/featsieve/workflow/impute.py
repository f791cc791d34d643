"""Missing values filled: with medians, from the nearest rows, or as a level of their own."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.impute import KNNImputer, SimpleImputer

from featsieve import defaults
from featsieve.arrays.namespace import is_sparse
from featsieve.datasets import Dataset
from featsieve.tables import Encoding
from featsieve.workflow.columns import count_where

IMPUTE = ("median", "nearest", "category")
# How a note says it, and what an answer is compared with.
SAID = {
    "median": "filled with the column's median",
    "nearest": "filled from the nearest rows",
    "category": "taken as a level of their own in categories, filled with the median elsewhere",
}
INSTEAD = {"median": "nearest", "nearest": "median", "category": "median"}


def impute_table(table: Dataset, how: str | None) -> tuple[np.ndarray, Dataset]:
    """Return what new rows are filled with, a number for every column, and the table filled.

    Columns without any value become 0.
    """
    if how == "category":
        table = _with_missing_level(table)
    fill = _medians(table)
    if not count_where(table.X, np.isnan).any():
        return fill, table
    X: Any = table.X
    if is_sparse(X):
        filled: Any = sp.csr_array(_fitted_medians(X).transform(X.tocsc()))
    elif how == "nearest":
        filled = _from_nearest(table, fill)
    else:
        filled = np.where(np.isnan(X), fill.astype(X.dtype), X)
    return fill, replace(table, X=filled)


def expand(X: Any, names: list[str], encodings: dict[str, Encoding]) -> tuple[Any, Any, list[str]]:
    """Return a table of codes as a selector sees it, the feature of every column, and names.

    The features are None where each has one column.
    """
    if not encodings:
        return X, None, names
    parts, owner, called = [], [], []
    for j, name in enumerate(names):
        one = encodings.get(name)
        part = X[:, [j]] if one is None else one.columns(X[:, j])
        parts.append(part)
        owner += [j] * part.shape[1]
        called += [name] if one is None else one.names(name)
    return np.hstack(parts), (np.array(owner) if len(owner) > len(names) else None), called


def _fitted_medians(X: Any) -> SimpleImputer:
    """Return what fills the columns with their medians."""
    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    return imputer.fit(X.tocsc() if is_sparse(X) else X)


def _medians(table: Dataset) -> np.ndarray:
    """Return the medians of the columns, 0 for empty ones, and the most frequent level's code."""
    fill = np.array(_fitted_medians(table.X).statistics_, dtype=np.float64)
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
    return replace(table, X=X, origin=replace(table.origin, options=options))


def _from_nearest(table: Dataset, fill: np.ndarray) -> np.ndarray:
    """Return codes and numbers with gaps filled from the five nearest rows that have a value.

    Distances are those of standardised columns, of the indicators of categories; of a long table,
    a part is looked among.
    """
    encodings = table.encodings
    X, owner, _ = expand(table.X, table.names, encodings)
    owner = np.arange(X.shape[1]) if owner is None else owner
    with np.errstate(all="ignore"):
        centre, scale = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    centre, scale = np.nan_to_num(centre), np.where(scale > 0.0, scale, 1.0)
    # the indicators of a category together weigh as much as one column
    scale = scale * np.sqrt(np.bincount(owner)[owner])
    Z = (X - centre) / scale
    rng = np.random.default_rng(0)
    some = np.sort(rng.permutation(len(Z))[: defaults.CRITERION_SAMPLES])
    near = KNNImputer(keep_empty_features=True).fit(Z[some]).transform(Z) * scale + centre
    filled = np.array(table.X)
    for j, name in enumerate(table.names):
        gaps = np.isnan(filled[:, j])
        if gaps.any():
            own, known = near[:, owner == j], encodings.get(name)
            values = own.argmax(axis=1) if own.shape[1] > 1 else own[:, 0]
            values = values if known is None or known.kind == "date" else np.rint(values)
            filled[gaps, j] = fill[j] if gaps.all() else values[gaps]
    return filled
