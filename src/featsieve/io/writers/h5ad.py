"""AnnData files: a new one, or one like another file, with all that it holds; by anndata."""

import io
import warnings
from pathlib import Path
from typing import Any

from featsieve.io.child import run_in_child
from featsieve.io.dataset import Dataset
from featsieve.io.guard import explain_errors
from featsieve.io.names import find_columns
from featsieve.io.optional import load_optional
from featsieve.io.writers.parts import LABEL, free_name, label_values


def write_h5ad(path: Path, table: Dataset, *, like: Path | None = None) -> None:
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
        run_in_child("featsieve.io.readers.hdf5:look_through", like, imports=("h5py",))
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
