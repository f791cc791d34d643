"""AnnData files of single-cell biology: cells x genes, dense or sparse, read with h5py alone."""

from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.dataset import Content
from featsieve.io.guard import ColumnError, TableError
from featsieve.io.names import check_unique, find_columns
from featsieve.io.readers.hdf5 import has_part, is_array, open_hdf5, part_of, read_matrix, text
from featsieve.io.readers.matrix import chosen_columns, pick_features
from featsieve.io.request import Request

UNIQUE = "make them unique in Python with adata.var_names_make_unique() and write the file again"


def read(path: Path, request: Request) -> Content:
    """Return ``X`` with the names in ``var`` and ``obs``; label and id column are of ``obs``."""
    with open_hdf5(path, "Reading a .h5ad file") as file:
        if not has_part(file, "X"):
            raise TableError(f"there is no table X; the file holds: {', '.join(file) or 'nothing'}")
        frames = {name: part_of(file, name) for name in ("obs", "var") if has_part(file, name)}
        for frame, stored in frames.items():
            if is_array(stored):
                raise TableError(
                    f"{frame} is in the layout of anndata before 0.7: "
                    "read it with anndata and write it again"
                )
        obs = frames.get("obs")
        names = _index(frames["var"]) if "var" in frames else None
        check_unique(names or (), fix=UNIQUE)
        label, id_name = request.label_column, request.id_column
        if id_name is not None:
            rows = _column(obs, id_name).tolist()
            samples: list[str] | None = ["" if row is None else str(row) for row in rows]
        else:
            samples = None if obs is None else _index(obs)
            id_name = None if obs is None else _index_name(obs)
        labels = None if label is None else _column(obs, label)
        # Genes that are not wanted are not kept while X is read.
        chosen, kept = None, names
        if names is not None:
            chosen = chosen_columns(names, request)
            kept = names if chosen is None else [names[j] for j in chosen]
        content = Content(
            X=read_matrix(part_of(file, "X"), columns=chosen),
            labels=labels,
            feature_names=kept,
            sample_names=samples,
            dropped=request.drop,
            id_name=id_name,
            label_name=label,
        )
    return content if names is not None else pick_features(content, request)


def _index_name(frame: Any) -> str | None:
    """Return what the row names of a stored data frame are called, if they are called anything."""
    name = text(frame.attrs.get("_index", "_index"))
    return None if name in ("_index", "index") else name


def _index(frame: Any) -> list[str] | None:
    """Return the row names of a stored data frame."""
    name = text(frame.attrs.get("_index", "_index"))
    return (
        [text(value) for value in _array(part_of(frame, name))] if has_part(frame, name) else None
    )


def _column(frame: Any, name: str) -> np.ndarray:
    """Return one column of a stored data frame, where missing values are None."""
    if frame is None or not has_part(frame, name):
        held = [] if frame is None else [*frame.attrs.get("column-order", frame)]
        index = None if frame is None else _index_name(frame)
        columns = [text(column) for column in held] + ([] if index is None else [index])
        try:
            find_columns([name], columns)
        except ColumnError as error:
            raise ColumnError(str(error).replace("there is", "obs has", 1)) from None
    stored = part_of(frame, name)
    if "categories" in stored.attrs:  # anndata before 0.8: behind a reference
        codes, values = stored[()], frame.file[stored.attrs["categories"]][()]
    elif has_part(stored, "codes"):
        codes, values = part_of(stored, "codes")[()], _array(part_of(stored, "categories"))
    else:
        values = _array(stored)
        missing = part_of(stored, "mask")[()] if has_part(stored, "mask") else False
        codes = np.where(missing, -1, np.arange(len(values)))
    values = [text(value) if isinstance(value, bytes) else value for value in values]
    if codes.dtype.kind not in "iu" or (codes.size and codes.max() >= len(values)):
        raise TableError(f"column {name!r} of obs has codes without a category: save it again")
    return np.array([None if code < 0 else values[code] for code in codes], dtype=object)


def _array(stored: Any) -> np.ndarray:
    """Return the values of a list, also of one that is stored beside a mask."""
    if not is_array(stored):
        if not has_part(stored, "values"):
            raise TableError(f"{stored.name.strip('/')} is stored in a way that is not read")
        stored = part_of(stored, "values")
    if stored.ndim != 1:
        raise TableError(f"{stored.name.strip('/')} is not a list but of shape {stored.shape}")
    return stored[()]
