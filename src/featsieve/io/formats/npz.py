"""NumPy archives: ``X`` and ``y``, or the parts of a sparse matrix. Nothing is pickled."""

import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.io.dataset import SPARSE_KINDS, Dataset, compressed_table
from featsieve.io.formats import Request
from featsieve.io.formats.common import named_arrays, variables_dataset
from featsieve.io.guard import TableError

SPARSE_PARTS = ("data", "indices", "indptr", "shape")


def read(path: Path, request: Request) -> Dataset:
    """Return what a request asks of an archive; label and id column are arrays of it."""
    if not zipfile.is_zipfile(path):
        raise TableError(
            "it is not an archive of NumPy, or cut short: save table and labels with numpy.savez"
        )
    with (
        warnings.catch_warnings(),
        path.open("rb") as file,  # which NumPy would leave open if it is damaged
        np.load(file, allow_pickle=False) as archive,
    ):
        warnings.filterwarnings("ignore", message="Reading `.npy`")  # that Python 2 has written
        sparse = "X" not in archive and all(part in archive for part in SPARSE_PARTS)

        def load(name: str) -> Any:
            return _sparse_table(archive) if sparse and name == "X" else _array(archive, name)

        names = [*archive.files, "X"] if sparse else archive.files
        return variables_dataset(
            names, load, request, as_text=lambda values: list(map(str, np.ravel(values).tolist()))
        )


def _array(archive: np.lib.npyio.NpzFile, name: str) -> np.ndarray:
    """Return one array; those of Python objects are refused."""
    try:
        stored = archive[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise TableError(
            f"array {name!r} holds Python objects, and unpickling them could run any program: "
            "save it as numbers (or, for labels, as text: labels.astype(str))"
        ) from error
    if not isinstance(stored, np.ndarray):
        raise TableError(f"its part {name!r} is not an array of NumPy: use numpy.savez")
    return stored


def _sparse_table(archive: np.lib.npyio.NpzFile) -> sp.csr_array:
    """Return the table whose compressed rows (or, as scipy may save them, columns) are stored."""
    data, indices, indptr, shape = (_array(archive, part) for part in SPARSE_PARTS)
    layout = _array(archive, "format").ravel()[0] if "format" in archive else "csr"
    layout = layout.decode() if isinstance(layout, bytes) else str(layout)
    if layout not in SPARSE_KINDS:
        raise TableError(f"sparse layout {layout!r} is not read: save csr or csc")
    return compressed_table(SPARSE_KINDS[layout], (data, indices, indptr), shape)


def write(path: Path, table: Dataset, **_: Any) -> None:
    """Write a table as ``X`` or in compressed rows (as SciPy does), names and classes as arrays."""
    arrays: dict[str, Any] = {"X": table.X}
    if sp.issparse(table.X):
        rows = sp.csr_array(table.X)
        arrays = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}
        arrays |= {"shape": np.array(rows.shape), "format": np.array(b"csr")}
    with path.open("wb") as file:
        np.savez_compressed(file, **(arrays | named_arrays(table, label="y")))
