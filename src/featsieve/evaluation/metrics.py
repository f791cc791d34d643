"""Agreement of a clustering with known classes."""

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix


def clustering_accuracy(y_true: Any, labels: Any) -> float:
    """Return the share of samples that the best one-to-one matching of clusters to classes hits.

    Examples
    --------
    >>> from featsieve.evaluation import clustering_accuracy
    >>> clustering_accuracy([0, 0, 1, 1], [5, 5, 3, 5])
    0.75
    """
    table = contingency_matrix(y_true, labels)
    classes, clusters = linear_sum_assignment(table, maximize=True)
    return float(table[classes, clusters].sum() / table.sum())


def normalized_mutual_information(y_true: Any, labels: Any) -> float:
    """Return the mutual information over the geometric mean of the entropies, as in the paper.

    Examples
    --------
    >>> from featsieve.evaluation import normalized_mutual_information
    >>> normalized_mutual_information([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    score = normalized_mutual_info_score(y_true, labels, average_method="geometric")
    return float(np.clip(score, 0.0, 1.0))
