"""UGFS: the alternation against brute force, the method of multipliers against its Lagrangian."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve import UGFS
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.graphs.affinity import laplacian, sample_graph
from featsieve.selectors.label_support import warn_collapsed
from featsieve.selectors.ugfs_paper import (
    SETTINGS,
    SplitProblem,
    SplitState,
    first_state,
    ridge_solver,
    solve_split,
    update_copies,
    update_errors,
    update_multipliers,
    update_rows,
    update_weights,
)
from featsieve.selectors.ugfs_paper import update_labels as update_split_labels
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
SHAPES = pytest.mark.parametrize("shape", [(20, 7), (12, 25)], ids=["d<n", "d>n"])


def toy(seed):
    """Section 7.2 of the common notes: four informative features of twenty."""
    rng = np.random.default_rng(seed)
    means = np.array([[0, 0, 0, 0], [6, 0, 6, 0], [0, 6, 6, 6]], dtype=float)
    labels = np.repeat(np.arange(3), 30)
    X = rng.standard_normal((90, 20))
    X[:, :4] += means[labels]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def labels_of(n, c, seed=0):
    return np.random.default_rng(seed).permutation(np.arange(n) % c)


def first_matrix(n, c, seed=0):
    return normalised_indicator(labels_of(n, c, seed), c)


def make_problem(X, *, ridge=10.0, k=3, alpha=1.0, nu=10.0):
    operator = as_operator(X, scale="std")
    L = laplacian(sample_graph(operator, "heat", n_neighbors=4))
    return SupportProblem(
        operator, L, alpha, ridge=ridge, n_features=k, orthogonality=nu, w_step="exchange"
    )


def make_split(X, *, k=3, alpha=0.7):
    operator = as_operator(X, scale="std")
    L = laplacian(sample_graph(operator, "heat", n_neighbors=4))
    return SplitProblem(operator, L, alpha, k, ridge_solver(operator))


def ridge_value(Z, F, mu, support):
    """||ZW + 1b' - F||^2 + mu ||W||^2 at the best W and b on a support, by least squares."""
    support = list(support)
    A = np.column_stack([np.ones(len(Z)), Z[:, support]])
    ridge = np.column_stack([np.zeros(len(support)), np.sqrt(mu) * np.eye(len(support))])
    A, B = np.vstack([A, ridge]), np.vstack([F, np.zeros((len(support), F.shape[1]))])
    solution = np.linalg.lstsq(A, B, rcond=None)[0]
    return np.sum((A @ solution - B) ** 2), solution[1:], solution[0]


def rest_of_objective(problem, F):
    gap = F.T @ F - np.eye(F.shape[1])
    smooth = np.trace(F.T @ problem.laplacian.toarray() @ F)
    return problem.alpha * smooth + 0.5 * problem.orthogonality * np.sum(gap**2)


# The alternation --------------------------------------------------------------------------------


