"""What a fast look at a table shows, and the options that it calls for."""

from dataclasses import dataclass
from typing import Any

from featsieve.arrays.namespace import is_sparse
from featsieve.datasets import Dataset


@dataclass(frozen=True, eq=False)
class Structure:
    """Clusters that a table may have."""

    score: float
    noise: float
    n_clusters: int
    plausible_range: tuple[int, int]
    n_samples: int
    n_features: int
    sampled_columns: bool = False
    certain: bool = False


@dataclass(frozen=True, eq=False)
class Inspection:
    """What a fast look at a table shows.

    Attributes
    ----------
    table : Dataset
    names : list of str
        Of the columns.
    n_bytes : int
        Memory of the table.
    zeros : float
        Share of the values that are zero.
    missing, infinite : dict of str to int
        Values that are missing or infinite, by column, the most first.
    constant, row_numbers : tuple of str
        Columns that do not vary, and those that look like row numbers.
    duplicates : list of list of str
        Groups of equal columns.
    text : tuple of str
        Columns that are not numbers; they were left out.
    structure : Structure or None
        None where it could not be looked for; ``why_not`` says why.
    why_not : str
    """

    table: Dataset
    names: list[str]
    n_bytes: int
    zeros: float
    missing: dict[str, int]
    infinite: dict[str, int]
    constant: tuple[str, ...]
    row_numbers: tuple[str, ...]
    duplicates: list[list[str]]
    text: tuple[str, ...]
    structure: Structure | None
    why_not: str = ""

    @property
    def names_samples(self) -> str | None:
        """A column of text that could name the samples, if nothing else does."""
        if self.table.sample_names is not None:
            return None
        return next((name for name in self.table.identifying if name in self.text), None)

    @property
    def options(self) -> list[str]:
        """Options of ``featsieve select`` that the table needs, as words of a command line."""
        words: list[str] = []
        text = list(self.text)
        if self.names_samples is not None:
            words += ["--id-column", self.names_samples]
            text.remove(self.names_samples)
        if text:
            words.append("--drop-text")
        for name in self.row_numbers:
            named = self.table.sample_names is not None or "--id-column" in words
            words += ["--drop" if named else "--id-column", name]
        for name in self.infinite:
            words += ["--drop", name]
        for name, count in self.missing.items():
            if count == self.table.X.shape[0]:
                words += ["--drop", name]
        if any(count < self.table.X.shape[0] for count in self.missing.values()):
            words += ["--impute", "median"]
        return words

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        n, d = self.table.X.shape
        structure = None
        if self.structure is not None:
            structure = {**vars(self.structure)}
            structure["plausible_range"] = list(self.structure.plausible_range)
        return {
            "table": self.table.name,
            "n_samples": n,
            "n_features": d,
            "dtype": str(self.table.X.dtype),
            "sparse": bool(is_sparse(self.table.X)),
            "bytes": self.n_bytes,
            "zeros": self.zeros,
            "missing": self.missing,
            "infinite": self.infinite,
            "constant": list(self.constant),
            "duplicates": self.duplicates,
            "text": list(self.text),
            "row_numbers": list(self.row_numbers),
            "names_samples": self.names_samples,
            "structure": structure,
            "why_no_structure": self.why_not,
            "options": self.options,
        }
