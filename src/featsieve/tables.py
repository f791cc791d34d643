"""A small table of named columns: what functions return that report on many features."""

import csv
import os
from collections.abc import Mapping
from typing import Any, TextIO

import numpy as np

# Rows and characters that ``repr`` shows.
MOST_ROWS = 20
WIDEST_CELL = 28


class Table(dict[str, np.ndarray]):
    """Columns by name, all of one length; a dict that prints as a table.

    ``pandas.DataFrame(table)`` and ``polars.DataFrame(table)`` take it as it is.

    Parameters
    ----------
    columns : mapping of str to array-like
        In the order in which they are shown.

    Examples
    --------
    >>> from featsieve.tables import Table
    >>> table = Table({"feature": ["age", "height"], "score": [0.25, 0.5]})
    >>> table
    feature  score
    -------  -----
    age       0.25
    height     0.5
    >>> table.sorted_by("score", descending=True)["feature"].tolist()
    ['height', 'age']
    >>> table.rows(table["score"] > 0.3)
    feature  score
    -------  -----
    height     0.5
    """

    def __init__(self, columns: Mapping[str, Any]) -> None:
        super().__init__()
        for name, values in columns.items():
            self[name] = values

    def __setitem__(self, name: str, values: Any) -> None:
        column = np.asarray(values)
        if column.ndim != 1:
            raise ValueError(f"Column {name!r} of a table must have one dimension: pass a list.")
        others = {key: len(value) for key, value in self.items() if key != name}
        if others and len(column) not in others.values():
            raise ValueError(
                f"All columns of a table need the same length; got {others | {name: len(column)}}."
            )
        super().__setitem__(name, column)

    def __missing__(self, name: str) -> np.ndarray:
        raise KeyError(f"There is no column {name!r}, only {', '.join(map(repr, self))}.")

    def __eq__(self, other: object) -> bool:
        """Say whether all columns are equal; NaN equals NaN."""
        if not isinstance(other, dict) or set(self) != set(other):
            return False
        return all(_equal(values, np.asarray(other[name])) for name, values in self.items())

    def __ne__(self, other: object) -> bool:
        return not self == other

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.values()), ()))

    def select(self, *names: str) -> "Table":
        """Return the named columns, in that order."""
        return Table({name: self[name] for name in names})

    def rows(self, chosen: Any) -> "Table":
        """Return the rows that a mask, a slice, indices or one index choose."""
        if not isinstance(chosen, slice):
            chosen = np.atleast_1d(np.asarray(chosen))
            if chosen.size == 0:
                chosen = chosen.astype(np.intp)  # of an empty list NumPy makes floats
            if chosen.dtype == bool and len(chosen) != self.n_rows:
                raise ValueError(
                    f"The mask has {len(chosen)} entries but the table has {self.n_rows} rows: "
                    'make it from the table, for example table.rows(table["selected"]).'
                )
        return Table({name: values[chosen] for name, values in self.items()})

    def head(self, n: int = 5) -> "Table":
        """Return the first rows."""
        return self.rows(slice(n))

    def sorted_by(self, column: str, *, descending: bool = False) -> "Table":
        """Return the table in the order of a column; equal values keep their order, NaN is last."""
        values, codes = np.unique(self[column], return_inverse=True)
        if descending:
            codes = np.where(self[column] == self[column], -codes, len(values))
        return self.rows(np.argsort(codes, kind="stable"))

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas.") from error
        return pandas.DataFrame(dict(self))

    def to_csv(self, path: str | os.PathLike[str] | TextIO) -> None:
        """Write a CSV file (UTF-8, with a header): all digits, and nothing for NaN."""
        if isinstance(path, str | os.PathLike):
            with open(path, "w", encoding="utf-8", newline="") as file:
                self.to_csv(file)
            return
        writer = csv.writer(path, lineterminator="\n")
        writer.writerow(self)
        columns = ([_cell(cell) for cell in values.tolist()] for values in self.values())
        writer.writerows(zip(*columns, strict=True))

    def __repr__(self) -> str:
        shown = self.rows(slice(MOST_ROWS))
        cells = {name: [_text(value) for value in values] for name, values in shown.items()}
        widths = {name: max(map(len, [name, *column])) for name, column in cells.items()}
        left = {name for name, values in self.items() if values.dtype.kind in "UO"}

        def line(texts: dict[str, str]) -> str:
            padded = (
                text.ljust(widths[name]) if name in left else text.rjust(widths[name])
                for name, text in texts.items()
            )
            return "  ".join(padded).rstrip()

        lines = [line({name: name for name in cells})]
        lines.append("  ".join("-" * width for width in widths.values()))
        for i in range(shown.n_rows):
            lines.append(line({name: column[i] for name, column in cells.items()}))
        if self.n_rows > MOST_ROWS:
            more = self.n_rows - MOST_ROWS
            lines.append(f"... {more} more row{'s'[: more != 1]}")
        return "\n".join(lines)


def _text(value: Any) -> str:
    """Return a cell as one line of text."""
    if isinstance(value, (float, np.floating)):
        return "-" if np.isnan(value) else f"{value:.4g}"
    text = " ".join(str(value).splitlines())
    return text if len(text) <= WIDEST_CELL else text[: WIDEST_CELL - 3] + "..."


def _cell(value: Any) -> Any:
    """Return a value as the csv module shall write it: NaN as an empty cell."""
    return value if value == value else ""


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    """Say whether two columns are equal; NaN equals NaN."""
    return a.shape == b.shape and bool(np.all((a == b) | ((a != a) & (b != b))))
