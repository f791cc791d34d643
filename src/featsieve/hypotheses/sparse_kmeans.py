"""Sparse k-means (Witten and Tibshirani 2010): clusters of weighted columns, weights of clusters.

For given clusters, b_j is the sum of squares of column j between them, and the weights

    max_w  sum_j w_j b_j    subject to  ||w||_2 <= 1,  ||w||_1 <= s,  w >= 0

are (b_j - t)_+ in units of their length: a threshold t belongs to every s, and to every number of
weights that are not zero.
"""

import numpy as np

from featsieve.graphs.kmeans import kmeans
from featsieve.hypotheses.pool import agreement

MAX_STEPS = 8
# Weights below this share of the largest are what rounding leaves.
ROUNDING = 1e-9


def sparse_kmeans(
    Z: np.ndarray,
    points: np.ndarray,
    n_clusters: int,
    n_columns: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the labels of sparse k-means with about so many columns, started from ``points``."""
    labels = kmeans(points, n_clusters, rng)
    for _ in range(MAX_STEPS):
        weights = sparse_weights(Z, labels, n_columns)
        chosen = np.flatnonzero(weights)
        if len(chosen) == 0:
            break
        previous = labels
        labels = kmeans(Z[:, chosen] * np.sqrt(weights[chosen]), n_clusters, rng)
        if agreement([previous, labels]) > 1.0 - 1e-9:
            break
    return labels


def sparse_weights(Z: np.ndarray, labels: np.ndarray, n_columns: int) -> np.ndarray:
    """Return the weights (b_j - t)_+ of the columns, for the clusters 0..c-1."""
    sums = memberships(labels).astype(Z.dtype)
    size = np.maximum(sums.sum(axis=1), 1.0)
    return weights_of_some(np.sum((sums @ Z) ** 2 / size[:, None], axis=0), n_columns)


def memberships(labels: np.ndarray) -> np.ndarray:
    """Return the 0/1 matrix with a row for every cluster 0..c-1."""
    return (np.arange(int(labels.max()) + 1)[:, None] == labels).astype(np.float64)


def weights_of_some(between: np.ndarray, n_columns: int) -> np.ndarray:
    """Return (b_j - t)_+ with t the (n_columns + 1)-th largest b_j."""
    at = len(between) - n_columns - 1
    threshold = np.partition(between, at)[at] if at >= 0 else 0.0
    return np.asarray(np.maximum(between - threshold, 0.0))


def weights_within(between: np.ndarray, bound: float) -> np.ndarray:
    """Return the best weights with ||w||_2 <= 1 and ||w||_1 <= bound = s, for b_j >= 0.

    ||w||_1 / ||w||_2 of w = (b - t)_+ falls with t. With k weights above zero, and S and Q the sums
    of w and w² at t = b_(k), it is s at t = b_(k) - (s sqrt((kQ - S²) / (k - s²)) - S) / k.
    """
    ordered = np.sort(between)[::-1]
    count, gap = np.arange(1, len(ordered) + 1), -np.diff(ordered, append=0.0)
    # at t = b_(k+1), from sums of what is positive: columns that tie must not leave rounding
    sums = np.cumsum(count * gap)
    before = np.append(0.0, sums[:-1])
    squares = np.append(0.0, np.cumsum(gap * (2.0 * before + count * gap)))
    exceeds = sums**2 > bound**2 * squares[1:]
    threshold = 0.0
    if exceeds.any():
        i = int(np.argmax(exceeds))
        k, S, Q = i + 1, before[i], squares[i]
        spread = max(k * Q - S**2, 0.0) / max(k - bound**2, ROUNDING)
        below = ordered[ordered < ordered[0]]  # of columns that tie for the first all are kept
        threshold = ordered[i] - (bound * np.sqrt(spread) - S) / k
        threshold = min(threshold, below[0] if len(below) else 0.0)
    weights = np.maximum(between - threshold, 0.0)
    weights[weights < ROUNDING * weights.max()] = 0.0
    length = max(float(np.linalg.norm(weights)), float(weights.sum()) / bound)
    return weights / (length or 1.0)
