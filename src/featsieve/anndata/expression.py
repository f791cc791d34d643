"""What is read of an AnnData object: the expression of the genes that are looked at."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.arrays.namespace import is_sparse
from featsieve.io.child import run_in_child
from featsieve.io.guard import explain_errors
from featsieve.validation import warn

# Blocks of rows that are read from a file have about so many entries (32 MiB of float64).
BLOCK_ELEMENTS = 2**22


def gene_mask(adata: Any, mask_var: Any) -> np.ndarray:
    """Return which genes to look at."""
    if mask_var is None:
        return np.ones(adata.n_vars, dtype=bool)
    if isinstance(mask_var, str):
        if mask_var not in adata.var.columns:
            held = ", ".join(map(str, adata.var.columns)) or "none"
            raise ValueError(f"adata.var has no column {mask_var!r}; its columns are: {held}.")
        mask_var = adata.var[mask_var]
    mask = np.asarray(mask_var)
    if mask.dtype != bool or mask.shape != (adata.n_vars,):
        raise ValueError(
            f"mask_var must hold True or False for each of the {adata.n_vars} genes; got "
            f"{mask.dtype} of shape {mask.shape}."
        )
    if not mask.any():
        raise ValueError("mask_var leaves no gene: it is False for all of them.")
    return mask


def expression(adata: Any, layer: str | None, mask: np.ndarray) -> Any:
    """Return the chosen genes of X or of a layer: an array or a sparse matrix, in memory."""
    if layer is not None and layer not in adata.layers:
        held = ", ".join(map(str, adata.layers)) or "none"
        raise ValueError(f"adata has no layer {layer!r}; its layers are: {held}.")
    stored = adata.X if layer is None else adata.layers[layer]
    if stored is None:
        raise ValueError("adata.X is empty: name one of its layers with layer=.")
    columns = None if mask.all() else np.flatnonzero(mask)
    if isinstance(stored, np.ndarray) or is_sparse(stored):
        stored = stored if is_sparse(stored) else np.asarray(stored)
        return stored if columns is None else stored[:, columns]
    if not adata.isbacked or layer is not None:
        raise TypeError(
            f"{'adata.X' if layer is None else f'layer {layer!r}'} is a {type(stored).__name__}, "
            "which is not in memory here: load it first with adata = adata.to_memory()."
        )
    look = "featsieve.io.formats.hdf5:look_through"
    with explain_errors(adata.filename):  # by a child process, before it is read here
        run_in_child(look, Path(adata.filename), imports=("h5py",))
    if getattr(stored, "format", None) == "csc":
        return stored.to_memory() if columns is None else stored[:, columns]
    # Of the rows only the chosen columns are kept, block by block.
    step = max(1, BLOCK_ELEMENTS // adata.n_vars)
    kept = slice(None) if columns is None else columns
    blocks = [stored[i : i + step][:, kept] for i in range(0, adata.n_obs, step)]
    return sp.vstack(blocks, format="csr") if is_sparse(blocks[0]) else np.concatenate(blocks)


def warn_of_counts(X: Any) -> None:
    """Warn where values are whole numbers and cells have very different totals."""
    values = X.data if is_sparse(X) else X
    some = np.ravel(values[:: max(1, values.size // defaults.COUNTS_ENTRIES)])
    if len(some) == 0 or some.max() <= 1 or some.min() < 0 or (some != np.round(some)).any():
        return
    totals = np.asarray(X.sum(axis=1)).reshape(-1)
    low, high = np.quantile(totals, [0.05, 0.95])
    if high > defaults.COUNTS_UNEVEN * max(low, 1.0):
        warn(
            "The values look like raw counts: they are whole numbers, and the totals of the cells "
            f"go from {low:.0f} to {high:.0f} (5th to 95th percentile). Cells would be told apart "
            "by how deeply they were sequenced. Normalise and log-transform first, for example "
            "with scanpy.pp.normalize_total(adata) and scanpy.pp.log1p(adata), or name a layer "
            "that is."
        )
