"""Agreement of a clustering with known classes."""

from typing import Any

from scipy.optimize import linear_sum_assignment
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
    truth = as_classes("y_true", y_true)
    table = contingency_matrix(truth, as_classes("labels", labels, n_samples=truth.size))
    classes, clusters = linear_sum_assignment(table, maximize=True)
    return float(table[classes, clusters].sum() / table.sum())
