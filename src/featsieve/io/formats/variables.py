"""Files of named arrays, ``fea``/``gnd`` or ``X``/``y``: MATLAB (4 to 7.3) and NumPy archives."""

import warnings
import zipfile
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.io.dataset import SPARSE_KINDS, Dataset, checked_sparse, compressed_table
from featsieve.io.formats import Request
from featsieve.io.formats.common import label_values, matrix_dataset
from featsieve.io.formats.h5ad import open_hdf5
from featsieve.io.guard import TableError, first_line
from featsieve.io.names import find_columns

HDF5 = b"\x89HDF\r\n\x1a\n"
LARGEST = 2**32  # bytes of one variable of MATLAB
SPARSE_PARTS = ("data", "indices", "indptr", "shape")


def read(path: Path, request: Request) -> Dataset:
    """Return what a request asks of a file; label and id column are variables of it."""
    if path.name.lower().endswith(".npz"):
        return _read_archive(path, request)
    with path.open("rb") as stream:
        start = stream.read(520)
    if HDF5 in (start[:8], start[512:]):  # at byte 0 or behind MATLAB's header of 512 bytes
        with open_hdf5(path, "Reading a .mat file of version 7.3") as file:
            names = [name for name in file if not name.startswith("#")]
            return _dataset(names, lambda name: _stored(file[name]), request)
    return _read_matlab(path, request)


def _dataset(names: list[str], load: Callable[[str], Any], request: Request) -> Dataset:
    """Return the data set of variables (fea or X, gnd or y in any case), which ``load`` reads."""
    by_lower = {name.lower(): name for name in names}
    table = by_lower.get("fea", by_lower.get("x"))
    if table is None:
        held = ", ".join(names) or "nothing"
        raise TableError(
            f"no variable is called fea or X, so there is no table; the file holds: {held}"
        )
    find_columns(request.roles, names, role="variable")
    labels = request.label_column or by_lower.get("gnd", by_lower.get("y"))
    samples = request.id_column or ("sample_names" if "sample_names" in names else None)
    return matrix_dataset(
        load(table),
        request,
        features=_text(load("feature_names")) if "feature_names" in names else None,
        labels=None if labels is None else load(labels),
        label_name=labels,
        sample_names=None if samples is None else _text(load(samples)),
        id_name=request.id_column,
        batch=None if request.batch_column is None else _text(load(request.batch_column)),
        batch_name=request.batch_column,
    )


def _text(values: Any) -> list[str]:
    """Return names, which may be numbers."""
    return [
        str(int(value) if isinstance(value, float) and value % 1 == 0 else value)
        for value in np.ravel(values).tolist()
    ]


def _read_archive(path: Path, request: Request) -> Dataset:
    """Return what a request asks of an archive of NumPy; nothing of it is unpickled."""
    if not zipfile.is_zipfile(path):
        raise TableError("it is not an archive of NumPy, or cut short: save it with numpy.savez")
    with (
        warnings.catch_warnings(),
        path.open("rb") as file,  # which NumPy would leave open if it is damaged
        np.load(file, allow_pickle=False) as archive,
    ):
        warnings.filterwarnings("ignore", message="Reading `.npy`")  # that Python 2 has written
        sparse = "X" not in archive and all(part in archive for part in SPARSE_PARTS)

        def load(name: str) -> Any:
            if sparse and name == "X":
                *parts, shape = (load(part) for part in SPARSE_PARTS)
                layout = str(load("format").astype(str)) if "format" in archive else "csr"
                if layout not in SPARSE_KINDS:
                    raise TableError(f"sparse layout {layout!r} is not read: save csr or csc")
                return compressed_table(SPARSE_KINDS[layout], parts, shape)
            found = archive[name]
            if isinstance(found, np.ndarray):
                return found
            raise TableError(f"its part {name!r} is not an array of NumPy: use numpy.savez")

        try:
            return _dataset([*archive.files, *(["X"] if sparse else [])], load, request)
        except ValueError as error:
            if "allow_pickle" not in str(error):
                raise
            raise TableError(
                "an array holds Python objects, and unpickling them could run any program: save "
                "numbers (or, for labels, text: labels.astype(str))"
            ) from error


def _read_matlab(path: Path, request: Request) -> Dataset:
    """Return what a request asks of a file of MATLAB 4 to 7."""
    from scipy.io import loadmat, whosmat

    # Newer versions of SciPy warn unless they are told which kind of sparse table.
    known = signature(loadmat).parameters
    settings: Any = {"spmatrix": False} if "spmatrix" in known else {}

    def load(name: str) -> Any:
        found: Any = loadmat(path, mat_dtype=True, variable_names=[name], **settings)[name]
        if sp.issparse(found):
            return checked_sparse(found)
        if type(found) is not np.ndarray:
            raise TableError(f"variable {name!r} is a {type(found).__name__}: save numbers")
        if found.dtype.kind != "O":
            return np.char.rstrip(found) if found.dtype.kind == "U" else found
        # cells of words, of which a long one must not make all long
        cells = ["".join(map(str, np.ravel(cell))) for cell in found.ravel()]
        return np.array(cells, dtype=object)

    with warnings.catch_warnings():
        # SciPy only warns of much that is damaged.
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        try:
            names = [name for name, *_ in whosmat(path) if not name.startswith("__")]
            return _dataset(names, load, request)
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


def write(path: Path, table: Dataset, *, name: str, **_: Any) -> None:
    """Write a table, its names and classes; version 5 of MATLAB, or an archive of NumPy."""
    matlab = name.lower().endswith(".mat")
    about = {
        "feature_names": table.feature_names,
        "sample_names": table.sample_names,
        "Y" if matlab else "y": label_values(table),
    }
    named = {key: np.array(values) for key, values in about.items() if values is not None}
    X: Any = table.X
    sparse = sp.issparse(table.X)
    arrays: dict[str, Any] = {"X": X, **named}
    with path.open("wb") as file:
        if matlab:
            from scipy.io import savemat

            if (X.data if sparse else X).nbytes >= LARGEST:
                raise ValueError("a variable of a .mat file holds less than 4 GiB: write .npz.")
            for key, values in named.items():  # cell arrays of words
                cells = values.astype(object) if values.dtype.kind == "U" else values
                arrays[key] = cells if key == "feature_names" else cells[:, None]
            savemat(file, arrays, do_compression=True)  # type: ignore[arg-type]
            return
        if sparse:  # as SciPy does
            parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
            arrays = {**named, **parts, "format": np.array(b"csr")}
        np.savez_compressed(file, **arrays)
