"""Common to files of one matrix: its variables, and features chosen by their names."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from featsieve.io.dataset import as_table
from featsieve.io.formats import Request
from featsieve.io.guard import TableError
from featsieve.io.names import check_unique, find_columns, named_or_places, place_names

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


def pick_features(
    X: Any, names: list[str] | None, request: Request
) -> tuple[Any, list[str] | None]:
    """Return the features that are wanted, with their names; x0, x1, ... where they have none."""
    if request.columns is None and not request.drop:
        return X, names
    X = as_table(X)
    if names is not None and len(names) != X.shape[1]:
        return X, names  # make_dataset says what is wrong
    present = place_names(X.shape[1]) if names is None else names
    check_unique(present)
    chosen: Any = chosen_columns(present, request)
    return X[:, chosen], named_or_places([present[j] for j in chosen])


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
