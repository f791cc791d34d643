"""USFS: steps against textbook ones, descent, the released program, invariances, recovery."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from featsieve import USFS
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.selectors.usfs import by_first_appearance
from featsieve.selectors.usfs_solver import (
    USFSProblem,
    centre_distances,
    memberships,
    solve_usfs,
    subspace,
)
from featsieve.terms.row_shrinkage import SMOOTHING

SHAPES = {"tall": (24, 9), "wide": (14, 30)}


def quietly(model, X):
    """Fit without the warnings of few iterations or uniform labels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


def table(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def random_memberships(n, c, seed=0):
    Y = np.random.default_rng(seed).uniform(size=(n, c)) ** 3
    return Y / Y.sum(axis=1, keepdims=True)


def simplex(v):
    """Project by trying every number of positive entries."""
    order = np.sort(v)[::-1]
    thresholds = [(order[:r].sum() - 1.0) / r for r in range(1, len(v) + 1)]
    valid = [t for r, t in enumerate(thresholds) if order[r] > t]
    return np.maximum(v - valid[-1], 0.0)


def textbook(X, Y, *, alpha, beta, gamma, m, n_iter, intercept=True):
    """Run the consistent steps with dense matrices; return P, Y and the value after each step."""
    n, d = X.shape
    Z = X - X.mean(axis=0) if intercept else X
    row_space = np.linalg.svd(Z, full_matrices=False)
    V = row_space[2][row_space[1] > 1e-8].T
    gam = np.ones(d)
    P = b = None
    history, steps = [], []

    def value(D, Y, P):
        b = Y.mean(axis=0) if intercept else 0.0
        fit = np.sum((Z @ P + b - Y) ** 2)
        norms = np.sqrt((P**2).sum(axis=1) + SMOOTHING).sum()
        return np.sum(Y * D) + beta * (np.sum(Y**2) + alpha * fit + gamma * norms)

    for _ in range(n_iter):
        N = np.diag(Y.sum(axis=0))
        scatter = Z.T @ (np.eye(n) - Y @ np.linalg.inv(N) @ Y.T) @ Z
        W = V @ np.linalg.eigh(V.T @ scatter @ V)[1][:, :m]
        M = np.linalg.inv(N) @ Y.T @ Z @ W
        D = ((Z @ W)[:, None] - M[None]) ** 2
        D = D.sum(axis=-1)
        if P is not None:
            steps.append(value(D, Y, P))
        b = Y.mean(axis=0) if intercept else np.zeros(Y.shape[1])
        P = np.linalg.solve(Z.T @ Z + gamma / alpha * np.diag(gam), Z.T @ (Y - b))
        gam = 0.5 / np.sqrt((P**2).sum(axis=1) + SMOOTHING)
        steps.append(value(D, Y, P))
        target = (alpha * (Z @ P + b) - D / (2.0 * beta)) / (1.0 + alpha)
        Y = np.array([simplex(v) for v in target])
        steps.append(value(D, Y, P))
        history.append(steps[-1])
    return P, Y, history, steps


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("m", [2, 5, None])
@pytest.mark.parametrize("parameters", [(10.0, 1.0, 2.0), (0.5, 20.0, 0.1), (100.0, 10.0, 100.0)])
def test_fast_alternation_is_the_textbook_one_and_every_step_descends(shape, m, parameters):
    alpha, beta, gamma = parameters
    X, Y = table(shape), random_memberships(shape[0], 3)
    P, memberships_, history, steps = textbook(
        X, Y, alpha=alpha, beta=beta, gamma=gamma, m=m or min(shape), n_iter=5
    )
    problem = USFSProblem(as_operator(X), alpha, beta, gamma, n_components=m)
    solution = solve_usfs(problem, Y, max_iter=5, tol=0.0)
    np.testing.assert_allclose(solution.state.P, P, atol=1e-8)
    np.testing.assert_allclose(solution.state.Y, memberships_, atol=1e-8)
    np.testing.assert_allclose(solution.objective[1:], history, rtol=1e-8)
    assert np.all(np.diff(steps) <= 1e-10 * np.abs(steps[:-1]))


def test_without_intercept_the_table_is_used_as_it_is():
    X, Y = table((20, 6)) + 2.0, random_memberships(20, 3)
    P, found, history, _ = textbook(
        X, Y, alpha=10.0, beta=1.0, gamma=2.0, m=2, n_iter=4, intercept=False
    )
    problem = USFSProblem(
        as_operator(X, center=False), 10.0, 1.0, 2.0, n_components=2, intercept=False
    )
    solution = solve_usfs(problem, Y, max_iter=4, tol=0.0)
    np.testing.assert_allclose(solution.state.P, P, atol=1e-8)
    np.testing.assert_allclose(solution.state.Y, found, atol=1e-8)
    np.testing.assert_allclose(solution.objective[1:], history, rtol=1e-8)


@settings(max_examples=50)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 25),
    d=st.integers(1, 40),
    c=st.integers(2, 4),
    alpha=st.sampled_from([1e-2, 1.0, 10.0, 1e4]),
    beta=st.sampled_from([1e-3, 1.0, 1e3]),
    ratio=st.sampled_from([1e-3, 1.0, 30.0]),
    m=st.sampled_from([None, 1, 3]),
    scale=st.sampled_from(["unit", "none", "raw"]),
    init=st.sampled_from(["labels", "random"]),
)
def test_objective_never_increases(seed, n, d, c, alpha, beta, ratio, m, scale, init):
    model = USFS(
        c,
        n_features_to_select=1,
        alpha=alpha,
        beta=beta,
        gamma=alpha * ratio,
        n_components=None if m is None else min(m, d),
        scale=scale,
        init=np.arange(n) % c if init == "labels" else init,
        max_iter=20,
        tol=0.0,
        random_state=0,
    )
    model = quietly(model, table((n, d), seed))
    history = model.objective_
    assert np.isfinite(history).all()
    assert np.all(np.diff(history) <= 1e-9 * (1.0 + np.abs(history[:-1])))
    np.testing.assert_allclose(model.soft_labels_.sum(axis=1), 1.0, rtol=1e-12)
    assert model.soft_labels_.min() >= 0.0


