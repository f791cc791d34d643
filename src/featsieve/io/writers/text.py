"""Text tables: ``.csv`` and ``.tsv``, also compressed with gzip."""

import csv
import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from featsieve.arrays.namespace import is_sparse
from featsieve.io.dataset import Dataset
from featsieve.io.readers.layout import find_layout
from featsieve.io.writers.parts import LABEL, dense, free_name, label_values

# Whole numbers up to this are written without a decimal point.
LARGEST_WHOLE = 2**53
BLOCK = 2**20  # cells that are text at a time


def write_text_table(path: Path, table: Dataset, *, name: str, like: Path | None) -> None:
    """Write a text table under ``path``; ``name`` says how, ``like`` what separates its cells.

    Numbers have as many digits as it takes to read them back exactly, missing ones none.
    """
    separator, decimal = ("\t" if ".tsv" in name.lower() else ","), "."
    if like is not None:
        layout = find_layout(like)
        separator, decimal = layout.separator, layout.decimal
    samples, labels = table.sample_names, label_values(table)
    header = table.names
    last = [] if labels is None else [free_name(table.label_name, LABEL, header)]
    if samples is None and _all_numbers([*header, *last]):
        samples = [str(i) for i in range(table.X.shape[0])]  # or the header would read as data
    first = [] if samples is None else [free_name(table.id_name, "", [*header, *last])]
    with _opened(path, compressed=name.lower().endswith(".gz")) as file:
        writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        writer.writerow([*first, *header, *last])
        for i, cells in enumerate(_rows(table.X, decimal)):
            before = [] if samples is None else [samples[i]]
            after = [] if labels is None else [labels[i].item()]
            writer.writerow([*before, *cells, *after])


@contextmanager
def _opened(path: Path, *, compressed: bool) -> Iterator[Any]:
    """Open a file for text; compressed ones hold no time and no name, so that they can be equal."""
    with path.open("wb") as file:
        if not compressed:
            with io.TextIOWrapper(file, encoding="utf-8", newline="") as text:
                yield text
            return
        packed = gzip.GzipFile("", "wb", compresslevel=6, fileobj=file, mtime=0)
        with packed, io.TextIOWrapper(packed, encoding="utf-8", newline="") as text:
            yield text


def _rows(X: Any, decimal: str) -> Iterator[list[Any]]:
    """Yield the cells of every row; columns of whole numbers have no decimal points."""
    whole = _whole_columns(X)
    step = max(1, BLOCK // X.shape[1])
    for start in range(0, X.shape[0], step):
        block = dense(X[start : start + step]).astype(np.float64)
        gaps: Any = np.isnan(block).any(axis=1)
        for row, has_gaps in zip(block.tolist(), gaps, strict=True):
            cells: list[Any] = row
            if whole.any():
                cells = [int(v) if w and v == v else v for v, w in zip(row, whole, strict=True)]
            if has_gaps:
                cells = ["" if value != value else value for value in cells]
            if decimal != ".":
                cells = [str(value).replace(".", decimal) for value in cells]
            yield cells


def _whole_columns(X: Any) -> np.ndarray:
    """Return which columns hold whole numbers only, apart from gaps."""
    if is_sparse(X):
        stored = X.tocoo()
        broken = np.bincount(stored.col[~_is_whole(stored.data)], minlength=X.shape[1])
        return broken == 0
    step = max(1, BLOCK // X.shape[1])
    whole = np.ones(X.shape[1], dtype=bool)
    for start in range(0, X.shape[0], step):
        whole &= _is_whole(X[start : start + step]).all(axis=0)
    return whole


def _is_whole(values: np.ndarray) -> np.ndarray:
    """Say of numbers whether they are whole and small enough to be exact, or missing."""
    return np.isnan(values) | ((values == np.rint(values)) & (np.abs(values) <= LARGEST_WHOLE))


def _all_numbers(names: list[str]) -> bool:
    """Say whether a header would look like a row of data."""
    try:
        [float(name) for name in names]
    except ValueError:
        return False
    return True
