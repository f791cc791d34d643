"""JASFS above 5000 samples, in small: some rows form the hypotheses, all rows follow them."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from featsieve import JASFS, defaults
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.graphs.coordinates import hat_coordinates, unit_rows
from featsieve.hypotheses.pool import Pool
from featsieve.jasfs.labels import Settings, best_features, cells
from featsieve.jasfs.problem import Problem, cluster_sums
from featsieve.solvers.row_sparse import RowSparseRegression, SummedRegression
from featsieve.terms import normalised_indicator

C = 4


@pytest.fixture(autouse=True)
def few_are_many(monkeypatch):
    monkeypatch.setattr(defaults, "LARGEST_EXACT_GRAPH", 400)
    monkeypatch.setattr(defaults, "N_LANDMARKS", 200)


@pytest.fixture(scope="module")
def planted():
    return make_planted(n_samples=600, n_features=60, n_informative=8, signal=4.0, random_state=0)


def fit(X, **options):
    return JASFS(**{"n_clusters": C, "n_features_to_select": 8, "random_state": 0} | options).fit(X)


@pytest.mark.parametrize("init", [None, "spectral", "k-means"])
def test_all_rows_get_a_cluster(planted, init):
    model = fit(planted.X, init=init)
    assert model.n_landmarks_ == 200
    np.testing.assert_array_equal(model.support_, planted.informative)
    assert model.labels_.shape == model.sample_certainty_.shape == (600,)
    assert model.hypotheses_.shape == (len(model.hypothesis_weights_), 600)
    for labels in (model.labels_, *model.hypotheses_):
        assert np.bincount(labels, minlength=C).min() > 0
        assert labels.max() == C - 1
    if init != "spectral":  # the hat metric drowns in noise
        assert adjusted_rand_score(planted.labels, model.labels_) > 0.95
    assert 0.0 <= model.sample_certainty_.min() <= model.sample_certainty_.max() <= 1.0 + 1e-12
    # numbered by the first sample, like everywhere
    _, first = np.unique(model.labels_, return_index=True)
    assert np.all(np.diff(first) > 0)


def test_given_labels_need_no_landmarks(planted):
    model = fit(planted.X, init=planted.labels)
    assert model.n_landmarks_ == 0
    np.testing.assert_array_equal(model.labels_, planted.labels)
    np.testing.assert_array_equal(model.support_, planted.informative)


def test_the_number_of_landmarks_grows_with_the_clusters(planted, monkeypatch):
    monkeypatch.setattr(defaults, "LANDMARKS_PER_CLUSTER", 75)
    assert fit(planted.X, init="spectral").n_landmarks_ == 300
    monkeypatch.setattr(defaults, "LANDMARKS_PER_CLUSTER", 10_000)
    assert fit(planted.X, init="spectral").n_landmarks_ == 0  # all rows


def test_sums_over_the_clusters_are_the_regression(planted, monkeypatch):
    rng = np.random.default_rng(0)
    labels = [rng.permutation(np.arange(600) % C) for _ in range(3)]
    pool = Pool.of(labels, C, weights=[0.5, 0.2, 0.3])
    operator = as_operator(planted.X, scale="unit")
    summed = Problem(operator, 10.0, n_features=6).regression(pool)
    assert isinstance(summed, SummedRegression)
    whole = RowSparseRegression(operator, pool.target(), ridge=10.0, n_features=6)
    support = np.array([1, 5, 7, 20])
    assert summed.value(support) == pytest.approx(whole.value(support), rel=1e-10)
    assert summed.energy() == pytest.approx(whole.energy(), rel=1e-10)
    np.testing.assert_allclose(summed.gram(support), whole.gram(support), atol=1e-10)
    products = whole.correlation() @ whole.correlation().T
    np.testing.assert_allclose(summed.correlation() @ summed.correlation().T, products, atol=1e-10)
    sums, sizes = cluster_sums(operator, pool)
    Z = operator.columns(np.arange(60))
    np.testing.assert_allclose(
        sums, Z.T @ np.hstack([np.eye(C)[one] for one in labels]), atol=1e-10
    )
    np.testing.assert_array_equal(sizes, [np.bincount(one, minlength=C) for one in labels])


def test_coefficients_centres_and_predictions_belong_to_the_labels(planted):
    X = planted.X * np.linspace(1.0, 50.0, 60) + 7.0
    model = fit(X)
    selected = np.flatnonzero(model.support_)
    for k in range(C):
        members = X[model.labels_ == k][:, selected]
        np.testing.assert_allclose(model.cluster_centers_[k], members.mean(axis=0), rtol=1e-9)
    F = normalised_indicator(model.labels_, C)
    operator = as_operator(X, scale="unit")
    Z = operator.columns(selected)
    W = np.linalg.solve(Z.T @ Z + 10.0 * np.eye(8), Z.T @ F)
    np.testing.assert_allclose(
        model.coef_[selected], operator.inverse_scale[selected, None] * W, rtol=1e-8
    )
    assert np.mean(model.predict(X) == model.labels_) > 0.95
    certificate = model.certify(X)
    assert 0.0 < certificate.lower_bound <= certificate.value * (1 + 1e-12)
    assert certificate.value == pytest.approx(model.objective_[-1], rel=1e-8)
    np.testing.assert_allclose(model.path_.loss[8], model.objective_[-1], rtol=1e-8)


@pytest.mark.parametrize("kind", ["float32", "uint8", "sparse", "torch", "dask"])
def test_every_kind_of_table(planted, kind):
    counts = np.clip(np.round(8.0 * planted.X + 100.0), 0, 255)
    dense = np.where(counts > 100, counts, 0.0)
    if kind == "torch":
        table = pytest.importorskip("torch").asarray(dense)
    elif kind == "dask":
        table = pytest.importorskip("dask.array").from_array(dense, chunks=(130, 60))
    else:
        table = {
            "float32": dense.astype(np.float32),
            "uint8": dense.astype(np.uint8),
            "sparse": sp.csr_array(dense),
        }[kind]
    expected, found = fit(dense), fit(table)
    np.testing.assert_array_equal(found.support_, expected.support_)
    assert adjusted_rand_score(expected.labels_, found.labels_) > 0.98
    assert isinstance(found.labels_, np.ndarray)
    assert found.hypotheses_.shape == expected.hypotheses_.shape
    for name in ("agreement", "weight"):
        np.testing.assert_allclose(found.init_[name], expected.init_[name], atol=0.1)
    if kind in ("torch", "dask"):
        np.testing.assert_array_equal(found.labels_, expected.labels_)
        # a sample may go either way in a hypothesis: rounding may decide
        change = np.abs(found.sample_certainty_ - expected.sample_certainty_)
        assert change.mean() < 0.001
        np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-14)


def test_neither_the_cut_of_the_table_nor_the_size_of_the_gram_matters(planted, monkeypatch):
    whole = fit(planted.X)
    monkeypatch.setattr("featsieve.arrays.row_parts.HOST_ELEMENTS", 60 * 70)
    monkeypatch.setattr("featsieve.arrays.row_parts.FEWEST_ROWS", 70)
    cut = fit(planted.X)
    monkeypatch.setattr("featsieve.jasfs.problem.LARGEST_GRAM", 10)
    monkeypatch.setattr("featsieve.solvers.forward_forms.LARGEST_GRAM", 10)
    monkeypatch.setattr("featsieve.solvers.forward_forms.LARGEST_REREAD", 10)
    monkeypatch.setattr("featsieve.solvers.forward_forms.FEW_SAMPLES", 10)
    without_gram = fit(planted.X)
    for other in (cut, without_gram):
        np.testing.assert_array_equal(other.path_.order, whole.path_.order)
        np.testing.assert_array_equal(other.labels_, whole.labels_)
        np.testing.assert_allclose(other.coef_, whole.coef_, rtol=1e-8, atol=1e-14)
        np.testing.assert_allclose(other.objective_, whole.objective_, rtol=1e-8)


@pytest.mark.parametrize("init", [None, "spectral", "k-means"])
def test_few_different_rows_each_many_times(init):
    different = np.random.default_rng(0).standard_normal((6, 12))
    truth = np.repeat(np.arange(6), 200)
    options = {"n_features_to_select": 4, "init": init}
    model = fit(different[truth], n_clusters=6, **options)
    assert adjusted_rand_score(truth, model.labels_) > 0.95
    # more clusters than different rows: every cluster has a sample, nothing is undefined
    more = fit(different[truth], n_clusters=8, **options)
    assert len(np.unique(more.labels_)) == 8
    assert np.all(np.isfinite(more.coef_))


@pytest.fixture
def with_cells(monkeypatch):
    monkeypatch.setattr(defaults, "N_CELLS", 60)
    monkeypatch.setattr(defaults, "ROWS_PER_CELL", 5)


def test_means_of_cells_form_hypotheses_where_the_hat_family_is_credible(with_cells, monkeypatch):
    clear = make_planted(600, 60, n_informative=50, n_clusters=3, signal=1.5, random_state=0)
    seen = []

    def noted(operator, rows, settings, support):
        seen.append((rows, support, cells(operator, rows, settings, support)))
        return seen[-1][2]

    monkeypatch.setattr("featsieve.jasfs.labels.cells", noted)
    model = fit(clear.X, n_clusters=3, n_features_to_select=20)
    ((rows, support, table),) = seen
    assert len(set(rows.tolist())) == model.n_landmarks_ == 60
    operator = as_operator(clear.X, scale="unit")
    E = unit_rows(hat_coordinates(as_operator(clear.X[:, support], scale="unit")))
    nearest = (E @ E[rows].T).argmax(axis=1)
    Z = operator.columns(np.arange(60))
    means = np.stack([Z[nearest == cell].mean(axis=0) for cell in range(60)])
    np.testing.assert_allclose(table, means, atol=1e-10)
    assert model.init_["family"] == ["hat"]
    assert adjusted_rand_score(clear.labels, model.labels_) == 1.0
    assert clear.informative[model.support_].all()


@pytest.mark.parametrize("n_clusters", [6, 8])
def test_cells_of_few_different_rows(with_cells, n_clusters):
    different = np.random.default_rng(0).standard_normal((6, 12))
    truth = np.repeat(np.arange(6), 200)
    model = fit(different[truth], n_clusters=n_clusters, n_features_to_select=4, init="spectral")
    assert len(np.unique(model.labels_)) == n_clusters
    assert adjusted_rand_score(truth, model.labels_) > 0.9
    assert np.isfinite(model.coef_).all()


def test_columns_that_vary_outside_of_the_landmarks_alone(planted):
    X = np.hstack([planted.X, np.zeros((600, 2))])
    X[17, 60] = 5.0  # most draws of 200 rows do not hold this one
    X[[3, 17, 40], 61] = 1.0
    model = fit(X)
    np.testing.assert_array_equal(
        np.flatnonzero(model.support_), np.flatnonzero(planted.informative)
    )
    assert np.isfinite(model.scores_).all()


def test_the_same_seed_gives_the_same_answer(planted):
    X = np.random.default_rng(0).integers(0, 2, (1200, 9)).astype(np.uint8)
    model = JASFS(20, n_features_to_select=3, random_state=0)
    fits = [clone(model).fit(X) for _ in "ab"]
    np.testing.assert_array_equal(fits[0].labels_, fits[1].labels_)
    np.testing.assert_array_equal(fits[0].objective_, fits[1].objective_)
    other = fit(planted.X, random_state=1)
    np.testing.assert_array_equal(other.support_, planted.informative)


@pytest.mark.usefixtures("untested_fits")
def test_numbers_that_are_to_be_found(planted):
    model = fit(planted.X, n_clusters="auto", n_features_to_select="auto")
    assert 2 <= model.n_clusters_ <= 8
    assert planted.informative[model.support_].all()


@pytest.mark.slow
def test_six_thousand_rows(monkeypatch):
    monkeypatch.undo()
    planted = make_planted(6000, 50, n_informative=10, signal=3.0, random_state=0)
    model = fit(planted.X, n_features_to_select=10)
    assert model.n_landmarks_ == defaults.N_LANDMARKS
    np.testing.assert_array_equal(model.support_, planted.informative)
    assert adjusted_rand_score(planted.labels, model.labels_) > 0.95
    single = fit(planted.X.astype(np.float32), n_features_to_select=10)
    np.testing.assert_array_equal(single.support_, model.support_)
    assert adjusted_rand_score(single.labels_, model.labels_) > 0.95


def test_noise_is_not_credible_in_the_metric_of_many_rows(monkeypatch):
    monkeypatch.setattr(defaults, "N_LANDMARKS", 500)
    noise = np.random.default_rng(0).standard_normal((1000, 4))
    model = JASFS(6, n_features_to_select=2, random_state=0).fit(noise)
    assert model.init_["agreement"][0] - model.init_["permuted"][0] < 0.1


def test_entries_that_are_stored_in_pieces_are_one_entry(planted):
    X = sp.csr_array(np.where(planted.X > 0.5, planted.X, 0.0)[:150])
    in_pieces = sp.csr_array(
        (np.repeat(X.data / 2.0, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape
    )
    expected, found = fit(X), fit(in_pieces)
    np.testing.assert_array_equal(found.support_, expected.support_)
    np.testing.assert_array_equal(found.labels_, expected.labels_)


def test_columns_that_say_little_alone_need_not_be_compared(monkeypatch):
    planted = make_planted(80, 400, n_informative=20, n_clusters=C, random_state=0)
    operator, pool = as_operator(planted.X, scale="unit"), Pool.of([planted.labels], C)
    settings = Settings("auto", None, None, C, 5, ridge=10.0, shrinkage=1.0, n_jobs=1)
    monkeypatch.setattr(defaults, "SECOND_SIZES", (10, 20))
    of_some = best_features(operator, pool, settings)  # of the 80 that say most alone
    monkeypatch.setattr(defaults, "SCREENED_PER_FEATURE", 20)
    np.testing.assert_array_equal(of_some, best_features(operator, pool, settings))
    assert planted.informative[of_some].mean() >= 0.9
