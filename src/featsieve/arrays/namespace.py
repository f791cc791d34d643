"""Array libraries. The only file that names one.

Solvers get their functions from ``xp = namespace_of(array)`` and never import an array library
for the arrays they are handed, so that every library that follows the Python array API works.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import array_api_compat
import numpy as np
import scipy.sparse as sp

from featsieve.arrays.batch_table import SparseInBatches

# Elements of a temporary that should stay in the processor's cache.
OUTER_ELEMENTS = 2**15
# Arrays of any library: the array API has no nominal type to name here.
Array = Any


def namespace_of(*arrays: Array) -> ModuleType:
    """Return the array API namespace the arrays belong to."""
    return array_api_compat.array_namespace(*arrays)


def device_of(array: Array) -> Any:
    """Return the device an array lives on."""
    return array_api_compat.device(array)


def on_host(array: Array) -> bool:
    """Say whether an array lies in the memory of the processor that runs this line."""
    if isinstance(array, np.ndarray):
        return True
    if array_api_compat.is_torch_array(array):
        return array.device.type == "cpu"
    if array_api_compat.is_cupy_array(array):
        return False
    return "cpu" in str(device_of(array)).lower()


def has_double_precision(array: Array) -> bool:
    """Say whether the device of an array knows float64."""
    info = namespace_of(array).__array_namespace_info__()
    return "float64" in info.dtypes(device=device_of(array), kind="real floating")


def is_dask_array(X: Any) -> bool:
    """Say whether X is a dask.array; Dask is not imported for it."""
    return bool(array_api_compat.is_dask_array(X))


def is_foreign_array(X: Any) -> bool:
    """Say whether X is an array in memory of another library than NumPy."""
    if isinstance(X, (np.ndarray, np.generic)) or is_sparse(X) or is_dask_array(X):
        return False
    return bool(array_api_compat.is_array_api_obj(X))


def is_dense(X: Array) -> bool:
    """Say whether an array of another library stores all its entries."""
    if array_api_compat.is_torch_array(X):
        return str(X.layout) == "torch.strided"
    return not array_api_compat.is_pydata_sparse_array(X)


def without_gradient(X: Array) -> Array:
    """Return the array without a record of how it was computed, which torch may keep."""
    return X.detach() if array_api_compat.is_torch_array(X) and X.requires_grad else X


def like(values: Any, array: Array) -> Array:
    """Return NumPy values in the library of an array, and on its device."""
    if isinstance(array, np.ndarray):
        return np.asarray(values)
    values = np.asarray(values)
    if not values.flags.writeable or min(values.strides, default=0) < 0:
        values = values.copy()  # torch warns about the first, and refuses the second
    return namespace_of(array).asarray(values, device=device_of(array))


def gathered(X: Any) -> Any:
    """Return a table of few rows as it is; those of a Dask array come to the host."""
    if not is_dask_array(X):
        return X
    from featsieve.arrays.dask import gather_rows

    return gather_rows(X)


def take_rows(X: Any, rows: np.ndarray) -> Any:
    """Return X[rows] for NumPy indices; rows of a Dask array (sorted ones) come to the host."""
    if is_dask_array(X):
        from featsieve.arrays.dask import gather_rows

        return gather_rows(X, rows)
    return namespace_of(X).take(X, like(rows, X), axis=0) if is_foreign_array(X) else X[rows]


def pick_columns(X: Any, indices: np.ndarray) -> Any:
    """Return X[:, indices] for NumPy indices, as a new table of the same kind; lazily with Dask."""
    if is_dask_array(X):
        chunks = (X.chunks[0], (len(indices),))
        return X.map_blocks(pick_columns, indices, chunks=chunks, dtype=X.dtype, meta=X._meta)
    if is_foreign_array(X):
        return namespace_of(X).take(X, like(indices, X), axis=1)
    return X[:, indices]


def is_sparse(X: Any) -> bool:
    """Say whether X is a scipy.sparse matrix or array, or such a table shifted within batches."""
    return bool(sp.issparse(X)) or isinstance(X, SparseInBatches)


def to_numpy(array: Array) -> np.ndarray:
    """Return the array on the host as a NumPy array, without a copy where that is possible."""
    if isinstance(array, np.ndarray):
        return array
    if array_api_compat.is_torch_array(array):
        return array.detach().cpu().numpy()
    if array_api_compat.is_cupy_array(array):
        return array.get()
    try:
        return np.from_dlpack(array)
    except BufferError:  # NumPy 2.0 does not take what may not be written to, but takes a copy
        return np.from_dlpack(namespace_of(array).asarray(array, copy=True))


def hosted(array: Array) -> Array:
    """Return an array of another library as NumPy's if it is on the host; all else as it is."""
    return to_numpy(array) if is_foreign_array(array) and on_host(array) else array


