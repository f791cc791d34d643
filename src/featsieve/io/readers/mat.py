"""MATLAB files: ``fea``/``gnd`` or ``X``/``Y``, version 5 and version 7.3 (HDF5)."""

import math
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.io import loadmat, whosmat

from featsieve.io.dataset import Content
from featsieve.io.names import find_columns
from featsieve.io.optional import load_optional
from featsieve.io.readers.compressed import checked_sparse, compressed_table
from featsieve.io.readers.guard import TableError, check_memory, first_line
from featsieve.io.readers.h5_parts import has_part, open_hdf5, part_of, read_part
from featsieve.io.readers.mat_elements import check_headers, check_variables, is_plain
from featsieve.io.readers.matrix import FEATURE_NAMES, SAMPLE_NAMES, pick_features
from featsieve.io.readers.signature import HDF5, check_mat, first_bytes
from featsieve.io.request import Request

TABLE_NAMES = ("fea", "x")
LABEL_NAMES = ("gnd", "y")
# As numbers, and as text.
BYTES_PER_LETTER = 12
# What MATLAB calls things that are neither numbers nor words.
NO_VALUES = ("struct", "object", "function", "opaque", "unknown")


def read_mat(path: Path, request: Request) -> Content:
    """Return what a request asks of a MATLAB file; label and id column are variables of it."""
    content = (_read_hdf5 if _is_hdf5(path) else _read_classic)(path, request)
    return pick_features(content, request)


def _is_hdf5(path: Path) -> bool:
    """Say whether HDF5 starts at byte 0 or behind MATLAB's header of 512 bytes."""
    start = first_bytes(path)
    return HDF5 in (start[:8], start[512:520])


def _read_classic(path: Path, request: Request) -> Content:
    """Read version 4 to 7 through SciPy."""
    check_mat(path)
    check_headers(path)
    size = path.stat().st_size
    kinds: dict[str, str] = {}
    with _doubts_are_errors():
        listed = whosmat(path)
    for name, shape, kind in listed:
        # Only packed files, of which what is read will be looked at, hold more than they are long.
        if name in kinds or (is_plain(path) and kind != "sparse" and math.prod(shape) > size):
            raise TableError("its list of variables is damaged: get it or save it again")
        kinds[name] = kind
    names = [name for name in kinds if not name.startswith("__")]
    table, labels = choose_variables(names, request.label_column)
    rows = _row_variable(names, request)
    wanted = [name for name in names if name in (table, labels, rows, FEATURE_NAMES)]
    for name in wanted:
        if kinds[name] in NO_VALUES:
            raise TableError(
                f"variable {name!r} holds a MATLAB {kinds[name]}, which is not read: save numbers, "
                "and words as a cell array"
            )
    check_variables(path, wanted)
    if is_plain(path):
        check_memory(8 * sum(math.prod(shape) for name, shape, _ in listed if name in wanted))
    with _doubts_are_errors():
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
    h5py = load_optional("h5py", "Reading a .mat file of version 7.3")
    with open_hdf5(h5py, path) as file:
        names = [name for name in file if not name.startswith("#")]
        table, labels = choose_variables(names, request.label_column)
        rows = _row_variable(names, request)
        wanted = [name for name in names if name in (table, labels, rows, FEATURE_NAMES)]
        variables = {name: part_of(h5py, file, name) for name in wanted}
        y = None if labels is None else np.ravel(_variable(h5py, variables[labels]))
        X = _variable(h5py, variables[table])
        if X.dtype.kind in "OU":
            raise TableError(f"variable {table!r} is not an array of numbers")
        # MATLAB marks what it wrote. Other programs may keep the order: the labels tell.
        marked = "MATLAB_class" in variables[table].attrs
        if not marked and y is not None and X.shape[0] != len(y) == X.shape[1]:
            X = X.T
        features = _variable(h5py, variables[FEATURE_NAMES]) if FEATURE_NAMES in names else None
        samples = None if rows is None else _variable(h5py, variables[rows])
    return Content(
        X=X,
        labels=y,
        feature_names=None if features is None else _text(features),
        sample_names=None if samples is None else _text(samples),
        id_name=request.id_column,
        label_name=labels,
    )


def _variable(h5py: Any, stored: Any) -> Any:
    """Return one variable in MATLAB's order: arrays transposed, sparse ones from their columns."""
    if isinstance(stored, h5py.Dataset):
        values = read_part(stored)
        if stored.attrs.get("MATLAB_class") == b"char":
            return np.array(["".join(map(chr, row)) for row in np.atleast_2d(values.T)])
        if stored.dtype == h5py.ref_dtype:  # a cell array: of words, as far as it is read
            file = stored.file
            cells = [file[cell] for cell in values.T.ravel()]
            # Many cells may be one and the same part of the file.
            letters = sum(math.prod(map(int, cell.shape or ())) for cell in cells)
            check_memory(BYTES_PER_LETTER * letters, what=f"variable {stored.name.strip('/')!r}")
            return np.array([_cell(cell) for cell in cells], dtype=object)
        if stored.dtype.kind in "fiub":
            return values.T
    n_rows = stored.attrs.get("MATLAB_sparse")
    if n_rows is None or not has_part(h5py, stored, "jc"):
        raise TableError(f"variable {stored.name.strip('/')!r} is not an array of numbers")
    starts = read_part(part_of(h5py, stored, "jc")).astype(np.int64)
    data, indices = np.zeros(0), np.zeros(0, dtype=np.int64)
    if has_part(h5py, stored, "data"):  # else nothing but zeros
        data = read_part(part_of(h5py, stored, "data"))
        indices = read_part(part_of(h5py, stored, "ir")).astype(np.int64)
    return compressed_table(sp.csc_array, (data, indices, starts), (n_rows, len(starts) - 1))


def _cell(stored: Any) -> str:
    """Return the word in a cell of version 7.3; one of length 0 is stored as its size."""
    if "MATLAB_empty" in stored.attrs:
        return ""
    return "".join(map(chr, np.ravel(read_part(stored).T)))


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
