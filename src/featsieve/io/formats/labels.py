"""What writers of every format share: the classes as they were, and names beside the features."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from featsieve.io.dataset import Dataset

LABEL = "label"  # the classes, where the table does not say what they are called


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
