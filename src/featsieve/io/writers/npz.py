"""NumPy archives. Nothing is pickled."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.arrays.namespace import is_sparse
from featsieve.io.dataset import Dataset
from featsieve.io.readers.matrix import (
    FEATURE_NAMES,
    LABEL_NAMES,
    SAMPLE_NAMES,
    TABLE_NAMES,
)
from featsieve.io.writers.parts import free_name, label_values


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
