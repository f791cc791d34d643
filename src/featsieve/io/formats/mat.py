"""MATLAB files: ``fea``/``gnd`` or ``X``/``Y``, version 4 to 7 and version 7.3 (HDF5)."""

import warnings
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.io.dataset import Dataset, checked_sparse, compressed_table
from featsieve.io.formats import Request
from featsieve.io.formats.common import named_arrays, variables_dataset
from featsieve.io.formats.h5ad import open_hdf5
from featsieve.io.guard import TableError, first_line

HDF5 = b"\x89HDF\r\n\x1a\n"
LARGEST = 2**32  # bytes of one variable


def read(path: Path, request: Request) -> Dataset:
    """Return what a request asks of a MATLAB file; label and id column are variables of it."""
    with path.open("rb") as stream:
        start = stream.read(520)
    if HDF5 in (start[:8], start[512:]):  # at byte 0 or behind MATLAB's header of 512 bytes
        with open_hdf5(path, "Reading a .mat file of version 7.3") as file:
            names = [name for name in file if not name.startswith("#")]
            return variables_dataset(
                names, lambda name: _stored(file[name]), request, as_text=_text
            )
    from scipy.io import loadmat, whosmat

    # Newer versions of SciPy warn unless they are told which kind of sparse table.
    known = signature(loadmat).parameters
    settings: Any = {"spmatrix": False} if "spmatrix" in known else {}

    def load(name: str) -> Any:
        found: Any = loadmat(path, mat_dtype=True, variable_names=[name], **settings)[name]
        sparse = sp.issparse(found)
        if not sparse and type(found) is not np.ndarray:
            raise TableError(f"variable {name!r} is a {type(found).__name__}: save numbers")
        if (
            not sparse and found.dtype.kind == "O"
        ):  # cells of words, of which a long one must not make all long
            cells = ["".join(map(str, np.ravel(cell))) for cell in found.ravel()]
            return np.array(cells, dtype=object)
        return checked_sparse(found)

    with warnings.catch_warnings():
        # SciPy only warns of much that is damaged.
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        try:
            names = [name for name, *_ in whosmat(path) if not name.startswith("__")]
            return variables_dataset(names, load, request, as_text=_text)
        except (UserWarning, RuntimeWarning) as error:
            raise TableError(f"{first_line(error)}: save it again") from error


def _stored(stored: Any) -> Any:
    """Return the numbers of a variable of version 7.3, which are stored transposed."""
    if getattr(stored, "dtype", np.dtype(object)).kind in "fiub":
        return stored[()].T
    n_rows = stored.attrs.get("MATLAB_sparse")
    if n_rows is None:
        raise TableError(
            f"variable {stored.name.strip('/')!r} is not an array of numbers, which is all that is "
            "read of version 7.3: save it with -v7"
        )
    starts = stored["jc"][()].astype(np.int64)
    data, indices = np.zeros(0), np.zeros(0, dtype=np.int64)
    if "data" in stored:  # else nothing but zeros
        data, indices = stored["data"][()], stored["ir"][()].astype(np.int64)
    return compressed_table(sp.csc_array, (data, indices, starts), (n_rows, len(starts) - 1))


def _text(values: Any) -> list[str]:
    """Return names: a cell array of words, a padded matrix of characters, or numbers."""
    if values.dtype.kind == "U":
        return [word.rstrip() for word in values.ravel().tolist()]
    return [
        str(int(value) if isinstance(value, float) and value % 1 == 0 else value)
        for value in np.ravel(values).tolist()
    ]


def write(path: Path, table: Dataset, **_: Any) -> None:
    """Write version 5: ``X``, ``Y``, and names as cell arrays."""
    from scipy.io import savemat

    numbers: Any = table.X.data if sp.issparse(table.X) else table.X
    if numbers.nbytes >= LARGEST:
        raise ValueError("a variable of a .mat file holds less than 4 GiB: write .npz or .h5ad.")
    variables: dict[str, Any] = {"X": table.X}
    for name, values in named_arrays(table, label="Y").items():
        cells = values.astype(object) if values.dtype.kind == "U" else values
        variables[name] = cells if name == "feature_names" else cells[:, None]
    with path.open("wb") as file:
        savemat(file, variables, do_compression=True)  # type: ignore[arg-type]  # takes files too
