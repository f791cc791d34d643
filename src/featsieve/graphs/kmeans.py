"""k-means with all starts at once: where samples are few, starting is what takes the time."""

from collections.abc import Sequence
from typing import Any
from warnings import catch_warnings, simplefilter

import numpy as np
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from featsieve import defaults

MAX_STEPS = 50
# Distances that differ by less than this share of the mean one are equal: the first of them counts,
# whatever rounding says. (Few columns of whole numbers have many ties.)
TIE = 1e-6


def kmeans(
    points: np.ndarray,
    n_clusters: int,
    rng: np.random.Generator,
    *,
    n_starts: int = defaults.HYPOTHESIS_STARTS,
    starts: np.ndarray | Sequence[np.ndarray] = (),
) -> np.ndarray:
    """Return the labels of the tightest of some k-means runs; no cluster is empty.

    They start from k-means++ centres, and from the clusters of given labels.
    """
    points = np.ascontiguousarray(points, dtype=np.float64)
    n, r = points.shape
    centres = first_centres(points, n_clusters, rng, n_starts=n_starts)
    if len(starts):
        means = [_means(points, labels, n_clusters) for labels in starts]
        centres, n_starts = np.concatenate([centres, means]), n_starts + len(starts)
    tie = float(TIE * np.einsum("ij,ij->", points, points) / n)
    counted = np.hstack([points, np.ones((n, 1))])  # sums over these have the sizes last
    # precise enough to compare, with the tie in mind; stored by columns: products are quicker
    rough = np.ascontiguousarray(counted.T, dtype=np.float32)
    members = np.zeros((n_starts, n_clusters, n), dtype=bool)
    spread = np.empty(n_starts)
    running = np.arange(n_starts)
    for _ in range(MAX_STEPS):
        # |x - c|^2 without |x|^2, for all starts in one product, samples along the last axis
        lengths = np.einsum("skr,skr->sk", centres, centres)[:, :, None]
        lines = np.concatenate([-2.0 * centres, lengths], axis=2).astype(np.float32)
        distances = (lines.reshape(-1, r + 1) @ rough).reshape(-1, n_clusters, n)
        nearest = distances.min(axis=1)
        spread[running] = nearest.sum(axis=1, dtype=np.float64)
        near = distances <= (nearest + tie)[:, None]
        if np.count_nonzero(near) > nearest.size:
            near &= np.cumsum(near, axis=1) == 1  # of equal ones the first
        moved = (near != members[running]).any(axis=(1, 2))
        members[running] = near
        running = running[moved]
        if len(running) == 0:
            break
        totals = near[moved].reshape(-1, n).astype(np.float64) @ counted
        totals = totals.reshape(-1, n_clusters, r + 1)
        sums, sizes, before = totals[:, :, :r], totals[:, :, r:], centres[moved]
        centres = sums / np.maximum(sizes, 1.0)
        if not sizes.all():  # nobody is nearest to a centre: it stays
            centres = np.where(sizes > 0.0, centres, before)
    best = int(_first_smallest(spread, n * tie))
    return fill_empty(members[best].argmax(axis=0), n_clusters)


def fitted_kmeans(points: Any, n_clusters: int, **options: Any) -> KMeans:
    """Return scikit-learn's k-means of some points, fewer of which may differ than clusters."""
    with catch_warnings():
        simplefilter("ignore", ConvergenceWarning)
        return KMeans(n_clusters, **options).fit(points)


def first_centres(
    points: np.ndarray, n_clusters: int, rng: np.random.Generator, *, n_starts: int
) -> np.ndarray:
    """Return k-means++ centres (the best of some candidates each) of every start."""
    n, r = points.shape
    squares = np.einsum("ij,ij->i", points, points)
    tie = TIE * squares.sum()
    n_trials = 2 + int(np.log(n_clusters))
    starts = np.arange(n_starts)
    chosen = rng.integers(n, size=n_starts)
    centres = np.empty((n_starts, n_clusters, r))
    centres[:, 0] = points[chosen]
    nearest = _distances(points, squares, chosen)
    for k in range(1, n_clusters):
        cumulative = np.cumsum(nearest, axis=1)
        drawn = rng.random((n_starts, n_trials)) * cumulative[:, -1:]
        trials = np.count_nonzero(cumulative[:, None] < drawn[:, :, None], axis=2)
        trials = np.minimum(trials, n - 1)
        distances = _distances(points, squares, trials.ravel()).reshape(n_starts, n_trials, n)
        nearer = np.minimum(nearest[:, None], distances)
        best = _first_smallest(nearer.sum(axis=2), tie)
        centres[:, k] = points[trials[starts, best]]
        nearest = nearer[starts, best]
    return centres


def _means(points: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Return the mean of every cluster."""
    member = np.eye(n_clusters)[labels]
    return (member.T @ points) / np.maximum(member.sum(axis=0), 1.0)[:, None]


def fill_empty(labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Give every empty cluster the last sample of the largest one (coinciding points)."""
    labels = labels.astype(np.intp, copy=True)
    sizes = np.bincount(labels, minlength=n_clusters)
    for empty in np.flatnonzero(sizes == 0):
        largest = int(sizes.argmax())
        labels[np.flatnonzero(labels == largest)[-1]] = empty
        sizes[largest] -= 1
        sizes[empty] += 1
    return labels


def _first_smallest(values: np.ndarray, tie: float) -> np.ndarray:
    """Return where along the last axis the first value is that no other is smaller than."""
    return np.asarray((values <= values.min(axis=-1, keepdims=True) + tie).argmax(axis=-1))


def _distances(points: np.ndarray, squares: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the squared distances of some points (rows) to all."""
    products = points[chosen] @ points.T
    return np.maximum(squares[chosen][:, None] + squares - 2.0 * products, 0.0)
