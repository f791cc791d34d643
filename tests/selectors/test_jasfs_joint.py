"""solver="joint": what it promises of J, F and the path."""

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from featsieve import JASFS
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.graphs import hat_coordinates, self_tuning_graph
from featsieve.graphs.knn import hat_distances
from featsieve.selectors.jasfs_joint import JointProblem, solve_joint
from featsieve.terms import NeighbourGraph, is_feasible


@st.composite
def tables(draw):
    """Return a random table, wide or tall, with or without clusters, and a number of clusters."""
    n = draw(st.integers(12, 45))
    d = draw(st.integers(3, 70))
    c = draw(st.integers(2, 4))
    seed = draw(st.integers(0, 10_000))
    planted = make_planted(
        n,
        d,
        n_informative=draw(st.integers(0, d)),
        n_clusters=c,
        signal=draw(st.sampled_from([0.0, 1.0, 4.0])),
        random_state=seed,
    )
    return planted.X, c, seed


def quiet_fit(X, n_clusters, **settings_):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return JASFS(n_clusters, **{"random_state": 0, **settings_}).fit(X)


@settings(max_examples=40)
@given(tables(), st.sampled_from(["forward", "iht", "local"]))
def test_the_objective_never_increases(table, w_step):
    X, c, _ = table
    start = np.random.default_rng(0).permutation(np.arange(len(X)) % c)  # a bad start: long descent
    k = max(1, X.shape[1] // 3)
    model = quiet_fit(X, c, init=start, n_features_to_select=k, w_step=w_step)
    rises = np.diff(model.objective_)
    assert (rises <= 1e-12 * np.abs(model.objective_[:-1])).all()


@settings(max_examples=25)
@given(tables())
def test_the_recorded_objective_is_the_documented_one(table):
    """J = 1/2||H(ZW-F)||² + alpha tr(F'L_S F) + beta KL(S|a) + mu/2||W||² + lam |S|, explicitly."""
    X, c, _ = table
    model = quiet_fit(X, c, alpha=0.7, beta=0.05)
    operator = as_operator(X, scale="unit")
    E = hat_coordinates(operator)
    prior = self_tuning_graph(hat_distances(E), len(E), n_neighbors=5).toarray()
    prior /= prior.sum(axis=1, keepdims=True)
    F = np.eye(c)[model.labels_]
    F /= np.sqrt(F.sum(axis=0))
    assert is_feasible(F)
    distance = ((F[:, None] - F[None]) ** 2).sum(-1)
    S = prior * np.exp(-0.7 / (2 * 0.05) * distance)
    S /= S.sum(axis=1, keepdims=True)
    symmetric = (S + S.T) / 2
    L = np.diag(symmetric.sum(axis=1)) - symmetric
    divergence = np.sum(S[S > 0] * np.log(S[S > 0] / prior[S > 0]))
    Z = operator.rows(0, len(X))
    W = np.zeros_like(model.coef_)
    W[operator.varies] = (
        model.coef_[operator.varies] / operator.inverse_scale[operator.varies, None]
    )
    ridge = 10.0 * np.sum(Z**2) / operator.varies.sum()
    J = (
        0.5 * np.sum((Z @ W - (F - F.mean(axis=0))) ** 2)
        + 0.7 * np.trace(F.T @ L @ F)
        + 0.05 * divergence
        + 0.5 * ridge * np.sum(W**2)
        + model.sparsity_ * model.n_features_selected_
    )
    np.testing.assert_allclose(model.objective_[-1], J, rtol=1e-9)


@settings(max_examples=20)
@given(tables())
def test_the_path_is_nested_and_holds_the_selection(table):
    X, c, _ = table
    model = quiet_fit(X, c)
    k = model.n_features_selected_
    order = model.path_.order
    assert len(set(order.tolist())) == len(order)
    np.testing.assert_array_equal(model.get_support(indices=True), model.path_.support_at(k))
    np.testing.assert_array_equal(np.argsort(model.ranking_)[: len(order)], order)
    # larger scores first, and the score is the lambda that still selects the feature
    assert (np.diff(model.scores_[np.argsort(model.ranking_)]) <= 1e-15).all()
    assert model.path_.n_features_at(model.sparsity_) == k


def test_one_fit_gives_what_separate_fits_give(small_planted):
    whole = JASFS(3, random_state=0, max_iter=1).fit(small_planted.X)
    for k in (1, 5, 17):
        single = JASFS(3, n_features_to_select=k, random_state=0, max_iter=1).fit(small_planted.X)
        np.testing.assert_array_equal(single.get_support(indices=True), whole.path_.support_at(k))
    lam = whole.path_.sparsity[6]
    by_price = JASFS(3, sparsity=lam, random_state=0, max_iter=1).fit(small_planted.X)
    np.testing.assert_array_equal(
        by_price.get_support(indices=True),
        whole.path_.support_at(whole.path_.n_features_at(lam)),
    )


@settings(max_examples=20)
@given(tables(), st.integers(0, 1000))
def test_columns_may_be_permuted(table, seed):
    X, c, _ = table
    order = np.random.default_rng(seed).permutation(X.shape[1])
    start = np.arange(len(X)) % c
    model = quiet_fit(X, c, init=start)
    permuted = quiet_fit(X[:, order], c, init=start)
    np.testing.assert_allclose(permuted.scores_, model.scores_[order], rtol=1e-6, atol=1e-10)
    np.testing.assert_array_equal(permuted.support_, model.support_[order])


@settings(max_examples=20)
@given(tables())
def test_rows_may_be_permuted(table):
    X, c, seed = table
    order = np.random.default_rng(seed).permutation(len(X))
    start = np.arange(len(X)) % c
    model = quiet_fit(X, c, init=start, max_iter=1)
    permuted = quiet_fit(X[order], c, init=start[order], max_iter=1)
    np.testing.assert_allclose(permuted.scores_, model.scores_, rtol=1e-6, atol=1e-10)
    np.testing.assert_array_equal(permuted.support_, model.support_)


@settings(max_examples=20)
@given(tables(), st.floats(0.3, 0.9))
def test_sparse_equals_dense(table, density):
    X, c, seed = table
    X = X * (np.random.default_rng(seed).random(X.shape) < density)
    X[0] = 1.0  # no empty column
    dense = quiet_fit(X, c)
    sparse = quiet_fit(sp.csr_array(X), c)
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)
    np.testing.assert_array_equal(sparse.support_, dense.support_)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("solver", ["joint", "paper"])
