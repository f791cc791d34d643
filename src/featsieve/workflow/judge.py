"""How well k-means finds known classes in some columns: to judge a selection, never to make it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from featsieve.evaluation import practical_protocol
from featsieve.report.selection.evaluation import (
    FEWEST_SAMPLES,
    MOST_ENTRIES,
    MOST_SAMPLES,
    N_STARTS,
)
from featsieve.report.selection.inputs import scaled_columns


@dataclass(frozen=True)
class Agreement:
    """How far clusters agree with known classes: 1 is all, whatever the clusters are called."""

    accuracy: float
    nmi: float


class Judge:
    """Judges columns of a table by classes that no selection has seen, just as the report does.

    Of long tables a random part of the rows is looked at.
    """

    def __init__(self, X: Any, y: np.ndarray | None) -> None:
        n, d = X.shape
        most = max(FEWEST_SAMPLES, min(MOST_SAMPLES, MOST_ENTRIES // d))
        rows = np.arange(n)
        if n > most:
            rows = np.sort(np.random.default_rng(0).permutation(n)[:most])
        self.X = None if y is None else X[rows]
        self.y = None if y is None else y[rows]
        self.why_not = "no column with classes is named" if y is None else ""
        if y is not None and len(np.unique(y[rows])) < 2:
            self.why_not = "all samples are of one class"

    def of(self, support: np.ndarray | None = None) -> Agreement | None:
        """Return how well k-means on some columns finds the classes; by default on all.

        Columns are given variance 1, and k-means the number of classes, as in the report.
        """
        if self.why_not or self.X is None:
            return None
        columns = np.arange(self.X.shape[1]) if support is None else np.flatnonzero(support)
        points = scaled_columns(self.X, columns)
        scores = practical_protocol(points, self.y, n_starts=N_STARTS)
        accuracy, nmi, _ = scores.mean()
        return Agreement(float(accuracy), float(nmi))


def too_many_classes(y: np.ndarray | None) -> str:
    """Return a sentence where there are nearly as many classes as samples, else nothing."""
    if y is None:
        return ""
    classes = len(np.unique(y))
    if classes <= len(y) / 2:
        return ""
    return (
        f"{classes:,} classes of {len(y):,} samples: nearly every sample is its own class, so such "
        "numbers mean nothing."
    )
