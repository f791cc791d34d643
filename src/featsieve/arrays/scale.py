"""How the columns of a table are scaled, and which of them are one variable."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from featsieve.arrays.namespace import gathered, is_sparse, pick_columns, to_numpy

RULES = ("unit", "std", "sqrt", "none")


@dataclass(frozen=True, eq=False)
class ColumnScale:
    """A rule of scaling, and the variable that every column belongs to.

    Attributes
    ----------
    rule : {"unit", "std", "sqrt", "none"}
        "unit" gives every column that varies unit norm, "std" unit variance; "sqrt" divides it by
        the square root of its norm: half way to "none", which leaves the natural scale.
    variables : int array of shape (n_features,), optional
        Columns of the same number are one variable, as the indicators of a category are: they share
        a scale, such that all of them together have the norm of one column. None: each is its own.
    """

    rule: str = "none"
    variables: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"scale must be one of {RULES}, got {self.rule!r}.")

    @classmethod
    def of(cls, scale: "str | ColumnScale") -> "ColumnScale":
        """Return a scale that may be given by its rule."""
        return scale if isinstance(scale, cls) else cls(str(scale))

    def by(self, rule: str) -> "ColumnScale":
        """Return another rule for the same variables."""
        return replace(self, rule=rule)

    def at(self, columns: np.ndarray) -> "ColumnScale":
        """Return the scale of some columns."""
        if self.variables is None:
            return self
        return replace(self, variables=self.variables[columns])

    def count(self, columns: np.ndarray) -> int:
        """Return of how many variables some columns are."""
        return len(columns if self.variables is None else np.unique(self.variables[columns]))

    def halves(
        self, columns: np.ndarray, rng: np.random.Generator, n_first: int
    ) -> list[np.ndarray]:
        """Return two random halves of some columns (``n_first``, the others).

        No variable is in both: as many variables are in one as in the other then.
        """
        if self.variables is None:
            return np.split(rng.permutation(columns), [n_first])
        own = self.variables[columns]
        parts = np.array_split(rng.permutation(np.unique(own)), 2)
        return [rng.permutation(columns[np.isin(own, part)]) for part in parts]


def find_variables(X: Any, groups: Iterable[np.ndarray]) -> np.ndarray | None:
    """Return the variable of every column (a group of indicators is one); None: each its own."""
    variables = None
    for columns in groups:
        if len(columns) > 1 and are_indicators(_dense(pick_columns(X, columns))):
            variables = np.arange(X.shape[1]) if variables is None else variables
            variables[columns] = columns.min()
    return variables


def are_indicators(Z: np.ndarray) -> bool:
    """Say whether columns hold 0 and one other value each, and a row has at most one of these."""
    low, high = Z.min(axis=0), Z.max(axis=0)
    other = np.where(high > 0, high, low)
    return bool(((Z == 0) | (other == Z)).all() and ((Z != 0).sum(axis=1) <= 1).all())


def one_column_each(X: Any, variables: np.ndarray | None, points: np.ndarray | None = None) -> Any:
    """Return a table in memory in which every variable is one column.

    Indicators become level codes, 0 for the most frequent level, 1 for the next, ...: a function of
    the variable alone. With points of the rows, levels are in the order of their means along the
    direction in which these differ most: a measurement that was cut into words is in its order
    again. Where indicators were changed inside of batches, the one that varies most stays.
    """
    if variables is None:
        return X
    _, kept, owner = np.unique(variables, return_index=True, return_inverse=True)
    codes = {}
    for v in np.flatnonzero(np.bincount(owner) > 1):
        columns = np.flatnonzero(owner == v)
        Z = _dense(pick_columns(X, columns))
        if are_indicators(Z):
            level = np.where((Z != 0).any(axis=1), (Z != 0).argmax(axis=1), len(columns))
            counts = np.bincount(level, minlength=len(columns) + 1)
            places = -counts if points is None else _level_places(level, counts, points)
            codes[v] = np.argsort(np.argsort(places, kind="stable"))[level]
        else:
            kept[v] = columns[Z.var(axis=0).argmax()]
    table = pick_columns(X, kept)
    if not codes:
        return table
    dense = np.array(_dense(table), dtype=np.float64)
    for v, values in codes.items():
        dense[:, v] = values
    return dense


def _level_places(level: np.ndarray, counts: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return where the means of levels lie along the direction of their largest variance."""
    sums = np.zeros((len(counts), points.shape[1]))
    np.add.at(sums, level, points - points.mean(axis=0))
    means = sums / np.maximum(counts, 1)[:, None]
    direction = np.linalg.svd(means * np.sqrt(counts)[:, None], full_matrices=False)[2][0]
    return means @ direction


def _dense(part: Any) -> np.ndarray:
    """Return columns of any table as a NumPy array."""
    part = gathered(part)
    return np.asarray(part.toarray() if is_sparse(part) else to_numpy(part))