@SHAPES
def test_the_alternation_is_that_of_dense_matrices(shape):
    X = np.random.default_rng(1).standard_normal(shape)
    problem = make_problem(X, ridge=12.0, k=2)
    Z, L = problem.operator.rows(0, shape[0]), problem.laplacian.toarray()
    F = first_matrix(shape[0], 3)
    found = solve_support(problem, F, penalties=(10.0,), max_iter=3, tol=0.0).state
    for _ in range(3):  # the best pair of features, by trying all of them
        pairs = list(combinations(range(shape[1]), 2))
        support = list(pairs[int(np.argmin([ridge_value(Z, F, 12.0, S)[0] for S in pairs]))])
        _, W, b = ridge_value(Z, F, 12.0, support)
        A = np.eye(shape[0]) + L
        step = LabelProblem(A, Z[:, support] @ W + b, 10.0)
        F = run(ProjectedNewton(F), step, max_iter=200).state.F
    assert sorted(found.support.tolist()) == support
    np.testing.assert_allclose(found.W[support], W, atol=1e-8)
    np.testing.assert_allclose(found.b, b, atol=1e-8)
    np.testing.assert_allclose(found.F, F, atol=1e-8)
    J = np.sum((Z @ found.W + found.b - F) ** 2) + 12.0 * np.sum(found.W**2)
    assert problem.objective(found) == pytest.approx(J + rest_of_objective(problem, F))


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    shape=st.sampled_from([(12, 5), (8, 20), (25, 12), (6, 2)]),
    n_clusters=st.integers(1, 4),
    alpha=st.sampled_from([0.0, 0.1, 10.0, 1e3]),
    ridge=st.sampled_from([0.0, 0.1, 10.0]),
    orthogonality=st.sampled_from([1.0, 1e4, (10.0, 1e3)]),
    k=st.sampled_from([1, 0.3, 0.8, 1.0]),
)
@pytest.mark.filterwarnings("ignore:n_clusters=1", "ignore:The pseudo-labels have collapsed")
def test_the_objective_never_rises(seed, shape, n_clusters, k, **options):
    X = np.random.default_rng(seed).standard_normal(shape)
    sieve = UGFS(n_clusters, n_features_to_select=k, max_iter=10, random_state=seed, **options)
    sieve.fit(X)
    assert np.all(np.diff(sieve.objective_) <= 1e-9 * np.abs(sieve.objective_[0]) + 1e-12)
    assert len(sieve.objective_) == sieve.n_iter_
    assert np.isfinite(sieve.scores_).all()
    assert np.isfinite(sieve.coef_).all()
    assert sieve.support_.sum() == sieve.n_features_selected_
    assert not np.any(sieve.coef_.any(axis=1) & ~sieve.support_)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([(14, 6), (8, 15)]), st.integers(1, 6))
def test_each_block_lowers_the_objective_on_its_own(seed, shape, k):
    X = np.random.default_rng(seed).standard_normal(shape)
    problem = make_problem(X, k=k, nu=50.0)
    state = problem.start(first_matrix(shape[0], 3, seed))
    before = problem.objective(state)
    for block in 3 * (update_features, update_labels):
        state = block(problem, state)
        after = problem.objective(state)
        assert after <= before + 1e-10 * abs(before)
        before = after


def test_the_feature_step_nearly_always_finds_the_best_group():
    reached = 0
    for seed in range(20):
        X = np.random.default_rng(seed).standard_normal((14, 9)) + 0.3
        X[:, 1] += X[:, 0]
        for k in (2, 4):
            problem = make_problem(X, k=k, ridge=3.0)
            Z = problem.operator.rows(0, 14)
            state = problem.start(first_matrix(14, 3, seed))
            best = min(ridge_value(Z, state.F, 3.0, S)[0] for S in combinations(range(9), k))
            found = update_features(problem, state)
            value = ridge_value(Z, state.F, 3.0, found.support)[0]
            assert value >= best - 1e-9
            reached += value <= best + 1e-9
            J = problem.objective(found) - rest_of_objective(problem, state.F)
            assert pytest.approx(value) == J
    assert reached >= 37


@SHAPES
def test_the_alternation_improves_on_the_support_of_the_multipliers(shape):
    for seed in range(4):
        X = np.random.default_rng(seed).standard_normal(shape)
        split = make_split(X)
        labels = labels_of(shape[0], 3, seed)
        rng = np.random.RandomState(seed)
        start = first_state(split, labels, 3, settings=SETTINGS["safe"], random_state=rng)
        state = solve_split(split, start, max_iter=100).state
        support, F = np.flatnonzero(state.B.any(axis=1)), state.G
        problem = make_problem(X, ridge=1.0, alpha=0.7, nu=100.0)
        polished = ridge_value(problem.operator.rows(0, shape[0]), F, 1.0, support)[0]
        polished += rest_of_objective(problem, F)
        found = solve_support(problem, F, penalties=(100.0,), support=support, max_iter=20)
        assert found.objective[-1] <= polished + 1e-9


