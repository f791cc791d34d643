"""Checks of what a user passes in: parameters, and tables of any kind. Messages name the fix."""

import sys
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from featsieve.arrays import as_operator
from featsieve.arrays.batch_table import SparseInBatches
from featsieve.arrays.namespace import (
    as_numpy,
    has_double_precision,
    in_double,
    is_dask_array,
    is_dense,
    is_floating,
    is_foreign_array,
    is_single,
    is_sparse,
    largest_entries,
    namespace_of,
    native,
    to_numpy,
    without_gradient,
)
from featsieve.names import counted, first_few

PACKAGE = str(Path(__file__).parent)
# Bytes of a chunk that Dask's workers handle well: what the messages suggest.
CHUNK_BYTES = 2**26
# Products of sums of squares fit into double precision if the largest entry of a table lies within;
# a float32 table is worked on in float64 if the largest entry of a column lies outside of ROOM.
SMALLEST, LARGEST = 2.0**-200, 2.0**200
ROOM = (2.0**-60, 2.0**40)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line outside this package that led here, however many calls are between."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def check_option(name: str, value: Any, options: Sequence[str]) -> None:
    """Raise unless value is one of the options."""
    if not isinstance(value, str) or value not in options:
        listed = ", ".join(repr(option) for option in options)
        raise ValueError(f"{name} must be one of {listed}; got {value!r}.")


def check_number(
    name: str,
    value: Any,
    *,
    low: float,
    strict: bool = False,
    integer: bool = False,
    below: float = np.inf,
) -> None:
    """Raise unless value is a number (no bool) of at least (strict: above) ``low``, ``below``."""
    kind = Integral if integer else Real
    noun = "an integer" if integer else "a number"
    bound = f"above {low:g}" if strict else f"of at least {low:g}"
    bound += f" and below {below:g}" if below < np.inf else ""
    if not isinstance(value, kind) or isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} must be {noun} {bound}; got {value!r}.")
    number = float(value)
    if not low <= number < below or (strict and number == low):
        raise ValueError(f"{name} must be {noun} {bound}; got {value!r}.")


# Checks of one parameter, called with its name and value: what the tables of the estimators hold.
Check = Callable[[str, Any], object]
positive: Check = partial(check_number, low=0.0, strict=True)
nonnegative: Check = partial(check_number, low=0.0)
nonnegative_integer: Check = partial(check_number, low=0, integer=True)
positive_integer: Check = partial(check_number, low=1, integer=True)

# Said where a price and a number of features are both given.
BOTH_SET = (
    "n_features_to_select and sparsity both say how many features to select: "
    "set one of them and leave the other at its default."
)


def or_auto(check: Check, kind: str, name: str, value: Any) -> None:
    """Raise unless value is "auto" or passes a check of numbers of a ``kind``."""
    if not isinstance(value, str):
        check(name, value)
    elif value != "auto":
        raise ValueError(f"{name} must be 'auto' or {kind}; got {value!r}.")


positive_or_auto: Check = partial(or_auto, positive, "a number above 0")
positive_integer_or_auto: Check = partial(or_auto, positive_integer, "an integer of at least 1")


def one_of(*options: str) -> Check:
    """Return the check that a value is one of the options."""
    return partial(check_option, options=options)


def check_n_clusters(n_clusters: Any, n_samples: int, *, low: int = 2) -> int:
    """Raise unless low <= n_clusters <= n_samples; warn of a single cluster."""
    check_number("n_clusters", n_clusters, low=low, integer=True)
    if n_clusters > n_samples:
        raise ValueError(
            f"n_clusters={n_clusters} is more than n_samples={n_samples}: "
            f"choose n_clusters between {low} and {n_samples}."
        )
    if n_clusters == 1:
        warn(
            "n_clusters=1: a single cluster has no structure to select for, so the ranking means "
            "nothing. Choose n_clusters of at least 2.",
        )
    return int(n_clusters)


def check_selector(selector: Any) -> None:
    """Raise unless the selector is an object that ranks features."""
    if isinstance(selector, type) or not hasattr(selector, "_set_selection"):
        raise TypeError(
            "selector must be a selector of featsieve, for example JASFS(n_clusters=5); got "
            f"{selector!r}."
        )


def callable_or_none(name: str, value: Any) -> None:
    """Raise unless value is None or callable."""
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be callable or None; got {value!r}.")


