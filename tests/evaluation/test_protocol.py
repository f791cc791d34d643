import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy import stats
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from featsieve.evaluation import (
    ClusteringScores,
    clustering_accuracy,
    paper_protocol,
    practical_protocol,
)

X, Y = load_iris(return_X_y=True)
NOISE = np.random.default_rng(0).standard_normal((60, 3))
CLASSES = np.repeat(["a", "b", "c"], 20)


def measures(scores):
    return np.stack([scores.accuracy, scores.nmi, scores.ari])


def test_paper_protocol_is_a_loop_over_single_k_means_runs():
    scores = paper_protocol(NOISE, CLASSES, n_seeds=6)
    assert scores.n_runs == 6
    for seed in range(6):
        model = KMeans(3, init="random", n_init=1, random_state=seed)
        labels = model.fit_predict(NOISE)
        assert scores.accuracy[seed] == clustering_accuracy(CLASSES, labels)
        nmi = normalized_mutual_info_score(CLASSES, labels, average_method="geometric")
        assert scores.nmi[seed] == pytest.approx(nmi)
        assert scores.ari[seed] == pytest.approx(adjusted_rand_score(CLASSES, labels))
    assert len(set(scores.nmi)) > 1  # the starts differ
    assert paper_protocol(NOISE, CLASSES).n_runs == 10


def test_practical_protocol_takes_the_tightest_of_the_starts():
    state = np.random.RandomState(3)  # every start goes on where the last one left it
    runs = [KMeans(8, n_init=1, random_state=state).fit(X) for _ in range(20)]
    best = min(runs, key=lambda model: model.inertia_)
    y = KMeans(8, n_init=1, random_state=99).fit_predict(X[:, :2])
    expected = ClusteringScores.of_labels(y, best.labels_)
    found = practical_protocol(X, y, random_state=3)
    assert found.n_runs == 1
    np.testing.assert_allclose(measures(found), measures(expected))
    assert len({round(model.inertia_, 6) for model in runs}) > 1
    single = practical_protocol(X, y, n_starts=1, random_state=4)
    labels = KMeans(8, n_init=1, random_state=4).fit_predict(X)
    np.testing.assert_allclose(measures(single), measures(ClusteringScores.of_labels(y, labels)))


@pytest.mark.parametrize("protocol", [paper_protocol, practical_protocol])
def test_protocols_find_separated_clusters_and_repeat_themselves(protocol):
    y = np.repeat([0, 1], 20)
    points = np.random.default_rng(1).standard_normal((40, 3)) + 20 * y[:, None]
    assert protocol(points, y).mean() == (1.0, 1.0, 1.0)
    noise = protocol(NOISE, CLASSES)
    np.testing.assert_array_equal(measures(noise), measures(protocol(NOISE, CLASSES)))
    assert noise.mean()[0] < 0.9
    # the names of the classes do not matter, nor does the container
    renamed = pd.Series(CLASSES).map({"a": 7, "b": 1, "c": 3})
    other = protocol(pd.DataFrame(NOISE, columns=["p", "q", "r"]), renamed)
    np.testing.assert_allclose(measures(other), measures(noise))


def test_sparse_tables_also_with_wide_indices_or_entries_in_pieces():
    dense = np.where(X > 1.5, X, 0.0)
    expected = measures(paper_protocol(dense, Y))
    wide = sp.csr_array(dense)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    for table in (wide, sp.csc_matrix(dense)):
        np.testing.assert_allclose(measures(paper_protocol(table, Y)), expected, atol=1e-12)
    # Two halves of every row, one after the other: each entry is stored twice.
    part = sp.csr_array(dense / 2.0)
    rows = list(zip(part.indptr, part.indptr[1:], strict=False))
    indices = np.concatenate([np.tile(part.indices[a:b], 2) for a, b in rows])
    values = np.concatenate([np.tile(part.data[a:b], 2) for a, b in rows])
    pieces = sp.csr_array((values, indices, 2 * part.indptr), shape=dense.shape)
    before = pieces.data.copy()
    np.testing.assert_allclose(measures(paper_protocol(pieces, Y)), expected, atol=1e-12)
    np.testing.assert_array_equal(pieces.data, before)  # the caller's table is left alone


@pytest.mark.parametrize("protocol", [paper_protocol, practical_protocol])
def test_fewer_points_than_clusters_are_a_poor_selection_and_no_error(protocol):
    y = np.repeat(np.arange(5), 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nothing = protocol(np.ones((20, 2)), y)
        two = protocol((y > 1).astype(float)[:, None], y)
    np.testing.assert_array_equal(nothing.accuracy, 0.2)
    np.testing.assert_array_equal(nothing.nmi, 0.0)
    np.testing.assert_array_equal(nothing.ari, 0.0)
    assert np.all(two.accuracy <= 0.4)
    assert np.all(two.accuracy >= 0.2)


def test_own_labels_of_one_or_several_runs():
    labels = np.array([[0, 0, 1, 1, 2, 2], [0, 1, 1, 1, 2, 2]])
    y = list("aabbcc")
    both = ClusteringScores.of_labels(y, labels)
    assert both.n_runs == 2
    for run in range(2):
        single = ClusteringScores.of_labels(y, labels[run])
        np.testing.assert_array_equal(measures(single)[:, 0], measures(both)[:, run])
    assert both.accuracy.tolist() == [1.0, 5 / 6]


def test_mean_and_deviation_are_those_of_scipy():
    scores = paper_protocol(NOISE, CLASSES)
    runs = measures(scores)
    np.testing.assert_allclose(scores.mean(), runs.mean(axis=1))
    np.testing.assert_allclose(scores.std(), stats.tstd(runs, axis=1))


@pytest.mark.parametrize("protocol", [paper_protocol, practical_protocol])
def test_what_cannot_be_judged_is_refused(protocol):
    with pytest.raises(ValueError, match="0 feature"):
        protocol(X[:, []], Y)
    with pytest.raises(ValueError, match="single class"):
        protocol(X, np.zeros(150))
    with pytest.raises(ValueError, match=r"shape \(150,\) for 149 samples"):
        protocol(X[:-1], Y)
    with pytest.raises(ValueError, match=r"n_(seeds|starts) must be"):
        protocol(X, Y, **{"n_seeds" if protocol is paper_protocol else "n_starts": 0})