def test_all_features_and_no_graph_are_orthogonal_regression():
    X = np.random.default_rng(0).standard_normal((40, 6))
    problem = make_problem(X, k=6, alpha=0.0, ridge=0.0, nu=1e3)
    solution = solve_support(
        problem, first_matrix(40, 3), penalties=(10.0, 1e2, 1e3), max_iter=500, tol=1e-10
    )
    state = solution.state
    assert sorted(state.support.tolist()) == list(range(6))
    A = np.column_stack([np.ones(40), problem.operator.rows(0, 40)])
    update = update_features(problem, state)
    np.testing.assert_allclose(update.fitted, A @ np.linalg.lstsq(A, state.F)[0], atol=1e-8)
    np.testing.assert_allclose(state.F.T @ state.F, np.eye(3), atol=1e-2)
    # Where F is positive the fit differs from it by a multiple of the penalty's gradient only.
    nu_term = 2.0 * 1e3 * state.F @ (state.F.T @ state.F - np.eye(3))
    gradient = 2.0 * (state.F - update.fitted) + nu_term
    assert np.abs(gradient[state.F > 1e-6]).max() < 0.05


def test_forward_selection_starts_anew_only_when_labels_have_moved():
    X = np.random.default_rng(0).standard_normal((20, 8))
    problem = make_problem(X)
    state = update_features(problem, problem.start(first_matrix(20, 3)))
    assert state.searched is state.F
    nudged = update_features(problem, replace(state, F=1.001 * state.F))
    assert nudged.searched is state.F
    other = first_matrix(20, 3, seed=5)
    moved = update_features(problem, replace(state, F=other))
    assert moved.searched is other


def test_the_path_gives_every_size_and_passes_through_the_selection(small_planted):
    X = small_planted.X
    sieve = UGFS(3, n_features_to_select=9, path_length=20, random_state=0).fit(X)
    order = sieve.path_.order
    assert len(order) == 20
    assert set(order[:9].tolist()) == set(np.flatnonzero(sieve.support_).tolist())
    assert sieve.ranking_[order].tolist() == list(range(1, 21))
    assert np.all(np.diff(sieve.scores_[np.argsort(sieve.ranking_)]) <= 0.0)
    assert np.all(np.diff(sieve.path_.loss) <= 0.0)
    short = UGFS(3, n_features_to_select=9, path_length=0, random_state=0).fit(X)
    assert short.path_.order.tolist() == order[:9].tolist()


def test_prices_of_the_path_are_those_of_refits(small_planted):
    states = []
    sieve = UGFS(
        3,
        n_features_to_select=5,
        path_length=8,
        random_state=0,
        callback=lambda i, value, state: states.append(state),
    ).fit(small_planted.X)
    Z = as_operator(small_planted.X, scale="std").rows(0, 80)
    F = states[-1].F
    for m in range(9):
        loss = ridge_value(Z, F, 10.0 * 80, sieve.path_.order[:m])[0]
        assert sieve.path_.loss[m] == pytest.approx(loss)


# The method of multipliers ----------------------------------------------------------------------


def random_state_of(problem, c=3, *, seed=0, mu=0.8):
    """A point at which nothing holds: every block has work to do."""
    rng = np.random.default_rng(seed)
    n, d = problem.operator.shape
    W, F = rng.standard_normal((d, c)), np.linalg.qr(rng.standard_normal((n, c)))[0]
    draw = rng.standard_normal
    return SplitState(
        W=W,
        F=F,
        G=np.abs(draw((n, c))),
        fitted=problem.operator.rows(0, n) @ W,
        E=draw((n, c)),
        B=draw((d, c)),
        Lam=draw((n, c)),
        Sig=draw((d, c)),
        Om=draw((n, c)),
        mu=mu,
        scores=np.zeros(d),
    )


def lagrangian(problem, s, **changes):
    """The augmented Lagrangian, term by term."""
    v = {name: changes.get(name, getattr(s, name)) for name in ("E", "F", "G", "W", "B")}
    Z = problem.operator.rows(0, problem.operator.shape[0])
    fit = v["E"] - Z @ v["W"] + v["F"]
    value = np.sum(v["E"] ** 2)
    value += problem.alpha * np.trace(v["F"].T @ problem.laplacian.toarray() @ v["G"])
    value += np.sum(s.Lam * fit) + np.sum(s.Sig * (v["W"] - v["B"]))
    value += np.sum(s.Om * (v["F"] - v["G"]))
    squares = np.sum(fit**2) + np.sum((v["W"] - v["B"]) ** 2) + np.sum((v["F"] - v["G"]) ** 2)
    return value + 0.5 * s.mu * squares