def resolve_n_features(
    value: Any, n_features: int, *, name: str = "n_features_to_select"
) -> int | None:
    """Return the number of features to select: an integer, a fraction of them, or None."""
    if value is None:
        return None
    hint = (
        f"{name} must be an integer between 1 and {n_features} (the number of features), a "
        f"fraction in (0, 1], or 'auto'; got {value!r}."
    )
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        raise TypeError(hint)
    number, whole = float(value), isinstance(value, Integral)
    if not (1 <= number <= n_features if whole else 0.0 < number <= 1.0):
        raise ValueError(hint)
    return int(number) if whole else max(1, round(number * n_features))


# Tables -------------------------------------------------------------------------------------------


def refuse_text(X: Any) -> None:
    """Raise if a data frame, or an array of objects, has columns that hold text, naming them."""
    frame = hasattr(X, "columns") and hasattr(X, "dtypes")
    if not frame and not (isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 2):
        return
    refuse_dask_frame(X)
    names, dtypes = (X.columns, X.dtypes) if frame else (range(X.shape[1]), [X.dtype] * X.shape[1])
    columns = X.iloc if hasattr(X, "iloc") else X
    found = enumerate(zip(names, dtypes, strict=True))
    text = [str(name) for j, (name, dtype) in found if _is_text(dtype, columns[:, j])]
    if text:
        raise ValueError(
            f"{counted(len(text), 'column does', 'columns do')} not hold numbers "
            f'({first_few(text)}): drop them, for example with X.select_dtypes("number") in '
            "pandas, encode them (featsieve.tables.encode), or read the file with repair=True "
            "(featsieve.datasets.read_table), where they hold numbers such as '<5'."
        )


def _is_text(dtype: Any, values: Any) -> bool:
    """Say whether a column of NumPy, pandas or polars holds anything but numbers."""
    if hasattr(dtype, "is_numeric"):  # polars
        return not dtype.is_numeric() and str(dtype) != "Boolean"
    if dtype.kind == "O" and str(dtype) == "object":  # numbers, or text in pandas 2
        return any(isinstance(value, str) for value in values)
    return dtype.kind not in "biufc"


def refuse_dask_frame(X: Any) -> None:
    """Raise if X is a Dask data frame, which NumPy would gather as a whole."""
    if hasattr(X, "to_dask_array"):
        raise TypeError(
            "X is a Dask data frame: pass X.to_dask_array(lengths=True), with the columns that "
            "hold numbers. (The names of the columns stay behind: they are X.columns.)"
        )


def check_table(X: Any, *, owner: str, estimator: Any = None) -> Any:
    """Return X as a numeric array or CSR matrix of finite numbers, or say what cannot be used."""
    if is_dask_array(X):
        X = check_dask_array(X, owner=owner)
    elif is_foreign_array(X):
        X = check_range(check_foreign_table(X, owner=owner), owner=owner)
    elif not isinstance(X, SparseInBatches):  # what that was made from has been checked
        refuse_text(X)
        names = np.asarray(X.columns) if hasattr(X, "columns") else None
        check = check_array if estimator is None else partial(validate_data, estimator)
        X = check(
            X, accept_sparse="csr", dtype="numeric", ensure_min_samples=2, ensure_all_finite=False
        )
        return check_range(in_native_type(X), owner=owner, names=names)
    return X if estimator is None else validate_data(estimator, X, skip_check_array=True)


