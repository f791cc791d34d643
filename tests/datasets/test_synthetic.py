"""Planted tables: the truth that is returned is the truth in the table."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_selection import f_classif

from featsieve.datasets import make_planted


@settings(max_examples=25)
@given(
    n_samples=st.integers(5, 40),
    n_clusters=st.integers(1, 5),
    n_informative=st.integers(1, 12),
    n_redundant=st.integers(0, 12),
    n_noise=st.integers(0, 12),
    seed=st.integers(0, 999),
)
def test_shapes_and_counts_are_those_asked_for(
    n_samples, n_clusters, n_informative, n_redundant, n_noise, seed
):
    n_features = n_informative + n_redundant + n_noise
    planted = make_planted(
        n_samples,
        n_features,
        n_informative=n_informative,
        n_redundant=n_redundant,
        n_clusters=n_clusters,
        random_state=seed,
    )
    assert planted.X.shape == (n_samples, n_features)
    assert planted.informative.sum() == n_informative
    assert planted.redundant.sum() == n_redundant
    assert not np.any(planted.redundant & planted.informative)
    sizes = np.bincount(planted.labels, minlength=n_clusters)
    assert sizes.shape == (n_clusters,)
    assert sizes.min() >= 1
    assert np.ptp(sizes) <= 1


def test_the_seed_decides_the_table():
    first, again, other = (make_planted(30, 50, random_state=seed) for seed in (3, 3, 4))
    for name in ("X", "labels", "informative"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
        assert np.any(getattr(first, name) != getattr(other, name))
    assert np.any(np.diff(first.labels) < 0)  # not sorted by cluster


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"n_informative": -1}, "between 0 and n_features=50; got -1"),
        ({"n_informative": 51}, "between 0 and n_features=50; got 51"),
        ({"n_clusters": 31}, "between 1 and n_samples=30; got 31"),
        ({"n_informative": 10, "n_redundant": 41}, r"n_features=50; got 10 \+ 41"),
        ({"n_informative": 0, "n_redundant": 2}, "needs informative features to repeat"),
    ],
)
def test_counts_that_do_not_fit_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        make_planted(30, 50, **wrong)


def test_noise_is_standard_normal_in_every_cluster():
    planted = make_planted(2000, 50, n_informative=25, n_clusters=2, random_state=0)
    within = [planted.X[planted.labels == k] for k in range(2)]
    for cluster in within:
        np.testing.assert_allclose(cluster.std(axis=0), 1.0, atol=0.1)
    means = np.stack([cluster.mean(axis=0) for cluster in within])
    np.testing.assert_allclose(means[:, ~planted.informative], 0.0, atol=0.15)


# Redundant features ------------------------------------------------------------------------------


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
