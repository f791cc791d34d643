"""Planted tables: the truth that is returned is the truth in the table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_selection import f_classif

from featsieve.datasets import make_planted


@settings(max_examples=25, deadline=None)
@given(
    n_samples=st.integers(5, 40),
    n_features=st.integers(1, 40),
    n_clusters=st.integers(1, 5),
    share=st.floats(0, 1),
    seed=st.integers(0, 999),
)
def test_shapes_and_counts_are_those_asked_for(n_samples, n_features, n_clusters, share, seed):
    n_informative = round(share * n_features)
    planted = make_planted(
        n_samples,
        n_features,
        n_informative=n_informative,
        n_clusters=n_clusters,
        random_state=seed,
    )
    assert planted.X.shape == (n_samples, n_features)
    assert planted.X.dtype == np.float64
    assert planted.informative.dtype == bool
    assert planted.informative.shape == (n_features,)
    assert planted.informative.sum() == n_informative
    sizes = np.bincount(planted.labels, minlength=n_clusters)
    assert sizes.shape == (n_clusters,)
    assert sizes.min() >= 1
    assert np.ptp(sizes) <= 1


@pytest.mark.parametrize("seed", range(3))
def test_informative_features_are_the_ones_that_differ_between_clusters(seed):
    planted = make_planted(300, 200, n_informative=15, signal=3.0, random_state=seed)
    statistic = f_classif(planted.X, planted.labels)[0]
    assert statistic[planted.informative].min() > statistic[~planted.informative].max()


def test_noise_is_standard_normal_in_every_cluster():
    planted = make_planted(2000, 50, n_informative=25, n_clusters=2, random_state=0)
    within = [planted.X[planted.labels == k] for k in range(2)]
    for cluster in within:
        np.testing.assert_allclose(cluster.std(axis=0), 1.0, atol=0.1)
    means = np.stack([cluster.mean(axis=0) for cluster in within])
    np.testing.assert_allclose(means[:, ~planted.informative], 0.0, atol=0.15)


def test_signal_is_the_spread_of_the_cluster_means():
    planted = make_planted(1200, 400, n_informative=400, n_clusters=3, signal=5.0, random_state=0)
    means = [planted.X[planted.labels == k].mean(axis=0) for k in range(3)]
    assert np.std(means) == pytest.approx(5.0, rel=0.1)


def test_without_signal_nothing_is_planted():
    planted = make_planted(400, 100, n_informative=50, signal=0.0, random_state=0)
    statistic = f_classif(planted.X, planted.labels)[0]
    assert statistic.max() < 10.0


def test_informative_features_and_clusters_are_at_random_positions():
    first, second = (make_planted(40, 60, random_state=seed) for seed in (0, 1))
    assert np.any(first.informative != second.informative)
    assert np.any(first.labels != second.labels)
    assert np.any(np.diff(first.labels) < 0)  # not sorted by cluster


def test_the_same_seed_gives_the_same_table_and_another_seed_another():
    first, again, other = (make_planted(30, 50, random_state=seed) for seed in (3, 3, 4))
    for name in ("X", "labels", "informative"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    assert np.any(first.X != other.X)


def test_a_random_state_object_is_advanced():
    state = np.random.RandomState(0)
    first, second = (make_planted(30, 50, random_state=state) for _ in "ab")
    np.testing.assert_array_equal(first.X, make_planted(30, 50, random_state=0).X)
    assert np.any(first.X != second.X)


@pytest.mark.parametrize("n_informative", [-1, 51])
def test_too_many_or_negative_informative_features_are_refused(n_informative):
    with pytest.raises(ValueError, match=rf"between 0 and n_features=50; got {n_informative}"):
        make_planted(30, 50, n_informative=n_informative)


@pytest.mark.parametrize("n_clusters", [0, 31])
def test_more_clusters_than_samples_or_none_are_refused(n_clusters):
    with pytest.raises(ValueError, match=rf"between 1 and n_samples=30; got {n_clusters}"):
        make_planted(30, 50, n_clusters=n_clusters)


def test_the_truth_cannot_be_replaced():
    planted = make_planted(10, 20, random_state=0)
    with pytest.raises(AttributeError):
        planted.labels = np.zeros(10)
