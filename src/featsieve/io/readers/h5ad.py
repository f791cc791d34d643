"""AnnData files of single-cell biology: cells x genes, dense or sparse, read with h5py alone."""

from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.dataset import Content
from featsieve.io.names import ColumnError, check_unique, find_columns
from featsieve.io.optional import load_optional
from featsieve.io.readers.guard import TableError
from featsieve.io.readers.h5_matrix import read_matrix
from featsieve.io.readers.h5_parts import has_part, open_hdf5, part_of, read_part
from featsieve.io.readers.matrix import chosen_columns, pick_features
from featsieve.io.request import Request

UNIQUE = "make them unique in Python with adata.var_names_make_unique() and write the file again"


def read_h5ad(path: Path, request: Request) -> Content:
    """Return ``X`` with the names in ``var`` and ``obs``; label and id column are of ``obs``."""
    h5py = load_optional("h5py", "Reading a .h5ad file")
    with open_hdf5(h5py, path) as file:
        if not has_part(h5py, file, "X"):
            raise TableError(f"there is no table X; the file holds: {', '.join(file) or 'nothing'}")
        frames = {
            name: part_of(h5py, file, name) for name in ("obs", "var") if has_part(h5py, file, name)
        }
        for frame, stored in frames.items():
            if isinstance(stored, h5py.Dataset):
                raise TableError(
                    f"{frame} is in the layout of anndata before 0.7: "
                    "read it with anndata and write it again"
                )
        obs = frames.get("obs")
        names = _index(h5py, frames["var"]) if "var" in frames else None
        check_unique(names or (), fix=UNIQUE)
        label, id_name = request.label_column, request.id_column
        if id_name is not None:
            samples: list[str] | None = _row_names(_column(h5py, obs, id_name))
        else:
            samples = None if obs is None else _index(h5py, obs)
            id_name = None if obs is None else _index_name(obs)
        labels = None if label is None else _column(h5py, obs, label)
        # Genes that are not wanted are not kept while X is read.
        chosen, kept = None, names
        if names is not None:
            chosen = chosen_columns(names, request)
            kept = names if chosen is None else [names[j] for j in chosen]
        content = Content(
            X=read_matrix(h5py, part_of(h5py, file, "X"), columns=chosen),
            labels=labels,
            feature_names=kept,
            sample_names=samples,
            dropped=request.drop,
            id_name=id_name,
            label_name=label,
        )
    return content if names is not None else pick_features(content, request)


def _row_names(values: np.ndarray) -> list[str]:
    """Return a column of ``obs`` as text."""
    return ["" if value is None else str(value) for value in values.tolist()]


def _index_name(frame: Any) -> str | None:
    """Return what the row names of a stored data frame are called, if they are called anything."""
    name = _text(frame.attrs.get("_index", "_index"))
    return None if name in ("_index", "index") else name


def _index(h5py: Any, frame: Any) -> list[str] | None:
    """Return the row names of a stored data frame."""
    name = _text(frame.attrs.get("_index", "_index"))
    if not has_part(h5py, frame, name):
        return None
    return [_text(value) for value in _array(h5py, part_of(h5py, frame, name))]


def _column(h5py: Any, frame: Any, name: str) -> np.ndarray:
    """Return one column of a stored data frame, where missing values are None."""
    if frame is None or not has_part(h5py, frame, name):
        held = [] if frame is None else [*frame.attrs.get("column-order", frame)]
        index = None if frame is None else _index_name(frame)
        columns = [_text(column) for column in held] + ([] if index is None else [index])
        try:
            find_columns([name], columns)
        except ColumnError as error:
            raise ColumnError(str(error).replace("there is", "obs has", 1)) from None
    stored = part_of(h5py, frame, name)
    if "categories" in stored.attrs:  # anndata before 0.8: behind a reference
        codes, values = read_part(stored), read_part(frame.file[stored.attrs["categories"]])
    elif has_part(h5py, stored, "codes"):
        codes = read_part(part_of(h5py, stored, "codes"))
        values = _array(h5py, part_of(h5py, stored, "categories"))
    else:
        values = _array(h5py, stored)
        masked = has_part(h5py, stored, "mask")
        missing = read_part(part_of(h5py, stored, "mask")) if masked else False
        codes = np.where(missing, -1, np.arange(len(values)))
    values = [_text(value) if isinstance(value, bytes) else value for value in values]
    if codes.dtype.kind not in "iu" or (codes.size and codes.max() >= len(values)):
        raise TableError(f"column {name!r} of obs has codes without a category: save it again")
    return np.array([None if code < 0 else values[code] for code in codes], dtype=object)


def _array(h5py: Any, stored: Any) -> np.ndarray:
    """Return the values of a list, also of one that is stored beside a mask."""
    if isinstance(stored, h5py.Group) and not has_part(h5py, stored, "values"):
        raise TableError(f"{stored.name.strip('/')} is stored in a way that is not read")
    if isinstance(stored, h5py.Group):
        stored = part_of(h5py, stored, "values")
    if stored.ndim != 1:
        raise TableError(f"{stored.name.strip('/')} is not a list but of shape {stored.shape}")
    return read_part(stored)


def _text(value: Any) -> str:
    """Return stored text as str."""
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)