@pytest.mark.parametrize(
    ("block", "name"), [(update_errors, "E"), (update_weights, "W"), (update_copies, "G")]
)
@SHAPES
def test_smooth_blocks_are_at_the_minimum_of_the_lagrangian(shape, block, name):
    problem = make_split(np.random.default_rng(3).standard_normal(shape))
    state = block(problem, random_state_of(problem))
    value, at = lagrangian(problem, state), getattr(state, name)
    rng = np.random.default_rng(0)
    for _ in range(30):
        moved = at + 1e-2 * rng.standard_normal(at.shape)
        if name == "G":
            moved = np.maximum(moved, 0.0)
        assert lagrangian(problem, state, **{name: moved}) >= value
    # Central differences of a quadratic are its gradient: zero, or pushing against the bound.
    for index in [(0, 0), (1, 2), (at.shape[0] - 1, 1)]:
        h = np.zeros_like(at)
        h[index] = 1e-3
        above, below = (lagrangian(problem, state, **{name: at + s * h}) for s in (1, -1))
        slope = (above - below) / 2e-3
        if name == "G" and at[index] == 0.0:
            assert slope >= -1e-8
        else:
            assert slope == pytest.approx(0.0, abs=1e-7)
    if name == "W":
        np.testing.assert_allclose(state.fitted, problem.operator.matmul(state.W))


@SHAPES
def test_labels_are_the_best_orthonormal_matrix(shape):
    problem = make_split(np.random.default_rng(4).standard_normal(shape))
    start = random_state_of(problem)
    state = update_split_labels(problem, start)
    F = state.F
    np.testing.assert_allclose(F.T @ F, np.eye(3), atol=1e-10)
    value, rng = lagrangian(problem, state), np.random.default_rng(0)
    for size in (1e-2, 1.0, 100.0):
        for _ in range(10):
            other = np.linalg.qr(F + size * rng.standard_normal(F.shape))[0]
            signs = np.sign(np.sum(other * F, axis=0))
            assert lagrangian(problem, state, F=other * signs) >= value - 1e-9


def test_rows_are_the_best_of_all_groups():
    X = np.random.default_rng(5).standard_normal((15, 7))
    X[:, 3] = 2.0  # a column that does not vary is never kept
    problem = make_split(X)
    state = update_rows(problem, random_state_of(problem))
    assert np.count_nonzero(state.B.any(axis=1)) == 3
    assert not state.B[3].any()
    T = state.W + state.Sig / state.mu
    values = []
    for S in combinations([0, 1, 2, 4, 5, 6], 3):
        B = np.zeros_like(T)
        B[list(S)] = T[list(S)]
        values.append(lagrangian(problem, state, B=B))
    assert lagrangian(problem, state) == pytest.approx(min(values))
    l1 = update_rows(problem, random_state_of(problem), norm=1)
    varying = np.delete(np.arange(7), 3)
    expected = varying[np.argsort(-np.abs(T[varying]).sum(axis=1))[:3]]
    assert set(np.flatnonzero(l1.B.any(axis=1))) == set(expected)


def test_multipliers_follow_the_violations():
    problem = make_split(np.random.default_rng(6).standard_normal((15, 7)))
    s = random_state_of(problem)
    new = update_multipliers(problem, s, settings=SETTINGS["paper"])
    np.testing.assert_allclose(new.Lam, s.Lam + 0.8 * (s.E - s.fitted + s.F))
    np.testing.assert_allclose(new.Sig, s.Sig + 0.8 * (s.W - s.B))
    np.testing.assert_allclose(new.Om, s.Om + 0.8 * (s.F - s.G))
    assert new.mu == pytest.approx(0.84)
    capped = update_multipliers(problem, replace(s, mu=9.9e9), settings=SETTINGS["paper"])
    assert capped.mu == 1e10


