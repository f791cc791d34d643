"""solver="joint": what it promises of J, F and the path."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from featsieve import JASFS
from featsieve.arrays import as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.datasets import make_planted
from featsieve.graphs import hat_coordinates, self_tuning_graph
from featsieve.graphs.distances import hat_distances
from featsieve.jasfs.joint import solve_joint
from featsieve.jasfs.problem import ExactProblem
from featsieve.solvers import RowSparseRegression, forward_forms
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
        n_features_to_select=k,
        callback=lambda iteration, value, state: seen.append(state.labels),
    )
    for labels in seen:  # F >= 0 and F'F = I in every iteration: no cluster ever empties
        assert np.bincount(labels, minlength=c).min() > 0
    rises = np.diff(model.objective_)
    assert (rises <= 1e-12 * np.abs(model.objective_[:-1])).all()


@pytest.mark.slow
@settings(max_examples=25)
@given(tables())
def test_the_recorded_objective_is_the_documented_one(table):
    """J = 1/2||H(ZW-F)||² + alpha tr(F'L_S F) + beta KL(S|a) + mu/2||W||² + lam |S|, explicitly."""
    X, c, _ = table
    options = {"alpha": 0.7, "beta": 0.05, "init": "spectral"}  # the prior is the hat graph
    path = quiet_fit(X, c, max_iter=1, **options).path_
    sparsity = float(path.sparsity[len(path.order) // 3])
    model = quiet_fit(X, c, sparsity=sparsity, **options)
    operator = as_operator(X, scale="unit")
    E = hat_coordinates(operator)
    prior = self_tuning_graph(hat_distances(E), n_neighbors=5).toarray()
    prior /= prior.sum(axis=1, keepdims=True)
    F = np.eye(c)[model.labels_]
    F /= np.sqrt(F.sum(axis=0))
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


@pytest.mark.slow
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
    assert model.path_.n_features_at(model.sparsity_) >= k
    # loss and gains belong to the labels that are returned, whatever path found the support
    regression = regression_of(model, X)
    np.testing.assert_allclose(model.path_.loss[k], regression.value(np.sort(order[:k])), rtol=1e-8)


def regression_of(model, X):
    """Return the problem of the W-step at the fitted labels, without its sparsity term."""
    F = normalised_indicator(model.labels_, model.coef_.shape[1])
    return RowSparseRegression(as_operator(X, scale="unit"), F - F.mean(axis=0), ridge=10.0)


@pytest.mark.parametrize("seed", [3, 55])
def test_path_is_priced_for_the_final_labels_where_only_they_moved(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 40))
    start = rng.permutation(np.arange(30) % 3)
    model = quiet_fit(X, 3, init=start, n_features_to_select=5)
    np.testing.assert_allclose(
        model.path_.loss[5],
        regression_of(model, X).value(np.flatnonzero(model.support_)),
        rtol=1e-9,
    )


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


@settings(max_examples=15)
@given(tables())
def test_units_of_the_columns_do_not_matter_to_the_selection(table):
    X, c, seed = table
    units = 10.0 ** np.random.default_rng(seed).uniform(-6, 6, X.shape[1])
    start = np.arange(len(X)) % c
    options = {"init": start, "n_features_to_select": (X.shape[1] + 1) // 2}
    model = quiet_fit(X, c, **options)
    np.testing.assert_array_equal(quiet_fit(X * units, c, **options).support_, model.support_)


@pytest.mark.parametrize("seed", range(2))
def test_planted_features_are_found(seed):
    """20 informative of 1000, n = 150, 4 clusters, cluster means of 2 noise deviations."""
    planted = make_planted(150, 1000, n_informative=20, n_clusters=4, signal=2.0, random_state=seed)
    joint = JASFS(4, n_features_to_select=20, random_state=0).fit(planted.X)
    published = JASFS(4, n_features_to_select=20, solver="paper", random_state=0).fit(planted.X)
    found, by_authors = (
        int((model.support_ & planted.informative).sum()) for model in (joint, published)
    )
    assert found >= 18
    assert found >= by_authors


@pytest.mark.slow
def test_doubtful_start_is_replaced_and_recorded():
    planted = make_planted(random_state=0)
    assert JASFS(4, random_state=0).fit(planted.X).init_ == "raw"
    assert JASFS(4, init="best", random_state=0).fit(planted.X).init_ == "raw"
    with pytest.warns(NoStructureWarning, match="no clearer than"):
        assert JASFS(4, init="spectral", random_state=0).fit(planted.X).init_ == "spectral"
    easy = make_planted(80, 60, n_informative=30, n_clusters=3, signal=3.0, random_state=0)
    assert JASFS(3, random_state=0).fit(easy.X).init_ == "spectral"
    assert JASFS(3, init="k-means", random_state=0).fit(easy.X).init_ == "k-means"
    assert JASFS(3, init=easy.labels, random_state=0).fit(easy.X).init_ == "given"


def test_gram_and_sample_form_give_the_same_alternation(monkeypatch):
    planted = make_planted(90, 40, n_informative=10, n_clusters=3, signal=3.0, random_state=4)
    problem = joint_problem(as_operator(planted.X, scale="unit"), 3)
    gram = solve_joint(problem, planted.labels).state
    monkeypatch.setattr(forward_forms, "LARGEST_GRAM", 0)
    sample = solve_joint(problem, planted.labels).state
    np.testing.assert_array_equal(sample.support, gram.support)
    np.testing.assert_allclose(sample.value, gram.value, rtol=1e-12)


def joint_problem(operator, n_clusters, **options):
    """Return the joint problem of an operator, limited to ten features."""
    E = to_numpy(hat_coordinates(operator))
    graph = self_tuning_graph(hat_distances(E))
    prior = NeighbourGraph(graph, alpha=0.3, beta=1.0)
    return ExactProblem(operator, prior, n_clusters, ridge=10.0, n_features=10, **options)
