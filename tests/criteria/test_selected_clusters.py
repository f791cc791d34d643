"""Clusters that go with a selection."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from featsieve import JASFS, AutoSelector, LaplacianScore, MaxVariance
from featsieve.criteria.selected_clusters import layers, selected_clusters


@pytest.mark.parametrize(("n_clusters", "number"), [(3, "asked"), ("auto", "found")])
def test_a_method_has_its_own(small_planted, n_clusters, number):
    sieve = JASFS(n_clusters, n_features_to_select=5, random_state=0).fit(small_planted.X)
    found = selected_clusters(sieve, small_planted.X)
    np.testing.assert_array_equal(found.codes, sieve.labels_)
    assert (found.source, found.number) == ("method", number)
    np.testing.assert_array_equal(found.sizes, np.bincount(sieve.labels_))


@pytest.mark.parametrize(("n_clusters", "number"), [(3, "asked"), (None, "suggested")])
def test_others_get_those_of_the_selected_columns(small_planted, n_clusters, number):
    sieve = LaplacianScore(8).fit(small_planted.X)
    found = selected_clusters(sieve, small_planted.X, n_clusters=n_clusters)
    assert adjusted_rand_score(small_planted.labels, found.codes) == 1.0
    assert (found.source, found.number, found.names) == ("k-means", number, ["0", "1", "2"])


def test_columns_that_do_not_vary_have_no_clusters():
    X = np.column_stack([np.arange(6.0), np.ones(6)])
    sieve = MaxVariance(1).fit(X)
    sieve.support_ = np.array([False, True])
    assert selected_clusters(sieve, X) is None


def test_selectors_inside_of_others_are_found(small_planted):
    auto = AutoSelector(JASFS(3), sizes=[2, 4]).fit(small_planted.X)
    assert [type(layer).__name__ for layer in layers(auto)] == ["AutoSelector", "JASFS"]
