"""k-means on selected columns: the same partitions as on the plain standardised columns."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from featsieve import defaults
from featsieve.criteria.clusterings import SelectedClusterings


def clusterings(X, c=3, *, seed=0, **settings):
    return SelectedClusterings(X, c, random_state=np.random.RandomState(seed), **settings)


def blobs(n, d, c=3, *, seed=0, spread=4.0):
    """Return clear clusters in all columns, and these."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % c)
    return rng.standard_normal((n, d)) + spread * rng.standard_normal((c, d))[labels], labels


def same_partitions(first, second):
    assert first.shape == second.shape
    return all(adjusted_rand_score(a, b) == 1.0 for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize("scale", ["unit", "none"])
def test_points_are_the_selected_columns_centred_and_scaled(scale):
    X = np.random.default_rng(0).standard_normal((30, 8)) * np.arange(1, 9) + 5.0
    support = np.array([6, 0, 3])
    expected = StandardScaler(with_std=scale == "unit").fit_transform(X)[:, support]
    np.testing.assert_allclose(clusterings(X, scale=scale).points(support), expected, atol=1e-12)


def test_samples_beyond_the_limit_are_assigned_to_centres_found_without_them(monkeypatch):
    monkeypatch.setattr(defaults, "KMEANS_SAMPLES", 70)
    X, truth = blobs(300, 10, spread=12.0)
    many = clusterings(X, n_runs=5)
    assert len(many.rows) == 70
    labels = many(np.array([1, 4, 5, 8]))
    assert labels.shape == (5, 300)
    points = StandardScaler().fit_transform(X)[:, [1, 4, 5, 8]]
    for run, seed in zip(labels, many.seeds, strict=True):
        model = KMeans(3, n_init=1, random_state=int(seed)).fit(points[many.rows])
        np.testing.assert_array_equal(run, model.predict(points))
    best = max(labels, key=lambda run: adjusted_rand_score(truth, run))
    assert adjusted_rand_score(truth, best) > 0.95


def test_all_supports_are_clustered_with_the_same_seeds():
    X, _ = blobs(50, 12, spread=0.3)
    many = clusterings(X, 4)
    first = many(np.array([1, 5]))
    many(np.array([3, 4, 8]))
    np.testing.assert_array_equal(many(np.array([1, 5])), first)
    twins = np.hstack([X, X])  # the same columns under other indices
    both = clusterings(twins, 4)
    np.testing.assert_array_equal(both(np.array([1, 5])), both(np.array([13, 17])))
    assert len(set(many.seeds.tolist())) == 10


def test_columns_that_do_not_vary_say_nothing():
    X, truth = blobs(40, 6)
    X[:, 2] = 0.1
    for scale in ("unit", "none"):
        many = clusterings(X, scale=scale)
        assert not many.points(np.array([2])).any()
        assert same_partitions(many(np.array([0, 1, 2])), many(np.array([0, 1])))
        assert many(np.array([2])).max() == 0  # and no warning of coinciding points
    assert truth.max() == 2


def test_runs_take_turns_between_the_scales(small_planted):
    """Every other run is that of the one scale, the rest are those of the other."""
    X, support = small_planted.X * np.linspace(0.1, 10.0, 60), np.arange(12)

    def labels(scale):
        random_state = np.random.RandomState(0)
        return SelectedClusterings(X, 3, scale=scale, n_runs=5, random_state=random_state)(support)

    both, unit, raw = labels("both"), labels("unit"), labels("none")
    np.testing.assert_array_equal(both[::2], unit[::2])
    np.testing.assert_array_equal(both[1::2], raw[1::2])
    assert (unit != raw).any()


def test_k_means_does_not_notice_the_rotation():
    # Little structure on purpose: runs differ, and must differ in the same way.
    X, _ = blobs(40, 70, spread=0.3)
    support = np.arange(60)
    many = clusterings(X, 4, n_runs=8)
    plain = StandardScaler().fit_transform(X)[:, support]
    expected = np.stack(
        [KMeans(4, n_init=1, random_state=int(s)).fit_predict(plain) for s in many.seeds]
    )
    assert len({tuple(run) for run in expected}) > 1
    assert same_partitions(many(support), expected)


@pytest.mark.parametrize("k", [5, 70])
@pytest.mark.parametrize("most_rows", [1500, 40])
def test_sparse_tables_give_the_answers_of_dense_ones(most_rows, k, monkeypatch):
    monkeypatch.setattr(defaults, "KMEANS_SAMPLES", most_rows)
    monkeypatch.setattr(defaults, "KMEANS_SAMPLES_PER_CLUSTER", 1)
    X = np.random.default_rng(0).poisson(0.7, (60, 80)).astype(float)
    support = np.random.default_rng(1).permutation(80)[:k]
    dense, sparse = clusterings(X, n_runs=4), clusterings(sp.csr_array(X), n_runs=4)
    assert same_partitions(dense(support), sparse(support))