def as_numpy(values: Any) -> np.ndarray:
    """Return what a user passed in, an array of any library or a list, as a NumPy array."""
    return to_numpy(values) if is_foreign_array(values) else np.asarray(values)


def is_floating(array: Array) -> bool:
    """Say whether an array, or a sparse matrix, holds real floating-point numbers."""
    if is_sparse(array):
        return array.dtype.kind == "f"
    return namespace_of(array).isdtype(array.dtype, "real floating")


def largest_entries(X: Any) -> np.ndarray:
    """Return max_i |x_ij| of every column, dense or CSR: not finite if an entry is not."""
    if is_sparse(X):
        largest = np.zeros(X.shape[1])
        with np.errstate(invalid="ignore"):  # NaN is what the caller looks for
            np.maximum.at(largest, X.indices, np.abs(X.data).astype(np.float64, copy=False))
        return largest
    if X.shape[0] == 0:
        return np.zeros(X.shape[1])
    xp = namespace_of(X)
    return to_numpy(xp.maximum(xp.max(X, axis=0), -xp.min(X, axis=0))).astype(np.float64)


def is_single(X: Any) -> bool:
    """Say whether a table of any kind holds float32."""
    return str(X.dtype).endswith("float32")


def native(dtype: np.dtype) -> np.dtype:
    """Return a type of NumPy in the byte order of this machine, extended precision as float64.

    There are no fast products of others, and nothing is gained by them.
    """
    if dtype.kind == "f" and dtype.itemsize > 8:
        return np.dtype(np.float64)
    return dtype.newbyteorder("=")


def in_double(X: Any) -> Any:
    """Return a table of any kind in float64."""
    if is_foreign_array(X):
        xp = namespace_of(X)
        return xp.astype(X, xp.float64, copy=False)
    return X.astype(np.float64, copy=False)


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


def column_dots(A: Array, B: Array) -> Array:
    """Return a_j' b_j for every pair of columns; with NumPy without a temporary of their size."""
    if isinstance(A, np.ndarray):
        return np.einsum("ij,ij->j", A, B)
    return namespace_of(A).sum(A * B, axis=0)


def row_squares(A: Array) -> Array:
    """Return ||a_i||^2 for every row; with NumPy without a temporary of their size."""
    if isinstance(A, np.ndarray):
        return np.einsum("ij,ij->i", A, A)
    return namespace_of(A).sum(A * A, axis=1)


