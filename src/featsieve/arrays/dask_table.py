"""Dask arrays as a user passes them in: checks, subsamples, and what a fit says about all rows."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from featsieve.arrays.dask_moments import measured, moments_of, refuse_masked
from featsieve.arrays.dask_parts import compute, stacked
from featsieve.arrays.namespace import is_sparse, native

# Bytes of a chunk that workers handle well: what the messages suggest.
CHUNK_BYTES = 2**26


def check_dask_table(estimator: Any, X: Any) -> Any:
    """Return a Dask array that a selector can be fitted to, or say how to make one of it.

    Sets ``n_features_in_``. One pass over the table looks for numbers that are not finite (and
    finds means and spreads on the way).
    """
    X = check_dask_array(X, owner=type(estimator).__name__)
    estimator.n_features_in_ = X.shape[1]
    return X


def check_dask_array(X: Any, *, owner: str) -> Any:
    """Return a Dask array with numbers in whole rows, all finite, or say how to make one of it.

    The array that is returned carries its moments: whoever is handed it need not measure again.
    """
    refuse_masked(X._meta)
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead: rows are samples, columns are "
            "features. Reshape X to (n_samples, n_features)."
        )
    if np.isnan(X.shape[0]) or np.isnan(X.shape[1]):
        raise ValueError(
            "X does not know its shape (it comes from a data frame or a filter): call "
            "X.compute_chunk_sizes() first; of a data frame, to_dask_array(lengths=True)."
        )
    n, d = X.shape
    if d == 0 or n < 2:
        raise ValueError(
            f"Found array with {n} sample(s) and {d} feature(s): {owner} needs at least 2 samples "
            "and 1 feature."
        )
    if X.dtype.kind not in "biuf":
        raise ValueError(
            f"X must hold real numbers; got dtype {X.dtype}: convert it with X.astype(float), or "
            "leave out the columns that are not numbers."
        )
    if X.numblocks[1] != 1:
        n_rows = max(1, CHUNK_BYTES // (d * X.dtype.itemsize))
        raise ValueError(
            f"X has {X.numblocks[1]} chunks along the columns, and every row must lie in one: pass "
            f"X.rechunk({{1: -1}}). If the chunks become too large for the workers, make them "
            f"shorter as well: X.rechunk({{0: {n_rows}, 1: -1}})."
        )
    dtype = native(X.dtype)
    if dtype != X.dtype:
        X = X.astype(dtype)
    X = measured(X)
    moments = moments_of(X)
    # The same words wherever the table lives.
    from featsieve.validation import not_finite

    if moments.n_bad.any():
        columns = np.flatnonzero(moments.n_bad)
        count = int(moments.n_bad.sum())
        raise ValueError(not_finite(count, columns, nan=moments.has_nan, owner=owner))
    return X


def check_dask_rows(estimator: Any, X: Any) -> Any:
    """Return a Dask array that has the columns a selector was fitted to, or say what is wrong.

    Nothing is computed yet: numbers that are not finite are refused when their chunk is read.
    """
    refuse_masked(X._meta)
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. Reshape X.")
    X = validate_data(estimator, X, skip_check_array=True, reset=False)
    X = X.rechunk({1: -1}) if X.numblocks[1] != 1 else X
    names = getattr(estimator, "feature_names_in_", None)
    settings = {"owner": type(estimator).__name__, "names": names}
    return X.map_blocks(_finite_chunk, **settings, dtype=X.dtype, meta=X._meta)


def _finite_chunk(chunk: Any, *, owner: str, names: np.ndarray | None) -> Any:
    """Return a chunk, or say what in its columns is not finite."""
    from featsieve.validation import check_finite

    refuse_masked(chunk)
    check_finite(chunk, owner=owner, names=names)
    return chunk


def gather_rows(X: Any, rows: np.ndarray | None = None) -> Any:
    """Return rows of a Dask array (sorted indices; default: all) on the host, dense or CSR.

    Meant for subsamples: what is asked for must fit into memory.
    """
    from dask import delayed

    take = delayed(_take_rows, pure=False)
    wanted, stop = [], 0
    for length, chunk in zip(X.chunks[0], X.to_delayed()[:, 0], strict=True):
        start, stop = stop, stop + length
        if rows is None:
            wanted.append(chunk)
        else:
            inside = rows[np.searchsorted(rows, start) : np.searchsorted(rows, stop)] - start
            if len(inside):
                wanted.append(take(chunk, inside))
    return stacked(compute(wanted))


def _take_rows(chunk: Any, rows: np.ndarray) -> Any:
    """Return some rows of a chunk."""
    return chunk[rows]


def column_minima(X: Any) -> np.ndarray:
    """Return the smallest number in every column of a Dask array."""
    return moments_of(X).smallest


def select_columns(X: Any, indices: np.ndarray) -> Any:
    """Return X[:, indices], lazily, for chunks of any kind that hold whole rows."""
    chunks = (X.chunks[0], (len(indices),))
    return X.map_blocks(_take_columns, indices, chunks=chunks, dtype=X.dtype, meta=X._meta)


def _take_columns(chunk: Any, indices: np.ndarray) -> Any:
    """Return some columns of a chunk."""
    return chunk[:, indices]


def place_columns(X: Any, support: np.ndarray) -> Any:
    """Return the selected columns in their places, zeros in those of the others, lazily."""
    n_selected = int(support.sum())
    if X.ndim != 2 or X.shape[1] != n_selected:
        raise ValueError(
            f"X must have the {n_selected} selected columns; got shape {tuple(X.shape)}: pass "
            "what transform returns."
        )
    X = X.rechunk({1: -1}) if X.numblocks[1] != 1 else X
    chunks = (X.chunks[0], (len(support),))
    return X.map_blocks(_placed, support, chunks=chunks, dtype=X.dtype, meta=X._meta)


def _placed(chunk: Any, support: np.ndarray) -> Any:
    """Return the columns of a chunk in their places."""
    shape = (chunk.shape[0], len(support))
    if is_sparse(chunk):
        stored = chunk.tocoo()
        places = stored.row, np.flatnonzero(support)[stored.col]
        return type(chunk)(sp.coo_array((stored.data, places), shape=shape))
    placed = np.zeros(shape, dtype=chunk.dtype)
    placed[:, support] = chunk
    return placed


def map_rows(function: Any, X: Any, *, dtype: Any) -> Any:
    """Return function(chunk), one number for every row, of all chunks as a lazy Dask array."""
    meta = np.zeros(0, dtype=dtype)
    return X.map_blocks(function, drop_axis=1, dtype=dtype, meta=meta)