# --- single steps -------------------------------------------------------------------------------


@pytest.mark.parametrize("largest", [0, 400], ids=["scipy", "numpy"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_subspace_has_the_least_scatter_of_the_row_space(shape, largest, monkeypatch):
    monkeypatch.setattr("featsieve.selectors.usfs_solver.LARGEST_FULL", largest)
    X, Y = table(shape), random_memberships(shape[0], 3)
    problem = USFSProblem(as_operator(X), 1.0, 1.0, 1.0, n_components=4)
    space = subspace(problem, Y, released=False)
    Z = X - X.mean(axis=0)
    basis = np.linalg.svd(Z, full_matrices=False)[2][: min(shape[1], shape[0] - 1)]
    scatter = Z.T @ (np.eye(shape[0]) - Y @ np.diag(1.0 / Y.sum(axis=0)) @ Y.T) @ Z
    least = np.linalg.eigvalsh(basis @ scatter @ basis.T)[:4].sum()
    assert np.sum(Y * centre_distances(space, Y)) == pytest.approx(least, rel=1e-9)
    assert space.shape == (shape[0], 4)


def test_all_directions_need_no_subspace():
    operator = as_operator(table((10, 4)))
    problem = USFSProblem(operator, 1.0, 1.0, 1.0)
    assert subspace(problem, random_memberships(10, 2), released=False) is operator


def test_distances_are_those_to_the_weighted_means():
    X, Y = table((12, 5)), random_memberships(12, 3)
    centres = (Y.T @ X) / Y.sum(axis=0)[:, None]
    expected = ((X[:, None] - centres[None]) ** 2).sum(axis=-1)
    np.testing.assert_allclose(centre_distances(as_operator(X), Y), expected, atol=1e-12)
    sparse = as_operator(sp.csr_array(X))
    np.testing.assert_allclose(centre_distances(sparse, Y), expected, atol=1e-12)


def test_empty_clusters_move_to_the_farthest_samples():
    X = np.array([[0.0], [1.0], [2.0], [30.0], [-20.0]])
    Y = np.zeros((5, 3))
    Y[:, 1] = 1.0
    D = centre_distances(as_operator(X), Y)
    np.testing.assert_allclose(D[:, 0], (X[:, 0] - 30.0) ** 2, atol=1e-10)
    np.testing.assert_allclose(D[:, 2], (X[:, 0] + 20.0) ** 2, atol=1e-10)
    # and the next labels use them
    nearest = memberships(np.zeros((5, 3)), D, alpha=1.0, beta=1e-3).argmax(axis=1)
    np.testing.assert_array_equal(nearest, [1, 1, 1, 0, 2])


def test_without_regression_labels_are_the_projection_of_distances():
    D = np.random.default_rng(0).uniform(0.0, 3.0, (9, 4))
    found = memberships(np.zeros((9, 4)), D, alpha=0.0, beta=0.7)
    np.testing.assert_allclose(found, [simplex(-d / 1.4) for d in D], atol=1e-12)
    # the same as the limit of a small alpha
    near = memberships(table((9, 4)), D, alpha=1e-10, beta=0.7)
    np.testing.assert_allclose(near, found, atol=1e-8)


def test_small_beta_gives_the_nearest_centre():
    D = np.random.default_rng(1).uniform(0.0, 3.0, (9, 4))
    found = memberships(table((9, 4)), D, alpha=10.0, beta=1e-300)
    np.testing.assert_array_equal(found, np.eye(4)[D.argmin(axis=1)])


def test_label_step_is_optimal():
    """No other point of the simplex is better: compare with random ones."""
    rng = np.random.default_rng(2)
    D, predicted = rng.uniform(0.0, 2.0, (1, 4)), rng.standard_normal((1, 4))
    alpha, beta = 3.0, 0.5

    def value(y):
        return y @ D[0] + beta * (y @ y + alpha * np.sum((predicted[0] - y) ** 2))

    best = value(memberships(predicted, D, alpha=alpha, beta=beta)[0])
    others = [value(y) for y in rng.dirichlet(np.full(4, 0.3), 2000)]
    assert best <= min(others)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_both_forms_of_the_regression_agree(shape):
    X, Y = table(shape), random_memberships(shape[0], 3)
    gram, sample = (
        solve_usfs(
            USFSProblem(as_operator(X), 10.0, 1.0, 5.0, n_components=2, form=form),
            Y,
            max_iter=5,
            tol=0.0,
        ).state
        for form in ("gram", "sample")
    )
    np.testing.assert_allclose(gram.P, sample.P, atol=1e-8)
    np.testing.assert_allclose(gram.Y, sample.Y, atol=1e-8)


# --- the released program -----------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("m", [2, 7])
def test_released_variant_is_the_released_program(shape, m):
    """N in place of its inverse, 1/2 in place of 1/(1 + alpha), all d eigenvectors."""
    n, d = shape
    X, alpha, beta, gamma = table(shape) + 1.0, 3.0, 2.0, 4.0
    labels = np.arange(n) % 3
    model = USFS(
        3,
        alpha=alpha,
        beta=beta,
        gamma=gamma,
        n_components=m,
        variant="released",
        init=labels,
        scale="raw",
        max_iter=5,
        tol=0.0,
    )
    model = quietly(model, X)
    Y, gam = 0.9 * np.eye(3)[labels] + 0.1 / 3, np.ones(d)
    for _ in range(5):
        scatter = X.T @ (np.eye(n) - Y @ np.diag(Y.sum(axis=0)) @ Y.T) @ X
        W = np.linalg.eigh((scatter + scatter.T) / 2.0)[1][:, :m]
        M = Y.T @ X @ W / Y.sum(axis=0)[:, None]
        P = np.linalg.solve(X.T @ X + gamma / alpha * np.diag(gam), X.T @ Y)
        gam = 1.0 / (2.0 * np.linalg.norm(P, axis=1) + 0.01)
        D = (((X @ W)[:, None] - M[None]) ** 2).sum(axis=-1)
        Y = np.array([simplex(v) for v in 0.5 * (alpha * X @ P - D / (2.0 * beta))])
    np.testing.assert_allclose(model.coef_, P, atol=1e-8)
    np.testing.assert_allclose(model.soft_labels_, Y, atol=1e-8)


def test_released_program_has_hard_labels_and_its_objective_rises():
    X = table((30, 10), seed=3)
    options = {
        "alpha": 1e4,
        "beta": 1.0,
        "gamma": 1e4,
        "n_components": 5,
        "init": np.arange(30) % 3,
    }
    released = quietly(USFS(3, variant="released", max_iter=5, tol=0.0, **options), X)
    assert released.soft_labels_.max(axis=1).mean() > 0.99
    assert np.diff(released.objective_).max() > 0.5
    consistent = quietly(USFS(3, max_iter=5, tol=0.0, **options), X)
    assert consistent.soft_labels_.max(axis=1).mean() < 0.6
    assert np.diff(consistent.objective_).max() <= 0.0


# --- the estimator ------------------------------------------------------------------------------


def test_scores_labels_and_coefficients(small_planted):
    model = USFS(3, n_features_to_select=8, random_state=0).fit(small_planted.X)
    deviation = small_planted.X.std(axis=0)
    np.testing.assert_allclose(
        model.scores_, np.linalg.norm(model.coef_ * deviation[:, None], axis=1), rtol=1e-10
    )
    np.testing.assert_array_equal(model.labels_, model.soft_labels_.argmax(axis=1))
    assert model.labels_[0] == 0
    assert len(model.objective_) == model.n_iter_
    assert adjusted_rand_score(small_planted.labels, model.labels_) > 0.9


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("n", "d", "c", "signal"), [(120, 50, 4, 2.0), (60, 300, 3, 4.0)], ids=["tall", "wide"]
)
def test_planted_features_are_found(seed, n, d, c, signal):
    planted = make_planted(
        n, d, n_informative=10, n_redundant=6, n_clusters=c, signal=signal, random_state=seed
    )
    model = USFS(c, n_features_to_select=10, random_state=0).fit(planted.X)
    assert (model.support_ & (planted.informative | planted.redundant)).sum() >= 9


@pytest.mark.parametrize("seed", range(5))
def test_four_features_of_the_toy(seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1, 2], 30)
    X = rng.standard_normal((90, 20))
    X[:, :4] += np.array([[0, 0, 0, 0], [6, 0, 6, 0], [0, 6, 6, 6]])[labels]
    model = USFS(3, n_features_to_select=4, random_state=0).fit(X)
    np.testing.assert_array_equal(np.flatnonzero(model.support_), [0, 1, 2, 3])
    assert adjusted_rand_score(labels, model.labels_) > 0.9


