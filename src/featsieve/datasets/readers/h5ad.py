"""AnnData files of single-cell biology: cells x genes, dense or sparse, read with h5py alone."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.datasets.dataset import Content
from featsieve.datasets.optional import load_optional
from featsieve.datasets.readers.frame import shorten

SPARSE = {"csr_matrix": sp.csr_array, "csc_matrix": sp.csc_array}


def read_h5ad(path: Path, label_column: str | None = None) -> Content:
    """Return ``X``, the names in ``var``, and one column of ``obs`` where it is named."""
    h5py = load_optional("h5py", "Reading a .h5ad file")
    with h5py.File(path, "r") as file:
        if "X" not in file:
            raise ValueError(f"there is no table X; the file holds: {', '.join(file) or 'nothing'}")
        for frame in ("obs", "var"):
            if isinstance(file.get(frame), h5py.Dataset):
                raise ValueError(
                    f"{frame} is in the layout of anndata before 0.7: "
                    "read it with anndata and write it again"
                )
        names = _index(h5py, file["var"]) if "var" in file else None
        labels = None if label_column is None else _column(h5py, file.get("obs"), label_column)
        return Content(_matrix(h5py, file["X"]), labels, names)


def _matrix(h5py: Any, stored: Any) -> Any:
    """Return the table as it is stored: an array, or the parts of a sparse one."""
    if isinstance(stored, h5py.Dataset):
        return stored[()]
    kind = _text(stored.attrs.get("encoding-type", stored.attrs.get("h5sparse_format", "")))
    kind = kind if kind in SPARSE else f"{kind}_matrix"
    if kind not in SPARSE:
        raise ValueError(
            f"X is stored as {_text(stored.attrs.get('encoding-type', 'an unknown group'))!r}; "
            "dense arrays, csr_matrix and csc_matrix are read"
        )
    shape = stored.attrs.get("shape", stored.attrs.get("h5sparse_shape"))
    if shape is None:
        raise ValueError("the sparse table X does not say its shape")
    parts = tuple(stored[part][()] for part in ("data", "indices", "indptr"))
    matrix = SPARSE[kind](parts, shape=tuple(int(n) for n in shape))
    matrix.check_format(full_check=True)
    return matrix


def _index(h5py: Any, frame: Any) -> list[str] | None:
    """Return the row names of a stored data frame."""
    name = _text(frame.attrs.get("_index", "_index"))
    return [_text(value) for value in _array(h5py, frame[name])] if name in frame else None


def _column(h5py: Any, frame: Any, name: str) -> np.ndarray:
    """Return one column of a stored data frame, where missing values are None."""
    if frame is None or name not in frame:
        held = [] if frame is None else list(frame.attrs.get("column-order", frame))
        columns = shorten([_text(column) for column in held]) or "none"
        raise ValueError(f"obs has no column {name!r}; its columns are: {columns}")
    stored = frame[name]
    parts = set(stored) if isinstance(stored, h5py.Group) else set()
    if "categories" in stored.attrs:  # anndata before 0.8: behind a reference
        codes, values = stored[()], frame.file[stored.attrs["categories"]][()]
    elif "codes" in parts:
        codes, values = stored["codes"][()], _array(h5py, stored["categories"])
    else:
        values = _array(h5py, stored)
        missing = stored["mask"][()] if "mask" in parts else False
        codes = np.where(missing, -1, np.arange(len(values)))
    values = [_text(value) if isinstance(value, bytes) else value for value in values]
    return np.array([None if code < 0 else values[code] for code in codes], dtype=object)


def _array(h5py: Any, stored: Any) -> np.ndarray:
    """Return the values of an array, also of one that is stored beside a mask."""
    if isinstance(stored, h5py.Group) and "values" not in stored:
        raise ValueError(f"{stored.name.strip('/')} is stored in a way that is not read")
    return (stored if isinstance(stored, h5py.Dataset) else stored["values"])[()]


def _text(value: Any) -> str:
    """Return stored text as str."""
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)
