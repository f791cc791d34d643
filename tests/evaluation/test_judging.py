"""Columns judged by known classes."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

from featsieve import defaults
from featsieve.evaluation.judging import Judge, clear_difference, scaled_columns, too_many_classes


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_scores_are_those_of_scikit_learn(small_planted, make):
    X, y = small_planted.X, small_planted.labels
    judge = Judge(make(X), y)
    for support in (small_planted.informative, ~small_planted.informative, np.ones(60, bool)):
        scaled = StandardScaler().fit_transform(X[:, support])
        labels = KMeans(len(set(y)), n_init=10, random_state=0).fit(scaled).labels_
        expected = normalized_mutual_info_score(y, labels, average_method="geometric")
        assert judge.scores(np.flatnonzero(support)).nmi.mean() == pytest.approx(expected, abs=1e-6)
    assert judge.scores().nmi.mean() == pytest.approx(expected, abs=1e-6)  # all columns


@pytest.mark.parametrize("sparse", [False, True])
def test_scaled_columns_have_unit_variance_and_stay_sparse(small_planted, sparse):
    X = np.where(small_planted.X > 0.3, 7.0 * small_planted.X, 0.0)
    scaled = scaled_columns(sp.csr_array(X) if sparse else X, np.array([3, 1]))
    assert sp.issparse(scaled) == sparse
    dense = scaled.toarray() if sparse else scaled
    centred = dense - dense.mean(axis=0)
    np.testing.assert_allclose(centred, StandardScaler().fit_transform(X[:, [3, 1]]), atol=1e-12)


def test_long_tables_are_judged_by_a_part():
    n = defaults.JUDGE_SAMPLES
    X = np.random.default_rng(0).standard_normal((n + 500, 3))
    judge = Judge(X, (X[:, 0] > 0).astype(int))
    assert judge.n_samples == len(judge.X) == n
    assert judge.scores(np.array([0])).accuracy.mean() > 0.9


def test_when_scores_mean_something():
    assert not Judge(np.eye(4), np.zeros(4, dtype=int)).can
    assert [too_many_classes(k, 10) for k in (5, 6)] == [False, True]
    assert [clear_difference(n) for n in (25, 10**6)] == [0.2, 0.05]
