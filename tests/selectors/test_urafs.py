"""URAFS: closed forms against textbook ones, descent, invariances, recovery."""

import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from featsieve import URAFS
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.selectors.urafs import centred_frame, label_rows
from featsieve.selectors.urafs_solver import (
    LabelGraph,
    URAFSProblem,
    safe_weights,
    solve_published,
    solve_safe,
)
from featsieve.terms.orthogonality import normalised_indicator
from featsieve.terms.row_shrinkage import SMOOTHING

SHAPES = {"tall": (24, 9), "wide": (14, 30)}


def quietly(model, X):
    """Fit without the warnings of few iterations or vanished weights."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


def table(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def frame(n, c, seed=0):
    """Random labels as centred orthonormal columns, c of them."""
    rng = np.random.default_rng(seed)
    return centred_frame(normalised_indicator(rng.permutation(np.arange(n) % (c + 1)), c + 1))


def centred(X):
    return X - X.mean(axis=0)


def dense_graph(F, beta):
    """Return S, L and the entropy term of the textbook."""
    distance = ((F[:, None] - F[None]) ** 2).sum(axis=-1)
    S = np.exp(-distance / (2.0 * beta))
    S /= S.sum(axis=1, keepdims=True)
    symmetric = (S + S.T) / 2.0
    return S, np.diag(symmetric.sum(axis=1)) - symmetric


def power(A, exponent):
    energy, basis = np.linalg.eigh((A + A.T) / 2.0)
    return (basis * energy**exponent) @ basis.T


def polar(A):
    U, _, Vt = np.linalg.svd(A, full_matrices=False)
    return U @ Vt


# --- the W-step ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("form", ["gram", "sample"])
@pytest.mark.parametrize("sparsity", [0.1, 10.0])
def test_root_free_weights_are_the_root_based_ones(shape, form, sparsity):
    X, F = table(shape), frame(shape[0], 3)
    inverse = np.random.default_rng(1).uniform(0.1, 2.0, shape[1])
    problem = URAFSProblem(as_operator(X), 1.0, 1.0, sparsity, form)
    W, pull, _ = safe_weights(problem, F, inverse)
    Z = centred(X)
    A = Z.T @ Z + sparsity * np.diag(1.0 / inverse)
    root = power(A, -0.5)
    np.testing.assert_allclose(W, root @ polar(root @ Z.T @ F), atol=1e-9)
    np.testing.assert_allclose(W.T @ A @ W, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(pull, Z @ W, atol=1e-9)


def test_one_column_has_the_formula_of_a_quotient():
    X, F = table((10, 4)), frame(10, 1)
    problem = URAFSProblem(as_operator(X), 1.0, 1.0, 2.0)
    W = safe_weights(problem, F, np.ones(4))[0]
    Z = centred(X)
    solved = np.linalg.solve(Z.T @ Z + 2.0 * np.eye(4), Z.T @ F)
    np.testing.assert_allclose(W, solved / np.sqrt(F.T @ Z @ solved), rtol=1e-10)


def test_a_direction_that_no_column_predicts_gets_no_weight():
    X = np.zeros((12, 2))
    X[:6, 0], X[3:9, 1] = 1.0, 1.0
    Z = centred(X)
    predicted = np.linalg.svd(Z, full_matrices=True)[0]
    outside = centred(predicted[:, 2:])
    outside = np.linalg.svd(outside - predicted[:, :2] @ (predicted[:, :2].T @ outside))[0][:, :1]
    F = np.hstack([predicted[:, :1], outside])
    W = safe_weights(URAFSProblem(as_operator(X), 1.0, 1.0, 1.0), F, np.ones(2))[0]
    A = Z.T @ Z + np.eye(2)
    # W'AW is a projector of rank 1, not a completion by an arbitrary second direction
    np.testing.assert_allclose(np.linalg.eigvalsh(W.T @ A @ W), [0.0, 1.0], atol=1e-7)
    np.testing.assert_allclose(W[:, 1], 0.0, atol=1e-7)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("sparsity", [0.1, 10.0, 1e3])
def test_reweighting_lowers_the_objective_with_w_eliminated(shape, sparsity):
    """phi(q) = -2 tr G(q)^(1/2) + lam/4 sum 1/q, by dense roots."""
    X, F = table(shape), frame(shape[0], 3)
    Z = centred(X)
    problem = URAFSProblem(as_operator(X), 1.0, 1.0, sparsity)

    def phi(e):
        G = F.T @ Z @ np.linalg.solve(Z.T @ Z + sparsity * np.diag(1.0 / e), Z.T @ F)
        return -2.0 * np.sum(np.sqrt(np.linalg.eigvalsh((G + G.T) / 2.0))) + sparsity / 4 * e.sum()

    e = np.ones(shape[1])
    values = [phi(e)]
    for _ in range(8):
        e = safe_weights(problem, F, e)[2]
        values.append(phi(e))
    assert np.all(np.diff(values) <= 1e-10 * np.abs(values[:-1]))
    assert values[-1] < values[0] - 1e-3 * abs(values[0])


# --- the graph ----------------------------------------------------------------------------------


@pytest.mark.parametrize("beta", [1e-3, 0.1, 10.0])
@pytest.mark.parametrize("block", [4, 2**20])
def test_graph_of_the_label_step_is_the_dense_one(beta, block, monkeypatch):
    monkeypatch.setattr("featsieve.terms.entropy_graph.BLOCK_ELEMENTS", block * 15)
    F = np.linalg.qr(table((15, 3)))[0]
    S, L = dense_graph(F, beta)
    graph = LabelGraph.of(F, 0.5 / beta)
    np.testing.assert_allclose(graph.product, L @ F, atol=1e-12)
    distance = ((F[:, None] - F[None]) ** 2).sum(axis=-1)
    term = np.sum(distance * S) + 2.0 * beta * np.sum(S * np.log(np.maximum(S, 1e-300)))
    np.testing.assert_allclose(-2.0 * beta * graph.log_partition, term, rtol=1e-10)
    assert np.linalg.eigvalsh(L)[-1] <= graph.bound * (1.0 + 1e-12)


def test_large_beta_is_the_uniform_graph_and_small_beta_none():
    F = frame(12, 2)
    np.testing.assert_allclose(LabelGraph.of(F, 1e-12).product, F, atol=1e-9)  # L = H
    np.testing.assert_allclose(LabelGraph.of(table((12, 2)), 1e100).product, 0.0, atol=1e-12)


# --- the alternation ----------------------------------------------------------------------------


def textbook(X, F, *, alpha, beta, sparsity, n_iter):
    """Return W, F and the objectives of the safe alternation, with dense S and matrix roots."""
    Z = centred(X)
    n, d = Z.shape
    H = np.eye(n) - 1.0 / n
    e = np.ones(d)
    history = []

    def best_weights(e):
        A = Z.T @ Z + sparsity * np.diag(1.0 / e)
        root = power(A, -0.5)
        W = root @ polar(root @ Z.T @ F)
        G = F.T @ Z @ np.linalg.solve(A, Z.T @ F)
        return W, G

    for _ in range(n_iter):
        W, G = best_weights(e)
        lengths = ((W @ power(G, 0.25)) ** 2).sum(axis=1)
        e = 2.0 * np.sqrt(lengths + SMOOTHING)
        W, _ = best_weights(e)
        for _ in range(3):
            _, L = dense_graph(F, beta)
            eta = (1.0 + 1e-6) * (1.0 + 4.0 * alpha * np.diag(L).max())
            F = polar(eta * F - (H + 2.0 * alpha * L) @ F + Z @ W)
        S, L = dense_graph(F, beta)
        entropy = np.sum(S * np.log(np.maximum(S, 1e-300)))
        penalty = np.sum((W**2).sum(axis=1) / e) + 0.25 * e.sum() + SMOOTHING * np.sum(1.0 / e)
        graph = 2.0 * alpha * (np.trace(F.T @ L @ F) + beta * entropy)
        loss = np.sum((H @ (X @ W - F)) ** 2)
        history.append(loss + sparsity * penalty + graph)
    return W, F, e, history


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("parameters", [(0.1, 0.01, 1.0), (2.0, 0.2, 10.0)])
def test_fast_alternation_is_the_textbook_one(shape, parameters):
    alpha, beta, sparsity = parameters
    X, F = table(shape), frame(shape[0], 3)
    W, labels, e, history = textbook(X, F, alpha=alpha, beta=beta, sparsity=sparsity, n_iter=4)
    problem = URAFSProblem(as_operator(X), alpha, beta, sparsity)
    solution = solve_safe(problem, F, max_iter=4, tol=0.0)
    np.testing.assert_allclose(solution.state.W, W, atol=1e-8)
    np.testing.assert_allclose(solution.state.F, labels, atol=1e-8)
    np.testing.assert_allclose(solution.state.inverse, e, atol=1e-8)
    np.testing.assert_allclose(solution.objective[1:], history, rtol=1e-8)
    np.testing.assert_allclose(labels.T @ labels, np.eye(3), atol=1e-10)


@settings(max_examples=50)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 25),
    d=st.integers(1, 40),
    c=st.integers(2, 4),
    alpha=st.sampled_from([0.0, 1e-2, 1.0, 1e3]),
    beta=st.sampled_from([1e-3, 0.1, 1.0, 1e3]),
    sparsity=st.sampled_from([1e-3, 1.0, 10.0, 100.0, 1e4]),
    init=st.sampled_from(["labels", "random"]),
)
def test_objective_never_increases(seed, n, d, c, alpha, beta, sparsity, init):
    X = table((n, d), seed)
    start = np.arange(n) % c if init == "labels" else init
    model = URAFS(
        c,
        n_features_to_select=1,
        alpha=alpha,
        beta=beta,
        sparsity=sparsity,
        init=start,
        max_iter=15,
        tol=0.0,
        random_state=0,
    )
    model = quietly(model, X)
    history = model.objective_
    assert np.isfinite(history).all()
    assert np.all(np.diff(history) <= 1e-9 * (1.0 + np.abs(history[:-1])))


def test_recorded_value_bounds_the_published_objective_from_above():
    X, F = table((20, 12)), frame(20, 3)
    problem = URAFSProblem(as_operator(X), 0.5, 0.1, 5.0)
    solution = solve_safe(problem, F, max_iter=30, tol=0.0)
    W, F = solution.state.W, solution.state.F
    S, L = dense_graph(F, 0.1)
    published = np.sum((centred(X) @ W - F) ** 2) + 5.0 * np.sqrt((W**2).sum(axis=1)).sum()
    published += np.trace(F.T @ L @ F) + 0.1 * np.sum(S * np.log(S))  # 2 alpha = 1
    assert published <= solution.objective[-1]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_published_update_is_the_authors_alternation(shape):
    """S, W by matrix roots, Q, then F by 4 power iterations from a random start."""
    X, (n, d), c = table(shape), shape, 3
    alpha, beta, sparsity = 0.3, 0.2, 2.0
    start = np.linalg.qr(table((n, c), 5))[0]
    problem = URAFSProblem(as_operator(X), alpha, beta, sparsity)
    solution = solve_published(
        problem, start, random_state=np.random.RandomState(0), max_iter=4, tol=0.0
    )
    rng = np.random.RandomState(0)
    H = np.eye(n) - 1.0 / n
    F, q, history = start, np.ones(d), []
    for _ in range(4):
        S, L = dense_graph(F, beta)
        S = (S + S.T) / 2.0
        root = np.real(scipy.linalg.sqrtm(X.T @ H @ X + sparsity * np.diag(q)))
        W = np.linalg.solve(root, polar(np.linalg.solve(root, X.T @ H @ F)))
        A, B = H + 2.0 * alpha * L, H @ X @ W
        v = rng.uniform(size=(n, 1))
        for _ in range(10):
            v = A @ v / np.linalg.norm(A @ v)
        eta = abs((v.T @ A @ v).item())
        F = np.linalg.qr(rng.uniform(size=(n, c)))[0]
        for _ in range(4):
            F = polar(2.0 * (eta * F - A @ F) + 2.0 * B)
        loss = np.sum((H @ (X @ W - F)) ** 2) + sparsity * np.sum(q * (W**2).sum(axis=1))
        graph = np.trace(F.T @ L @ F) + beta * np.sum(S * np.log(S))
        history.append(loss + 2.0 * alpha * graph)
        q = 0.5 / np.sqrt((W**2).sum(axis=1) + SMOOTHING)
    np.testing.assert_allclose(solution.state.W, W, atol=1e-8)
    np.testing.assert_allclose(solution.state.F, F, atol=1e-8)
    np.testing.assert_allclose(solution.objective[1:], history, rtol=1e-8)


def test_published_objective_can_rise(small_planted):
    model = URAFS(3, update="paper", sparsity=100.0, tol=0.0, max_iter=20, random_state=0)
    assert np.diff(quietly(model, small_planted.X).objective_).max() > 1e-3


# --- the estimator ------------------------------------------------------------------------------


@pytest.mark.parametrize("update", ["safe", "paper"])
def test_scores_labels_and_coefficients(small_planted, update):
    model = URAFS(3, n_features_to_select=8, update=update, max_iter=50, random_state=0)
    model = quietly(model, small_planted.X)
    deviation = small_planted.X.std(axis=0)
    np.testing.assert_allclose(
        model.scores_, np.linalg.norm(model.coef_ * deviation[:, None], axis=1), rtol=1e-10
    )
    assert model.coef_.shape == (60, 3)
    assert len(model.objective_) == model.n_iter_
    assert model.status_.value
    assert adjusted_rand_score(small_planted.labels, model.labels_) > 0.8
    assert (model.support_ & small_planted.informative).sum() >= 7


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("n", "d", "c", "signal"), [(120, 50, 4, 2.0), (60, 300, 3, 3.0)], ids=["tall", "wide"]
)
def test_planted_features_are_found(seed, n, d, c, signal):
    planted = make_planted(
        n, d, n_informative=10, n_redundant=6, n_clusters=c, signal=signal, random_state=seed
    )
    model = URAFS(c, n_features_to_select=10, random_state=0).fit(planted.X)
    assert (model.support_ & (planted.informative | planted.redundant)).sum() >= 9


@pytest.mark.parametrize("seed", range(3))
def test_four_features_of_the_toy(seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2], 30)
    X = rng.standard_normal((90, 20))
    X[:, :4] += np.array([[0, 0, 0, 0], [6, 0, 6, 0], [0, 6, 6, 6]])[labels]
    model = URAFS(3, n_features_to_select=4, random_state=0).fit(X)
    np.testing.assert_array_equal(np.flatnonzero(model.support_), [0, 1, 2, 3])
    assert adjusted_rand_score(labels, model.labels_) > 0.9


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_permutations(shape):
    X, labels = table(shape), np.arange(shape[0]) % 3
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(shape[0]), rng.permutation(shape[1])

    def scores(X, labels):
        return quietly(URAFS(3, init=labels, max_iter=10, random_state=0), X).scores_

    expected = scores(X, labels)
    np.testing.assert_allclose(scores(X[:, columns], labels), expected[columns], atol=1e-9)
    np.testing.assert_allclose(scores(X[rows], labels[rows]), expected, atol=1e-9)
    np.testing.assert_allclose(scores(X, (labels + 1) % 3), expected, atol=1e-9)


def test_copies_of_a_column_score_alike():
    X = table((20, 7))
    X[:, 5] = X[:, 2]
    scores = quietly(URAFS(3, init=np.arange(20) % 3, max_iter=10), X).scores_
    np.testing.assert_allclose(scores[5], scores[2], rtol=1e-8)


def test_a_shift_of_the_columns_changes_nothing_and_raw_is_none():
    X, labels = table((20, 8)), np.arange(20) % 3
    shift = np.linspace(-50.0, 50.0, 8)

    def scores(X, scale):
        return quietly(URAFS(3, init=labels, scale=scale, max_iter=10), X).scores_

    for scale in ("unit", "none", "raw"):
        np.testing.assert_allclose(scores(X + shift, scale), scores(X, scale), atol=1e-9)
    np.testing.assert_allclose(scores(X, "raw"), scores(X, "none"), rtol=1e-12)


@pytest.mark.parametrize("update", ["safe", "paper"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_sparse_table_gives_the_same(shape, update):
    X = table(shape)
    X[np.abs(X) < 0.8] = 0.0
    labels = np.arange(shape[0]) % 3
    dense, sparse = (
        quietly(URAFS(3, init=labels, update=update, max_iter=8, random_state=0), kind(X))
        for kind in (np.asarray, sp.csr_array)
    )
    np.testing.assert_allclose(sparse.scores_, dense.scores_, atol=1e-8)
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)


@pytest.mark.parametrize("update", ["safe", "paper"])
def test_constant_column_scores_zero_and_ranks_last(small_planted, update):
    X = small_planted.X.copy()
    X[:, [0, 11]] = 3.0
    model = quietly(URAFS(3, update=update, max_iter=10, random_state=0), X)
    np.testing.assert_array_equal(model.scores_[[0, 11]], 0.0)
    assert set(model.ranking_[[0, 11]]) == {59, 60}


def test_given_labels_keep_their_numbers(small_planted):
    given_labels = (small_planted.labels + 1) % 3
    model = URAFS(3, init=given_labels, random_state=0).fit(small_planted.X)
    assert np.mean(model.labels_ == given_labels) > 0.9
    model = URAFS(3, init=lambda X, c, rng: given_labels, max_iter=3, random_state=0)
    assert np.mean(quietly(model, small_planted.X).labels_ == given_labels) > 0.9


def test_labels_of_a_rotated_indicator_are_its_clusters():
    labels = np.array([0, 1, 1, 2, 0, 2, 2, 1])
    turn = np.linalg.qr(table((3, 3)))[0]
    F = normalised_indicator(labels, 3) @ turn
    rng = np.random.RandomState(0)
    np.testing.assert_array_equal(label_rows(F, 3, given=None, random_state=rng), labels)
    other = (labels + 2) % 3
    np.testing.assert_array_equal(label_rows(F, 3, given=other, random_state=rng), other)


def test_spectral_start(small_planted):
    model = URAFS(3, n_features_to_select=8, init="spectral", random_state=0).fit(small_planted.X)
    assert (model.support_ & small_planted.informative).sum() >= 7


@pytest.mark.parametrize("update", ["safe", "paper"])
def test_random_start_is_seeded(small_planted, update):
    first, again, other = (
        quietly(
            URAFS(3, init="random", update=update, max_iter=5, random_state=seed), small_planted.X
        )
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.scores_, again.scores_)
    assert not np.allclose(first.scores_, other.scores_)


@pytest.mark.parametrize(("update", "sparsity"), [("safe", 1e6), ("paper", 1e9)])
def test_warns_when_all_weights_vanish(small_planted, update, sparsity):
    with pytest.warns(UserWarning, match="penalty is too large"):
        URAFS(3, sparsity=sparsity, update=update, random_state=0).fit(small_planted.X)


def test_warns_of_too_few_iterations(small_planted):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        URAFS(3, max_iter=2, random_state=0).fit(small_planted.X)


@pytest.mark.parametrize("update", ["safe", "paper"])
@pytest.mark.parametrize(
    ("n", "d", "c"), [(2, 1, 1), (2, 1, 2), (5, 3, 5), (6, 1, 3), (4, 50, 2), (9, 4, 1)]
)
def test_small_tables_give_finite_results(n, d, c, update):
    X = np.random.default_rng(0).integers(0, 3, (n, d)).astype(np.float32)
    X[0] += 1.0
    model = URAFS(
        c, n_features_to_select=1, update=update, init=np.arange(n) % c, max_iter=20, random_state=0
    )
    model = quietly(model, X)
    for value in (model.scores_, model.coef_, model.objective_):
        assert np.isfinite(value).all()
    assert model.labels_.shape == (n,)


@pytest.mark.parametrize(
    "parameters",
    [
        {"alpha": 1e12},
        {"beta": 1e-300},
        {"beta": 1e300},
        {"sparsity": 1e12},
        {"sparsity": 1e-12},
        {"alpha": 1e12, "sparsity": 1e12, "update": "paper"},
        {"beta": 1e-300, "update": "paper"},
    ],
)
def test_extreme_parameters_give_finite_results(parameters):
    model = URAFS(3, init=np.arange(15) % 3, max_iter=10, random_state=0, **parameters)
    model = quietly(model, table((15, 6)))
    for value in (model.scores_, model.coef_, model.objective_):
        assert np.isfinite(value).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"update": "published"}, "update must be one of 'safe', 'paper'"),
        ({"alpha": -1.0}, "alpha must be a number of at least 0"),
        ({"beta": 0.0}, "beta must be a number above 0"),
        ({"sparsity": 0.0}, "sparsity must be a number above 0"),
        ({"n_neighbors": 0}, "n_neighbors must be an integer of at least 1"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
        ({"tol": -1.0}, "tol must be a number of at least 0"),
        ({"init": "pca"}, "init must be one of"),
        ({"scale": "std"}, "scale must be one of"),
        ({"n_clusters": 100}, "n_clusters=100 is more than n_samples=20"),
        ({"init": np.zeros(20)}, "init holds 1 different labels but n_clusters=3"),
    ],
)
def test_refuses_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        URAFS(**{"n_clusters": 3, **parameters}).fit(table((20, 5)))


def test_refuses_a_callback_that_cannot_be_called():
    with pytest.raises(TypeError, match="callback must be callable"):
        URAFS(3, callback=1).fit(table((20, 5)))


def test_callback_can_stop(small_planted):
    model = URAFS(3, callback=lambda i, value, state: i == 2, random_state=0).fit(small_planted.X)
    assert model.n_iter_ == 2
