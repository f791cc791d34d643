"""Valleys of the density between clusters: what tells groups in few columns from a continuum."""

from itertools import combinations

import numpy as np

from featsieve import defaults
from featsieve.graphs.kmeans import kmeans
from featsieve.hypotheses.families import components

# Points at which the density between two clusters is compared: more change next to nothing.
VALLEY_POINTS = 25


def valleys(R: np.ndarray, rng: np.random.Generator, *, leading: int, parallel: int) -> np.ndarray:
    """Return how far the density falls between k-means clusters, for the number where it is most.

    They are sought in principal components, in the ``leading`` of these, since columns of noise
    hide groups on a line, and in the first ``parallel`` with variances of one: a block of columns
    that go together hides groups that do not follow it. A continuum has valleys only by chance,
    whatever its tails.
    """
    points = components(R, rng, count=defaults.STRUCTURE_COMPONENTS)
    most = max(2, len(R) // defaults.STRUCTURE_GROUP)
    numbers = [c for c in defaults.VALLEY_NUMBERS if c <= most]
    even = points[:, : max(1, parallel)]
    even = even / np.maximum(even.std(axis=0), 1e-300)
    some = (points[:, : max(1, leading)], points, even)
    return np.array([max(valley_depth(A, kmeans(A, c, rng)) for A in some for c in numbers)])


def valley_depth(points: np.ndarray, labels: np.ndarray) -> float:
    """Return the mean depth of the valley between the cluster of a sample and its neighbour.

    1 - f(valley) / f(lower peak) on the line through two centres, f a kernel estimate of the
    density of both clusters; the neighbour is the cluster for which this is least.
    """
    sizes = np.bincount(labels)
    centres = np.eye(len(sizes))[labels].T @ points / sizes[:, None]
    depth = np.full((len(sizes), len(sizes)), np.inf)
    for a, b in combinations(range(len(sizes)), 2):
        across = centres[b] - centres[a]
        x = points[(labels == a) | (labels == b)] @ across
        line = np.linspace(centres[a] @ across, centres[b] @ across, VALLEY_POINTS)
        # equal rows on both sides are no two clusters: rounding is none of their widths
        least = 1e-6 * np.linalg.norm(across) * np.linalg.norm(points) / np.sqrt(len(points))
        width = max(defaults.VALLEY_WIDTH * x.std() * len(x) ** -0.2, least, 1e-300)
        f = np.exp(-0.5 * ((line[:, None] - x) / width) ** 2).sum(axis=1) + 1e-300
        peak = np.minimum(np.maximum.accumulate(f), np.maximum.accumulate(f[::-1])[::-1])
        depth[a, b] = depth[b, a] = 1.0 - (f / peak).min()
    return float(depth.min(axis=1) @ sizes / len(points))