@pytest.mark.parametrize("variant", ["consistent", "released"])
@pytest.mark.parametrize("m", [None, 3])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_permutations(shape, m, variant):
    X, labels = table(shape), np.arange(shape[0]) % 3
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(shape[0]), rng.permutation(shape[1])

    def scores(X, labels):
        model = USFS(3, n_components=m, variant=variant, init=labels, max_iter=6)
        return quietly(model, X).scores_

    expected = scores(X, labels)
    np.testing.assert_allclose(scores(X[:, columns], labels), expected[columns], atol=1e-9)
    np.testing.assert_allclose(scores(X[rows], labels[rows]), expected, atol=1e-9)
    np.testing.assert_allclose(scores(X, (labels + 1) % 3), expected, atol=1e-9)


def test_a_shift_of_the_columns_changes_nothing():
    X, labels = table((20, 8)), np.arange(20) % 3

    def scores(X, scale):
        return quietly(USFS(3, init=labels, scale=scale, n_components=3, max_iter=8), X).scores_

    for scale in ("unit", "none"):
        np.testing.assert_allclose(scores(X + 30.0, scale), scores(X, scale), atol=1e-8)
    assert not np.allclose(scores(X + 30.0, "raw"), scores(X, "raw"))


@pytest.mark.parametrize("m", [None, 3])
@pytest.mark.parametrize("scale", ["unit", "raw"])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_sparse_table_gives_the_same(shape, scale, m):
    X = table(shape)
    X[np.abs(X) < 0.8] = 0.0
    labels = np.arange(shape[0]) % 3
    dense, sparse = (
        quietly(USFS(3, init=labels, scale=scale, n_components=m, max_iter=8), kind(X))
        for kind in (np.asarray, sp.csr_array)
    )
    np.testing.assert_allclose(sparse.scores_, dense.scores_, atol=1e-8)
    np.testing.assert_allclose(sparse.soft_labels_, dense.soft_labels_, atol=1e-8)


