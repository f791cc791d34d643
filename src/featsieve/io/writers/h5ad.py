"""AnnData files: a new one with h5py alone, or one like another file, with all that it holds."""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.arrays.namespace import is_sparse
from featsieve.io.child import run_in_child
from featsieve.io.dataset import Dataset
from featsieve.io.guard import explain_errors
from featsieve.io.names import find_columns
from featsieve.io.optional import load_optional
from featsieve.io.writers.parts import LABEL, free_name, label_values

# The parts of an AnnData file, besides X, obs and var, that must be there even if empty.
MAPPINGS = ("layers", "obsm", "obsp", "uns", "varm", "varp")
# Parts whose members have a row (varm), a column (layers) or both (varp) for every gene.
BY_GENE = ("layers", "varm", "varp")
# Where anndata before 0.8 kept the categories, behind references that a copy would break.
OLD_CATEGORIES = "__categories"


def write_h5ad(path: Path, table: Dataset, *, like: Path | None = None) -> None:
    """Write X, the names of features and samples, and the classes, if any, as a column of obs."""
    if like is not None:
        with warnings.catch_warnings():
            # that the source is in the layout of an older anndata: it will not be in the copy
            warnings.simplefilter("ignore", PendingDeprecationWarning)
            _write_like(path, table, like)
        return
    h5py = load_optional("h5py", "Writing a .h5ad file")
    n = table.X.shape[0]
    samples = [str(i) for i in range(n)] if table.sample_names is None else table.sample_names
    index = free_name(table.id_name, "_index", [])
    columns = {}
    labels = label_values(table)
    if labels is not None:
        columns[free_name(table.label_name, LABEL, [index])] = labels
    with new_hdf5(h5py, path) as file:
        _encode(file, "anndata", "0.1.0")
        _write_matrix(file, table.X)
        _write_frame(h5py, file.create_group("obs"), index, samples, columns=columns)
        _write_frame(h5py, file.create_group("var"), "_index", table.names, columns={})
        for name in MAPPINGS:
            _encode(file.create_group(name), "dict", "0.1.0")


@contextmanager
def new_hdf5(h5py: Any, path: Path) -> Iterator[Any]:
    """Give a new HDF5 file to write to, which is in memory until it is complete.

    After a write to a full disk HDF5 cannot be stopped: it prints, and may crash at the exit.
    """
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        yield file
    path.write_bytes(content.getbuffer())


def _encode(stored: Any, kind: str, version: str) -> None:
    """Mark a part of the file as anndata does."""
    stored.attrs["encoding-type"] = kind
    stored.attrs["encoding-version"] = version


def _write_matrix(file: Any, X: Any) -> None:
    """Write X: an array, or compressed rows."""
    if not is_sparse(X):
        _encode(file.create_dataset("X", data=X, compression="gzip"), "array", "0.2.0")
        return
    rows = sp.csr_array(X)
    group = file.create_group("X")
    _encode(group, "csr_matrix", "0.1.0")
    group.attrs["shape"] = rows.shape
    for part in ("data", "indices", "indptr"):
        group.create_dataset(part, data=getattr(rows, part), compression="gzip")


def _write_frame(
    h5py: Any, group: Any, index: str, names: list[str], *, columns: dict[str, np.ndarray]
) -> None:
    """Write a data frame: names of its rows, and columns of numbers or text."""
    _encode(group, "dataframe", "0.2.0")
    group.attrs["_index"] = index
    text = h5py.string_dtype()
    group.attrs.create("column-order", list(columns), dtype=text)
    _write_text(h5py, group, index, names)
    for name, values in columns.items():
        if values.dtype.kind == "U":
            categories, codes = np.unique(values, return_inverse=True)
            column = group.create_group(name)
            _encode(column, "categorical", "0.2.0")
            column.attrs["ordered"] = False
            column["codes"] = codes.astype(np.int32)
            _encode(column["codes"], "array", "0.2.0")
            _write_text(h5py, column, "categories", categories.tolist())
        else:
            group[name] = values
            _encode(group[name], "array", "0.2.0")


def _write_text(h5py: Any, group: Any, name: str, values: list[str]) -> None:
    """Write an array of text."""
    group.create_dataset(name, data=np.array(values, dtype=object), dtype=h5py.string_dtype())
    _encode(group[name], "string-array", "0.2.0")


def _write_like(path: Path, table: Dataset, like: Path) -> None:
    """Write a file with all that another one holds about the samples and the table's features."""
    anndata = load_optional("anndata", "Keeping what a .h5ad file holds", extra="anndata")
    h5py = load_optional("h5py", "Writing a .h5ad file")
    with explain_errors(like):
        run_in_child("featsieve.io.readers.hdf5:look_through", like, imports=("h5py",))
    with explain_errors(like), h5py.File(like, "r") as source:
        var = anndata.io.read_elem(source["var"])
        genes = find_columns(table.names, [str(name) for name in var.index], role="feature")
        names = source["obs"][source["obs"].attrs["_index"]]
        n = len(names["values"] if isinstance(names, h5py.Group) else names)  # anndata 0.13
    if n != table.X.shape[0]:
        raise ValueError(f"{like} has {n} samples, but the table has {table.X.shape[0]}.")
    with explain_errors(like), h5py.File(like, "r") as source:
        if any(OLD_CATEGORIES in source[name] for name in ("obs", "var")):
            _write_like_old(anndata, path, table, like=like, genes=genes)
            return
    with new_hdf5(h5py, path) as target, explain_errors(like), h5py.File(like, "r") as source:
        target.attrs.update(source.attrs)
        for name in source:
            if name == "X":
                anndata.io.write_elem(target, "X", table.X)
            elif name == "var":
                anndata.io.write_elem(target, "var", var.iloc[genes])
            elif name in BY_GENE:
                _encode(target.create_group(name), "dict", "0.1.0")
                for member in source[name]:
                    whole = anndata.io.read_elem(source[name][member])
                    part = _genes_of(name, whole, genes)
                    anndata.io.write_elem(target[name], member, part)
            else:
                source.copy(name, target)


def _genes_of(name: str, values: Any, genes: np.ndarray) -> Any:
    """Return the rows or columns of some genes."""
    if name == "layers":
        return values[:, genes]
    rows = values.iloc[genes] if hasattr(values, "iloc") else values[genes]
    return rows[:, genes] if name == "varp" else rows


def _write_like_old(
    anndata: Any, path: Path, table: Dataset, *, like: Path, genes: np.ndarray
) -> None:
    """Do the same for files of anndata before 0.8, whose parts cannot be copied one by one."""
    whole = anndata.read_h5ad(like)[:, genes].copy()
    whole.X = table.X
    whole.write_h5ad(path)