@SHAPES
def test_woodbury_equals_the_dense_inverse(shape):
    X = np.random.default_rng(7).standard_normal(shape)
    Z, R = X - X.mean(axis=0), np.random.default_rng(0).standard_normal((shape[1], 3))
    expected = np.linalg.solve(Z.T @ Z + np.eye(shape[1]), R)
    for table in (X, sp.csr_array(X)):
        for form in ("gram", "sample", "auto"):
            solve = ridge_solver(as_operator(table), form=form)
            np.testing.assert_allclose(solve(R), expected, atol=1e-10)


@pytest.mark.parametrize("update", ["safe", "paper"])
@SHAPES
def test_the_multipliers_run_is_that_of_dense_matrices(shape, update):
    n, d = shape
    X = np.random.default_rng(8).standard_normal(shape)
    problem, labels = make_split(X), labels_of(n, 3)
    start = first_state(
        problem, labels, 3, settings=SETTINGS[update], random_state=np.random.RandomState(0)
    )
    found = solve_split(problem, start, update=update, max_iter=15, tol=0.0).state
    Z, L, alpha = problem.operator.rows(0, n), problem.laplacian.toarray(), problem.alpha
    released = update == "paper"
    mu = 1e-4 if released else 1.0
    W = np.random.RandomState(0).uniform(size=(d, 3)) if released else np.zeros((d, 3))
    F = np.eye(n)[:, :3] if released else normalised_indicator(labels, 3)
    G, Lam, Sig, Om = F, *(float(released) * np.ones((m, 3)) for m in (n, d, n))
    inverse = np.linalg.inv(Z.T @ Z + np.eye(d))
    for _ in range(15):
        E = mu / (2 + mu) * (Z @ W - F - Lam / mu)
        T = W + Sig / mu
        norms = np.abs(T).sum(axis=1) if released else np.sqrt((T**2).sum(axis=1))
        keep = np.argsort(-norms, kind="stable")[:3]
        B = np.zeros_like(T)
        B[keep] = T[keep]
        W = inverse @ (Z.T @ (E + F + Lam / mu) + B - Sig / mu)
        K = alpha * L @ G + mu * E - mu * Z @ W + Lam + Om - mu * G
        U, _, Vt = np.linalg.svd(K, full_matrices=False)
        F = -U @ Vt
        G = np.maximum(F - alpha * L @ F / mu + Om / mu, 0.0)
        Lam, Sig, Om = Lam + mu * (E - Z @ W + F), Sig + mu * (W - B), Om + mu * (F - G)
        mu = min(1e10, 1.05 * mu)
    np.testing.assert_allclose(found.F, F, atol=1e-8)
    np.testing.assert_allclose(found.W, W, rtol=1e-8, atol=1e-8 * np.abs(W).max())
    np.testing.assert_allclose(found.B, B, rtol=1e-8, atol=1e-8 * np.abs(W).max())
    assert problem.objective(found) == pytest.approx(
        np.sum((Z @ W - F) ** 2) + alpha * np.trace(F.T @ L @ F)
    )


def test_the_released_settings_do_not_enforce_their_constraints(small_planted):
    selected, residuals = [], []
    for seed in (0, 1):
        states = []
        sieve = UGFS(
            3,
            n_features_to_select=8,
            solver="paper",
            update="paper",
            max_iter=50,
            tol=1e-3,
            random_state=seed,
            callback=lambda i, value, state, states=states: states.append(state),
        ).fit(small_planted.X)
        selected.append(set(np.flatnonzero(sieve.support_).tolist()))
        residuals.append(states[-1].residuals())
        assert states[-1].mu == pytest.approx(1e-4 * 1.05 ** len(states))
        assert states[-1].mu < 1.2e-3
    assert min(map(min, residuals)) > 0.1
    assert len(selected[0] & selected[1]) <= 4


def test_the_safe_settings_do():
    planted = make_planted(60, 20, n_informative=5, n_clusters=3, signal=4.0, random_state=1)
    states = []
    sieve = UGFS(
        3,
        n_features_to_select=5,
        solver="paper",
        max_iter=2000,
        random_state=0,
        callback=lambda i, value, state: states.append(state),
    ).fit(planted.X)
    assert sieve.status_.success
    assert max(states[-1].residuals()) < 1e-2
    assert not hasattr(sieve, "path_")


