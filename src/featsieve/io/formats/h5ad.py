"""AnnData files of single-cell biology: cells x genes; read with h5py, written with anndata.

They are HDF5, which can keep a part of a file in any other file, by a link, as raw bytes or as a
mosaic. A file of a stranger could so show what is in files of yours: files with such parts are
refused, also those of MATLAB 7.3.
"""

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.io.child import run_in_child
from featsieve.io.dataset import SPARSE_KINDS, Dataset, compressed_table
from featsieve.io.formats import Request
from featsieve.io.formats.common import LABEL, free_name, label_values, matrix_dataset
from featsieve.io.guard import TableError, explain_errors
from featsieve.io.names import check_unique, find_columns
from featsieve.io.optional import load_optional

UNIQUE = "make them unique in Python with adata.var_names_make_unique() and write the file again"
# Values that are read at a time (64 MiB of float64).
BLOCK = 2**23


def read(path: Path, request: Request) -> Dataset:
    """Return ``X`` with the names in ``var`` and ``obs``, of which label, id and batch are."""
    if request.transpose:
        raise TableError("the rows of an AnnData file are samples: leave --transpose out")
    with open_hdf5(path, "Reading a .h5ad file") as file:
        held, table = (file, "X")
        if request.layer is not None:
            held, table = file.get("layers", {}), request.layer
            find_columns([table], list(held), role="layer")
        if table not in held:
            raise TableError(f"there is no table X; the file holds: {', '.join(file) or 'nothing'}")
        obs, var = file.get("obs", {}), file.get("var", {})
        genes, samples = _index(var), _index(obs)
        check_unique(genes or (), fix=UNIQUE)
        label, batch, id_name = request.label_column, request.batch_column, _index_name(obs)
        if request.id_column is not None:
            id_name = request.id_column
            samples = ["" if name is None else str(name) for name in _column(obs, id_name)]
        return matrix_dataset(
            _matrix(held[table]),
            request,
            features=genes,
            labels=None if label is None else np.array(_column(obs, label), dtype=object),
            label_name=label,
            sample_names=samples,
            id_name=None if id_name in ("_index", "index") else id_name,
            batch=None if batch is None else _column(obs, batch),
            batch_name=batch,
            cells=True,
            layer=request.layer,
            flags=_flags(var) or None,
        )


def _index_name(frame: Any) -> str:
    """Return what the row names of a stored data frame are called."""
    return _as_text(frame.attrs.get("_index", "_index")) if frame else "_index"


def _index(frame: Any) -> list[str] | None:
    """Return the row names of a stored data frame."""
    name = _index_name(frame)
    return list(map(str, _column(frame, name))) if name in frame else None


def _flags(frame: Any) -> dict[str, np.ndarray]:
    """Return the columns of a stored data frame that hold True or False."""
    parts = dict(frame) if hasattr(frame, "items") else {}
    masks = {name: part for name, part in parts.items() if getattr(part, "dtype", "") == "bool"}
    return {str(name): mask[()] for name, mask in masks.items()}


def _column(frame: Any, name: str) -> list[Any]:
    """Return one column of a stored data frame, where missing values are None."""
    if name not in frame:
        held = [_as_text(column) for column in frame.attrs.get("column-order", frame)]
        find_columns([name], [*held, _index_name(frame)])
    stored = frame[name]
    parts = () if hasattr(stored, "dtype") else stored
    if "categories" in stored.attrs:  # anndata before 0.8: behind a reference
        codes, values = stored[()], frame.file[stored.attrs["categories"]][()]
    elif "codes" in parts:
        codes, values = stored["codes"][()], _values(stored["categories"])
    else:
        values = _values(stored)
        missing = stored["mask"][()] if "mask" in parts else False
        codes = np.where(missing, -1, np.arange(len(values)))
    if np.ndim(values) != 1:
        raise TableError(f"{stored.name.strip('/')} is not a list but of shape {np.shape(values)}")
    values = [_as_text(value) if isinstance(value, bytes) else value for value in values]
    return [None if code < 0 else values[code] for code in codes.tolist()]


def _values(stored: Any) -> np.ndarray:
    """Return the values of a list, also of one that is stored beside a mask."""
    return (stored if hasattr(stored, "dtype") else stored["values"])[()]


def _as_text(value: Any) -> str:
    """Return stored text as str."""
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def _matrix(stored: Any) -> Any:
    """Return a matrix as it is stored, dense or sparse."""
    if hasattr(stored, "dtype"):
        return stored[()]
    kind = _as_text(stored.attrs.get("encoding-type", "an unknown group"))
    layout = kind.removesuffix("_matrix")
    if layout not in SPARSE_KINDS:
        raise TableError(
            f"X is stored as {kind!r}; dense arrays, csr_matrix and csc_matrix are read"
        )
    parts = [stored[name][()] for name in ("data", "indices", "indptr")]
    return compressed_table(SPARSE_KINDS[layout], parts, stored.attrs.get("shape", ()))


def write(path: Path, table: Dataset, *, like: Path | None = None, **_: Any) -> None:
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
        run_in_child("featsieve.io.formats.h5ad:look_through", like, imports=("h5py",))
    with explain_errors(like), h5py.File(like, "r") as source:
        left = {"X"} if table.layer is None else set()  # of a layer, X stays as it is
        parts = {name: anndata.io.read_elem(source[name]) for name in source if name not in left}
    raw = parts.pop("raw", None)
    whole = anndata.AnnData(**parts)
    if whole.n_obs != table.X.shape[0]:
        raise ValueError(f"{like} has {whole.n_obs} samples, but the table has {table.X.shape[0]}.")
    genes = find_columns(table.names, [str(name) for name in whole.var_names], role="feature")
    made = whole[:, genes].copy()
    if table.layer is None:
        made.X = table.X
    if raw is not None:
        made.raw = raw
    return made


@contextmanager
def open_hdf5(path: Path, purpose: str) -> Iterator[Any]:
    """Open a file to read it, all of whose parts lie in it."""
    h5py = load_optional("h5py", purpose)
    with h5py.File(path, "r") as file:
        for _ in parts_of(file):
            pass
        yield file


def parts_of(file: Any) -> Iterator[Any]:
    """Yield every part of a file; raise for one that lies in another file."""
    from h5py import Dataset, ExternalLink, HardLink

    names: list[str] = []
    file.visit_links(names.append)  # each one once, also in circles
    for name in names:
        link = file.get(name, getlink=True)
        if isinstance(link, ExternalLink):
            raise TableError(
                f"its part {name!r} is a link to another file, and these are not followed: save "
                "the file with all that belongs to it"
            )
        part = file[name] if isinstance(link, HardLink) else None
        if isinstance(part, Dataset) and (part.is_virtual or part.external):
            raise TableError(
                f"its part {name!r} is kept in other files, which are not read: save the file "
                "with all that belongs to it"
            )
        if part is not None:
            yield part


def look_through(path: Path) -> None:
    """Read the first block of every array of a file, before it is opened in another process."""
    with open_hdf5(path, "Reading a .h5ad file") as file:
        for part in parts_of(file):
            if getattr(part, "shape", ()):
                part[: max(1, BLOCK // max(1, int(np.prod(part.shape[1:]))))]
