"""AnnData files of single-cell biology: cells x genes.

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
from featsieve.io.dataset import Dataset, checked_sparse
from featsieve.io.formats import Request
from featsieve.io.formats.common import LABEL, free_name, label_values, matrix_dataset, row_facts
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
    anndata = load_optional("anndata", "Reading a .h5ad file", extra="anndata")
    with open_hdf5(path, "Reading a .h5ad file") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # layouts of older versions
        held, table = (file, "X")
        if request.layer is not None:
            held, table = file.get("layers", {}), request.layer
            find_columns([table], list(held), role="layer")
        if table not in held:
            raise TableError(f"there is no table X; the file holds: {', '.join(file) or 'nothing'}")
        if not {"obs", "var"} <= set(file):
            raise TableError("it has no obs or no var: write it with anndata (adata.write_h5ad)")
        X, obs, var = map(anndata.io.read_elem, (held[table], file["obs"], file["var"]))
    genes, samples = ([str(name) for name in frame.index] for frame in (var, obs))
    check_unique(genes, fix=UNIQUE)
    id_name = None if obs.index.name in ("_index", "index") else obs.index.name
    flags = {str(name): var[name].to_numpy() for name in var if var[name].dtype == bool}
    return matrix_dataset(
        checked_sparse(X),
        request,
        features=genes,
        cells=True,
        layer=request.layer,
        flags=flags or None,
        **row_facts(
            obs.assign(**{obs.index.name or "_index": obs.index}), request, samples, id_name
        ),
    )


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

    samples = table.sample_names or [str(i) for i in range(table.X.shape[0])]
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
        with h5py.File(like, "r") as source:
            # of a layer, X stays as it is
            left = {"X"} if table.layer is None else set()
            parts = {
                part: anndata.io.read_elem(source[part]) for part in source if part not in left
            }
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
    """Open a file to read it; raise if a part of it lies in another file."""
    h5py = load_optional("h5py", purpose)
    with h5py.File(path, "r") as file:
        names: list[str] = []
        file.visit_links(names.append)  # each one once, also in circles
        for name in names:
            link = file.get(name, getlink=True)
            part = file[name] if isinstance(link, h5py.HardLink) else None
            kept = isinstance(part, h5py.Dataset) and (part.is_virtual or part.external)
            if kept or isinstance(link, h5py.ExternalLink):
                raise TableError(
                    f"its part {name!r} lies in another file, which is not read: save the file "
                    "with all that belongs to it"
                )
        yield file


def look_through(path: Path) -> None:
    """Read the first block of every array of a file, before it is opened in another process."""

    def touch(_: str, part: Any) -> None:
        if getattr(part, "shape", ()):
            part[: max(1, BLOCK // max(1, int(np.prod(part.shape[1:]))))]

    with open_hdf5(path, "Reading a .h5ad file") as file:
        file.visititems(touch)
