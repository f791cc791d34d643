"""k-means with all starts at once, against scikit-learn's."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from featsieve.graphs.kmeans import kmeans


def inertia(points, labels):
    return sum(
        ((points[labels == k] - points[labels == k].mean(axis=0)) ** 2).sum()
        for k in np.unique(labels)
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n", "r", "c"), [(60, 2, 3), (200, 10, 7), (90, 40, 20)])
def test_it_is_about_as_tight_as_that_of_scikit_learn(seed, n, r, c):
    points = make_blobs(n, r, centers=c, cluster_std=3.0, random_state=seed)[0]
    labels = kmeans(points, c, np.random.default_rng(seed), n_starts=10)
    best = KMeans(c, n_init=10, random_state=seed).fit(points).inertia_
    assert inertia(points, labels) <= 1.05 * best
    assert np.bincount(labels, minlength=c).min() > 0
    # a fixed point: nobody is nearer to the mean of another cluster
    means = np.stack([points[labels == k].mean(axis=0) for k in range(c)])
    nearest = ((points[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(nearest, labels)


def test_well_separated_clusters_are_found_from_few_starts():
    points, truth = make_blobs(300, 5, centers=12, cluster_std=0.1, random_state=0)
    labels = kmeans(points, 12, np.random.default_rng(0))
    assert adjusted_rand_score(truth, labels) == 1.0


@pytest.mark.parametrize("c", [2, 4, 6])
def test_no_cluster_is_empty_where_points_coincide(c):
    points = np.repeat(np.random.default_rng(0).standard_normal((4, 3)), 5, axis=0)
    labels = kmeans(points, c, np.random.default_rng(0))
    assert np.bincount(labels, minlength=c).min() > 0
    assert labels.max() == c - 1
    if c == 4:
        assert adjusted_rand_score(np.repeat(np.arange(4), 5), labels) == 1.0


@pytest.mark.parametrize("value", [0.0, 1e12])
def test_all_points_may_be_one(value):
    labels = kmeans(np.full((7, 2), value), 3, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(np.bincount(labels)), [1, 1, 5])


def test_as_many_clusters_as_points():
    points = np.random.default_rng(0).standard_normal((9, 2))
    labels = kmeans(points, 9, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(labels), np.arange(9))


@pytest.mark.parametrize("seed", range(5))
def test_rounding_does_not_decide_between_equal_distances(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 2, (60, 4)).astype(float)
    labels = kmeans(points, 3, np.random.default_rng(seed))
    noisy = points + 1e-12 * rng.standard_normal(points.shape)
    np.testing.assert_array_equal(kmeans(noisy, 3, np.random.default_rng(seed)), labels)
