"""A fast look at a table before anything heavy."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from featsieve.arrays.namespace import is_sparse
from featsieve.criteria.structure import excess_modularity, noise_level
from featsieve.selectors import JASFS
from featsieve.tuning import suggest_n_clusters
from featsieve.workflow.columns import (
    constant_columns,
    count_infinite,
    count_missing,
    duplicate_columns,
    row_number_columns,
)
from featsieve.workflow.inspection import Inspection, Structure
from featsieve.workflow.prepare import as_dataset
from featsieve.workflow.progress import Progress, Steps

# The structure is looked for in at most so many samples and elements.
MOST_SAMPLES = 600
MOST_ELEMENTS = 3_000_000
# Among so many samples, one permuted table is like another.
MANY_SAMPLES = 300
# Features that are selected for a first clustering; only the clusters are used.
FEW_FEATURES = 50
# Fewer rows or columns than this have no structure to speak of.
FEWEST = 4, 2


def inspect_table(
    table: Any,
    *,
    asked: Iterable[str] = (),
    structure: bool = True,
    random_state: int = 0,
    progress: Progress | None = None,
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
    return Inspection(
        table,
        names,
        n_bytes=_n_bytes(X),
        zeros=_share_of_zeros(X),
        missing=_most_first(missing, names),
        infinite=_most_first(infinite, names),
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
    if X.shape[0] < FEWEST[0] or X.shape[1] < FEWEST[1]:
        return None, f"{X.shape[0]} rows and {X.shape[1]} usable columns are too few"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what they say is what is reported
        count = suggest_n_clusters(X, random_state=random_state)
        few = min(FEW_FEATURES, X.shape[1])
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
            n_permutations=1 if X.shape[0] >= MANY_SAMPLES else 3,
            random_state=random_state,
        )
    n, d = X.shape
    number, plausible = count.n_clusters, count.plausible_range
    noise = float(noise_level(n))
    return Structure(score, noise, number, plausible, n, d, sampled, bool(certain)), ""


def _part(X: Any, columns: np.ndarray, random_state: int) -> tuple[Any, bool]:
    """Return some rows and columns that vary, gaps filled, and whether columns were sampled."""
    rng = np.random.RandomState(random_state)
    if X.shape[0] > MOST_SAMPLES:
        X = X[np.sort(rng.permutation(X.shape[0])[:MOST_SAMPLES])]
    most = max(1, MOST_ELEMENTS // X.shape[0])
    sampled = len(columns) > most
    if sampled:
        columns = np.sort(rng.permutation(columns)[:most])
    X = X[:, columns]
    if count_missing(X).any():
        X = X.toarray() if is_sparse(X) else X.copy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # columns without a value: left out below
            medians = np.nanmedian(X, axis=0)
        X = np.where(np.isnan(X), medians, X)
        X = X[:, ~np.isnan(medians)]
    return X[:, np.flatnonzero(~constant_columns(X))], sampled


def _most_first(counts: np.ndarray, names: list[str]) -> dict[str, int]:
    """Return the counts above zero by name, the largest first."""
    order = np.argsort(-counts, kind="stable")
    return {names[j]: int(counts[j]) for j in order if counts[j]}


def _n_bytes(X: Any) -> int:
    """Return the memory of a table."""
    return X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if is_sparse(X) else X.nbytes


def _share_of_zeros(X: Any) -> float:
    """Return the share of values that are zero."""
    filled = X.count_nonzero() if is_sparse(X) else np.count_nonzero(X)
    return 1.0 - int(filled) / (X.shape[0] * X.shape[1])
