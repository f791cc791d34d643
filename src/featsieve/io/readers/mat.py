"""MATLAB files: ``fea``/``gnd`` or ``X``/``Y``, version 5 and version 7.3 (HDF5)."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.io.dataset import Content
from featsieve.io.guard import HDF5, TableError, first_bytes, first_line, kind_of, not_a
from featsieve.io.names import find_columns
from featsieve.io.readers.hdf5 import check_inside, has_part, is_array, open_hdf5, part_of
from featsieve.io.readers.matrix import (
    FEATURE_NAMES,
    SAMPLE_NAMES,
    choose_variables,
    pick_features,
)
from featsieve.io.request import Request
from featsieve.io.sparse import checked_sparse, compressed_table

# What MATLAB calls things that are neither numbers nor words.
NO_VALUES = ("struct", "object", "function", "opaque", "unknown")


def read(path: Path, request: Request) -> Content:
    """Return what a request asks of a MATLAB file; label and id column are variables of it."""
    start = first_bytes(path)
    # HDF5 starts at byte 0 or behind MATLAB's header of 512 bytes.
    if HDF5 in (start[:8], start[512:520]):
        return pick_features(_read_hdf5(path, request), request)
    kind = kind_of(start)
    # Those of all versions have zero bytes near the start.
    if b"\0" not in start[:128] or (kind is not None and "MATLAB" not in kind):
        raise not_a("a MATLAB file", start)
    return pick_features(_read_classic(path, request), request)


def _read_classic(path: Path, request: Request) -> Content:
    """Read version 4 to 7 through SciPy."""
    from scipy.io import loadmat, whosmat

    with _doubts_are_errors():
        kinds = {name: kind for name, _, kind in whosmat(path) if not name.startswith("__")}
        names = list(kinds)
        table, labels = choose_variables(names, request.label_column)
        rows = _row_variable(names, request)
        wanted = [name for name in names if name in (table, labels, rows, FEATURE_NAMES)]
        for name in wanted:
            if kinds[name] in NO_VALUES:
                raise TableError(
                    f"variable {name!r} holds a MATLAB {kinds[name]}, which is not read: save "
                    "numbers, and words as a cell array"
                )
        # A warning would be an error here: newer versions of SciPy want to be told which kind.
        known = signature(loadmat).parameters
        settings: Any = {"spmatrix": False} if "spmatrix" in known else {}
        found = loadmat(path, mat_dtype=True, variable_names=wanted, **settings)
    stored = {name: checked_sparse(found[name]) for name in wanted}
    return Content(
        X=stored[table],
        labels=None if labels is None else _words(stored[labels]),
        feature_names=_text(stored[FEATURE_NAMES]) if FEATURE_NAMES in names else None,
        sample_names=None if rows is None else _text(stored[rows]),
        id_name=request.id_column,
        label_name=labels,
    )


@contextmanager
def _doubts_are_errors() -> Iterator[None]:
    """Refuse what SciPy only warns of: numbers of a machine that it does not know, and the like."""
    with warnings.catch_warnings():
        for kind in (UserWarning, RuntimeWarning):
            warnings.simplefilter("error", kind)
        try:
            yield
        except (UserWarning, RuntimeWarning) as error:
            raise TableError(f"{first_line(error)}: save it again") from error


def _read_hdf5(path: Path, request: Request) -> Content:
    """Read version 7.3, which is HDF5 with every array's axes in reverse order."""
    with open_hdf5(path, "Reading a .mat file of version 7.3") as file:
        names = [name for name in file if not name.startswith("#")]
        table, labels = choose_variables(names, request.label_column)
        rows = _row_variable(names, request)
        wanted = [name for name in names if name in (table, labels, rows, FEATURE_NAMES)]
        marked = "MATLAB_class" in part_of(file, table).attrs
        found = {name: _variable(part_of(file, name)) for name in wanted}
    X, y = found[table], None if labels is None else np.ravel(found[labels])
    if X.dtype.kind in "OU":
        raise TableError(f"variable {table!r} is not an array of numbers")
    # MATLAB marks what it wrote. Other programs may keep the order: the labels tell.
    if not marked and y is not None and X.shape[0] != len(y) == X.shape[1]:
        X = X.T
    return Content(
        X=X,
        labels=y,
        feature_names=_text(found[FEATURE_NAMES]) if FEATURE_NAMES in names else None,
        sample_names=None if rows is None else _text(found[rows]),
        id_name=request.id_column,
        label_name=labels,
    )


def _variable(stored: Any) -> Any:
    """Return one variable in MATLAB's order: arrays transposed, sparse ones from their columns."""
    if is_array(stored):
        values = stored[()]
        if stored.attrs.get("MATLAB_class") == b"char":
            return np.array([_letters(row) for row in np.atleast_2d(values.T)])
        if stored.dtype.kind == "O":  # a cell array: of words, as far as it is read
            cells = [stored.file[cell] for cell in values.T.ravel()]
            return np.array([_cell(cell) for cell in cells], dtype=object)
        if stored.dtype.kind in "fiub":
            return values.T
    n_rows = stored.attrs.get("MATLAB_sparse")
    if n_rows is None or not has_part(stored, "jc"):
        raise TableError(f"variable {stored.name.strip('/')!r} is not an array of numbers")
    starts = part_of(stored, "jc")[()].astype(np.int64)
    data, indices = np.zeros(0), np.zeros(0, dtype=np.int64)
    if has_part(stored, "data"):  # else nothing but zeros
        data = part_of(stored, "data")[()]
        indices = part_of(stored, "ir")[()].astype(np.int64)
    return compressed_table(sp.csc_array, (data, indices, starts), (n_rows, len(starts) - 1))


def _cell(stored: Any) -> str:
    """Return the word in a cell of version 7.3; one of length 0 is stored as its size."""
    if "MATLAB_empty" in stored.attrs:
        return ""
    check_inside(stored)
    if stored.dtype.kind not in "iu":
        raise TableError("its cells hold other things than words: save words in them")
    return _letters(stored[()].T)


def _letters(codes: np.ndarray) -> str:
    """Return the text of the numbers of its letters."""
    return np.ravel(codes).astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


def _words(values: Any) -> Any:
    """Return a cell array of words as text, other variables as they are."""
    if values.dtype.kind != "O":
        return values
    words = ["".join(map(str, np.ravel(cell))) for cell in values.ravel()]
    return np.array(words, dtype=object)  # one long word must not make all of them long


def _text(values: Any) -> list[str]:
    """Return names: a cell array of words, a padded matrix of characters, or numbers."""
    if values.dtype.kind == "U":
        return [word.rstrip() for word in values.ravel().tolist()]
    listed = np.ravel(_words(values)).tolist()
    return [
        str(int(value) if isinstance(value, float) and value % 1 == 0 else value)
        for value in listed
    ]


def _row_variable(names: list[str], request: Request) -> str | None:
    """Return which variable names the samples, if any does."""
    if request.id_column is not None:
        find_columns([request.id_column], names, role="variable")
        return request.id_column
    return SAMPLE_NAMES if SAMPLE_NAMES in names else None
