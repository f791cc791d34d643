"""JASFS with landmarks: the same model, against dense arithmetic on small tables."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from featsieve import JASFS
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.graphs.coordinates import hat_coordinates
from featsieve.graphs.views import leave_one_out_accuracy
from featsieve.jasfs.start import Settings, large_start
from featsieve.solvers.row_sparse import RowSparseRegression
from featsieve.terms import NeighbourGraph, normalised_indicator

C = 4


@pytest.fixture(scope="module")
def planted():
    return make_planted(n_samples=600, n_features=60, n_informative=8, signal=4.0, random_state=0)


def settings(**changes):
    standard = {
        "init": "landmarks",
        "n_clusters": C,
        "n_neighbors": 5,
        "alpha": 0.3,
        "beta": 1.0,
        "ridge": 10.0,
        "shrinkage": 1.0,
        "labels": None,
        "random_state": np.random.RandomState(0),
    }
    return Settings(**{**standard, **changes})


def begun(X, **changes):
    operator = as_operator(X, scale="unit")
    return large_start(operator, settings(**changes))


def dense_graph(graph):
    nearest, weights = graph.parts.gather(graph.links)
    B = np.zeros((len(nearest), graph.n_landmarks))
    np.put_along_axis(B, nearest, weights.astype(float), axis=1)
    mass = B.sum(axis=0)
    keep = mass > 0
    return (B[:, keep] / mass[keep]) @ B[:, keep].T


@pytest.mark.parametrize("beta", [1e-3, 1.0])
def test_the_objective_is_that_of_the_dense_graph(planted, beta):
    start = begun(planted.X, beta=beta)
    problem, labels = start.problem, start.problem.host_labels(start.labels)
    F = normalised_indicator(labels, C)
    graph = NeighbourGraph(sp.csr_array(dense_graph(problem.graph)), alpha=0.3, beta=beta)
    regression = RowSparseRegression(problem.operator, F - F.mean(axis=0), ridge=10.0)
    support = np.array([1, 5, 7, 20])
    expected = regression.value(support) + graph.value(F)
    assert problem.value(start.labels, support) == pytest.approx(expected, rel=1e-6)


def test_sums_sizes_and_accuracy_are_those_of_the_labels(planted):
    start = begun(planted.X)
    problem, labels = start.problem, start.problem.host_labels(start.labels)
    operator = problem.operator
    F = normalised_indicator(labels, C)
    np.testing.assert_array_equal(problem.cluster_sizes(start.labels), np.bincount(labels))
    np.testing.assert_allclose(
        problem.regression(start.labels).correlation(), operator.rmatmul(F), atol=1e-10
    )
    Z = operator.columns(np.arange(60))
    means = np.stack([Z[labels == k].mean(axis=0) for k in range(C)], axis=1)
    np.testing.assert_allclose(problem.cluster_moments(start.labels), means, atol=1e-12)
    # fewer samples than are drawn: the estimate is exact
    exact = leave_one_out_accuracy(labels, hat_coordinates(operator), C)
    assert problem.accuracy(start.labels) == pytest.approx(exact, abs=1e-12)


def test_planted_features_and_clusters_are_found(planted):
    sieve = JASFS(C, n_features_to_select=8, init="landmarks", random_state=0).fit(planted.X)
    np.testing.assert_array_equal(sieve.support_, planted.informative)
    assert sieve.init_ == "landmarks"
    assert sieve.n_landmarks_ == 60
    assert np.all(np.diff(sieve.objective_) <= 0.0)
    exact = JASFS(C, n_features_to_select=8, init="spectral", random_state=0).fit(planted.X)
    assert exact.n_landmarks_ == 0
    of_exact = adjusted_rand_score(planted.labels, exact.labels_)
    assert adjusted_rand_score(planted.labels, sieve.labels_) > max(0.85, of_exact - 0.1)
    # numbered by the first sample, like everywhere
    _, first = np.unique(sieve.labels_, return_index=True)
    assert np.all(np.diff(first) > 0)


def test_coefficients_centres_and_predictions_belong_to_the_labels(planted):
    X = planted.X * np.linspace(1.0, 50.0, 60) + 7.0
    sieve = JASFS(C, n_features_to_select=8, init="landmarks", random_state=0).fit(X)
    selected = np.flatnonzero(sieve.support_)
    for k in range(C):
        members = X[sieve.labels_ == k][:, selected]
        np.testing.assert_allclose(sieve.cluster_centers_[k], members.mean(axis=0), rtol=1e-9)
    F = normalised_indicator(sieve.labels_, C)
    operator = as_operator(X, scale="unit")
    Z = operator.columns(selected)
    W = np.linalg.solve(Z.T @ Z + 10.0 * np.eye(8), Z.T @ F)
    np.testing.assert_allclose(
        sieve.coef_[selected], operator.inverse_scale[selected, None] * W, rtol=1e-8
    )
    fitted = X @ sieve.coef_ + sieve.intercept_
    np.testing.assert_allclose(fitted.mean(axis=0), F.mean(axis=0), rtol=1e-8)
    assert np.mean(sieve.predict(X) == sieve.labels_) > 0.95


@pytest.mark.parametrize("kind", ["float32", "uint8", "sparse"])
def test_every_kind_of_table(planted, kind):
    counts = np.clip(np.round(8.0 * planted.X + 100.0), 0, 255)
    table = {
        "float32": planted.X.astype(np.float32),
        "uint8": counts.astype(np.uint8),
        "sparse": sp.csr_array(np.where(counts > 100, counts, 0.0)),
    }[kind]
    sieve = JASFS(C, n_features_to_select=8, init="landmarks", random_state=0).fit(table)
    if kind == "sparse":
        full = JASFS(C, n_features_to_select=8, init="landmarks", random_state=0)
        np.testing.assert_array_equal(sieve.support_, full.fit(table.toarray()).support_)
    else:
        np.testing.assert_array_equal(sieve.support_, planted.informative)


def test_neither_the_cut_of_the_table_nor_the_size_of_the_gram_matters(planted, monkeypatch):
    def fit():
        return JASFS(C, n_features_to_select=12, init="landmarks", random_state=0).fit(planted.X)

    whole = fit()
    monkeypatch.setattr("featsieve.arrays.row_parts.HOST_ELEMENTS", 60 * 70)
    monkeypatch.setattr("featsieve.arrays.row_parts.FEWEST_ROWS", 70)
    cut = fit()
    monkeypatch.setattr("featsieve.jasfs.large.LARGEST_GRAM", 10)
    monkeypatch.setattr("featsieve.solvers.forward_forms.LARGEST_GRAM", 10)
    monkeypatch.setattr("featsieve.solvers.forward_forms.LARGEST_REREAD", 10)
    monkeypatch.setattr("featsieve.solvers.forward_forms.FEW_SAMPLES", 10)
    without_gram = fit()
    for other in (cut, without_gram):
        np.testing.assert_array_equal(other.path_.order, whole.path_.order)
        np.testing.assert_array_equal(other.labels_, whole.labels_)
        np.testing.assert_allclose(other.coef_, whole.coef_, rtol=1e-8, atol=1e-14)
        np.testing.assert_allclose(other.objective_, whole.objective_, rtol=1e-8)


def test_auto_takes_landmarks_beyond_some_number_of_samples(planted, monkeypatch):
    monkeypatch.setattr("featsieve.defaults.LARGEST_EXACT_GRAPH", 599)
    fits = {
        init: JASFS(C, n_features_to_select=8, init=init, random_state=0).fit(planted.X)
        for init in ("auto", "spectral", "k-means")
    }
    assert {init: (sieve.init_, sieve.n_landmarks_ > 0) for init, sieve in fits.items()} == {
        "auto": ("landmarks", True),
        "spectral": ("spectral", False),
        "k-means": ("k-means", True),
    }
    for sieve in fits.values():
        np.testing.assert_array_equal(sieve.support_, planted.informative)
    given = JASFS(C, n_features_to_select=8, init=fits["auto"].labels_, random_state=0)
    given.fit(planted.X)
    assert given.init_ == "given"
    assert adjusted_rand_score(given.labels_, fits["auto"].labels_) > 0.95


@pytest.mark.parametrize("init", ["landmarks", "k-means"])
def test_few_different_rows_each_many_times(init, monkeypatch):
    monkeypatch.setattr("featsieve.defaults.LARGEST_EXACT_GRAPH", 100)
    different = np.random.default_rng(0).standard_normal((6, 12))
    truth = np.repeat(np.arange(6), 200)
    sieve = JASFS(6, n_features_to_select=4, init=init, random_state=0).fit(different[truth])
    assert adjusted_rand_score(truth, sieve.labels_) > 0.95
    assert sieve.n_landmarks_ <= 12
    # more clusters than different rows: every cluster has a sample, nothing is undefined
    more = JASFS(8, n_features_to_select=4, init=init, random_state=0).fit(different[truth])
    assert len(np.unique(more.labels_)) == 8
    assert np.all(np.isfinite(more.coef_))


def test_the_same_seed_gives_the_same_answer_on_a_graph_in_many_parts():
    X = np.random.default_rng(0).integers(0, 2, (1200, 9)).astype(np.uint8)
    fits = [
        JASFS(60, n_features_to_select=3, init="landmarks", random_state=0).fit(X) for _ in "ab"
    ]
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)
    np.testing.assert_array_equal(fits[0].objective_, fits[1].objective_)


def test_a_cluster_of_one_sample_does_not_stop_the_others(monkeypatch):
    monkeypatch.setattr("featsieve.defaults.LARGEST_EXACT_GRAPH", 100)
    X, y = make_blobs(600, 12, centers=3, cluster_std=1.0, random_state=0)
    X = np.vstack([X, np.full((1, 12), 60.0)])
    rng = np.random.default_rng(0)
    wrong = np.where(rng.random(600) < 0.3, rng.integers(0, 3, 600), y)
    start = np.append(wrong, 3)
    sieve = JASFS(4, n_features_to_select=6, init=start, random_state=0).fit(X)
    assert adjusted_rand_score(y, wrong) < 0.7
    assert adjusted_rand_score(y, sieve.labels_[:600]) > 0.95


def test_a_doubtful_start_is_said_to_be_one(monkeypatch):
    monkeypatch.setattr("featsieve.defaults.LARGEST_EXACT_GRAPH", 100)
    X = np.random.default_rng(0).standard_normal((400, 200))
    with pytest.warns(UserWarning, match="fit a sample of the rows"):
        JASFS(8, n_features_to_select=5, random_state=0).fit(X)
