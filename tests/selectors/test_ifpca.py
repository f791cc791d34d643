"""IF-PCA: scores against scipy, Higher Criticism by its formula, clusters."""

import numpy as np
import pytest
from scipy.stats import kstest
from sklearn.cluster import KMeans
from sklearn.feature_selection import f_classif
from sklearn.metrics import adjusted_rand_score

from featsieve import IFPCA
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.selectors.ifpca import (
    f_scores,
    higher_criticism,
    ks_pvalues,
    ks_scores,
    normal_null,
)

PLANTED = make_planted(300, 60, n_informative=12, n_clusters=3, signal=5.0, random_state=0)


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def test_scores_are_those_of_kolmogorov_and_smirnov():
    X = np.random.default_rng(0).gamma(2.0, size=(40, 7)) * 10.0 ** np.arange(-3, 4)
    expected = [np.sqrt(40) * kstest(z, "norm").statistic for z in standardised(X).T]
    np.testing.assert_allclose(ks_scores(as_operator(X, scale="std")), expected, rtol=1e-9)
    np.testing.assert_allclose(IFPCA(2).fit(X).scores_, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("n", "at_5_percent", "at_1_percent"), [(10, 0.262, 0.304), (20, 0.192, 0.223)]
)
def test_the_null_has_the_critical_values_of_lilliefors(n, at_5_percent, at_1_percent):
    # published for mean and deviation estimated (with n - 1: larger by sqrt(n/(n-1)) in the
    # standardised values, which moves the values by less than the tolerance)
    found = np.quantile(normal_null(n), [0.95, 0.99]) / np.sqrt(n)
    np.testing.assert_allclose(found, [at_5_percent, at_1_percent], atol=0.012)


def test_pvalues_have_the_mean_and_deviation_of_the_null():
    scores = 3.0 + 7.0 * normal_null(30)[::97]  # another origin and unit: nothing changes
    pvalues = ks_pvalues(scores, 30)
    assert abs(pvalues.mean() - 0.5) < 0.01
    assert abs(np.quantile(pvalues, 0.05) - 0.05) < 0.01
    assert (np.diff(pvalues) <= 0.0).all()


def direct_criticism(pvalues, n):
    """Return the number of features by the formula, one at a time."""
    p = len(pvalues)
    best, chosen = -np.inf, 0
    for k, value in enumerate(sorted(pvalues), start=1):
        u = k / (p + 1)
        if value > np.log(p) / p and k <= round(p / 2):
            height = np.sqrt(p) * (u - value) / np.sqrt(u)
            height /= np.sqrt(max(np.sqrt(n) * (u - value) / u, 0.0) + 1.0)
            if height >= best:
                best, chosen = height, k
    return chosen


@pytest.mark.parametrize("seed", range(5))
def test_higher_criticism_by_its_formula(seed):
    rng = np.random.default_rng(seed)
    pvalues = np.concatenate([rng.random(150), 0.2 * rng.random(50)])
    assert higher_criticism(rng.permutation(pvalues), 50) == direct_criticism(pvalues, 50)


def test_higher_criticism_where_no_pvalue_can_be_looked_at():
    assert higher_criticism(np.array([0.4]), 10) == 1
    assert 1 <= higher_criticism(np.full(40, 1e-9), 10) <= 40  # all below log(p)/p


def test_higher_criticism_keeps_about_the_influential_columns():
    made = make_planted(400, 1000, n_informative=40, n_clusters=2, signal=4.0, random_state=0)
    sieve = IFPCA(2, random_state=0).fit(made.X)
    assert 10 <= sieve.n_features_selected_ <= 120
    assert made.informative[np.argsort(sieve.ranking_)[:10]].all()
    assert adjusted_rand_score(sieve.labels_, made.labels) > 0.95
    assert sieve.pvalues_[made.informative].mean() < 0.3 < sieve.pvalues_[~made.informative].mean()


def test_clusters_are_those_of_the_leading_singular_vectors():
    sieve = IFPCA(3, n_features_to_select=10, random_state=0).fit(PLANTED.X)
    U = np.linalg.svd(standardised(PLANTED.X)[:, sieve.support_], full_matrices=False)[0][:, :2]
    expected = KMeans(3, n_init=50, random_state=1).fit_predict(U)
    assert adjusted_rand_score(sieve.labels_, expected) == 1.0
    wide = PLANTED.X[:40]  # fewer samples than columns kept
    sieve = IFPCA(3, n_features_to_select=50, random_state=0).fit(wide)
    U = np.linalg.svd(standardised(wide)[:, sieve.support_], full_matrices=False)[0][:, :2]
    expected = KMeans(3, n_init=50, random_state=1).fit_predict(U)
    assert adjusted_rand_score(sieve.labels_, expected) > 0.9


def test_further_rounds_rank_by_the_f_statistic_of_the_clusters():
    first = IFPCA(3, n_features_to_select=12, random_state=0).fit(PLANTED.X)
    expected = f_classif(PLANTED.X, first.labels_)[0]
    found = f_scores(as_operator(PLANTED.X, scale="std"), first.labels_, 3)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    second = IFPCA(3, n_features_to_select=12, n_rounds=2, random_state=0).fit(PLANTED.X)
    np.testing.assert_allclose(second.scores_, expected, rtol=1e-9)
    # columns of clusters whose mixture looks normal are found from the others
    weak = make_planted(100, 60, n_informative=12, n_clusters=3, signal=3.0, random_state=0)
    first, second = (
        IFPCA(3, n_features_to_select=12, n_rounds=rounds, random_state=0).fit(weak.X)
        for rounds in (1, 2)
    )
    found = [(one.support_ & weak.informative).sum() for one in (first, second)]
    assert found[1] > found[0]
