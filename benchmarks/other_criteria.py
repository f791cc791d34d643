"""Label-free criteria that were measured (label_free.py) and are no better than the library's."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.random import RandomState
from sklearn.metrics.pairwise import euclidean_distances

from featsieve.arrays import as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.criteria.measures import Criterion, Evaluation
from featsieve.graphs import principal_coordinates

# The silhouettes of so many samples are averaged.
SILHOUETTE_SAMPLES = 1000


class CentroidAccuracy(Criterion):
    """How well the nearest centroid in the selected columns predicts the pseudo-labels.

    Leave-one-out balanced accuracy, in closed form and without k-means: cheap. Removing sample i
    from its cluster of n_k moves the centroid away from it: its distance grows by n_k/(n_k - 1).
    """

    name = "centroid_accuracy"

    def _prepare(self, X: Any, labels: np.ndarray, random_state: RandomState) -> Evaluation:
        clusterings = self._clusterings(X, labels, random_state)
        return lambda support: np.array([centroid_accuracy(clusterings.points(support), labels)])


class FullSilhouette(Criterion):
    """Silhouette, in ALL columns, of k-means labels of the selected ones."""

    name = "full_silhouette"

    def _prepare(self, X: Any, labels: np.ndarray, random_state: RandomState) -> Evaluation:
        clusterings = self._clusterings(X, labels, random_state)
        n = X.shape[0]
        rows = np.arange(n)
        if n > SILHOUETTE_SAMPLES:
            rows = np.sort(random_state.permutation(n)[:SILHOUETTE_SAMPLES])
        operator = as_operator(X, scale="none" if self.scale == "none" else "std")
        # All distances: wide tables keep them in n columns, tall ones have few already.
        wide = operator.shape[0] <= operator.shape[1]
        points = to_numpy(principal_coordinates(operator)[0] if wide else operator.rows(0, n))
        distances = euclidean_distances(points[rows], points)  # once for all supports
        distances[np.arange(len(rows)), rows] = 0.0
        return lambda support: np.array(
            [mean_silhouette(distances, rows, found) for found in clusterings(support)]
        )


def centroid_accuracy(points: np.ndarray, labels: np.ndarray) -> float:
    """Return the leave-one-out balanced accuracy of the nearest centroid.

    A cluster of one sample has no centroid without it: that sample counts as missed.
    """
    sizes = np.bincount(labels)
    member = sp.csr_array((np.ones(len(labels)), (labels, np.arange(len(labels)))))
    centres = (member @ points) / sizes[:, None]
    own = np.arange(len(labels)), labels
    distance = euclidean_distances(points, centres, squared=True)
    # x - m' = n_k/(n_k - 1) (x - m) for the centroid m' of the others.
    others = np.maximum(sizes[labels] - 1, 0)
    distance[own] *= (sizes[labels] / np.where(others > 0, others, 1)) ** 2
    distance[own] = np.where(others > 0, distance[own], np.inf)
    hits = np.bincount(labels, weights=distance.argmin(axis=1) == labels)
    return float(np.mean(hits / sizes))


def mean_silhouette(distances: np.ndarray, rows: np.ndarray, labels: np.ndarray) -> float:
    """Return the mean silhouette of some samples, given their distances to all; -1 for no clusters.

    (b - a) / max(a, b), with a the mean distance to the others of the own cluster, and b that to
    the samples of the nearest other one; 0 for a cluster of one sample.
    """
    found, codes = np.unique(labels, return_inverse=True)
    if not 1 < len(found) < len(labels):
        return -1.0
    sizes = np.bincount(codes)
    sums = distances @ np.eye(len(found))[codes]
    own = np.arange(len(rows)), codes[rows]
    inside = sums[own] / np.maximum(sizes[codes[rows]] - 1, 1)
    sums[own] = np.inf
    outside = np.min(sums / sizes, axis=1)
    larger = np.maximum(inside, outside)
    several = (sizes[codes[rows]] > 1) & (larger > 0.0)
    return float(np.mean(np.where(several, outside - inside, 0.0) / np.where(several, larger, 1.0)))
