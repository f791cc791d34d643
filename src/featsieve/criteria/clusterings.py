"""k-means on selected columns: what a support says about the samples."""

from collections.abc import Callable
from typing import Any

import numpy as np

from featsieve import defaults
from featsieve.arrays import ColumnScale, as_operator
from featsieve.arrays.namespace import gathered, is_sparse, like, take_columns, take_rows, to_numpy
from featsieve.graphs.kmeans import fitted_kmeans
from featsieve.validation import check_number, check_option

# ``scale`` of a criterion, and the scales of the operators whose points the runs take in turn.
SCALES_IN_TURN = {"unit": ("std",), "none": ("none",), "both": ("std", "none")}


def sample_rows(
    X: Any, random_state: np.random.RandomState, *, most: int | None = None
) -> tuple[Any, np.ndarray | None]:
    """Return the rows of a long table to be looked at, in memory, and which they are (or None)."""
    most = defaults.CRITERION_SAMPLES if most is None else most
    if X.shape[0] <= most:
        return gathered(X), None
    rows = np.sort(random_state.permutation(X.shape[0])[:most])
    return gathered(take_rows(X, rows)), rows


class SelectedClusterings:
    """Clusters the samples by a few columns, several times, with the same seeds for all supports.

    One k-means++ run each: the mean over runs says how reliably a support shows clusters, which
    the best of many runs would hide.
    """

    def __init__(
        self,
        X: Any,
        n_clusters: int,
        *,
        scale: str = "unit",
        n_runs: int = 10,
        variables: np.ndarray | None = None,
        random_state: np.random.RandomState,
    ) -> None:
        check_option("scale", scale, tuple(SCALES_IN_TURN))
        check_number("n_runs", n_runs, low=1, integer=True)
        self.X = X.tocsc() if is_sparse(X) else X
        self.n_clusters = n_clusters
        scales = [ColumnScale(name, variables) for name in SCALES_IN_TURN[scale]]
        operators = [as_operator(X, scale=one) for one in scales]
        self.factors = [to_numpy(operator.inverse_scale) for operator in operators]
        varying = self.factors[0] > 0.0
        ratio = self.factors[0][varying] / self.factors[-1][varying]
        if len(ratio) and np.ptp(ratio) <= 1e-9 * ratio.max():  # the scales are one
            self.factors = self.factors[:1]
        self.mean = to_numpy(operators[0].original_mean)
        self.seeds = random_state.randint(np.iinfo(np.int32).max, size=n_runs)
        n = X.shape[0]
        most = max(defaults.KMEANS_SAMPLES, defaults.KMEANS_SAMPLES_PER_CLUSTER * n_clusters)
        self.rows = None if n <= most else np.sort(random_state.permutation(n)[:most])

    def __call__(self, support: np.ndarray) -> np.ndarray:
        """Return the labels of every run, shape (n_runs, n_samples); support holds indices."""
        n_scales = min(len(self.factors), len(self.seeds))
        tables = [self.points(support, turn) for turn in range(n_scales)]
        labels = np.empty((len(self.seeds), len(tables[0])), dtype=np.intp)
        for run, seed in enumerate(self.seeds.tolist()):
            points = tables[run % n_scales]
            fitted = points if self.rows is None else points[self.rows]
            model = fitted_kmeans(fitted, self.n_clusters, n_init=1, random_state=seed)
            labels[run] = model.labels_ if self.rows is None else model.predict(points)
        return labels

    def judged(self, support: np.ndarray, score: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """Return the scores of the runs in the scale in which they are better in the mean.

        Columns of different units say nothing as they are, pixels of one unit may.
        """
        scores = score(self(support))
        n_scales = min(len(self.factors), len(scores))
        return max((scores[turn::n_scales] for turn in range(n_scales)), key=np.mean)

    def points(self, support: np.ndarray, turn: int = 0) -> np.ndarray:
        """Return the samples in the selected columns, rotated into n dimensions if these are more.

        ``turn`` says which of the scales it is. A rotation changes no distance, and k-means costs
        less in fewer dimensions.
        """
        if is_sparse(self.X):
            columns = self.X[:, support].toarray()
        else:
            columns = to_numpy(take_columns(self.X, like(support, self.X)))
        points = (columns - self.mean[support]) * self.factors[turn][support]
        n, k = points.shape
        if k <= n or self.rows is not None:
            return points
        energy, U = np.linalg.eigh(points @ points.T)
        return U * np.sqrt(np.maximum(energy, 0.0))
