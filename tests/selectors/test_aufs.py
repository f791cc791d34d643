"""AUFS against a dense textbook version, brute force, and its own promises."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from featsieve import AUFS
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.graphs.affinity import laplacian, sample_graph
from featsieve.solvers import Status, run
from featsieve.solvers.label_support import (
    SupportProblem,
    solve_support,
    update_features,
    update_labels,
)
from featsieve.solvers.projected_labels import LabelProblem, ProjectedNewton
from featsieve.terms.orthogonality import normalised_indicator

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
slow = settings(max_examples=50, deadline=None)


def make_problem(X, *, scale="std", n_neighbors=4, **options):
    operator = as_operator(X, scale=scale)
    L = laplacian(sample_graph(operator, "heat", n_neighbors=n_neighbors))
    return SupportProblem(operator, L, **{"alpha": 1.0, "sigma": 0.3, **options})


def first_matrix(n, c, seed=0):
    labels = np.random.default_rng(seed).permutation(np.arange(n) % c)
    return normalised_indicator(labels, c)


# The textbook version: dense matrices, explicit weights, refits of every candidate --------------


def textbook_objective(problem, Z, state):
    sigma, total = problem.sigma, 0.0
    for i in range(len(Z)):
        u = np.linalg.norm(Z[i] @ state.W + state.b - state.F[i])
        total += (1 + sigma) * u**2 / (u + sigma)
    gap = state.F.T @ state.F - np.eye(state.F.shape[1])
    return (
        total
        + problem.alpha * np.trace(state.F.T @ problem.laplacian.toarray() @ state.F)
        + problem.sparsity * np.count_nonzero(state.W.any(axis=1))
        + problem.ridge * np.sum(state.W**2)
        + 0.5 * problem.orthogonality * np.sum(gap**2)
    )


def weighted_fit(Z, F, omega, mu, support):
    """W and b of the weighted ridge regression with an intercept, and twice its value."""
    n, c = F.shape
    A = np.column_stack([np.ones(n), Z[:, support]])
    D = np.diag([0.0] + [mu] * len(support))
    solution = np.linalg.solve(A.T @ (omega[:, None] * A) + D, A.T @ (omega[:, None] * F))
    W = np.zeros((Z.shape[1], c))
    W[support] = solution[1:]
    value = np.sum(omega[:, None] * (A @ solution - F) ** 2) + mu * np.sum(W**2)
    return W, solution[0], value


def textbook_run(problem, Z, F, *, k, n_iter, squared=False):
    """Greedy W-step by explicit refits, label step on dense matrices."""
    W, b, support = np.zeros((Z.shape[1], F.shape[1])), F.mean(axis=0), []
    sigma, L = problem.sigma, problem.laplacian.toarray()

    def weights(W, b, F):
        if squared:
            return np.ones(len(F))
        u = np.linalg.norm(Z @ W + b - F, axis=1)
        return (1 + sigma) * (u + 2 * sigma) / (2 * (u + sigma) ** 2)

    for _ in range(n_iter):
        omega = weights(W, b, F)
        greedy = []
        while len(greedy) < k:
            rest = [j for j in range(Z.shape[1]) if j not in greedy]
            values = [weighted_fit(Z, F, omega, problem.ridge, [*greedy, j])[2] for j in rest]
            greedy.append(rest[int(np.argmin(values))])
        candidates = [greedy, support] if support else [greedy]
        support = min(candidates, key=lambda S: weighted_fit(Z, F, omega, problem.ridge, S)[2])
        W, b, _ = weighted_fit(Z, F, omega, problem.ridge, support)
        omega = weights(W, b, F)
        A = np.diag(omega) + problem.alpha * L
        step = LabelProblem(A, omega[:, None] * (Z @ W + b), problem.orthogonality)
        F = run(ProjectedNewton(F), step, max_iter=200).state.F
    return W, b, F


@pytest.mark.parametrize("shape", [(20, 7), (12, 25)], ids=["d<n", "d>n"])
def test_the_run_is_that_of_dense_matrices(shape):
    X = np.random.default_rng(1).standard_normal(shape)
    problem = make_problem(X, ridge=15.0, n_features=3)
    F = first_matrix(shape[0], 3)
    found = solve_support(problem, F, penalties=(10.0,), max_iter=3, tol=0.0).state
    Z = problem.operator.rows(0, shape[0])
    at_nu = replace(problem, orthogonality=10.0)
    W, b, F = textbook_run(at_nu, Z, F, k=3, n_iter=3)
    np.testing.assert_allclose(found.W, W, atol=1e-8)
    np.testing.assert_allclose(found.b, b, atol=1e-8)
    np.testing.assert_allclose(found.F, F, atol=1e-8)
    assert at_nu.objective(found) == pytest.approx(textbook_objective(at_nu, Z, found))


# Descent ----------------------------------------------------------------------------------------


@pytest.mark.slow
@slow
@given(
    seed=st.integers(0, 10**6),
    shape=st.sampled_from([(12, 5), (8, 20), (25, 12), (6, 2)]),
    n_clusters=st.integers(1, 4),
    w_step=st.sampled_from(["forward", "local", "iht"]),
    alpha=st.sampled_from([0.0, 0.1, 10.0, 1e3]),
    sigma=st.sampled_from(["auto", 0.01, 1.0, 1e6]),
    ridge=st.sampled_from([0.0, 0.1, 10.0]),
    orthogonality=st.sampled_from([1.0, 1e4, (10.0, 1e3)]),
    decides=st.sampled_from([{"n_features_to_select": 0.4}, {"n_features_to_select": None}]),
)
@pytest.mark.filterwarnings("ignore:n_clusters=1", "ignore:The pseudo-labels have collapsed")
def test_the_objective_never_rises(seed, shape, n_clusters, decides, **options):
    X = np.random.default_rng(seed).standard_normal(shape)
    sieve = AUFS(n_clusters, max_iter=6, random_state=seed, **decides, **options).fit(X)
    slack = 1e-9 * np.abs(sieve.objective_[0]) + 1e-12
    assert np.all(np.diff(sieve.objective_) <= slack)
    assert len(sieve.objective_) == sieve.n_iter_
    assert all(np.isfinite(v).all() for v in (sieve.scores_, sieve.coef_, sieve.sample_weights_))
    assert not np.any(sieve.coef_.any(axis=1) & ~sieve.support_)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([(14, 6), (8, 15)]), st.sampled_from([0.3, np.inf]))
def test_each_block_lowers_the_objective_on_its_own(seed, shape, sigma):
    X = np.random.default_rng(seed).standard_normal(shape)
    problem = make_problem(X, ridge=5.0, sparsity=0.01, orthogonality=20.0, sigma=sigma)
    state = problem.start(first_matrix(shape[0], 3, seed))
    before = problem.objective(state)
    for block in 2 * (update_features, update_labels):
        state = block(problem, state)
        after = problem.objective(state)
        assert after <= before + 1e-10 * abs(before)
        before = after


def test_penalties_below_the_last_only_make_its_start():
    X = np.random.default_rng(0).standard_normal((30, 10))
    values = []
    sieve = AUFS(
        3,
        orthogonality=(10, 1e3),
        n_features_to_select=4,
        random_state=0,
        callback=lambda i, value, state: values.append((i, value)),
    ).fit(X)
    assert [i for i, _ in values] == list(range(1, sieve.n_iter_ + 1))
    assert [value for _, value in values] == sieve.objective_.tolist()
    direct = AUFS(3, orthogonality=1e3, n_features_to_select=4, random_state=0).fit(X)
    assert direct.objective_[0] != sieve.objective_[0]


# The blocks against brute force -----------------------------------------------------------------


def test_an_outlying_sample_gets_the_smallest_weight():
    planted = make_planted(60, 20, n_informative=8, n_clusters=3, signal=4.0, random_state=0)
    X, labels = planted.X.copy(), planted.labels
    outlier = int(np.flatnonzero(labels == 0)[0])
    X[outlier] = X[labels == 1].mean(axis=0)  # it looks like the samples of another cluster
    problem = make_problem(X, ridge=1.0, n_features=8, sigma=0.1)
    state = update_features(problem, problem.start(normalised_indicator(labels, 3)))
    weights = problem.weights(state)
    assert weights.argmin() == outlier
    assert weights[outlier] < 0.5 * np.median(weights)


# How many features ------------------------------------------------------------------------------


@pytest.mark.parametrize("w_step", ["forward", "iht", "local"])
def test_too_large_a_sparsity_names_the_largest_usable_one(small_planted, w_step):
    # (While nu rises, the labels move, and a little more may be usable.)
    sieve = AUFS(3, sparsity=1e6, w_step=w_step, orthogonality=1e4, random_state=0)
    with pytest.raises(ValueError, match="no feature is selected: the largest value") as error:
        sieve.fit(small_planted.X)
    largest = float(str(error.value).split("here is ")[1].split(". Decrease")[0])
    sieve.set_params(sparsity=largest).fit(small_planted.X)
    assert sieve.n_features_selected_ >= 1
    assert sieve.sparsity_ == largest
    if w_step != "iht":
        with pytest.raises(ValueError, match="no feature is selected"):
            sieve.set_params(sparsity=largest * (1 + 1e-9)).fit(small_planted.X)


@pytest.mark.parametrize("w_step", ["forward", "iht", "local"])
@pytest.mark.parametrize("k", [1, 7, 60])
def test_exactly_as_many_features_as_asked_for(small_planted, w_step, k):
    sieve = AUFS(3, n_features_to_select=k, w_step=w_step, max_iter=3, random_state=0)
    sieve.fit(small_planted.X)
    assert sieve.support_.sum() == sieve.n_features_selected_ == k
    assert np.count_nonzero(sieve.coef_.any(axis=1)) == k
    assert sieve.sparsity_ == 0.0
    assert set(sieve.path_.order[:k]) == set(np.flatnonzero(sieve.support_))


@pytest.mark.parametrize("w_step", ["forward", "iht", "local"])
def test_auto_sparsity_selects_the_informative_features(small_planted, w_step):
    sieve = AUFS(3, w_step=w_step, random_state=0).fit(small_planted.X)
    assert np.all(sieve.support_[small_planted.informative])
    assert sieve.n_features_selected_ < 40
    assert (sieve.sparsity_ > 0.0) == (w_step != "iht")


def test_auto_does_not_depend_on_units(small_planted):
    X = small_planted.X
    expected = AUFS(3, random_state=0).fit(X)
    units = 10.0 ** np.random.default_rng(0).integers(-3, 4, 60)
    same = AUFS(3, random_state=0).fit(X * units + 5.0)
    assert np.array_equal(same.support_, expected.support_)
    np.testing.assert_allclose(same.coef_ * units[:, None], expected.coef_, atol=1e-7)
    plain = AUFS(3, scale="none", random_state=0).fit(X)
    scaled = AUFS(3, scale="none", random_state=0).fit(1e4 * X)
    assert np.array_equal(plain.support_, scaled.support_)


# Quality and invariance -------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("options", [{}, {"w_step": "iht"}], ids=str)
def test_planted_features_are_found(seed, options):
    planted = make_planted(
        120, 60, n_informative=8, n_redundant=4, n_clusters=3, signal=3.0, random_state=seed
    )
    sieve = AUFS(3, n_features_to_select=8, random_state=0, **options).fit(planted.X)
    assert np.all((planted.informative | planted.redundant)[sieve.support_])


@pytest.mark.parametrize("shape", [(30, 12), (14, 40)], ids=["d<n", "d>n"])
def test_sparse_equals_dense_with_hard_thresholding(shape):
    rng = np.random.default_rng(2)
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.4)
    labels = rng.permutation(np.arange(shape[0]) % 3)
    sieve = AUFS(3, n_features_to_select=5, init=labels, max_iter=8, w_step="iht")
    dense = sieve.fit(X).scores_
    np.testing.assert_allclose(sieve.fit(sp.csr_array(X)).scores_, dense, atol=1e-8)


def test_coefficients_and_intercept_reproduce_the_fit_in_the_units_of_the_table(small_planted):
    states = []
    sieve = AUFS(
        3,
        n_features_to_select=6,
        random_state=0,
        callback=lambda i, value, state: states.append(state),
    ).fit(small_planted.X)
    fitted = small_planted.X @ sieve.coef_ + sieve.intercept_
    np.testing.assert_allclose(fitted, states[-1].fitted, atol=1e-10)


@pytest.mark.slow
def test_a_tiny_sigma_is_raised(small_planted):
    sieve = AUFS(3, sigma=1e-300, random_state=0, n_features_to_select=3).fit(small_planted.X)
    auto = AUFS(3, random_state=0, n_features_to_select=3).fit(small_planted.X)
    assert sieve.sigma_ == pytest.approx(2e-5 * auto.sigma_)


def test_single_precision_without_a_ridge_selects_no_dependent_columns():
    X = np.random.default_rng(0).standard_normal((12, 30)).astype(np.float32)
    sieve = AUFS(3, ridge=0.0, sparsity=1e-9, random_state=0).fit(X)
    assert sieve.n_features_selected_ <= 11


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"w_step": "best"}, ValueError, "w_step must be one of 'forward', 'iht', 'local'"),
        ({"sparsity": "few"}, ValueError, "sparsity must be 'auto' or a number above 0"),
        ({"sparsity": 0.0}, ValueError, "sparsity must be a number above 0"),
        ({"sigma": "mean"}, ValueError, "sigma must be 'auto' or a number above 0"),
        ({"sigma": -1.0}, ValueError, "sigma must be a number above 0"),
        ({"alpha": -1.0}, ValueError, "alpha must be a number of at least 0"),
        ({"ridge": -1.0}, ValueError, "ridge must be a number of at least 0"),
        ({"orthogonality": (10, 1)}, ValueError, "orthogonality must be a number above 0, or a"),
        ({"orthogonality": 0}, ValueError, "orthogonality must be a number above 0"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors must be an integer of at least 1"),
        ({"max_iter": 0}, ValueError, "max_iter must be an integer of at least 1"),
        ({"tol": -1}, ValueError, "tol must be a number of at least 0"),
        ({"path_length": 1.5}, TypeError, "path_length must be an integer of at least 0"),
        ({"callback": 3}, TypeError, "callback must be callable or None"),
        ({"n_clusters": 99}, ValueError, "n_clusters=99 is more than n_samples=80"),
        ({"n_features_to_select": 3, "sparsity": 0.1}, ValueError, "both say how many features"),
        ({"n_features_to_select": 61}, ValueError, "n_features_to_select must be an integer"),
        ({"init": "random"}, ValueError, "init must be one of"),
        ({"scale": "max"}, ValueError, "scale must be one of"),
    ],
)
def test_bad_parameters_are_named(small_planted, options, error, message):
    with pytest.raises(error, match=message):
        AUFS(**{"n_clusters": 3, **options}).fit(small_planted.X)


def test_outlying_samples_do_not_become_clusters():
    for seed in range(2):
        planted = make_planted(300, 60, n_informative=12, n_clusters=4, random_state=seed)
        rng = np.random.default_rng(seed)
        X = planted.X.copy()
        X[rng.choice(300, 6, replace=False)] += 10.0 * rng.standard_normal((6, 60))
        sieve = AUFS(4, n_features_to_select=12, random_state=0).fit(X)
        assert np.bincount(sieve.labels_, minlength=4).min() > 50
        assert planted.informative[sieve.support_].sum() >= 11


def test_labels_that_collapse_are_reported():
    planted = make_planted(60, 20, n_informative=6, n_clusters=3, signal=3.0, random_state=0)
    for options in ({"alpha": 1e6}, {"orthogonality": 1e-2}):
        sieve = AUFS(3, n_features_to_select=6, random_state=0, **options)
        with pytest.warns(UserWarning, match="Decrease alpha, or increase orthogonality") as seen:
            sieve.fit(planted.X)
        assert len(seen) == 1
        assert "the same for all samples" in str(seen[0].message)
        assert np.ptp(sieve.label_matrix_, axis=0).max() < 1e-2
    AUFS(3, n_features_to_select=6, random_state=0).fit(planted.X)  # warnings are errors


@pytest.mark.filterwarnings("ignore:n_clusters=1")
def test_a_single_cluster_ends_at_once():
    X = np.random.default_rng(0).standard_normal((40, 15))
    sieve = AUFS(1, n_features_to_select=3, random_state=0).fit(X)
    assert sieve.n_iter_ == 1
    assert sieve.status_.success


def test_no_convergence_while_the_label_step_is_cut_short(small_planted, monkeypatch):
    settings = {"n_features_to_select": 8, "random_state": 0, "orthogonality": 10.0, "tol": 1.0}
    assert AUFS(3, max_iter=2, **settings).fit(small_planted.X).status_ is Status.CONVERGED
    monkeypatch.setattr("featsieve.defaults.MAX_LABEL_STEPS", 1)
    sieve = AUFS(3, max_iter=2, **settings).fit(small_planted.X)
    assert sieve.status_ is Status.ITERATION_LIMIT


@pytest.mark.parametrize("scale", ["unit", "none"])
def test_the_objective_follows_from_the_fitted_attributes(scale):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 8)) * rng.uniform(0.5, 2.0, 8) + 1.0
    S = np.triu(rng.random((30, 30)) < 0.2, 1) * rng.random((30, 30))
    S = S + S.T
    sieve = AUFS(
        3, sparsity=1e-3, sigma=0.2, affinity=S, alpha=0.3, scale=scale, orthogonality=50.0
    )
    sieve.set_params(init=np.arange(30) % 3).fit(X)
    F, units = sieve.label_matrix_, X.std(axis=0) if scale == "unit" else np.ones(8)
    assert F.shape == (30, 3)
    assert np.array_equal(sieve.labels_, F.argmax(axis=1))
    W = units[:, None] * sieve.coef_
    R = X @ sieve.coef_ + sieve.intercept_ - F
    u = np.linalg.norm(R, axis=1)
    J = np.sum(1.2 * u**2 / (u + 0.2)) + 1e-3 * sieve.n_features_selected_
    J += sieve.ridge_ * np.sum(W**2)
    J += 0.3 * np.trace(F.T @ (np.diag(S.sum(axis=1)) - S) @ F)
    J += 0.5 * 50.0 * np.sum((F.T @ F - np.eye(3)) ** 2)
    assert sieve.objective_[-1] == pytest.approx(J, rel=1e-10)


@pytest.mark.parametrize("seed", [0, 6, 7])
def test_as_many_clusters_as_samples_in_every_layout(seed):
    """Every column tells the same of such labels: ties, which rounding decided (fuzzing)."""
    X = np.random.default_rng(seed).standard_normal((16, 4))
    few = {"max_iter": 1, "orthogonality": 10.0}
    sieve = AUFS(16, n_features_to_select=2, w_step="iht", random_state=0, **few)
    found = [clone(sieve).fit(table) for table in (X, np.asfortranarray(X))]
    np.testing.assert_array_equal(found[0].support_, found[1].support_)
