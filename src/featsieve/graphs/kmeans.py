"""k-means with all starts at once: where samples are few, starting is what takes the time."""

from collections.abc import Sequence

import numpy as np

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
    # precise enough to compare, with the tie in mind; stored by columns: products are quicker
    rough = np.ascontiguousarray(points.T, dtype=np.float32)
    labels = np.full((n_starts, n), -1, dtype=np.int32)
    clusters = np.arange(n_clusters, dtype=np.int32)[:, None]
    sums, sizes = np.zeros_like(centres), np.zeros((n_starts, n_clusters, 1))
    spread = np.empty(n_starts)
    running = np.arange(n_starts)
    for _ in range(MAX_STEPS):
        # |x - c|^2 without |x|^2, for all starts in one product, samples along the last axis
        distances = (-2.0 * centres.reshape(-1, r)).astype(np.float32) @ rough
        distances = distances.reshape(-1, n_clusters, n)
        lengths = np.einsum("skr,skr->sk", centres, centres)
        distances += lengths.astype(np.float32)[:, :, None]
        nearest = distances.min(axis=1)
        spread[running] = nearest.sum(axis=1, dtype=np.float64)
        before, found = labels[running], _first_below(distances, nearest + tie)
        differs = found != before
        moved = differs.any(axis=1)
        labels[running] = found
        running = running[moved]
        if len(running) == 0:
            break
        # Sums change by the samples that move: few, after the first steps.
        some = np.flatnonzero(differs.any(axis=0))
        joined, left = (one[moved][:, None, some] == clusters for one in (found, before))
        change = joined.astype(np.float64) - left
        step = change.reshape(-1, len(some)) @ points[some]
        sums = sums[moved] + step.reshape(-1, n_clusters, r)
        sizes = sizes[moved] + change.sum(axis=2, keepdims=True)
        centres = np.where(sizes > 0.0, sums / np.maximum(sizes, 1.0), centres[moved])
    best = int(_first_smallest(spread, n * tie))
    return fill_empty(labels[best], n_clusters)


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
        trials = np.stack(
            [np.searchsorted(total, one) for total, one in zip(cumulative, drawn, strict=True)]
        )
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


def _first_below(distances: np.ndarray, limit: np.ndarray) -> np.ndarray:
    """Return which along the middle axis is the first up to the limit."""
    found = np.zeros(limit.shape, dtype=np.int32)
    beyond = np.ones(limit.shape, dtype=bool)
    for k in range(distances.shape[1] - 1):  # one of them is
        beyond &= distances[:, k] > limit
        found += beyond
    return found


def _first_smallest(values: np.ndarray, tie: float) -> np.ndarray:
    """Return where along the last axis the first value is that no other is smaller than."""
    return np.asarray((values <= values.min(axis=-1, keepdims=True) + tie).argmax(axis=-1))


def _distances(points: np.ndarray, squares: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Return the squared distances of some points (rows) to all."""
    products = points[chosen] @ points.T
    return np.maximum(squares[chosen][:, None] + squares - 2.0 * products, 0.0)