def minus_outer(A: Array, column: Array, row: Array) -> Array:
    """Return A - column row'; an A of NumPy stored column by column is overwritten."""
    if not (columns_are_contiguous(A) and A.flags.writeable):
        return A - column[:, None] * row[None, :]
    for start in range(0, len(row), step := max(1, OUTER_ELEMENTS // len(column))):
        A.T[start : start + step] -= row[start : start + step, None] * column
    return A


def sums_by_group(values: Array, groups: Array, count: int) -> Array:
    """Return the sums of the rows of ``values`` (n x r) by group 0..count-1, as (count x r)."""
    if array_api_compat.is_torch_array(values):
        sums = values.new_zeros((count, values.shape[1]))
        return sums.index_add_(0, groups, values)
    n = values.shape[0]
    ones = np.ones(n, dtype=np.float32 if is_single(values) else np.float64)
    member = sp.csr_array((ones, to_numpy(groups), np.arange(n + 1)), shape=(n, count))
    return sparse_product(sp.csr_array(member.T), values)(values)


def counts(cells: Array, count: int) -> np.ndarray:
    """Return how often each of the cells 0..count-1 occurs, on the host."""
    if array_api_compat.is_torch_array(cells):
        return cells.bincount(minlength=count).cpu().numpy()
    return np.bincount(to_numpy(cells), minlength=count)


def entries_of(A: Array, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the entries A[rows, columns], for NumPy indices, as a NumPy array."""
    if isinstance(A, np.ndarray):
        return A[rows, columns]
    xp = namespace_of(A)
    return to_numpy(xp.take(xp.reshape(A, (-1,)), like(rows * A.shape[1] + columns, A)))


def smallest_of_rows(A: Array, count: int) -> tuple[Array, Array]:
    """Return (indices, values) of the ``count`` smallest entries of every row, in rising order."""
    xp = namespace_of(A)
    if array_api_compat.is_torch_array(A):
        values, indices = A.topk(count, dim=1, largest=False, sorted=True)
        return indices, values
    if isinstance(A, np.ndarray) or array_api_compat.is_cupy_array(A):
        indices = xp.argpartition(A, min(count, A.shape[1] - 1), axis=1)[:, :count]
    else:
        indices = xp.argsort(A, axis=1)[:, :count]
    values = xp.take_along_axis(A, indices, axis=1)
    order = xp.argsort(values, axis=1)
    return xp.take_along_axis(indices, order, axis=1), xp.take_along_axis(values, order, axis=1)


def stable_order(keys: np.ndarray, *, rounding: float = 0.0) -> np.ndarray:
    """Return the indices that sort keys from large to small, ties by the lower index.

    Keys that differ from the first of their group by no more than ``rounding`` of its size are
    ties.
    """
    keys = -np.asarray(keys, dtype=np.float64)
    order = np.argsort(keys)  # several times faster than a stable sort
    ordered = keys[order]
    with np.errstate(over="ignore", invalid="ignore"):
        room = np.where(np.isinf(ordered), ordered, ordered + rounding * np.abs(ordered))
    apart = ordered[1:] > room[:-1]
    if np.all(apart):
        return order
    # Steps that are each small may lead far: a group ends where it has left its first key.
    ends = np.flatnonzero(np.concatenate([[True], apart, [True]]))
    starts, stops = ends[:-1], ends[1:]
    wide = ordered[stops - 1] > room[starts]
    for start, stop in zip(starts[wide], stops[wide], strict=True):
        while ordered[stop - 1] > room[start]:
            start += int(np.searchsorted(ordered[start:stop], room[start], side="right"))
            apart[start - 1] = True
    group = np.concatenate([[0], np.cumsum(apart)])
    return order[np.lexsort((order, group))]


def sparse_product(A: sp.csr_array, array: Array) -> Callable[[Array], Array]:
    """Return the function B -> A B for blocks B in the library, and on the device, of an array.

    torch and CuPy multiply on their device; for others scipy does, on the host.
    """
    if isinstance(array, np.ndarray):
        return lambda B: A @ np.ascontiguousarray(B)
    if array_api_compat.is_torch_array(array):
        import torch

        edges = sp.coo_array(A)
        with torch.sparse.check_sparse_tensor_invariants(False):  # explicit: torch warns otherwise
            graph = torch.sparse_coo_tensor(
                like(np.stack([edges.row, edges.col]).astype(np.int64), array),
                like(edges.data, array),
                A.shape,
                is_coalesced=A.has_canonical_format,
            )
        return lambda B: torch.sparse.mm(graph, B)
    if array_api_compat.is_cupy_array(array):
        from cupyx.scipy.sparse import csr_matrix

        with array.device:
            on_device = csr_matrix(sp.csr_matrix(A))
        return lambda B: on_device @ B
    return lambda B: like(A @ np.ascontiguousarray(to_numpy(B)), B)
