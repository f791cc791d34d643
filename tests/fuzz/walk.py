"""Everything an estimator has fitted: one flat list of names and values."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from featsieve.arrays.namespace import is_dask_array, is_foreign_array


def fitted_values(estimator: Any) -> dict[str, Any]:
    """Return the fitted attributes of an estimator, and of what they hold, by their path."""
    names = [name for name in vars(estimator) if name.endswith("_") and not name.startswith("__")]
    return {
        path: value
        for name in sorted(names)
        for path, value in _leaves(name, vars(estimator)[name])
    }


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield the arrays, numbers and words that a value is made of."""
    if sp.issparse(value):
        yield path, value.toarray()
    elif isinstance(value, BaseEstimator):
        for inner, leaf in fitted_values(value).items():
            yield f"{path}.{inner}", leaf
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _leaves(f"{path}.{field.name}", getattr(value, field.name))
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _leaves(f"{path}[{key}]", item)
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from _leaves(f"{path}[{i}]", item)
    elif is_foreign_array(value) or is_dask_array(value):
        yield path, np.asarray(value)
    elif isinstance(value, np.ma.MaskedArray):
        yield path, value.filled()
    else:
        yield path, value


def not_finite(value: Any) -> bool:
    """Say whether a number, or an entry of an array, is NaN or infinite."""
    array = np.asarray(value)
    return array.dtype.kind == "f" and not np.isfinite(array).all()


def same(first: Any, second: Any) -> bool:
    """Say whether two values are the same to the last bit."""
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        if np.shape(first) != np.shape(second) or first.dtype != second.dtype:
            return False
        return first.dtype == object or np.array_equal(
            first, second, equal_nan=first.dtype.kind == "f"
        )
    if isinstance(first, float) and isinstance(second, float):
        return first == second or (first != first and second != second)
    return type(first) is type(second) and (first == second or not isinstance(first, (int, str)))