def test_constant_column_scores_zero_and_ranks_last(small_planted):
    X = small_planted.X.copy()
    X[:, [0, 11]] = 3.0
    model = USFS(3, random_state=0).fit(X)
    np.testing.assert_array_equal(model.scores_[[0, 11]], 0.0)
    assert set(model.ranking_[[0, 11]]) == {59, 60}


def test_copies_of_a_column_score_alike():
    X = table((20, 7))
    X[:, 5] = X[:, 2]
    scores = quietly(USFS(3, init=np.arange(20) % 3, max_iter=10), X).scores_
    np.testing.assert_allclose(scores[5], scores[2], rtol=1e-8)


def test_given_labels_keep_their_order(small_planted):
    given_labels = (small_planted.labels + 1) % 3
    model = USFS(3, init=given_labels).fit(small_planted.X)
    assert np.mean(model.labels_ == given_labels) > 0.9


@pytest.mark.parametrize("scale", ["unit", "none", "raw"])
def test_default_beta_is_a_share_of_the_total_variance(scale):
    X = table((30, 6)) * [1.0, 2.0, 3.0, 0.5, 1.0, 1.0] + 5.0
    beta = 0.05 * (6.0 if scale == "unit" else X.var(axis=0).sum())
    labels = np.arange(30) % 3
    default, explicit = (
        quietly(USFS(3, beta=b, scale=scale, init=labels, max_iter=5), X) for b in ("auto", beta)
    )
    np.testing.assert_allclose(default.soft_labels_, explicit.soft_labels_, atol=1e-10)


