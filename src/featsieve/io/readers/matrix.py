"""What files of one matrix have in common: features chosen by their names."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from featsieve.io.dataset import Content, as_table
from featsieve.io.guard import TableError
from featsieve.io.names import check_unique, find_columns, named_or_places, place_names
from featsieve.io.request import Request

# The names of features and samples, in files of variables.
FEATURE_NAMES = "feature_names"
SAMPLE_NAMES = "sample_names"
# Those of the table and the classes, in lower case.
TABLE_NAMES = ("fea", "x")
LABEL_NAMES = ("gnd", "y")


def chosen_columns(names: Sequence[str], request: Request) -> np.ndarray | None:
    """Return the places of the features that are wanted, None for all in their order."""
    if request.columns is not None:
        return find_columns(request.columns, names, role="feature")
    if not request.drop:
        return None
    dropped = find_columns(request.drop, names, role="feature")
    if len(dropped) == len(names):
        raise TableError("the table is empty: all features are left out")
    return np.setdiff1d(np.arange(len(names)), dropped)


def pick_features(content: Content, request: Request) -> Content:
    """Return the features that are wanted; those without names are called x0, x1, ..."""
    if request.columns is None and not request.drop:
        return content
    X = as_table(content.X)
    names = content.feature_names
    if names is None:
        names = place_names(X.shape[1])
    elif len(names) != X.shape[1]:
        return content  # an error that is told elsewhere
    check_unique(names)
    chosen: Any = chosen_columns(names, request)
    kept = named_or_places([names[j] for j in chosen])
    return replace(content, X=X[:, chosen], feature_names=kept, dropped=request.drop)


def choose_variables(
    names: Iterable[str], label_column: str | None = None
) -> tuple[str, str | None]:
    """Return which variables hold table and labels; upper and lower case count the same."""
    by_lower = {name.lower(): name for name in names}
    table = next((by_lower[name] for name in TABLE_NAMES if name in by_lower), None)
    held = ", ".join(by_lower.values()) or "nothing"
    if table is None:
        raise TableError(
            f"no variable is called fea or X, so there is no table; the file holds: {held}"
        )
    if label_column is None:
        return table, next((by_lower[name] for name in LABEL_NAMES if name in by_lower), None)
    if label_column.lower() not in by_lower:
        raise TableError(f"no variable is called {label_column!r}; the file holds: {held}")
    return table, by_lower[label_column.lower()]
