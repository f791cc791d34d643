"""What of an AnnData object is looked at: genes, expression, batches and constraints."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.arrays.namespace import is_sparse
from featsieve.io.counts import row_totals
from featsieve.names import did_you_mean
from featsieve.workflow.constraints import place_constraints

# Blocks of rows that are read from a file have about so many entries (32 MiB of float64).
BLOCK_ELEMENTS = 2**22


def gene_mask(adata: Any, mask_var: Any) -> np.ndarray:
    """Return which genes to look at."""
    if mask_var is None:
        return np.ones(adata.n_vars, dtype=bool)
    if isinstance(mask_var, str):
        mask_var = named_column(adata.var, mask_var, "adata.var")
    mask = np.asarray(mask_var)
    if mask.dtype != bool or mask.shape != (adata.n_vars,):
        raise ValueError(
            f"mask_var must hold True or False for each of the {adata.n_vars} genes; got "
            f"{mask.dtype} of shape {mask.shape}."
        )
    if not mask.any():
        raise ValueError("mask_var leaves no gene: it is False for all of them.")
    return mask


def named_column(frame: Any, name: str, where: str) -> Any:
    """Return a column of obs or var, or say which there are."""
    if name not in frame.columns:
        held = [str(column) for column in frame.columns]
        hint, listed = did_you_mean(name, held), ", ".join(held) or "none"
        raise ValueError(f"{where} has no column {name!r}{hint}; its columns are: {listed}.")
    return frame[name]


def batches(adata: Any, batch_key: str | None) -> np.ndarray | None:
    """Return the batch of every cell, as text."""
    if batch_key is None:
        return None
    column = named_column(adata.obs, batch_key, "adata.obs")
    missing = int(column.isna().sum())
    if missing:
        raise ValueError(
            f"adata.obs[{batch_key!r}] is missing for {missing:,} of {adata.n_obs:,} cells: leave "
            "these cells out, or give them a batch of their own."
        )
    return column.astype(str).to_numpy(dtype=str)


def find_constraints(adata: Any, mask: np.ndarray, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return constraints in positions of the genes that are looked at."""
    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        return {}
    if not adata.var_names.is_unique:
        raise ValueError(
            "Genes are named, but some names are there twice: make them unique with "
            "adata.var_names_make_unique()."
        )
    costs: Any = given.get("costs")
    if hasattr(costs, "reindex") and set(costs.index) == set(adata.var_names):
        given["costs"] = costs.reindex(adata.var_names).to_numpy()  # in the order of the genes
    flags = {str(n): column.to_numpy() for n, column in adata.var.items() if column.dtype == bool}
    found = place_constraints(adata.var_names.tolist(), given, flags=flags)
    if mask.all():
        return found
    place = np.cumsum(mask) - 1

    def looked_at(what: str, genes: np.ndarray) -> np.ndarray:
        outside = genes[~mask[genes]]
        if len(outside):
            raise ValueError(
                f"{what} names {adata.var_names[outside[0]]!r}, which mask_var leaves out: set "
                "mask_var to True for it."
            )
        return place[genes]

    if "keep" in found:
        found["keep"] = looked_at("keep", found["keep"])
    if "exclude" in found:
        found["exclude"] = place[found["exclude"][mask[found["exclude"]]]]
    groups = {
        name: looked_at(f"group {name!r}", genes) for name, genes in found.pop("groups", {}).items()
    }
    found |= {"groups": groups} if groups else {}
    costs = found.get("costs")
    if isinstance(costs, Mapping):
        found["costs"] = {
            name if isinstance(name, str) else int(place[name]): price
            for name, price in costs.items()
            if isinstance(name, str) or mask[name]
        }
    elif costs is not None:
        found["costs"] = np.asarray(costs)[mask]
    return found


def stored_table(adata: Any, layer: str | None) -> Any:
    """Return X or a layer as it is stored."""
    if layer is not None and layer not in adata.layers:
        held = ", ".join(map(str, adata.layers)) or "none"
        raise ValueError(f"adata has no layer {layer!r}; its layers are: {held}.")
    stored = adata.X if layer is None else adata.layers[layer]
    if stored is None:
        raise ValueError("adata.X is empty: name one of its layers with layer=.")
    if _in_memory(stored) or (adata.isbacked and layer is None):
        return stored
    raise TypeError(
        f"{'adata.X' if layer is None else f'layer {layer!r}'} is a {type(stored).__name__}, "
        "which is not in memory here: load it first with adata = adata.to_memory()."
    )


def expression(adata: Any, layer: str | None, mask: np.ndarray) -> Any:
    """Return the chosen genes of X or of a layer: an array or a sparse matrix, in memory."""
    stored = stored_table(adata, layer)
    columns = slice(None) if mask.all() else np.flatnonzero(mask)
    if _in_memory(stored):
        stored = stored if is_sparse(stored) else np.asarray(stored)
        return stored if mask.all() else stored[:, columns]
    if getattr(stored, "format", None) == "csc":
        return stored[:, columns]
    # Of the rows only the chosen columns are kept, block by block.
    blocks = [stored[rows][:, columns] for rows in _blocks(adata.n_obs, adata.n_vars)]
    return sp.vstack(blocks, format="csr") if is_sparse(blocks[0]) else np.concatenate(blocks)


def on_device(X: Any, device: str) -> Any:
    """Return a table as a dense tensor of single precision, moved in blocks of rows."""
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            "device= computes with PyTorch, which is not installed: install it (pip install "
            "'featsieve[torch]'), or leave device out."
        ) from error
    try:
        moved = torch.empty(X.shape, dtype=torch.float32, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"A table of {X.shape[0]:,} x {X.shape[1]:,} cannot be held on device={device!r} "
            f"({reason}): look at fewer genes (mask_var=), or leave device out."
        ) from error
    for rows in _blocks(*X.shape):
        block = X[rows].toarray() if is_sparse(X) else np.asarray(X[rows])
        moved[rows] = torch.from_numpy(block.astype(np.float32, copy=False)).to(device)
    return moved


def cell_totals(adata: Any, layer: str | None) -> np.ndarray:
    """Return the totals of the cells over all genes, also of those that are not looked at."""
    stored = stored_table(adata, layer)
    if _in_memory(stored):
        return row_totals(stored)
    if getattr(stored, "format", None) == "csc":
        parts = _blocks(adata.n_vars, adata.n_obs)
        return np.sum([row_totals(stored[:, columns]) for columns in parts], axis=0)
    return np.concatenate([row_totals(stored[r]) for r in _blocks(adata.n_obs, adata.n_vars)])


def _in_memory(stored: Any) -> bool:
    """Say whether a table is an array or a sparse matrix."""
    return isinstance(stored, np.ndarray) or is_sparse(stored)


def _blocks(length: int, width: int) -> list[slice]:
    """Return the parts in which a file is read."""
    step = max(1, BLOCK_ELEMENTS // width)
    return [slice(i, i + step) for i in range(0, length, step)]