# Both -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_known_ranking_toy(seed):
    sieve = UGFS(3, n_features_to_select=4, random_state=0).fit(toy(seed))
    assert np.flatnonzero(sieve.support_).tolist() == [0, 1, 2, 3]


def test_coefficients_and_intercept_are_in_the_units_of_the_table(small_planted):
    states = []
    X = 100.0 * small_planted.X + 3.0
    sieve = UGFS(
        3,
        n_features_to_select=6,
        random_state=0,
        callback=lambda i, value, state: states.append(state),
    ).fit(X)
    fitted = X @ sieve.coef_ + sieve.intercept_
    np.testing.assert_allclose(fitted, states[-1].fitted, atol=1e-10)
    raw = UGFS(3, n_features_to_select=6, scale="raw", random_state=0).fit(X)
    centred = UGFS(3, n_features_to_select=6, scale="none", random_state=0).fit(X)
    np.testing.assert_allclose(raw.coef_, centred.coef_, atol=1e-8)


def test_given_labels_keep_their_order(small_planted):
    truth = (small_planted.labels + 1) % 3
    sieve = UGFS(3, init=truth, n_features_to_select=8).fit(small_planted.X)
    assert np.mean(sieve.labels_ == truth) > 0.95
    assert UGFS(3, random_state=0).fit(small_planted.X).labels_[0] == 0


def test_single_precision_without_a_ridge_selects_as_double_precision_does():
    X = np.random.default_rng(0).standard_normal((12, 30)).astype(np.float32)
    single = UGFS(3, ridge=0.0, n_features_to_select=6, init=labels_of(12, 3), max_iter=5)
    expected = np.flatnonzero(single.fit(X.astype(np.float64)).support_)
    assert np.flatnonzero(single.fit(X).support_).tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"solver": "admm"}, ValueError, "solver must be one of 'alternation', 'paper'"),
        ({"update": "fast"}, ValueError, "update must be one of 'safe', 'paper'"),
        ({"alpha": -1.0}, ValueError, "alpha must be a number of at least 0"),
        ({"ridge": -1.0}, ValueError, "ridge must be a number of at least 0"),
        ({"orthogonality": (10, 10)}, ValueError, "orthogonality must be a number above 0, or a"),
        ({"orthogonality": -2.0}, ValueError, "orthogonality must be a number above 0"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors must be an integer of at least 1"),
        ({"max_iter": 0.5}, TypeError, "max_iter must be an integer of at least 1"),
        ({"tol": -1}, ValueError, "tol must be a number of at least 0"),
        ({"path_length": -1}, ValueError, "path_length must be an integer of at least 0"),
        ({"callback": 3}, TypeError, "callback must be callable or None"),
        ({"n_clusters": 99}, ValueError, "n_clusters=99 is more than n_samples=80"),
        ({"n_features_to_select": None}, ValueError, "UGFS ranks the features and does not decide"),
        ({"n_features_to_select": 61}, ValueError, "n_features_to_select must be an integer"),
        ({"init": "random"}, ValueError, "init must be one of"),
        ({"affinity": "cosine"}, ValueError, "affinity must be one of"),
    ],
)
def test_bad_parameters_are_named(small_planted, options, error, message):
    with pytest.raises(error, match=message):
        UGFS(**{"n_clusters": 3, **options}).fit(small_planted.X)


def test_labels_that_collapse_are_reported():
    planted = make_planted(60, 20, n_informative=6, n_clusters=3, signal=3.0, random_state=0)
    for options in ({"alpha": 1e6}, {"orthogonality": 1e-2}):
        sieve = UGFS(3, n_features_to_select=6, random_state=0, **options)
        with pytest.warns(UserWarning, match="Decrease alpha, or increase orthogonality") as seen:
            sieve.fit(planted.X)
        assert len(seen) == 1
        assert "the same for all samples" in str(seen[0].message)
        assert np.ptp(sieve.label_matrix_, axis=0).max() < 1e-2
    UGFS(3, n_features_to_select=6, random_state=0).fit(planted.X)  # warnings are errors


