"""MATLAB files: ``fea``/``gnd`` or ``X``/``Y``, version 5 and version 7.3 (HDF5)."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.io import loadmat

from featsieve.datasets.dataset import Content
from featsieve.datasets.optional import load_optional

TABLE_NAMES = ("fea", "x")
LABEL_NAMES = ("gnd", "y")
HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def read_mat(path: Path, label_column: str | None = None) -> Content:
    """Return table and labels of a MATLAB file; ``label_column`` names the variable of labels."""
    return _read_hdf5(path, label_column) if _is_hdf5(path) else _read_classic(path, label_column)


def _is_hdf5(path: Path) -> bool:
    """Say whether HDF5 starts at byte 0 or behind MATLAB's header of 512 bytes."""
    with path.open("rb") as file:
        start = file.read(520)
    return HDF5_SIGNATURE in (start[:8], start[512:])


def _read_classic(path: Path, label_column: str | None) -> Content:
    """Read version 4 to 7 through SciPy."""
    stored = loadmat(path, mat_dtype=True)
    names = [name for name in stored if not name.startswith("__")]
    table, labels = choose_variables(names, label_column)
    y = None if labels is None else stored[labels]
    if y is not None and y.dtype == object:  # a cell array of words
        y = np.array(["".join(map(str, np.ravel(cell))) for cell in y.ravel()])
    return Content(stored[table], y)


def _read_hdf5(path: Path, label_column: str | None) -> Content:
    """Read version 7.3, which is HDF5 with every array's axes in reverse order."""
    h5py = load_optional("h5py", "Reading a .mat file of version 7.3")
    with h5py.File(path, "r") as file:
        names = [name for name in file if not name.startswith("#")]
        table, labels = choose_variables(names, label_column)
        y = None if labels is None else np.ravel(_variable(h5py, file[labels]))
        X = _variable(h5py, file[table])
        # MATLAB marks what it wrote. Other programs may keep the order: the labels tell.
        marked = "MATLAB_class" in file[table].attrs
        if not marked and y is not None and X.shape[0] != len(y) == X.shape[1]:
            X = X.T
        return Content(X, y)


def _variable(h5py: Any, stored: Any) -> Any:
    """Return one variable in MATLAB's order: arrays transposed, sparse ones from their columns."""
    if isinstance(stored, h5py.Dataset) and stored.dtype.kind in "fiub":
        return stored[()].T
    n_rows = stored.attrs.get("MATLAB_sparse")
    if n_rows is None or "jc" not in stored:
        raise ValueError(f"variable {stored.name.strip('/')!r} is not an array of numbers")
    starts = stored["jc"][()].astype(np.int64)
    if "data" not in stored:  # nothing but zeros
        return sp.csc_array((int(n_rows), len(starts) - 1))
    parts = (stored["data"][()], stored["ir"][()].astype(np.int64), starts)
    return sp.csc_array(parts, shape=(int(n_rows), len(starts) - 1))


def choose_variables(
    names: Iterable[str], label_column: str | None = None
) -> tuple[str, str | None]:
    """Return which variables hold table and labels; upper and lower case count the same."""
    by_lower = {name.lower(): name for name in names}
    table = next((by_lower[name] for name in TABLE_NAMES if name in by_lower), None)
    held = ", ".join(by_lower.values()) or "nothing"
    if table is None:
        raise ValueError(
            f"no variable is called fea or X, so there is no table; the file holds: {held}"
        )
    if label_column is None:
        return table, next((by_lower[name] for name in LABEL_NAMES if name in by_lower), None)
    if label_column.lower() not in by_lower:
        raise ValueError(f"no variable is called {label_column!r}; the file holds: {held}")
    return table, by_lower[label_column.lower()]
