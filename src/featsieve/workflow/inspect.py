"""A fast look at a table before anything heavy, and the options that it calls for."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer

from featsieve import defaults
from featsieve.arrays.namespace import is_sparse
from featsieve.criteria.structure import excess_modularity, noise_level
from featsieve.datasets import Dataset
from featsieve.selectors import JASFS
from featsieve.tuning import suggest_n_clusters
from featsieve.workflow.columns import (
    constant_columns,
    count_infinite,
    count_missing,
    duplicate_columns,
    row_number_columns,
)
from featsieve.workflow.messages import ProgressCallback, Steps, by_column
from featsieve.workflow.prepare import as_dataset

FEWEST_ROWS, FEWEST_COLUMNS = 4, 2  # that can have structure


@dataclass(frozen=True, eq=False)
class Structure:
    """Clusters that a table may have."""

    score: float
    noise: float  # what noise reaches
    n_clusters: int
    plausible_range: tuple[int, int]
    n_samples: int  # that were looked at
    n_features: int
    sampled_columns: bool
    certain: bool  # nearly all neighbours agree on the clusters, whatever the score


@dataclass(frozen=True, eq=False)
class Inspection:
    """What a fast look at a table shows.

    Attributes
    ----------
    table : Dataset
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
        if self.names_samples is not None:
            words += ["--id-column", self.names_samples]
        if set(self.text) - {self.names_samples}:
            words.append("--drop-text")
        for name in self.row_numbers:
            named = self.table.sample_names is not None or "--id-column" in words
            words += ["--drop" if named else "--id-column", name]
        empty = [name for name, count in self.missing.items() if count == self.table.X.shape[0]]
        for name in (*self.infinite, *empty):
            words += ["--drop", name]
        if len(empty) < len(self.missing):
            words += ["--impute", "median"]
        return words

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain values for JSON."""
        n, d = self.table.X.shape
        return vars(self) | {
            "table": self.table.name,
            "n_samples": n,
            "n_features": d,
            "dtype": str(self.table.X.dtype),
            "sparse": bool(is_sparse(self.table.X)),
            "names_samples": self.names_samples,
            "structure": self.structure and vars(self.structure),
            "options": self.options,
        }


def inspect_table(
    table: Any,
    *,
    asked: Iterable[str] = (),
    structure: bool = True,
    random_state: int = 0,
    progress: ProgressCallback | None = None,
) -> Inspection:
    """Look at a table: shape, gaps, columns that cannot be features, and whether it has clusters.

    Parameters
    ----------
    table : Dataset, path, data frame or array
        Rows are samples. Text columns that ``read_table(..., drop_text=True)`` has left out are
        reported.
    asked : iterable of str
        Columns that were left out because somebody asked for it: they are not reported as text.
    structure : bool, default=True
        Whether to look for clusters, which is what takes time.
    random_state : int, default=0
        Draws the rows and columns that are looked at for clusters: at most 600 rows and 3e6
        elements. Everything else is counted in the whole table.
    progress : callable, optional
        ``progress(text, done, total)`` is called at every step.

    Returns
    -------
    Inspection

    Examples
    --------
    >>> import numpy as np
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.workflow import inspect_table
    >>> X = make_planted(120, 30, n_informative=8, n_clusters=3, signal=3.0, random_state=0).X
    >>> X[:, 1], X[0, 2] = 5.0, np.nan
    >>> look = inspect_table(X)
    >>> look.constant, look.missing, look.options
    (('x1',), {'x2': 1}, ['--impute', 'median'])
    >>> look.structure.score > look.structure.noise
    True
    """
    steps = Steps(3 if structure else 2, progress)
    table = as_dataset(table)
    X, names = table.X, table.names
    steps.next("counting")
    missing, infinite = count_missing(X), count_infinite(X)
    constant = constant_columns(X)
    rows = row_number_columns(X, table.feature_names)
    steps.next("looking for equal columns")
    duplicates = [[names[j] for j in group] for group in duplicate_columns(X)]
    found, why_not = None, "it was not asked for"
    if structure:
        steps.next("looking for clusters")
        usable = ~constant & (infinite == 0)
        usable[rows] = False
        found, why_not = _look_for_structure(X, usable, random_state)
    steps.end()
    parts = (X.data, X.indices, X.indptr) if is_sparse(X) else (X,)
    return Inspection(
        table,
        n_bytes=sum(part.nbytes for part in parts),
        zeros=1.0 - np.count_nonzero(parts[0]) / (X.shape[0] * X.shape[1]),
        missing=by_column(missing, names),
        infinite=by_column(infinite, names),
        constant=tuple(names[j] for j in np.flatnonzero(constant)),
        row_numbers=tuple(names[j] for j in rows),
        duplicates=duplicates,
        text=tuple(name for name in table.dropped if name not in set(asked)),
        structure=found,
        why_not=why_not,
    )


def _look_for_structure(
    X: Any, usable: np.ndarray, random_state: int
) -> tuple[Structure | None, str]:
    """Return the clusters that a part of the table shows, or why there are none to see."""
    X, sampled = _part(X, np.flatnonzero(usable), random_state)
    if X.shape[0] < FEWEST_ROWS or X.shape[1] < FEWEST_COLUMNS:
        return None, f"{X.shape[0]} rows and {X.shape[1]} usable columns are too few"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they say is what is reported
        count = suggest_n_clusters(X, random_state=random_state)
        few = min(defaults.INSPECTED_FEATURES, X.shape[1])
        sieve = JASFS(
            min(count.n_clusters, X.shape[0]),
            n_features_to_select=few,
            max_iter=1,
            path_length=0,
            random_state=random_state,
        ).fit(X)
        score, certain = excess_modularity(
            X,
            sieve.labels_,
            n_permutations=1 if X.shape[0] >= defaults.ONE_PERMUTATION_SAMPLES else 3,
            random_state=random_state,
        )
    found = Structure(
        score,
        float(noise_level(X.shape[0])),
        count.n_clusters,
        count.plausible_range,
        n_samples=X.shape[0],
        n_features=X.shape[1],
        sampled_columns=sampled,
        certain=bool(certain),
    )
    return found, ""


def _part(X: Any, columns: np.ndarray, random_state: int) -> tuple[Any, bool]:
    """Return some rows and columns that vary, gaps filled, and whether columns were sampled."""
    rng = np.random.RandomState(random_state)
    if X.shape[0] > defaults.INSPECTED_SAMPLES:
        X = X[np.sort(rng.permutation(X.shape[0])[: defaults.INSPECTED_SAMPLES])]
    most = max(1, defaults.INSPECTED_ELEMENTS // X.shape[0])
    sampled = len(columns) > most
    if sampled:
        columns = np.sort(rng.permutation(columns)[:most])
    X = X[:, columns]
    if count_missing(X).any():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # columns without a value are left out
            filler = SimpleImputer(strategy="median")
            X = filler.fit_transform(X.toarray() if is_sparse(X) else X)
    return X[:, np.flatnonzero(~constant_columns(X))], sampled