def check_batch(batch: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the names of the batches, sorted, and the place among them of every row's."""
    if is_dask_array(X):
        raise TypeError(
            "Batches need a table in memory, and X is a Dask array: pass X.compute(), or some of "
            "its rows, or take the means of the batches out before."
        )
    n_samples = X.shape[0]
    # a list as it is: NumPy would make text of a missing value among text
    values = as_numpy(batch) if hasattr(batch, "shape") else np.asarray(batch, dtype=object)
    if values.shape != (n_samples,):
        raise ValueError(
            f"batch must hold one value for each of the {n_samples} rows, shape ({n_samples},); "
            f"got {values.shape}. Pass one column, as it is after rows were left out."
        )
    empty = ("None", "nan", "NaN", "<NA>", "NaT")  # NaN, and what pandas has for it
    missing = np.array([not isinstance(one, str) and str(one) in empty for one in values])
    if missing.any():
        raise ValueError(
            f"batch is missing for {missing.sum()} of {n_samples} rows: leave these rows out, or "
            "give them a name of their own."
        )
    try:
        names, codes = np.unique(values, return_inverse=True)
    except TypeError as error:
        raise TypeError(
            "batch has values of several kinds, such as text and numbers: pass "
            "np.asarray(batch).astype(str)."
        ) from error
    return np.array(names.tolist()), codes.astype(np.intp)


def check_batch_sizes(names: np.ndarray, codes: np.ndarray) -> None:
    """Raise unless batches have rows enough for a mean and a deviation."""
    n, sizes = len(codes), np.bincount(codes, minlength=len(names))
    if len(names) > max(1, n // 2):
        raise ValueError(
            f"batch has {len(names)} different values for {n} rows: it must name groups of rows "
            "(a plate, a donor, a species), each of several."
        )
    single = [repr(name) for name in names[sizes == 1].tolist()]
    if single:
        raise ValueError(
            f"{counted(len(single), 'batch has', 'batches have')} one row only "
            f"({first_few(single)}), which leaves nothing of the row: merge it with another batch, "
            "or drop the row."
        )


def in_native_type(X: Any) -> Any:
    """Return the table in a native type: see :func:`~featsieve.arrays.namespace.native`."""
    dtype = native(X.dtype)
    if dtype == X.dtype:
        return X
    with np.errstate(over="ignore"):  # too large a number becomes infinite, and is refused
        return X.astype(dtype)


def check_foreign_table(
    X: Any, *, owner: str, names: np.ndarray | None = None, min_samples: int = 2
) -> Any:
    """Return a table of another array library than NumPy, where it is, or say what is wrong."""
    if not is_dense(X):
        raise TypeError(
            f"{owner} takes sparse tables of scipy.sparse only: convert X to one, or to a dense "
            "array."
        )
    check_shape_and_type(X, owner=owner, min_samples=min_samples)
    if not has_double_precision(X):
        raise ValueError(
            f"{owner} sums in float64, which the device of X does not have: move X to another "
            "device, or pass it as a NumPy array."
        )
    X = without_gradient(X)
    check_finite(X, owner=owner, names=names)
    return X


def check_shape_and_type(X: Any, *, owner: str, min_samples: int = 2) -> None:
    """Raise unless X is a table of real numbers with rows and columns enough."""
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {X.ndim}D array instead: rows are samples, columns are "
            "features. Reshape X to (n_samples, n_features)."
        )
    for count, least, what in zip(X.shape, (min_samples, 1), ("sample", "feature"), strict=True):
        if count < least:
            raise ValueError(
                f"Found array with {count} {what}(s) (shape={tuple(X.shape)}) while a minimum of "
                f"{least} is required by {owner}."
            )
    isdtype = namespace_of(X).isdtype
    if isdtype(X.dtype, "complex floating"):
        raise ValueError(f"Complex data not supported: {owner} takes real numbers.")
    if not isdtype(X.dtype, ("bool", "integral", "real floating")):
        raise ValueError(
            f"{owner} takes real numbers; X has the dtype {X.dtype}: convert it, or leave out the "
            "columns that are not numbers."
        )


def check_varying(X: Any) -> np.ndarray:
    """Return which columns vary; raise if none does."""
    varies = to_numpy(as_operator(X).varies)
    refuse_constant(varies)
    return varies


def refuse_constant(varies: np.ndarray) -> None:
    """Raise if no column varies."""
    if not varies.any():
        raise ValueError(
            f"All {varies.size} columns of X are constant, so there is nothing to select. "
            "Check that X was read correctly (rows are samples, columns are features)."
        )


def check_finite(X: Any, *, owner: str, names: np.ndarray | None) -> None:
    """Raise if X holds NaN or infinity, saying how many, and in which columns."""
    if not is_floating(X):
        return
    if np.isfinite(X.data if is_sparse(X) else largest_entries(X)).all():
        return
    if is_sparse(X):
        stored = X.tocoo(copy=False)
        n_bad = np.bincount(stored.col[~np.isfinite(stored.data)], minlength=X.shape[1])
        nan = bool(np.isnan(stored.data).any())
    else:
        xp = namespace_of(X)
        bad = xp.logical_not(xp.isfinite(X))
        n_bad = to_numpy(xp.sum(xp.astype(bad, xp.int64), axis=0))
        nan = bool(xp.any(xp.isnan(X)))
    if n_bad.any():
        raise ValueError(not_finite(n_bad, nan=nan, owner=owner, names=names))


def not_finite(n_bad: np.ndarray, *, nan: bool, owner: str, names: np.ndarray | None = None) -> str:
    """Say that some columns hold numbers that are not finite, and what to do about it."""
    count, columns = int(n_bad.sum()), np.flatnonzero(n_bad)
    return (
        f"Input X contains {'NaN' if nan else 'infinity'}: {count} non-finite "
        f"value{'s'[: count != 1]} in {_columns(columns, names)}. "
        f"{owner} does not accept missing or infinite values: drop those columns or rows, or "
        "impute first, for example with sklearn.impute.SimpleImputer in a Pipeline."
    )


def _columns(columns: np.ndarray, names: np.ndarray | None) -> str:
    """Return how many columns there are, and the names of the first."""
    first = first_few(str(j if names is None else names[j]) for j in columns)
    return f"{counted(len(columns), 'column')} ({first})"


def check_range(X: Any, *, owner: str, names: np.ndarray | None = None) -> Any:
    """Return a table whose squares can be added up, or say what is not finite or too large."""
    if not is_floating(X):
        return X
    if is_dask_array(X):
        from featsieve.arrays.dask import measured, moments_of

        largest = moments_of(X).largest
    else:
        largest = largest_entries(X)
        if not np.isfinite(largest).all():
            check_finite(X, owner=owner, names=names)
    used = largest[largest > 0.0]
    size = float(used.max(initial=0.0))
    if size >= LARGEST or 0.0 < size <= SMALLEST:
        columns = np.flatnonzero(largest >= min(size, LARGEST))
        raise ValueError(
            f"X has numbers of the order of {size:.0e} in {_columns(columns, names)}, and {owner} "
            "adds up squares, which do not fit into double precision. Divide the columns by "
            f"{size:.0e}, or give all columns the same size first, for example with "
            "sklearn.preprocessing.MaxAbsScaler."
        )
    if is_single(X) and (used.min(initial=1.0) < ROOM[0] or size > ROOM[1]):
        X = in_double(X)
        return measured(X) if is_dask_array(X) else X
    return X


def check_dask_array(X: Any, *, owner: str) -> Any:
    """Return a Dask array with numbers in whole rows, all finite, or say how to make one of it."""
    from featsieve.arrays.dask import measured, moments_of, refuse_masked

    refuse_masked(X._meta)
    check_shape_and_type(X, owner=owner)
    if np.isnan(X.shape[0]) or np.isnan(X.shape[1]):
        raise ValueError(
            "X does not know its shape (it comes from a data frame or a filter): call "
            "X.compute_chunk_sizes() first; of a data frame, to_dask_array(lengths=True)."
        )
    if X.numblocks[1] != 1:
        n_rows = max(1, CHUNK_BYTES // (X.shape[1] * X.dtype.itemsize))
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
    if moments.n_bad.any():
        raise ValueError(not_finite(moments.n_bad, nan=moments.has_nan, owner=owner))
    return check_range(X, owner=owner)


def check_dask_rows(estimator: Any, X: Any) -> Any:
    """Return a Dask array that has the columns a selector was fitted to, or say what is wrong."""
    from featsieve.arrays.dask import refuse_masked

    refuse_masked(X._meta)
    check_shape_and_type(X, owner=type(estimator).__name__, min_samples=0)
    X = validate_data(estimator, X, skip_check_array=True, reset=False)
    X = X.rechunk({1: -1}) if X.numblocks[1] != 1 else X
    names = getattr(estimator, "feature_names_in_", None)
    settings = {"owner": type(estimator).__name__, "names": names}
    return X.map_blocks(_finite_chunk, **settings, dtype=X.dtype, meta=X._meta)


def _finite_chunk(chunk: Any, *, owner: str, names: np.ndarray | None) -> Any:
    """Return a chunk, or say what in its columns is not finite."""
    from featsieve.arrays.dask import refuse_masked

    refuse_masked(chunk)
    check_finite(chunk, owner=owner, names=names)
    return chunk