def test_clusters_are_ordered_by_their_first_sample():
    np.testing.assert_array_equal(by_first_appearance(np.array([3, 1, 3, 0]), 5), [3, 1, 0, 2, 4])


@pytest.mark.parametrize("init", ["spectral", "random"])
def test_other_starts_are_seeded(small_planted, init):
    first, again = (
        quietly(USFS(3, init=init, max_iter=5, random_state=0), small_planted.X) for _ in range(2)
    )
    np.testing.assert_array_equal(first.scores_, again.scores_)


def test_warns_of_the_uniform_solution(small_planted):
    with pytest.warns(UserWarning, match="soft labels are uniform") as caught:
        USFS(3, beta=1e4, alpha=1.0, gamma=1.0, random_state=0).fit(small_planted.X)
    assert len(caught) == 1


def test_warns_when_all_weights_vanish(small_planted):
    with pytest.warns(UserWarning, match="penalty is too large"):
        USFS(3, gamma=1e3, random_state=0).fit(small_planted.X)


def test_default_gamma_is_half_of_the_one_that_removes_all_features(small_planted):
    X = small_planted.X
    model = USFS(3, init=small_planted.labels, alpha=2.0).fit(X)
    Y = 0.9 * np.eye(3)[small_planted.labels] + 0.1 / 3.0
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    largest = 2.0 * np.sqrt(((Z.T @ (2.0 * (Y - Y.mean(axis=0)))) ** 2).sum(axis=1)).max()
    np.testing.assert_allclose(model.gamma_, 0.5 * largest, rtol=1e-10)


def test_warns_of_too_few_iterations(small_planted):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        USFS(3, max_iter=2, random_state=0).fit(small_planted.X)


@pytest.mark.parametrize("variant", ["consistent", "released"])
@pytest.mark.parametrize("m", [None, 1])
@pytest.mark.parametrize(
    ("n", "d", "c"), [(2, 1, 1), (2, 1, 2), (5, 3, 5), (6, 1, 3), (4, 50, 2), (9, 4, 1)]
)
def test_small_tables_give_finite_results(n, d, c, m, variant):
    X = np.random.default_rng(0).integers(0, 3, (n, d)).astype(np.float32)
    X[0] += 1.0
    model = USFS(
        c,
        n_features_to_select=1,
        n_components=m,
        variant=variant,
        init=np.arange(n) % c,
        max_iter=20,
    )
    model = quietly(model, X)
    for value in (model.scores_, model.coef_, model.objective_, model.soft_labels_):
        assert np.isfinite(value).all()


@pytest.mark.parametrize("variant", ["consistent", "released"])
@pytest.mark.parametrize(
    "parameters",
    [
        {"alpha": 1e12},
        {"alpha": 1e-12},
        {"beta": 1e-300},
        {"beta": 1e12},
        {"gamma": 1e12},
        {"gamma": 1e-12},
    ],
)
def test_extreme_parameters_give_finite_results(parameters, variant):
    model = USFS(3, init=np.arange(15) % 3, max_iter=10, variant=variant, **parameters)
    model = quietly(model, table((15, 6)))
    for value in (model.scores_, model.coef_, model.objective_, model.soft_labels_):
        assert np.isfinite(value).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"variant": "paper"}, "variant must be one of 'consistent', 'released'"),
        ({"alpha": 0.0}, "alpha must be a number above 0"),
        ({"beta": 0.0}, "beta must be a number above 0"),
        ({"gamma": -1.0}, "gamma must be a number above 0"),
        ({"n_components": 0}, "n_components must be an integer of at least 1"),
        ({"n_components": 6}, "n_components=6 is more than the 5 features"),
        ({"n_neighbors": 0}, "n_neighbors must be an integer of at least 1"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1"),
        ({"tol": -1.0}, "tol must be a number of at least 0"),
        ({"init": "pca"}, "init must be one of"),
        ({"scale": "std"}, "scale must be one of"),
        ({"n_clusters": 100}, "n_clusters=100 is more than n_samples=20"),
    ],
)
def test_refuses_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        USFS(**{"n_clusters": 3, **parameters}).fit(table((20, 5)))


def test_refuses_a_callback_that_cannot_be_called():
    with pytest.raises(TypeError, match="callback must be callable"):
        USFS(3, callback=1).fit(table((20, 5)))
