"""MATLAB files: ``fea``/``gnd`` or ``X``/``Y``, version 4 to 7 and version 7.3 (HDF5)."""

import re
import warnings
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.io.dataset import Dataset, checked_sparse, compressed_table
from featsieve.io.formats import Request
from featsieve.io.formats.common import (
    FEATURE_NAMES,
    choose_variables,
    named_variables,
    variables_dataset,
)
from featsieve.io.formats.hdf5 import check_inside, has_part, is_array, open_hdf5, part_of
from featsieve.io.guard import HDF5, TableError, first_bytes, first_line, kind_of, not_a

VARIABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")  # a name that MATLAB allows
LARGEST = 2**32  # bytes of one variable


def read(path: Path, request: Request) -> Dataset:
    """Return what a request asks of a MATLAB file; label and id column are variables of it."""
    start = first_bytes(path)
    # HDF5 starts at byte 0 or behind MATLAB's header of 512 bytes.
    if HDF5 in (start[:8], start[512:520]):
        with open_hdf5(path, "Reading a .mat file of version 7.3") as file:
            return _read_hdf5(file, request)
    kind = kind_of(start)
    # Those of all versions have zero bytes near the start.
    if b"\0" not in start[:128] or (kind is not None and "MATLAB" not in kind):
        raise not_a("a MATLAB file", start)
    from scipy.io import loadmat, whosmat

    # Newer versions of SciPy warn unless they are told which kind of sparse table.
    known = signature(loadmat).parameters
    settings: Any = {"spmatrix": False} if "spmatrix" in known else {}

    def load(name: str) -> Any:
        found = loadmat(path, mat_dtype=True, variable_names=[name], **settings)[name]
        if not sp.issparse(found) and type(found) is not np.ndarray:
            raise TableError(f"variable {name!r} is a {type(found).__name__}: save numbers")
        return _words(checked_sparse(found))

    with warnings.catch_warnings():
        # SciPy only warns of much that is damaged.
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        try:
            names = [name for name, *_ in whosmat(path) if not name.startswith("__")]
            return variables_dataset(names, load, request, as_text=_text)
        except (UserWarning, RuntimeWarning) as error:
            raise TableError(f"{first_line(error)}: save it again") from error


def _read_hdf5(file: Any, request: Request) -> Dataset:
    """Return what a request asks of a file of version 7.3."""
    names = [name for name in file if not name.startswith("#")]
    table, labels = choose_variables(names, request.label_column)

    def load(name: str) -> Any:
        stored = part_of(file, name)
        values = _words(_variable(stored))
        # MATLAB marks what it wrote. Others may keep the order of axes: the labels tell.
        if name == table and labels not in (None, table) and "MATLAB_class" not in stored.attrs:
            n_labels = np.size(load(str(labels)))
            if values.ndim == 2 and values.shape[0] != n_labels == values.shape[1]:
                return values.T
        return values

    return variables_dataset(names, load, request, as_text=_text)


def _variable(stored: Any) -> Any:
    """Return the values of a variable of version 7.3, which are stored transposed."""
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
    return [
        str(int(value) if isinstance(value, float) and value % 1 == 0 else value)
        for value in np.ravel(values).tolist()
    ]


def write(path: Path, table: Dataset) -> None:
    """Write version 5: ``X``, names as cell arrays, classes called as MATLAB allows."""
    from scipy.io import savemat

    numbers: Any = table.X.data if sp.issparse(table.X) else table.X
    if numbers.nbytes >= LARGEST:
        raise ValueError("a variable of a .mat file holds less than 4 GiB: write .npz or .h5ad.")
    variables = named_variables(table, {"X": table.X}, label="Y", allowed=_allowed)
    for name in variables.keys() - {"X"}:
        values = variables[name]
        cells = values.astype(object) if values.dtype.kind == "U" else values
        variables[name] = cells if name == FEATURE_NAMES else cells[:, None]
    with path.open("wb") as file:
        savemat(file, variables, do_compression=True)  # type: ignore[arg-type]  # takes files too


def _allowed(name: str | None) -> str | None:
    """Return a name that MATLAB can give to a variable, else None."""
    return name if name is not None and VARIABLE.fullmatch(name) else None
