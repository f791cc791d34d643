"""A criterion along a path of selections, and the choice it leads to."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve import defaults
from featsieve.criteria.measures import Criterion
from featsieve.progress import SILENT, FitProgress
from featsieve.tables import Table
from featsieve.validation import check_number


@dataclass(frozen=True, eq=False)
class CriterionCurve:
    """What a label-free criterion says about the supports of a path.

    Attributes
    ----------
    criterion : str
        Its name.
    sizes : int array of shape (n_sizes,)
        Numbers of features, rising.
    values : float array of shape (n_sizes,)
        The criterion, larger is better: the mean over its runs.
    errors : float array of shape (n_sizes,)
        Standard errors of the means (0 where a criterion has no runs).
    tolerance : float
        Loss that is given up for fewer features, at least (see ``margin``).
    """

    criterion: str
    sizes: np.ndarray
    values: np.ndarray
    errors: np.ndarray
    tolerance: float = 0.0

    @property
    def best(self) -> int:
        """The size of the largest value (the smallest of equal ones)."""
        return int(self.sizes[self.values.argmax()])

    @property
    def chosen(self) -> int:
        """The smallest size within the margin of the best."""
        return int(self.sizes[(self.values >= self.values.max() - self.margin).argmax()])

    @property
    def margin(self) -> float:
        """Loss that is given up for fewer features.

        The tolerance, or the standard error of the best value where that is more: the usual rule
        of one standard error. Without a tolerance, none.
        """
        error = float(self.errors[self.values.argmax()])
        return max(self.tolerance, error) if self.tolerance else 0.0

    @property
    def nearly_equal(self) -> np.ndarray:
        """Mask of the sizes whose values do not differ from the best beyond tolerance and noise."""
        best = self.values.argmax()
        noise = defaults.EQUIVALENT_STANDARD_ERRORS * np.hypot(self.errors, self.errors[best])
        return self.values >= self.values[best] - np.maximum(noise, self.tolerance)

    @property
    def equivalent_range(self) -> tuple[int, int]:
        """The smallest and largest of the nearly equal sizes that join up with the chosen one."""
        nearly = self.nearly_equal
        low = high = int(np.flatnonzero(self.sizes == self.chosen)[0])
        while low > 0 and nearly[low - 1]:
            low -= 1
        while high < len(nearly) - 1 and nearly[high + 1]:
            high += 1
        return int(self.sizes[low]), int(self.sizes[high])

    def table(self) -> Table:
        """Return one row per size."""
        return Table(
            {
                "n_features": self.sizes,
                self.criterion: self.values,
                "standard_error": self.errors,
                "nearly_equal": self.nearly_equal,
                "chosen": self.sizes == self.chosen,
            }
        )


def default_sizes(n_features: int) -> np.ndarray:
    """Return the sizes to look at: every one of the first few in narrow tables, up to 400."""
    few = range(1, defaults.EVERY_SIZE_BELOW) if n_features <= defaults.NARROW_TABLE else ()
    most = min(n_features, defaults.PATH_SIZES[-1])
    return np.unique([k for k in (*few, *defaults.PATH_SIZES, n_features) if k <= most])


def check_sizes(sizes: Iterable[int] | None, n_features: int) -> np.ndarray:
    """Return a user's sizes, sorted; None means the default ones."""
    if sizes is None:
        return default_sizes(n_features)
    if not isinstance(sizes, Iterable):
        raise TypeError(f"sizes must list numbers of features, such as [10, 50]; got {sizes!r}.")
    given = list(sizes)
    for size in given:
        check_number("every one of sizes", size, low=1, integer=True)
    if not given or max(given) > n_features:
        raise ValueError(
            f"sizes must be integers between 1 and {n_features} (the number of features); "
            f"got {given!r}."
        )
    return np.unique(given)


def judge(
    criterion: Criterion,
    X: Any,
    labels: np.ndarray,
    *,
    order: np.ndarray,
    sizes: np.ndarray,
    progress: FitProgress = SILENT,
) -> CriterionCurve:
    """Return the curve of a criterion along nested supports: the first features of ``order``."""
    evaluate = criterion.prepare(X, labels)
    runs = []
    for i, size in enumerate(sizes):
        runs.append(np.atleast_1d(evaluate(order[:size])))
        seen = f"{criterion.name} {runs[-1].mean():.4f} ({i + 1} of {len(sizes)} sizes)"
        progress.tick(f"{size} feature{'s'[: int(size) != 1]}: {seen}", first=i == 0)
    values = np.array([np.mean(run) for run in runs])
    errors = [np.std(run, ddof=1) / len(run) ** 0.5 if len(run) > 1 else 0.0 for run in runs]
    return CriterionCurve(criterion.name, sizes, values, np.array(errors), criterion.tolerance)
