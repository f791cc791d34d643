"""Known classes judge a selection: k-means in its columns, and in all. They never select."""

from typing import Any

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score, mutual_info_score

from featsieve import defaults
from featsieve.arrays import ColumnScale, as_operator
from featsieve.arrays.batch_table import SparseInBatches
from featsieve.arrays.namespace import is_sparse, to_numpy
from featsieve.evaluation.protocol import ClusteringScores, practical_protocol


class Judge:
    """Judges columns of a table by classes; of long tables, a random part of the rows is used."""

    def __init__(self, X: Any, y: np.ndarray, variables: np.ndarray | None = None) -> None:
        n, d = X.shape
        most = min(defaults.JUDGE_SAMPLES, defaults.JUDGE_ENTRIES // d)
        most = max(defaults.JUDGE_FEWEST_SAMPLES, most)
        rows = np.arange(n)
        if n > most:
            rows = np.sort(np.random.default_rng(0).permutation(n)[:most])
        self.n_samples = len(rows)
        self.X, self.y, self.variables = X[rows], y[rows], variables
        self.can = len(np.unique(self.y)) > 1  # one class alone judges nothing

    def scores(self, columns: np.ndarray | None = None) -> ClusteringScores:
        """Return how well k-means on some columns (by default all) finds the classes.

        Columns (those of one of the ``variables`` together) are given variance 1, and k-means the
        number of classes.
        """
        columns = np.arange(self.X.shape[1]) if columns is None else columns
        points = scaled_columns(self.X, columns, self.variables)
        return practical_protocol(points, self.y, n_starts=defaults.JUDGE_STARTS)


def scaled_columns(X: Any, indices: Any, variables: np.ndarray | None = None) -> Any:
    """Return columns of X with unit variance: dense ones centred, sparse ones kept sparse."""
    part = X[:, indices]
    scale = ColumnScale("std", variables)
    operator = as_operator(part, scale=scale if variables is None else scale.at(indices))
    if not is_sparse(part) or isinstance(part, SparseInBatches):
        return to_numpy(operator.columns(np.arange(part.shape[1])))
    inverse = to_numpy(operator.inverse_scale)
    return part.astype(np.float64).multiply(inverse[None, :]).tocsr()  # distances know no origin


def chance_agreement(labels: np.ndarray, codes: np.ndarray) -> tuple[float, float]:
    """Return how far clusters and classes agree, 0 by chance and 1 if one tells the other.

    That is the mutual information, adjusted for chance, over the smaller of both entropies. Then
    its p-value: the share of permutations of the classes, their own order among them, that agree as
    well (with sizes fixed, the adjusted information rises with the information).
    """
    rng = np.random.default_rng(0)
    orders = [codes, *(rng.permutation(codes) for _ in range(defaults.STRUCTURE_TABLES))]
    found = np.array([mutual_info_score(order, labels) for order in orders])
    ami = adjusted_mutual_info_score(codes, labels, average_method="min")
    return float(ami), float(np.mean(found >= found[0]))


def too_many_classes(n_classes: int, n_samples: int) -> bool:
    """Say whether there are so many classes that agreement with them means nothing."""
    return 2 * n_classes > n_samples


def clear_difference(n_samples: int) -> float:
    """Return how far apart two scores must be to count as different."""
    return max(defaults.JUDGE_SMALLEST_DIFFERENCE, float(n_samples) ** -0.5)
