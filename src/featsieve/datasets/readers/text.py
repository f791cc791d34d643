"""Text tables: ``.csv`` and ``.tsv``, also compressed with gzip."""

import csv
import gzip
import warnings
from pathlib import Path

from featsieve.datasets.dataset import Content
from featsieve.datasets.optional import load_optional
from featsieve.datasets.readers.frame import frame_content


def read_text(path: Path, label_column: str | None = None) -> Content:
    """Return table and labels of a text file; ``label_column`` names the column of labels.

    Without a header (every cell of the first line is a number) columns are called "0", "1", ...
    A first column without a name holds row names, as pandas writes them, and is left out.
    """
    pandas = load_optional("pandas", f"Reading {path.name}")
    separator = "\t" if ".tsv" in path.name.lower() else ","
    first = _first_line(path, separator)
    has_header = not all(_is_number(cell) for cell in first)
    with warnings.catch_warnings():
        # pandas only warns when it leaves out the last cells of rows longer than the header
        warnings.simplefilter("error", pandas.errors.ParserWarning)
        frame = pandas.read_csv(
            path,
            sep=separator,
            header=0 if has_header else None,
            index_col=0 if has_header and first[0].strip() == "" else False,
            compression="gzip" if path.name.lower().endswith(".gz") else None,
            low_memory=False,
        )
    return frame_content(frame, label_column, named=has_header)


def _first_line(path: Path, separator: str) -> list[str]:
    """Return the cells of the first line."""
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
        cells = next(csv.reader(file, delimiter=separator), None)
    if not cells:
        raise ValueError("the file is empty")
    return cells


def _is_number(cell: str) -> bool:
    """Say whether a cell reads as a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True
