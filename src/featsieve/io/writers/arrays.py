"""Archives of NumPy, in which nothing is pickled, and MATLAB files of version 5."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.io import savemat

from featsieve.arrays.namespace import is_sparse
from featsieve.io.dataset import Dataset
from featsieve.io.readers.matrix import FEATURE_NAMES, LABEL_NAMES, SAMPLE_NAMES, TABLE_NAMES
from featsieve.io.writers.parts import free_name, label_values

VARIABLE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")
LARGEST = 2**32  # bytes of one variable


def write_npz(path: Path, table: Dataset) -> None:
    """Write a table as ``X`` or in compressed rows (as SciPy does), names and classes as arrays."""
    arrays: dict[str, Any] = {"X": table.X}
    if is_sparse(table.X):
        rows = sp.csr_array(table.X)
        arrays = {"data": rows.data, "indices": rows.indices, "indptr": rows.indptr}
        arrays |= {"shape": np.array(rows.shape), "format": np.array(b"csr")}
    if table.feature_names is not None:
        arrays[FEATURE_NAMES] = np.array(table.feature_names, dtype=str)
    reserved = [*arrays, "X", *TABLE_NAMES, FEATURE_NAMES]
    labels = label_values(table)
    if labels is not None:
        arrays[free_name(table.label_name, "y", [*reserved, SAMPLE_NAMES])] = labels
    if table.sample_names is not None:
        name = free_name(table.id_name, SAMPLE_NAMES, [*arrays, *reserved, *LABEL_NAMES])
        arrays[name] = np.array(table.sample_names, dtype=str)
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)


def write_mat(path: Path, table: Dataset) -> None:
    """Write a table as ``X``; names are cell arrays, classes and names called as MATLAB allows."""
    numbers: Any = table.X.data if is_sparse(table.X) else table.X
    if numbers.nbytes >= LARGEST:
        raise ValueError("a variable of a .mat file holds less than 4 GiB: write .npz or .h5ad.")
    variables: dict[str, Any] = {"X": table.X}
    if table.feature_names is not None:
        variables[FEATURE_NAMES] = np.array(table.feature_names, dtype=object)
    reserved = [*TABLE_NAMES, "X", FEATURE_NAMES]
    labels = label_values(table)
    if labels is not None:
        words = labels.astype(object) if labels.dtype.kind == "U" else labels
        name = free_name(_allowed(table.label_name), "Y", [*reserved, SAMPLE_NAMES])
        variables[name] = words[:, None]
    if table.sample_names is not None:
        samples = np.array(table.sample_names, dtype=object)
        taken = [*variables, *reserved, *LABEL_NAMES, "Y"]
        variables[free_name(_allowed(table.id_name), SAMPLE_NAMES, taken)] = samples[:, None]
    with path.open("wb") as file:
        savemat(file, variables, do_compression=True)  # type: ignore[arg-type]  # takes files too


def _allowed(name: str | None) -> str | None:
    """Return a name that MATLAB can give to a variable, else None."""
    return name if name is not None and VARIABLE.fullmatch(name) else None
