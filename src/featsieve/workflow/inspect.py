"""A fast look at a table before anything heavy, and the options that it calls for."""

import warnings
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer

from featsieve import defaults
from featsieve.arrays.namespace import is_sparse
from featsieve.criteria.structure import find_structure
from featsieve.datasets import Dataset
from featsieve.tuning import suggest_n_clusters
from featsieve.workflow.columns import constant_columns, count_where, row_number_columns
from featsieve.workflow.messages import ProgressCallback, by_column, silent


def inspect_table(
    table: Dataset,
    *,
    asked: Iterable[str] = (),
    random_state: int = 0,
    progress: ProgressCallback = silent,
) -> dict[str, Any]:
    """Return facts about a table: shape, gaps, columns that cannot be features, clusters.

    ``asked`` are columns that were left out on request: they are not reported as text. Clusters are
    looked for in at most 600 rows and 3e6 elements, all else is counted in the whole table.
    """
    X: Any = table.X
    names = table.names
    progress("counting")
    missing, infinite = count_where(X, np.isnan), count_where(X, np.isinf)
    constant, row_numbers = constant_columns(X), row_number_columns(X, table.feature_names)
    progress("looking for clusters")
    usable = ~constant & (infinite == 0)
    usable[row_numbers] = False
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
        "constant": [names[j] for j in np.flatnonzero(constant)],
        "row_numbers": [names[j] for j in row_numbers],
        "text": [name for name in table.dropped if name not in set(asked)],
        "structure": _look_for_structure(X, usable, random_state),
    }
    return look | {"options": _options(look, named=table.sample_names is not None)}


def _options(look: dict[str, Any], *, named: bool) -> list[str]:
    """Return options of ``featsieve select`` that a table needs, as words of a command line."""
    words = ["--drop-text"] if look["text"] else []
    for name in look["row_numbers"]:
        words += ["--drop" if named or "--id-column" in words else "--id-column", name]
    empty = [name for name, count in look["missing"].items() if count == look["n_samples"]]
    for name in (*look["infinite"], *empty):
        words += ["--drop", name]
    return [*words, "--impute", "median"] if len(empty) < len(look["missing"]) else words


def _look_for_structure(X: Any, usable: np.ndarray, random_state: int) -> dict[str, Any] | None:
    """Return the structure of a part of the table, and how many clusters; None if too small."""
    shape = X.shape
    X, sampled = _part(X, np.flatnonzero(usable), random_state)
    found = find_structure(X, random_state=random_state) if X.shape[1] else None
    if found is None:
        return None
    found = replace(found, table_shape=shape)
    count = suggest_n_clusters(X, random_state=random_state)
    return found.summary() | {
        "n_clusters": count.n_clusters,
        "plausible_range": count.plausible_range,
        "sampled_columns": sampled,
    }


def _part(X: Any, columns: np.ndarray, random_state: int) -> tuple[Any, bool]:
    """Return some rows and columns that vary, gaps filled, and whether columns were sampled."""
    rng = np.random.RandomState(random_state)
    if X.shape[0] > defaults.INSPECTED_SAMPLES:
        X = X[np.sort(rng.permutation(X.shape[0])[: defaults.INSPECTED_SAMPLES])]
    most = max(1, defaults.INSPECTED_ELEMENTS // X.shape[0])
    sampled = len(columns) > most
    if sampled:
        columns = np.sort(rng.permutation(columns)[:most])
    X = X[:, columns]
    if count_where(X, np.isnan).any():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # columns without a value are left out
            filler = SimpleImputer(strategy="median")
            X = filler.fit_transform(X.toarray() if is_sparse(X) else X)
    return X[:, np.flatnonzero(~constant_columns(X))], sampled
