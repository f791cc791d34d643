"""Expression of genes: raw counts told from logarithms and scaled values, and normalised."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.sparsefuncs import inplace_row_scale

from featsieve.arrays.namespace import is_sparse

# Logarithms (base 2 or e) of what an unsigned number of 32 bits can count are below this.
LARGEST_LOG = 32.0
KINDS = {
    "counts": "raw counts (whole numbers, none below 0)",
    "logs": f"logarithms (none below 0, not whole, none above {LARGEST_LOG:g})",
    "scaled": "scaled values (some below 0)",
    "binary": "present or absent (0 and 1)",
    "linear": f"neither counts nor logarithms (none below 0, not whole, above {LARGEST_LOG:g})",
}


@dataclass(frozen=True)
class Expression:
    """A table of expression, and what was done to it."""

    X: Any  # as it was, or the logarithms of normalised counts; sparse counts stay sparse
    kind: str  # of the values as they were, a key of ``KINDS``
    target: float | None = None  # total that every cell was brought to: the median of all cells

    @property
    def sentence(self) -> str:
        """What was found and done, for a methods section."""
        done = "they were used as they are"
        if self.target is not None:
            done = (
                "every cell was scaled to the median total of all cells "
                f"({self.target:,.6g} counts), then log(1 + x) was taken"
            )
        return f"The values are {KINDS[self.kind]}; {done}."

    @property
    def doubt(self) -> str:
        """What is odd about the values, nothing where all is well."""
        if self.kind == "logs" and self.target is not None:
            return (
                "The values look like logarithms already, and logarithms of them were taken: leave "
                "counts=True (--counts) out if they are."
            )
        if self.kind != "linear" or self.target is not None:
            return ""
        return (
            "The values look normalised but are no logarithms (the largest is "
            f"{float(self.X.max()):,.6g}): a few genes of high expression count for most. Take "
            "logarithms first, or let it be done (counts=True; on the command line --counts)."
        )


def read_expression(
    X: Any,
    *,
    counts: bool | None = None,
    totals: Callable[[], np.ndarray] | None = None,
) -> Expression:
    """Return a finite table with its counts (None: find out) normalised by ``totals`` of cells."""
    kind = kind_of(X)
    if kind == "scaled" and (counts or (counts is None and _all_whole(X))):
        below = int(((X.data if is_sparse(X) else X) < 0).sum())
        raise ValueError(
            f"{below:,} values are below 0, which no counts are: name the layer (or the file) that "
            "holds the counts, or say that they are none (counts=False; on the command line "
            "--no-counts) to use them as they are."
        )
    if not (kind == "counts" if counts is None else counts):
        return Expression(X, kind)
    sums = row_totals(X) if totals is None else totals()
    check_totals(sums)
    target = float(np.median(sums))
    return Expression(normalized(X, sums, target), kind, target)


def kind_of(X: Any) -> str:
    """Say what the values of a finite table are."""
    if X.dtype == bool:
        return "binary"
    values = X.data if is_sparse(X) else X
    low, high = (float(values.min()), float(values.max())) if values.size else (0.0, 0.0)
    if low < 0.0:
        return "scaled"
    if _all_whole(X):
        return "counts" if high > 1.0 else "binary"
    return "logs" if high <= LARGEST_LOG else "linear"


def row_totals(X: Any) -> np.ndarray:
    """Return the totals of the rows."""
    return np.asarray(X.sum(axis=1, dtype=np.float64)).reshape(-1)


def row_means(X: Any) -> np.ndarray:
    """Return the means of the rows."""
    return row_totals(X) / X.shape[1]


def without_row_means(X: Any, means: np.ndarray) -> Any:
    """Return a table without the means of its rows; a sparse one would not stay so."""
    if is_sparse(X):
        raise ValueError(
            "Without the means of its rows, a sparse table would be full of values: leave "
            "center_rows (--center-rows) out, or pass the table as a dense one."
        )
    return X - means[:, None].astype(X.dtype)


def check_totals(totals: np.ndarray) -> None:
    """Refuse cells without counts."""
    empty = int((totals == 0.0).sum())
    if empty:
        raise ValueError(
            f"{empty:,} of {len(totals):,} cells have no counts at all, and cannot be normalised: "
            "leave them out first (in Python adata = adata[adata.X.sum(axis=1) > 0].copy())."
        )
    if not np.isfinite(totals).all():
        raise ValueError(
            "Totals of cells are not finite: genes that are not looked at have NaN or infinite "
            "values. Correct them, or leave these genes out of the object."
        )


def normalized(X: Any, totals: np.ndarray, target: float) -> Any:
    """Return log(1 + x target / total) of every row; X stays as it is."""
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    scale: Any = (target / totals).astype(dtype)
    if not is_sparse(X):
        scaled = np.asarray(X, dtype=dtype) * scale[:, None]
        return np.log1p(scaled, out=scaled)
    X = (X if X.format in ("csr", "csc") else X.tocsr()).astype(dtype, copy=True)
    inplace_row_scale(X, scale)
    np.log1p(X.data, out=X.data)
    return X


def _all_whole(X: Any) -> bool:
    """Say whether all values are whole numbers."""
    if X.dtype.kind in "iub":
        return True
    values = X.data if is_sparse(X) else X
    return bool(np.array_equal(values, np.rint(values)))
