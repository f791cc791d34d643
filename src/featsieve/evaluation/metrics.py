"""Agreement of a clustering with known classes."""

from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix

from featsieve.evaluation.checks import as_classes


def clustering_accuracy(y_true: Any, labels: Any) -> float:
    """Return the share of samples that the best one-to-one matching of clusters to classes hits.

    Clusters beyond the number of classes are matched to none: all of their samples are misses.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Classes: integers, text or truth values.
    labels : array-like of shape (n_samples,)
        Clusters. Their names do not matter.

    Returns
    -------
    float
        Above 0, and 1 where the clusters are the classes.

    Examples
    --------
    >>> from featsieve.evaluation import clustering_accuracy
    >>> clustering_accuracy([0, 0, 1, 1], [5, 5, 3, 5])
    0.75
    """
    table = contingency_matrix(*_partitions(y_true, labels))
    classes, clusters = linear_sum_assignment(table, maximize=True)
    return float(table[classes, clusters].sum() / table.sum())


def normalized_mutual_information(y_true: Any, labels: Any) -> float:
    """Return the mutual information over the geometric mean of the entropies, as in the paper.

    Parameters
    ----------
    y_true, labels : array-like of shape (n_samples,)
        Classes and clusters; exchanging them changes nothing.

    Returns
    -------
    float
        Between 0 and 1. A single cluster says nothing about several classes: 0. A single cluster
        and a single class are the same partition: 1.

    Examples
    --------
    >>> from featsieve.evaluation import normalized_mutual_information
    >>> normalized_mutual_information([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    classes, clusters = _partitions(y_true, labels)
    score = normalized_mutual_info_score(classes, clusters, average_method="geometric")
    return float(np.clip(score, 0.0, 1.0))


def _partitions(y_true: Any, labels: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return classes and clusters as integers; raise unless they belong to the same samples."""
    classes = as_classes("y_true", y_true)
    return classes, as_classes("labels", labels, n_samples=classes.size)