@pytest.mark.parametrize("layout", ["C", "F"])
def test_float32_selects_what_float64_selects(layout, solver):
    planted = make_planted(100, 300, n_informative=15, signal=4.0, random_state=1)
    double = JASFS(4, n_features_to_select=15, solver=solver, random_state=0).fit(planted.X)
    X = np.asarray(planted.X, dtype=np.float32, order=layout)
    single = JASFS(4, n_features_to_select=15, solver=solver, random_state=0).fit(X)
    np.testing.assert_array_equal(single.support_, double.support_)


def test_integers_select_what_the_same_floats_select():
    planted = make_planted(60, 80, n_informative=10, signal=4.0, random_state=0)
    X = np.round(20 * planted.X).astype(np.int16)
    as_floats = JASFS(4, random_state=0).fit(X.astype(np.float64))
    as_integers = JASFS(4, random_state=0).fit(X)
    np.testing.assert_array_equal(as_integers.support_, as_floats.support_)


def test_the_units_of_a_column_do_not_silence_the_others(small_planted):
    X = small_planted.X.copy()
    noise = int(np.flatnonzero(~small_planted.informative)[0])
    X[:, noise] *= 1e6
    model = JASFS(3, n_features_to_select=8, random_state=0).fit(X)
    assert (model.support_ & small_planted.informative).sum() >= 7


@pytest.mark.parametrize("seed", range(6))
def test_planted_features_are_found(seed):
    """20 informative of 1000, n = 150, 4 clusters, cluster means of 2 noise deviations."""
    planted = make_planted(150, 1000, n_informative=20, n_clusters=4, signal=2.0, random_state=seed)
    joint = JASFS(4, n_features_to_select=20, random_state=0).fit(planted.X)
    published = JASFS(4, n_features_to_select=20, solver="paper", random_state=0).fit(planted.X)
    found, by_authors = (
        int((model.support_ & planted.informative).sum()) for model in (joint, published)
    )
    print(f"table {seed}: joint {found} of 20, published algorithm {by_authors} of 20")
    assert found >= 18
    assert found >= by_authors