def test_an_empty_cluster_is_reported():
    # Columns of 0.5 and 0.1: the second is no sample's largest entry.
    F = np.array([[0.5, 0.1], [0.1, 0.0], [0.3, 0.2]])
    with pytest.warns(UserWarning, match="use 1 of 2 clusters"):
        warn_collapsed(F, F.argmax(axis=1))
    warn_collapsed(F[:, ::-1].copy(), np.array([0, 1, 1]))
    warn_collapsed(np.ones((3, 1)), np.zeros(3, dtype=int))


@pytest.mark.filterwarnings("ignore:n_clusters=1")
def test_a_single_cluster_ends_at_once():
    X = np.random.default_rng(0).standard_normal((40, 15))
    sieve = UGFS(1, n_features_to_select=3, random_state=0).fit(X)
    assert sieve.n_iter_ == 1
    assert sieve.status_.success


def test_no_convergence_while_the_label_step_is_cut_short(small_planted, monkeypatch):
    settings = {"n_features_to_select": 8, "random_state": 0, "orthogonality": 10.0, "tol": 1.0}
    assert UGFS(3, max_iter=2, **settings).fit(small_planted.X).status_ is Status.CONVERGED
    monkeypatch.setattr("featsieve.defaults.MAX_LABEL_STEPS", 1)
    sieve = UGFS(3, max_iter=2, **settings).fit(small_planted.X)
    assert sieve.status_ is Status.ITERATION_LIMIT


@pytest.mark.parametrize("scale", ["unit", "none"])
def test_the_objective_follows_from_the_fitted_attributes(scale):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 8)) * rng.uniform(0.5, 2.0, 8) + 1.0
    S = np.triu(rng.random((30, 30)) < 0.2, 1) * rng.random((30, 30))
    S = S + S.T
    sieve = UGFS(3, n_features_to_select=3, affinity=S, alpha=0.3, scale=scale, orthogonality=50.0)
    sieve.set_params(init=np.arange(30) % 3).fit(X)
    F, units = sieve.label_matrix_, X.std(axis=0) if scale == "unit" else np.ones(8)
    assert F.shape == (30, 3)
    assert np.array_equal(sieve.labels_, F.argmax(axis=1))
    W = units[:, None] * sieve.coef_
    R = X @ sieve.coef_ + sieve.intercept_ - F
    J = np.sum(R**2)
    norms = np.sum((X - X.mean(axis=0)) ** 2, axis=0) / units**2
    assert sieve.ridge_ == pytest.approx(10.0 * norms.mean())
    J += sieve.ridge_ * np.sum(W**2)
    J += 0.3 * np.trace(F.T @ (np.diag(S.sum(axis=1)) - S) @ F)
    J += 0.5 * 50.0 * np.sum((F.T @ F - np.eye(3)) ** 2)
    assert sieve.objective_[-1] == pytest.approx(J, rel=1e-10)


def test_the_method_of_multipliers_is_run_in_double_precision():
    X = np.random.default_rng(0).standard_normal((40, 150)).astype(np.float32)
    sieve = UGFS(3, solver="paper", n_features_to_select=6, init=labels_of(40, 3), max_iter=50)
    expected = sieve.fit(X.astype(np.float64)).scores_
    np.testing.assert_array_equal(sieve.fit(X).scores_, expected)
    assert sieve.label_matrix_.min() >= 0.0


def test_units_in_which_the_ridge_of_the_paper_is_lost_are_refused(small_planted):
    sieve = UGFS(3, n_features_to_select=5, solver="paper", scale="none", random_state=0)
    X = small_planted.X * 1e15  # found by fuzzing: "Singular matrix"
    with pytest.raises(
        ValueError, match=r"reach \de\+3\d, and .* adds 1 .* use scale='unit'.*divide"
    ):
        sieve.fit(X)
    sieve.set_params(scale="unit").fit(X)
    assert sieve.n_features_selected_ == 5
