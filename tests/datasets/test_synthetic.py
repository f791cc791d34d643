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


# Redundant features ------------------------------------------------------------------------------


@settings(max_examples=25)
@given(
    n_informative=st.integers(1, 12),
    n_redundant=st.integers(0, 12),
    n_noise=st.integers(0, 12),
    seed=st.integers(0, 999),
)
def test_redundant_features_are_counted_and_disjoint(n_informative, n_redundant, n_noise, seed):
    n_features = n_informative + n_redundant + n_noise
    planted = make_planted(
        20, n_features, n_informative=n_informative, n_redundant=n_redundant, random_state=seed
    )
    assert planted.X.shape == (20, n_features)
    assert planted.redundant.dtype == bool
    assert planted.redundant.shape == (n_features,)
    assert planted.redundant.sum() == n_redundant
    assert planted.informative.sum() == n_informative
    assert not np.any(planted.redundant & planted.informative)


def test_by_default_nothing_is_redundant():
    assert not make_planted(20, 30, random_state=0).redundant.any()


def test_the_other_columns_are_those_of_the_table_without_redundancy():
    plain, planted = (
        make_planted(60, 50, n_informative=6, n_redundant=n, random_state=3) for n in (0, 9)
    )
    np.testing.assert_array_equal(plain.labels, planted.labels)
    np.testing.assert_array_equal(plain.informative, planted.informative)
    rest = ~planted.redundant
    np.testing.assert_array_equal(plain.X[:, rest], planted.X[:, rest])
    assert np.all(plain.X[:, planted.redundant] != planted.X[:, planted.redundant])


def nearest_informative(planted):
    """Return, per redundant column, the informative one it is most correlated with, and how."""
    correlation = np.corrcoef(planted.X, rowvar=False)
    block = correlation[np.ix_(planted.redundant, planted.informative)]
    return block.argmax(axis=1), block.max(axis=1)


def test_a_redundant_feature_is_half_an_informative_one_and_half_noise():
    # Columns are independent without signal, so that the correlation is 1/sqrt(2) with one of
    # them and 0 with the others; the variance is the same.
    planted = make_planted(20_000, 14, n_informative=4, n_redundant=8, signal=0.0, random_state=0)
    source, correlation = nearest_informative(planted)
    np.testing.assert_allclose(correlation, np.sqrt(0.5), atol=0.02)
    np.testing.assert_allclose(planted.X[:, planted.redundant].std(axis=0), 1.0, atol=0.03)
    np.testing.assert_array_equal(np.bincount(source), 2)  # each is repeated as often


@pytest.mark.parametrize("seed", range(3))
def test_redundant_features_separate_the_clusters_too_but_less(seed):
    planted = make_planted(300, 100, n_informative=8, n_redundant=8, signal=3.0, random_state=seed)
    statistic = f_classif(planted.X, planted.labels)[0]
    noise = ~(planted.informative | planted.redundant)
    assert statistic[planted.redundant].min() > statistic[noise].max()
    assert np.median(statistic[planted.redundant]) < np.median(statistic[planted.informative])
    variance = planted.X.var(axis=0)
    sources = variance[planted.informative]
    np.testing.assert_allclose(np.sort(variance[planted.redundant]), np.sort(sources), rtol=0.35)


@pytest.mark.parametrize("n_redundant", [-1, 41])
def test_too_many_or_negative_redundant_features_are_refused(n_redundant):
    with pytest.raises(ValueError, match=rf"n_features - n_informative = 40; got {n_redundant}"):
        make_planted(30, 50, n_informative=10, n_redundant=n_redundant)


def test_redundant_features_need_an_informative_one():
    with pytest.raises(ValueError, match="needs informative features to repeat"):
        make_planted(30, 50, n_informative=0, n_redundant=2)
    assert not make_planted(30, 50, n_informative=0, n_redundant=0).informative.any()


def test_the_same_seed_gives_the_same_redundant_columns():
    first, again = (make_planted(30, 50, n_redundant=7, random_state=3) for _ in "ab")
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.redundant, again.redundant)
