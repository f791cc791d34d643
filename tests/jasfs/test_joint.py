"""solver="joint": what it promises of J, W, the path and the certainties."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from featsieve import JASFS
from featsieve.arrays import as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.datasets import make_planted
from featsieve.graphs import hat_coordinates, self_tuning_graph
from featsieve.graphs.distances import hat_distances
from featsieve.hypotheses.pool import Pool
from featsieve.jasfs.joint import solve_joint
from featsieve.jasfs.problem import Problem
from featsieve.solvers import RowSparseRegression, forward_forms
from featsieve.solvers.supports import find_support
from featsieve.terms import NeighbourGraph, normalised_indicator
from featsieve.tuning import NoStructureWarning


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
        warnings.simplefilter("ignore", NoStructureWarning)
        return JASFS(n_clusters, **{"random_state": 0, **settings_}).fit(X)


# One hypothesis: the published model ------------------------------------------------------------


@settings(max_examples=20)
@given(tables())
def test_given_labels_stay_and_their_features_are_those_of_the_regression(table):
    X, c, seed = table
    labels = np.random.default_rng(seed).permutation(np.arange(len(X)) % c)
    k = (X.shape[1] + 1) // 2
    model = quiet_fit(X, c, init=labels, n_features_to_select=k)
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_array_equal(model.hypotheses_, labels[None])
    np.testing.assert_array_equal(model.hypothesis_weights_, [1.0])
    np.testing.assert_array_equal(model.sample_certainty_, 1.0)
    assert model.n_iter_ == 1
    F = normalised_indicator(labels, c)
    regression = RowSparseRegression(
        as_operator(X, scale="unit"), F - F.mean(axis=0), ridge=10.0, n_features=k
    )
    support, _ = find_support(regression)
    np.testing.assert_array_equal(np.flatnonzero(model.support_), np.sort(support))
    # by itself it is the only hypothesis: what it selects is certain
    np.testing.assert_array_equal(model.feature_certainty_[support], 1.0)
    assert model.objective_[-1] == pytest.approx(regression.value(np.sort(support)), rel=1e-9)


@pytest.mark.parametrize("standardise", [False, True])
def test_true_labels_stay_true(standardise):
    """The alternation used to take them from an ARI of 1.00 to 0.64."""
    planted = make_planted(150, 300, n_informative=15, n_clusters=4, signal=1.5, random_state=0)
    X = planted.X / planted.X.std(axis=0) if standardise else planted.X
    model = quiet_fit(X, 4, init=planted.labels, n_features_to_select=15)
    assert adjusted_rand_score(planted.labels, model.labels_) == 1.0
    assert (model.support_ & planted.informative).sum() >= 14


# Labels that move ---------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=25)
@given(tables())
def test_the_objective_never_increases(table):
    X, c, _ = table
    start = np.random.default_rng(0).permutation(np.arange(len(X)) % c)  # a bad start: long descent
    k = max(1, X.shape[1] // 3)
    seen = []
    model = quiet_fit(
        X,
        c,
        init=start,
        refine_labels=True,
        n_features_to_select=k,
        callback=lambda iteration, value, state: seen.append(state.pool.labels[0]),
    )
    for labels in seen:  # F >= 0 and F'F = I in every iteration: no cluster ever empties
        assert np.bincount(labels, minlength=c).min() > 0
    rises = np.diff(model.objective_)
    assert (rises <= 1e-12 * np.abs(model.objective_[:-1])).all()
    np.testing.assert_array_equal(model.hypotheses_, model.labels_[None])


@pytest.mark.slow
@settings(max_examples=25)
@given(tables())
def test_the_recorded_objective_is_the_documented_one(table):
    """J = 1/2||H(ZW-F)||² + alpha tr(F'L_S F) + beta KL(S|a) + mu/2||W||² + lam |S|, explicitly."""
    X, c, _ = table
    options = {"alpha": 0.7, "beta": 0.05, "init": "spectral", "refine_labels": True}
    path = quiet_fit(X, c, max_iter=1, **options).path_
    sparsity = float(path.sparsity[len(path.order) // 3])
    model = quiet_fit(X, c, sparsity=sparsity, **options)
    E = hat_coordinates(as_operator(X, scale="unit"))
    prior = self_tuning_graph(hat_distances(E), n_neighbors=5).toarray()
    prior /= prior.sum(axis=1, keepdims=True)
    F = normalised_indicator(model.labels_, c)
    distance = ((F[:, None] - F[None]) ** 2).sum(-1)
    S = prior * np.exp(-0.7 / (2 * 0.05) * distance)
    S /= S.sum(axis=1, keepdims=True)
    symmetric = (S + S.T) / 2
    L = np.diag(symmetric.sum(axis=1)) - symmetric
    divergence = np.sum(S[S > 0] * np.log(S[S > 0] / prior[S > 0]))
    Z, W, ridge = standardised_model(model, X)
    J = (
        0.5 * np.sum((Z @ W - (F - F.mean(axis=0))) ** 2)
        + 0.7 * np.trace(F.T @ L @ F)
        + 0.05 * divergence
        + 0.5 * ridge * np.sum(W**2)
        + model.sparsity_ * model.n_features_selected_
    )
    np.testing.assert_allclose(model.objective_[-1], J, rtol=1e-9)


def standardised_model(model, X):
    """Return Z, W in the units of Z, and the ridge."""
    operator = as_operator(X, scale="unit")
    Z = operator.rows(0, len(X))
    varies = operator.varies
    W = np.zeros_like(model.coef_)
    W[varies] = model.coef_[varies] / operator.inverse_scale[varies, None]
    return Z, W, 10.0 * np.sum(Z**2) / varies.sum()


@pytest.mark.parametrize("seed", [3, 55])
def test_path_is_priced_for_the_final_labels_where_only_they_moved(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 40))
    start = rng.permutation(np.arange(30) % 3)
    model = quiet_fit(X, 3, init=start, n_features_to_select=5, refine_labels=True)
    assert not np.array_equal(model.labels_, start)
    np.testing.assert_allclose(
        model.path_.loss[5],
        regression_of(model, X).value(np.flatnonzero(model.support_)),
        rtol=1e-9,
    )


def test_the_alternation_begins_with_the_consensus(small_planted):
    model = quiet_fit(small_planted.X, 3, n_features_to_select=8, refine_labels=True)
    assert len(model.init_["family"]) >= 1
    assert model.hypotheses_.shape == (1, 80)
    assert (np.diff(model.objective_) <= 1e-12).all()
    still = quiet_fit(small_planted.X, 3, n_features_to_select=8)
    started = quiet_fit(
        small_planted.X, 3, n_features_to_select=8, refine_labels=True, init=still.labels_
    )
    np.testing.assert_array_equal(model.objective_, started.objective_)
    np.testing.assert_array_equal(model.labels_, started.labels_)


def test_too_many_samples_do_not_move(small_planted, monkeypatch):
    monkeypatch.setattr("featsieve.defaults.LARGEST_EXACT_GRAPH", 79)
    with pytest.raises(ValueError, match="at most 79 of them; the table has 80"):
        JASFS(3, n_features_to_select=8, refine_labels=True).fit(small_planted.X)


def test_gram_and_sample_form_give_the_same_alternation(monkeypatch):
    planted = make_planted(90, 40, n_informative=10, n_clusters=3, signal=3.0, random_state=4)
    operator = as_operator(planted.X, scale="unit")
    graph = self_tuning_graph(hat_distances(to_numpy(hat_coordinates(operator))))
    prior = NeighbourGraph(graph, alpha=0.3, beta=1.0)
    problem = Problem(operator, 10.0, prior, n_features=10)
    pool = Pool.of([planted.labels], 3)
    gram = solve_joint(problem, pool).state
    monkeypatch.setattr(forward_forms, "LARGEST_GRAM", 0)
    sample = solve_joint(problem, pool).state
    np.testing.assert_array_equal(sample.support, gram.support)
    np.testing.assert_allclose(sample.value, gram.value, rtol=1e-12)


# Many hypotheses ----------------------------------------------------------------------------------


@settings(max_examples=10)
@given(tables())
def test_the_objective_of_many_hypotheses_is_the_documented_one(table):
    """J = sum_v w_v [1/2 ||H(Z W_v - F_v)||² + mu/2 ||W_v||²] + lam |S|, term by term."""
    X, c, _ = table
    path = quiet_fit(X, c, n_features_to_select=1).path_
    model = quiet_fit(X, c, sparsity=float(path.sparsity[len(path.order) // 3]))
    m = len(model.hypotheses_)
    assert m > 1
    assert model.hypothesis_weights_.sum() == pytest.approx(1.0)
    Z, _, ridge = standardised_model(model, X)
    support = np.flatnonzero(model.support_)
    J = model.sparsity_ * len(support)
    for labels, weight in zip(model.hypotheses_, model.hypothesis_weights_, strict=True):
        F = normalised_indicator(labels, c)
        F -= F.mean(axis=0)
        Z_S = Z[:, support]
        W = np.linalg.solve(Z_S.T @ Z_S + ridge * np.eye(len(support)), Z_S.T @ F)
        J += weight * (0.5 * np.sum((Z_S @ W - F) ** 2) + 0.5 * ridge * np.sum(W**2))
    np.testing.assert_allclose(model.objective_, [J], rtol=1e-9)
    # the model is that of the consensus
    F = normalised_indicator(model.labels_, c)
    np.testing.assert_allclose(
        (X @ model.coef_ + model.intercept_).mean(axis=0), F.mean(axis=0), atol=1e-9
    )
    _, W, _ = standardised_model(model, X)
    Z_S = Z[:, support]
    expected = np.linalg.solve(Z_S.T @ Z_S + ridge * np.eye(len(support)), Z_S.T @ F)
    np.testing.assert_allclose(W[support], expected, atol=1e-9)


@pytest.mark.slow
@settings(max_examples=20)
@given(tables())
def test_the_path_is_nested_and_holds_the_selection(table):
    X, c, _ = table
    model = quiet_fit(X, c)
    k = model.n_features_selected_
    order = model.path_.order
    assert len(set(order.tolist())) == len(order)
    np.testing.assert_array_equal(model.get_support(indices=True), np.sort(order[:k]))
    np.testing.assert_array_equal(np.argsort(model.ranking_)[: len(order)], order)
    # larger scores first, and the score is the lambda that still selects the feature
    assert (np.diff(model.scores_[np.argsort(model.ranking_)]) <= 1e-15).all()
    assert np.sum(model.path_.sparsity >= model.sparsity_) >= k
    # loss and gains belong to the hypotheses that are returned, whatever path found the support
    regression = regression_of(model, X)
    np.testing.assert_allclose(model.path_.loss[k], regression.value(np.sort(order[:k])), rtol=1e-8)


def regression_of(model, X):
    """Return the problem of the W-step at the fitted hypotheses, without its sparsity term."""
    pool = Pool(model.hypotheses_, model.hypothesis_weights_, model.coef_.shape[1])
    return RowSparseRegression(as_operator(X, scale="unit"), pool.target(), ridge=10.0)


def test_one_fit_gives_what_separate_fits_give(small_planted):
    whole = JASFS(3, n_features_to_select=2, random_state=0).fit(small_planted.X)
    for k in (1, 5, 17):
        single = JASFS(3, n_features_to_select=k, random_state=0).fit(small_planted.X)
        expected = np.sort(whole.path_.order[:k])
        np.testing.assert_array_equal(single.get_support(indices=True), expected)
        np.testing.assert_array_equal(single.labels_, whole.labels_)
    lam = whole.path_.sparsity[6]
    by_price = JASFS(3, sparsity=lam, random_state=0).fit(small_planted.X)
    np.testing.assert_array_equal(
        by_price.get_support(indices=True),
        np.sort(whole.path_.order[whole.path_.sparsity >= lam]),
    )


@pytest.mark.parametrize("k", [3, 40])  # with 40 of 60, every feature is a candidate
def test_certainty_of_a_feature_is_the_weight_of_those_that_select_it(small_planted, k):
    X = small_planted.X
    model = JASFS(3, n_features_to_select=k, random_state=0).fit(X)
    among = np.argsort(model.ranking_)[: 2 * k]
    expected = np.zeros(60)
    for labels, weight in zip(model.hypotheses_, model.hypothesis_weights_, strict=True):
        alone = JASFS(3, n_features_to_select=k, init=labels, ridge=10.0)
        chosen = among[alone.fit(X[:, among]).path_.order[:k]]
        expected[chosen] += weight
    np.testing.assert_allclose(model.feature_certainty_, expected, atol=1e-12)
    assert model.feature_certainty_.sum() == pytest.approx(k)
    assert model.feature_certainty_.max() <= 1.0 + 1e-12


def test_certainty_tells_clusters_from_noise(small_planted):
    clear = quiet_fit(small_planted.X, 3, n_features_to_select=8)
    noise = quiet_fit(np.random.default_rng(0).standard_normal((80, 60)), 3, n_features_to_select=8)
    assert clear.sample_certainty_.mean() > 0.85
    assert noise.sample_certainty_.mean() < 0.7
    assert clear.feature_certainty_[clear.support_].mean() > 0.85
    assert noise.feature_certainty_[noise.support_].mean() < 0.85


@settings(max_examples=15)
@given(tables())
def test_units_of_the_columns_do_not_matter_to_the_selection(table):
    X, c, seed = table
    units = 10.0 ** np.random.default_rng(seed).uniform(-6, 6, X.shape[1])
    start = np.arange(len(X)) % c
    options = {"init": start, "n_features_to_select": (X.shape[1] + 1) // 2}
    model = quiet_fit(X, c, **options)
    np.testing.assert_array_equal(quiet_fit(X * units, c, **options).support_, model.support_)


def test_units_do_not_matter_where_the_hat_family_is_credible():
    planted = make_planted(60, 200, n_informative=150, n_clusters=3, signal=2.0, random_state=0)
    units = 2.0 ** np.random.default_rng(0).integers(-9, 9, 200)  # exact: no rounding either
    one, other = (
        JASFS(3, n_features_to_select=20, random_state=0).fit(X)
        for X in (planted.X, planted.X * units)
    )
    assert one.init_["family"] == ["hat"]
    assert one.init_["agreement"] == other.init_["agreement"]
    np.testing.assert_array_equal(one.hypotheses_, other.hypotheses_)
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.ranking_, other.ranking_)


# What is found ------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", ["as made", "standardised", "units", "each row twice"])
def test_planted_features_are_found(change):
    """20 informative of 1000, n = 150, 4 clusters, cluster means of 2 noise deviations."""
    planted = make_planted(150, 1000, n_informative=20, n_clusters=4, signal=2.0, random_state=0)
    X, labels = planted.X, planted.labels
    if change == "standardised":
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    if change == "units":
        X = X * 10.0 ** np.random.default_rng(0).uniform(-3, 3, 1000)
    if change == "each row twice":
        X, labels = np.repeat(X, 2, axis=0), np.repeat(labels, 2)
    model = JASFS(4, n_features_to_select=20, random_state=0).fit(X)
    assert (model.support_ & planted.informative).sum() == 20
    assert adjusted_rand_score(labels, model.labels_) > 0.9
    assert model.init_["weight"][0] < 0.1  # the hat metric drowns in noise


@pytest.mark.parametrize("informative", [40, 350])  # all families, and the hat family alone
def test_processes_do_not_change_the_hypotheses(informative):
    planted = make_planted(600, 400, n_informative=informative, n_clusters=4, random_state=0)
    one, two = (
        JASFS(4, n_features_to_select=20, random_state=0, n_jobs=n_jobs).fit(planted.X)
        for n_jobs in (1, 2)
    )
    assert (one.init_["family"] == ["hat"]) is (informative == 350)
    np.testing.assert_array_equal(one.hypotheses_, two.hypotheses_)
    np.testing.assert_array_equal(one.ranking_, two.ranking_)


def test_constant_one_hot_and_tied_columns():
    rng = np.random.default_rng(0)
    truth = np.arange(150) % 3
    rates = rng.permuted(np.tile([0.1, 0.1, 0.9], (12, 1)), axis=1)
    informative = rng.random((150, 12)) < rates[:, truth].T
    nuisance = np.eye(5)[rng.integers(5, size=150)]
    counts = rng.poisson(1.0, (150, 20))
    X = np.hstack([informative, nuisance, counts, np.full((150, 3), 7.0), np.zeros((150, 2))])
    model = quiet_fit(X, 3, n_features_to_select=12)
    assert np.isfinite(model.coef_).all()
    np.testing.assert_array_equal(model.ranking_[-5:] > 37, True)  # constants come last
    np.testing.assert_array_equal(model.feature_certainty_[-5:], 0.0)
    assert model.support_[:12].sum() >= 10
    assert adjusted_rand_score(truth, model.labels_) > 0.8


@pytest.mark.parametrize("init", [None, "spectral", "k-means"])
def test_the_start_is_recorded(init):
    easy = make_planted(80, 60, n_informative=50, n_clusters=3, signal=3.0, random_state=0)
    model = JASFS(3, init=init, n_features_to_select=5, random_state=0).fit(easy.X)
    assert model.init_["family"] == [init or "hat"]
    assert model.init_["weight"] == [1.0]
    assert len({len(column) for column in model.init_.values()}) == 1
    assert (len(model.hypotheses_) == 1) is (init is not None)
    assert adjusted_rand_score(easy.labels, model.labels_) == 1.0


def test_one_hypothesis_is_the_spectral_start(small_planted):
    one = JASFS(3, n_hypotheses=1, n_features_to_select=5, random_state=0).fit(small_planted.X)
    named = JASFS(3, init="spectral", n_features_to_select=5, random_state=0).fit(small_planted.X)
    np.testing.assert_array_equal(one.labels_, named.labels_)
    np.testing.assert_array_equal(one.ranking_, named.ranking_)
    assert one.init_["family"] == ["spectral"]


@pytest.mark.parametrize(("n_hypotheses", "members"), [(4, 3), (8, 7), (12, 11)])
def test_so_many_hypotheses_are_compared(n_hypotheses, members):
    easy = make_planted(60, 40, n_informative=35, n_clusters=3, signal=3.0, random_state=0)
    model = JASFS(3, n_hypotheses=n_hypotheses, n_features_to_select=5, random_state=0)
    assert model.fit(easy.X).init_["n_members"] == [members]  # and one of ranks
