"""Common to formats: variables and features by their names, and classes as they are written."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from featsieve.io.dataset import Dataset, as_table, make_dataset
from featsieve.io.formats import Request
from featsieve.io.guard import TableError
from featsieve.io.names import check_unique, find_columns, named_or_places, place_names

# The names of features and samples, in files of variables.
FEATURE_NAMES = "feature_names"
SAMPLE_NAMES = "sample_names"
# Those of the table and the classes, in lower case.
TABLE_NAMES = ("fea", "x")
LABEL_NAMES = ("gnd", "y")
LABEL = "label"  # the classes, where the table does not say what they are called


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


def variables_dataset(
    names: Sequence[str],
    load: Callable[[str], Any],
    request: Request,
    *,
    as_text: Callable[[Any], list[str]],
) -> Dataset:
    """Return the data set in a file of variables; ``load`` reads one, ``as_text`` lists names."""
    table, labels = choose_variables(names, request.label_column)
    samples = request.id_column
    if samples is not None:
        find_columns([samples], names, role="variable")
    elif SAMPLE_NAMES in names:
        samples = SAMPLE_NAMES
    features = as_text(load(FEATURE_NAMES)) if FEATURE_NAMES in names else None
    X, features = pick_features(load(table), features, request)
    return make_dataset(
        X,
        labels=None if labels is None else load(labels),
        feature_names=features,
        sample_names=None if samples is None else as_text(load(samples)),
        id_name=request.id_column,
        label_name=labels,
        dropped=request.drop,
    )


def label_values(table: Dataset) -> np.ndarray | None:
    """Return the classes of the samples as numbers or text, whichever keeps their order.

    So that, read again, class k is class k.
    """
    if table.y is None:
        return None
    if table.class_names is None:
        return np.asarray(table.y)
    if table.complete_y is None:
        return np.append(np.array(table.class_names, dtype=str), "")[table.y]  # -1 is the last
    kinds: tuple[Callable[[str], Any], ...] = (int, float)
    for kind in kinds:
        try:
            classes = [kind(name) for name in table.class_names]
        except ValueError:
            continue
        if [str(value) for value in classes] == table.class_names and classes == sorted(classes):
            return np.array(classes)[table.y]
    return np.array(table.class_names, dtype=str)[table.y]


def named_variables(
    table: Dataset,
    stored: dict[str, Any],
    *,
    label: str,
    allowed: Callable[[str | None], str | None] = lambda name: name,
) -> dict[str, Any]:
    """Return what is ``stored`` of a table, with its names and classes under names that are free.

    Classes without a name are called ``label``; ``allowed`` says which names the format can give.
    """
    found = dict(stored)
    if table.feature_names is not None:
        found[FEATURE_NAMES] = np.array(table.feature_names, dtype=str)
    reserved = [*found, "X", *TABLE_NAMES, FEATURE_NAMES]
    labels = label_values(table)
    if labels is not None:
        found[free_name(allowed(table.label_name), label, [*reserved, SAMPLE_NAMES])] = labels
    if table.sample_names is not None:
        taken = [*found, *reserved, *LABEL_NAMES, label]
        name = free_name(allowed(table.id_name), SAMPLE_NAMES, taken)
        found[name] = np.array(table.sample_names, dtype=str)
    return found


def free_name(wanted: str | None, default: str, taken: Iterable[str]) -> str:
    """Return a name for something beside the features: the wanted one, unless it is taken."""
    used = set(taken)
    name = wanted if wanted is not None and wanted not in used else default
    while name in used:
        name += "_"
    return name


def dense(X: Any) -> np.ndarray:
    """Return a table with its zeros."""
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)
