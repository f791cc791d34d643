"""Array libraries. The only file that names one.

Solvers get their functions from ``xp = namespace_of(array)`` and never import an array library
for the arrays they are handed, so that every library that follows the Python array API works.
"""

from types import ModuleType
from typing import Any

import array_api_compat
import numpy as np
import scipy.sparse as sp

# Arrays of any library: the array API has no nominal type to name here.
Array = Any


def namespace_of(*arrays: Array) -> ModuleType:
    """Return the array API namespace the arrays belong to."""
    return array_api_compat.array_namespace(*arrays)


def device_of(array: Array) -> Any:
    """Return the device an array lives on."""
    return array_api_compat.device(array)


def is_sparse(X: Any) -> bool:
    """Say whether X is a scipy.sparse matrix or array."""
    return bool(sp.issparse(X))


def to_numpy(array: Array) -> np.ndarray:
    """Return the array on the host as a NumPy array, without a copy where that is possible."""
    if isinstance(array, np.ndarray):
        return array
    if array_api_compat.is_torch_array(array):
        return array.detach().cpu().numpy()
    if array_api_compat.is_cupy_array(array):
        return array.get()
    return np.from_dlpack(array)


def is_floating(array: Array) -> bool:
    """Say whether the array holds real floating-point numbers."""
    return namespace_of(array).isdtype(array.dtype, "real floating")


def take_columns(X: Array, indices: Array) -> Array:
    """Return X[:, indices].

    numpy.take copies a Fortran-ordered table as a whole before it takes; indexing does not.
    """
    if indices.shape[0] == 1:
        j = int(indices[0])
        return X[:, j : j + 1]
    if isinstance(X, np.ndarray):
        return X[:, indices]
    return namespace_of(X).take(X, indices, axis=1)


def columns_are_contiguous(X: Array) -> bool:
    """Say whether X is known to be stored column by column."""
    return isinstance(X, np.ndarray) and X.flags.f_contiguous and not X.flags.c_contiguous


def minus_row(X: Array, row: Array) -> Array:
    """Return X - 1 row', with NumPy stored row by row, as scipy's sparse products want it."""
    if isinstance(X, np.ndarray):
        return np.subtract(X, row[None, :], order="C")
    return X - row[None, :]


def column_dots(A: Array, B: Array) -> Array:
    """Return a_j' b_j for every pair of columns; with NumPy without a temporary of their size."""
    if isinstance(A, np.ndarray):
        return np.einsum("ij,ij->j", A, B)
    return namespace_of(A).sum(A * B, axis=0)


def stable_order(keys: np.ndarray) -> np.ndarray:
    """Return the indices that sort keys from large to small, ties by the lower index."""
    keys = -np.asarray(keys, dtype=np.float64)
    order = np.argsort(keys)  # several times faster than a stable sort
    ordered = keys[order]
    if np.all(ordered[1:] > ordered[:-1]):
        return order
    return np.argsort(keys, kind="stable")
