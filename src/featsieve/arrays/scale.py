"""How the columns of a table are scaled, and which of them are one variable."""

from dataclasses import dataclass, replace

import numpy as np

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
