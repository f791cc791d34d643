"""Columns of words and numbers as a selector sees them, and their gaps filled from other rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.impute import KNNImputer

from featsieve.arrays.namespace import is_sparse
from featsieve.tables import Encoding


def expand(
    X: Any, names: Sequence[str], encodings: Mapping[str, Encoding]
) -> tuple[Any, np.ndarray, list[str]]:
    """Return a table of codes as a selector sees it, the feature of every column, and names."""
    if not encodings:
        return X, np.arange(X.shape[1]), list(names)
    parts, owner, called = [], [], []
    for j, name in enumerate(names):
        one = encodings.get(name)
        part = X[:, [j]] if one is None else one.columns(X[:, j])
        parts.append(part)
        owner += [j] * part.shape[1]
        called += [name] if one is None else one.names(name)
    return np.hstack(parts), np.array(owner), called


def fill_with(X: Any, fill: np.ndarray) -> Any:
    """Return a copy of a table with the number of each column in the place of its gaps."""
    fill = fill.astype(X.dtype)
    if not is_sparse(X):
        return np.where(np.isnan(X), fill, X)
    X = X.copy()
    X.data = np.where(np.isnan(X.data), fill[X.indices], X.data)
    return X


def fill_from_nearest(
    X: np.ndarray, donors: np.ndarray, names: Sequence[str], encodings: Mapping[str, Encoding]
) -> np.ndarray:
    """Return codes and numbers with gaps filled from the five nearest donors, in standard units."""
    (Z, owner, _), (known, _, _) = (expand(part, names, encodings) for part in (X, donors))
    empty = np.isnan(known).all(axis=0)
    centre, scale = (f(np.where(empty, 0.0, known), axis=0) for f in (np.nanmean, np.nanstd))
    # the indicators of a category together weigh as much as one column
    scale = np.where(scale > 0.0, scale, 1.0) * np.sqrt(np.bincount(owner)[owner])
    imputer = KNNImputer(keep_empty_features=True).fit((known - centre) / scale)
    near = imputer.transform((Z - centre) / scale) * scale + centre
    filled = np.array(X)
    for j, name in enumerate(names):
        gaps, own, one = np.isnan(X[:, j]), near[:, owner == j], encodings.get(name)
        values = own.argmax(axis=1) if own.shape[1] > 1 else own[:, 0]
        values = values if one is None or one.kind == "date" else np.rint(values)
        filled[gaps, j] = values[gaps]
    return filled
