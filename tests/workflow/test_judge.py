"""Selections judged by known classes."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

from featsieve.datasets import Dataset
from featsieve.report.selection.evaluation import MOST_SAMPLES, N_STARTS
from featsieve.workflow import compare_methods, select_features
from featsieve.workflow.judge import Judge, too_many_classes
from featsieve.workflow.summary import summarize


def test_scores_are_those_of_scikit_learn(small_planted):
    X, y = small_planted.X, small_planted.labels
    judge = Judge(X, y)
    for support in (small_planted.informative, ~small_planted.informative):
        scaled = StandardScaler().fit_transform(X[:, support])
        labels = KMeans(len(set(y)), n_init=N_STARTS, random_state=0).fit(scaled).labels_
        expected = normalized_mutual_info_score(y, labels)
        assert judge.of(support).nmi == pytest.approx(expected, abs=1e-6)
    everything = np.ones(X.shape[1], dtype=bool)
    assert judge.of() == judge.of(everything)
    sparse = Judge(sp.csr_array(X), y).of(small_planted.informative)
    assert sparse.nmi == pytest.approx(judge.of(small_planted.informative).nmi)


def test_methods_and_all_features_are_judged(small_planted):
    table = Dataset("t", small_planted.X, y=small_planted.labels)
    arguments = {"n_clusters": 3, "n_features": 8, "n_subsamples": 0}
    compared = compare_methods(table, ["maxvariance", "randomselector"], **arguments)
    judge = Judge(table.X, table.y)
    for entry in compared.entries:
        assert entry.agreement == judge.of(entry.support)
    assert compared.all_features == judge.of()
    good, bad = (entry.agreement.nmi for entry in compared.entries)
    assert good > bad
    unknown = compare_methods(small_planted.X, ["maxvariance", "randomselector"], **arguments)
    assert unknown.all_features is None
    for one, other in zip(compared.entries, unknown.entries, strict=True):
        np.testing.assert_array_equal(one.support, other.support)  # they have not seen the classes
        assert other.agreement is None


def test_classes_that_cannot_judge(small_planted):
    X = small_planted.X
    alone = Dataset("t", X, y=np.zeros(len(X), dtype=int))
    compared = compare_methods(alone, ["maxvariance"], n_clusters=3, n_features=8, n_subsamples=0)
    assert compared.all_features is None
    assert "The classes judge nothing: all samples are of one class." in compared.notes
    each = Dataset("t", X, y=np.arange(len(X)))
    compared = compare_methods(each, ["maxvariance"], n_clusters=3, n_features=8, n_subsamples=0)
    assert f"{len(X)} classes of {len(X)} samples" in compared.notes[-1]
    assert not too_many_classes(np.repeat(np.arange(5), 2))
    assert too_many_classes(np.r_[np.arange(6), [0, 0, 0, 0]])


def test_long_tables_are_judged_by_a_part():
    X = np.random.default_rng(0).standard_normal((MOST_SAMPLES + 500, 3))
    judge = Judge(X, (X[:, 0] > 0).astype(int))
    assert judge.X.shape == (MOST_SAMPLES, 3)
    assert judge.of(np.array([True, False, False])).accuracy > 0.9


def test_the_report_says_the_same(small_planted):
    table = Dataset("t", small_planted.X, y=small_planted.labels, class_names=list("abc"))
    run = select_features(table, n_clusters=3, n_features=8, n_subsamples=0)
    selected, everything, *_ = summarize(run)["evaluation"]["rows"]
    judge = Judge(table.X, table.y)
    for row, support in ((selected, run.selector.support_), (everything, None)):
        agreement = judge.of(support)
        assert row["accuracy"] == pytest.approx(agreement.accuracy, abs=1e-4)
        assert row["nmi"] == pytest.approx(agreement.nmi, abs=1e-4)