@pytest.mark.parametrize("w_step", ["iht", "local"])
def test_other_w_steps_find_planted_features(small_planted, w_step):
    model = JASFS(3, n_features_to_select=8, w_step=w_step, random_state=0).fit(small_planted.X)
    assert model.n_features_selected_ == 8
    assert (model.support_ & small_planted.informative).sum() >= 6
    assert not hasattr(model, "path_")


def test_local_search_is_never_worse_than_forward_selection(small_planted):
    fits = {
        w_step: JASFS(3, sparsity=0.002, w_step=w_step, init=small_planted.labels, max_iter=1).fit(
            small_planted.X
        )
        for w_step in ("forward", "local")
    }
    assert fits["local"].objective_[0] <= fits["forward"].objective_[0] + 1e-12


@pytest.mark.parametrize("n_features", [3, 8, 60])
def test_labels_recover_separated_clusters(n_features):
    X, y = make_blobs(150, n_features, centers=3, random_state=3)
    model = JASFS(3, random_state=0)
    assert adjusted_rand_score(y, model.fit_predict(X)) > 0.9
    assert adjusted_rand_score(y, model.predict(X)) > 0.7


def test_new_rows_are_predicted():
    planted = make_planted(200, 80, n_informative=20, n_clusters=3, signal=3.0, random_state=2)
    model = JASFS(3, random_state=0).fit(planted.X[:120])
    assert adjusted_rand_score(planted.labels[120:], model.predict(planted.X[120:])) > 0.9
    sparse = model.predict(sp.csr_array(planted.X[120:]))
    np.testing.assert_array_equal(sparse, model.predict(planted.X[120:]))


def test_doubtful_start_is_replaced_and_recorded():
    planted = make_planted(random_state=0)
    assert JASFS(4, random_state=0).fit(planted.X).init_ == "raw"
    assert JASFS(4, init="best", random_state=0).fit(planted.X).init_ == "raw"
    assert JASFS(4, init="spectral", random_state=0).fit(planted.X).init_ == "spectral"
    easy = make_planted(80, 60, n_informative=30, n_clusters=3, signal=3.0, random_state=0)
    assert JASFS(3, random_state=0).fit(easy.X).init_ == "spectral"
    assert JASFS(3, init="k-means", random_state=0).fit(easy.X).init_ == "k-means"
    assert JASFS(3, init=easy.labels, random_state=0).fit(easy.X).init_ == "given"


def test_tall_and_wide_forms_agree():
    """The same problem solved with n > d (Gram form) and, by duplication of no row, sample form."""
    planted = make_planted(90, 40, n_informative=10, n_clusters=3, signal=3.0, random_state=4)
    operator = as_operator(planted.X, scale="unit")
    graph = self_tuning_graph(hat_distances(hat_coordinates(operator)), 90)
    problem = JointProblem(
        operator, NeighbourGraph(graph, alpha=0.3, beta=1.0), 3, ridge=10.0, n_features=10
    )
    gram = solve_joint(problem, planted.labels).state
    from featsieve.solvers import forward_selection

    original = forward_selection.LARGEST_GRAM
    try:
        forward_selection.LARGEST_GRAM = 0
        sample = solve_joint(problem, planted.labels).state
    finally:
        forward_selection.LARGEST_GRAM = original
    np.testing.assert_array_equal(sample.support, gram.support)
    np.testing.assert_allclose(sample.value, gram.value, rtol=1e-12)


def test_no_n_by_n_array_exists_for_many_samples():
    n = 6000
    planted = make_planted(n, 30, n_informative=10, n_clusters=4, signal=3.0, random_state=0)
    model = JASFS(4, random_state=0)
    tracemalloc.start()
    model.fit(planted.X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * 8 * n * n
    assert adjusted_rand_score(planted.labels, model.labels_) > 0.95
