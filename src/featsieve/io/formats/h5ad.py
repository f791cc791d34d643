"""AnnData files of single-cell biology: cells x genes; read with h5py, written with anndata."""

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.io.child import run_in_child
from featsieve.io.dataset import Dataset, compressed_table, make_dataset
from featsieve.io.formats import Request
from featsieve.io.formats.common import (
    LABEL,
    chosen_columns,
    free_name,
    label_values,
    pick_features,
)
from featsieve.io.formats.hdf5 import BLOCK, has_part, is_array, open_hdf5, part_of
from featsieve.io.guard import ColumnError, TableError, explain_errors
from featsieve.io.names import check_unique, find_columns
from featsieve.io.optional import load_optional

SPARSE = {"csr_matrix": sp.csr_array, "csc_matrix": sp.csc_array}
UNIQUE = "make them unique in Python with adata.var_names_make_unique() and write the file again"


def read(path: Path, request: Request) -> Dataset:
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
        if names is None:
            X, names = pick_features(read_matrix(part_of(file, "X")), None, request)
        else:  # genes that are not wanted are not kept while X is read
            chosen = chosen_columns(names, request)
            X = read_matrix(part_of(file, "X"), columns=chosen)
            names = names if chosen is None else [names[j] for j in chosen]
        return make_dataset(
            X,
            labels=labels,
            feature_names=names,
            sample_names=samples,
            id_name=id_name,
            label_name=label,
            dropped=request.drop,
        )


def _index_name(frame: Any) -> str | None:
    """Return what the row names of a stored data frame are called, if they are called anything."""
    name = _as_text(frame.attrs.get("_index", "_index"))
    return None if name in ("_index", "index") else name


def _index(frame: Any) -> list[str] | None:
    """Return the row names of a stored data frame."""
    name = _as_text(frame.attrs.get("_index", "_index"))
    if not has_part(frame, name):
        return None
    return [_as_text(value) for value in _array(part_of(frame, name))]


def _column(frame: Any, name: str) -> np.ndarray:
    """Return one column of a stored data frame, where missing values are None."""
    if frame is None or not has_part(frame, name):
        held = [] if frame is None else [*frame.attrs.get("column-order", frame)]
        index = None if frame is None else _index_name(frame)
        columns = [_as_text(column) for column in held] + ([] if index is None else [index])
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
    values = [_as_text(value) if isinstance(value, bytes) else value for value in values]
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


def _as_text(value: Any) -> str:
    """Return stored text as str."""
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def read_matrix(stored: Any, *, columns: np.ndarray | None = None) -> Any:
    """Return a matrix as it is stored, dense or sparse; ``columns`` says which, and in what order.

    What is not wanted is never in memory as a whole.
    """
    if is_array(stored):
        if columns is None:
            return stored[()]
        if stored.ndim != 2:
            raise TableError(f"the table X must have two dimensions; it has shape {stored.shape}")
        step = max(1, BLOCK // max(1, stored.shape[1]))
        starts = range(0, max(1, stored.shape[0]), step)
        return np.concatenate([stored[i : i + step][:, columns] for i in starts])
    kind, shape = _sparse_kind(stored)
    data, indices = (part_of(stored, name) for name in ("data", "indices"))
    starts = part_of(stored, "indptr")[()]
    n_lines = shape[0] if kind is sp.csr_array else shape[1]
    if len(starts) != n_lines + 1 or starts[0] < 0 or (starts[1:] < starts[:-1]).any():
        raise TableError(
            f"the sparse table X says where its lines begin in a way that does not fit its "
            f"{n_lines} lines: it is damaged; save it again"
        )

    def lines(first: int, last: int) -> Any:
        """Return the table of some rows (or columns, where these are stored)."""
        part = starts[first : last + 1]
        values = (stored[part[0] : part[-1]] for stored in (data, indices))
        sizes = (last - first, shape[1]) if kind is sp.csr_array else (shape[0], last - first)
        return compressed_table(kind, (*values, part - part[0]), sizes)

    if columns is None:
        return lines(0, n_lines)
    if kind is sp.csc_array:
        return sp.hstack([lines(j, j + 1) for j in columns], format="csc")
    step = max(1, BLOCK // max(1, shape[1]))
    blocks = [lines(i, min(i + step, n_lines))[:, columns] for i in range(0, n_lines, step)]
    return sp.vstack(blocks, format="csr")


def _sparse_kind(stored: Any) -> tuple[Any, tuple[int, int]]:
    """Return how a group stores a sparse table, and its shape."""
    kind = _as_text(stored.attrs.get("encoding-type", stored.attrs.get("h5sparse_format", "")))
    kind = kind if kind in SPARSE else f"{kind}_matrix"
    if kind not in SPARSE:
        raise TableError(
            f"X is stored as {_as_text(stored.attrs.get('encoding-type', 'an unknown group'))!r}; "
            "dense arrays, csr_matrix and csc_matrix are read"
        )
    shape = np.ravel(stored.attrs.get("shape", stored.attrs.get("h5sparse_shape", ())))
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or (shape < 0).any():
        raise TableError("the sparse table X does not say its shape in two whole numbers")
    return SPARSE[kind], (int(shape[0]), int(shape[1]))


def write(path: Path, table: Dataset, *, like: Path | None = None) -> None:
    """Write X, the names of features and samples, and the classes, if any, as a column of obs."""
    anndata = load_optional("anndata", "Writing a .h5ad file", extra="anndata")
    import h5py

    with warnings.catch_warnings():
        # that the source is in the layout of an older anndata: it will not be in the copy
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        made = _new(anndata, table) if like is None else _like(anndata, table, like)
        # In memory: after a write to a full disk HDF5 prints, and may crash at the exit.
        content = io.BytesIO()
        with h5py.File(content, "w") as file:
            anndata.io.write_elem(file, "/", made)
            if made.raw is None and "raw" in file:  # a null, which not all readers know
                del file["raw"]
    path.write_bytes(content.getbuffer())


def _new(anndata: Any, table: Dataset) -> Any:
    """Return an AnnData object with all that a table holds."""
    import pandas

    n = table.X.shape[0]
    samples = [str(i) for i in range(n)] if table.sample_names is None else table.sample_names
    obs = pandas.DataFrame(index=pandas.Index(samples, name=table.id_name, dtype=object))
    labels = label_values(table)
    if labels is not None:
        name = free_name(table.label_name, LABEL, [table.id_name or "_index", "_index"])
        obs[name] = pandas.Categorical(labels) if labels.dtype.kind == "U" else labels
    var = pandas.DataFrame(index=pandas.Index(table.names, dtype=object))
    return anndata.AnnData(table.X, obs=obs, var=var)


def _like(anndata: Any, table: Dataset, like: Path) -> Any:
    """Return all that a file holds about the samples and the table's features."""
    import h5py

    with explain_errors(like):
        run_in_child("featsieve.io.formats.hdf5:look_through", like, imports=("h5py",))
    with explain_errors(like), h5py.File(like, "r") as source:
        parts = {name: anndata.io.read_elem(source[name]) for name in source if name != "X"}
    raw = parts.pop("raw", None)
    whole = anndata.AnnData(**parts)
    if whole.n_obs != table.X.shape[0]:
        raise ValueError(f"{like} has {whole.n_obs} samples, but the table has {table.X.shape[0]}.")
    genes = find_columns(table.names, [str(name) for name in whole.var_names], role="feature")
    made = whole[:, genes].copy()
    made.X = table.X
    if raw is not None:
        made.raw = raw
    return made
