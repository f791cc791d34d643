"""The result of a path: selections of many sizes."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.criteria.plots import plot_path
from featsieve.solvers.protocol import Status
from featsieve.tables import Table


@dataclass(frozen=True, eq=False)
class SparsityPath:
    """Selections of many sizes.

    Attributes
    ----------
    n_features : int array of shape (n_points,)
        Number of selected features, not falling.
    sparsity : float array of shape (n_points,)
        λ of JASFS at every point, not rising; NaN for selectors that have none.
    supports : bool array of shape (n_points, n_features)
        The selected features.
    scores : float array of shape (n_points, n_features)
        Scores of all features.
    objective : float array of shape (n_points,)
        What the selector minimises, at the solution; NaN where it minimises nothing.
    statuses : list of Status
        How the solver ended.
    labels : int array of shape (n_points, n_samples) or None
        Clusters of the samples, where the selector finds them.
    """

    n_features: np.ndarray
    sparsity: np.ndarray
    supports: np.ndarray
    scores: np.ndarray
    objective: np.ndarray
    statuses: list[Status]
    labels: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.n_features)

    def support_at(self, n_features: int) -> np.ndarray:
        """Return the indices of the selection of a size that the path holds."""
        found = np.flatnonzero(self.n_features == n_features)
        if len(found) == 0:
            sizes = ", ".join(map(str, self.n_features))
            raise ValueError(
                f"The path has no selection of {n_features} features, only of {sizes}."
            )
        return np.flatnonzero(self.supports[found[0]])

    def table(self) -> Table:
        """Return one row per point."""
        return Table(
            {
                "n_features": self.n_features,
                "sparsity": self.sparsity,
                "objective": self.objective,
                "status": [status.name.lower() for status in self.statuses],
            }
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw which features enter where; return the matplotlib axes."""
        return plot_path(self, ax=ax)
