"""RSFS: the golden trace of the authors' program, a Huber loss and a group lasso as oracles."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.linear_model import MultiTaskLasso
from sklearn.metrics import adjusted_rand_score

from featsieve import NDFS, RSFS
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.graphs.affinity import row_normalised_laplacian, sample_graph
from featsieve.selectors.rsfs import RSFSProblem, soft_threshold, solve_rsfs
from featsieve.solvers import Status
from featsieve.solvers.nonnegative_labels import first_label_matrix
from featsieve.terms import indicator, normalised_indicator
from featsieve.terms.row_shrinkage import SMOOTHING, smoothed_norm
from tests.graphs.test_knn import T9
from tests.selectors.test_laplacian_score import toy

FORMS = ("gram", "sample")
SHAPES = pytest.mark.parametrize("shape", [(40, 12), (15, 50)], ids=["tall", "wide"])
T9_LABELS = np.repeat([0, 1, 2], 3)
TOY_LABELS = np.repeat([0, 1, 2], 30)
# rsfs.md: T9, heat graph with k = 3, 0/1 start, alpha = beta = 1, nu = 0.5, authors' program.
TRACE = [
    300000015.41025704, 4.85076719396503, 3.17452998264229, 3.12624653643789, 3.11662570226694,
    3.11358989514026,
]  # fmt: skip
SQUARES = [3.394928314e-3, 2.717561921e-3, 2.143081664e-3, 1.814179532e-2, 2.014297226e-4]

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
any_penalty = pytest.mark.filterwarnings("ignore:beta is so large")


def make_problem(X, *, alpha=1.0, beta=1.0, nu=0.2, gamma=1e8, scale="std", center=True, **more):
    operator = as_operator(X, scale=scale, center=center)
    S = sample_graph(operator, "heat", n_neighbors=more.pop("k", 5))
    return RSFSProblem(operator, row_normalised_laplacian(S), alpha, beta, nu, gamma, **more)


def golden_problem(form="auto"):
    return make_problem(T9, nu=0.5, scale="none", center=False, k=3, form=form)


def solve(problem, F, **options):
    """Run the solver to max_iter; return the solution and the states after every iteration."""
    states = []
    solution = solve_rsfs(
        problem,
        F,
        tol=-np.inf,
        callback=lambda i, value, state: states.append(state),
        **options,
    )
    return solution, states


def random_labels(rng, n, c):
    return rng.permutation(np.concatenate([np.arange(c), rng.integers(0, c, n - c)]))


def textbook(Z, L, Y, *, alpha, beta, nu, gamma, published, n_iter):
    """Yield (W, Z, Y, objective) of the loop with d x d inverses and dense matrices."""
    eps = SMOOTHING
    noise, D = np.zeros_like(Y), np.eye(Z.shape[1])
    up, down = np.maximum(L, 0.0), np.maximum(-L, 0.0)
    for _ in range(n_iter):
        W = np.linalg.inv(Z.T @ Z + beta / alpha * D) @ Z.T @ (Y - noise)
        D = np.diag(1.0 / (2.0 * np.sqrt((W**2).sum(axis=1) + eps)))
        R = Y - Z @ W
        noise = np.sign(R) * np.maximum(np.abs(R) - nu / (2.0 * alpha), 0.0)
        A = Z @ W + noise
        a = down @ Y + gamma * Y + alpha * np.maximum(A, 0.0)
        b = up @ Y + alpha * Y + alpha * np.maximum(-A, 0.0)
        q = gamma * Y @ Y.T @ Y
        if published:
            Y = Y * np.sqrt((a + eps) / (b + q + eps))
            Y = Y @ np.diag(1.0 / np.sqrt(np.diag(Y.T @ Y) + eps))
        else:
            Y = Y * np.sqrt(2.0 * a / (b + np.sqrt(b**2 + 4.0 * q * a)))
        gap = Y.T @ Y - np.eye(Y.shape[1])
        penalty = np.linalg.norm(gap, axis=1).sum() if published else np.linalg.norm(gap) ** 2
        value = (
            np.trace(Y.T @ L @ Y)
            + alpha * np.linalg.norm(Y - Z @ W - noise) ** 2
            + beta * np.sqrt((W**2).sum(axis=1) + (0.0 if published else eps)).sum()
            + nu * np.abs(noise).sum()
            + 0.5 * gamma * penalty
        )
        yield W, noise, Y, value


# Golden numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_golden_trace(form):
    solution = solve_rsfs(
        golden_problem(form), indicator(T9_LABELS, 3), update="paper", max_iter=20, tol=1e-3
    )
    assert solution.n_iter == 5
    assert solution.status is Status.CONVERGED
    # gamma/2 = 5e7 times what rounding leaves of F'F - I
    np.testing.assert_allclose(solution.objective, TRACE, rtol=1e-15, atol=1e-7)
    np.testing.assert_allclose((solution.state.W**2).sum(axis=1), SQUARES, rtol=1e-8)


def test_golden_trace_through_the_estimator():
    model = RSFS(
        3, n_features_to_select=2, alpha=1.0, beta=1.0, nu=0.5, update="paper", init=T9_LABELS,
        n_neighbors=3, scale="raw", max_iter=20, tol=1e-3,
    ).fit(T9)  # fmt: skip
    np.testing.assert_allclose(model.objective_, TRACE[1:], atol=1e-7)
    np.testing.assert_allclose(model.scores_**2, SQUARES, rtol=1e-8)
    assert (model.beta_, model.nu_) == (1.0, 0.5)


def test_an_increase_ends_the_published_loop():
    problem = golden_problem()
    values = solve(problem, indicator(T9_LABELS, 3), update="paper", max_iter=60)[0].objective
    solution = solve_rsfs(
        problem, indicator(T9_LABELS, 3), update="paper", max_iter=60, tol=-1e-300
    )
    rise = next(i for i in range(1, 60) if values[i] > values[i - 1])
    assert solution.n_iter == rise


# The same as the textbook -------------------------------------------------------------------------


@SHAPES
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("published", [True, False])
@pytest.mark.parametrize("gamma", [0.5, 1e3, 1e8])
def test_every_iteration_is_that_of_the_textbook(gamma, published, form, shape):
    rng = np.random.default_rng(0)
    parameters = {"alpha": 0.7, "beta": 2.0, "nu": 0.1, "gamma": gamma}
    problem = make_problem(rng.standard_normal(shape), form=form, **parameters)
    F = indicator(random_labels(rng, shape[0], 3), 3) + 0.2
    Z, L = problem.operator.rows(0, shape[0]), problem.laplacian.toarray()
    solution, states = solve(problem, F, update="paper" if published else "safe", max_iter=12)
    written = textbook(Z, L, F, published=published, n_iter=12, **parameters)
    for state, value, (W, noise, Y, objective) in zip(
        states, solution.objective[1:], written, strict=True
    ):
        np.testing.assert_allclose(state.W, W, atol=1e-8)
        np.testing.assert_allclose(state.fitted, Z @ W, atol=1e-8)
        np.testing.assert_allclose(state.Z, noise, atol=1e-8)
        np.testing.assert_allclose(state.F, Y, atol=1e-8)
        assert value == pytest.approx(objective, rel=1e-8, abs=1e-6)


@SHAPES
@pytest.mark.parametrize("update", ["safe", "paper"])
def test_the_two_forms_and_sparse_tables_agree(update, shape):
    rng = np.random.default_rng(1)
    X = rng.poisson(0.7, shape) * 1.0
    X[:, 0] = 1.0
    F = first_label_matrix(random_labels(rng, shape[0], 3), 3, orthogonality=20.0)
    states = [
        solve(make_problem(table, gamma=20.0, form=form), F, update=update, max_iter=25)[0].state
        for table in (X, sp.csr_array(X))
        for form in FORMS
    ]
    assert (states[0].Z != 0.0).any()
    for state in states[1:]:
        np.testing.assert_allclose(state.W, states[0].W, atol=1e-9)
        np.testing.assert_allclose(state.Z, states[0].Z, atol=1e-9)
        np.testing.assert_allclose(state.F, states[0].F, atol=1e-9)


def test_the_estimator_runs_the_solver_on_its_columns():
    planted = make_planted(60, 20, n_informative=5, n_clusters=3, signal=3.0, random_state=0)
    model = RSFS(3, n_features_to_select=5, init=planted.labels, beta=2.0, nu=0.1).fit(planted.X)
    problem = make_problem(planted.X, beta=2.0, nu=0.1)
    solution = solve_rsfs(problem, normalised_indicator(planted.labels, 3))
    np.testing.assert_allclose(model.scores_, np.linalg.norm(solution.state.W, axis=1), rtol=1e-12)
    np.testing.assert_array_equal(model.objective_, solution.objective[1:])
    np.testing.assert_array_equal(model.noise_, solution.state.Z)
    assert model.status_ is Status.CONVERGED
    centred = planted.X - planted.X.mean(axis=0)
    np.testing.assert_allclose(centred @ model.coef_, solution.state.fitted, atol=1e-10)


# The errors Z -------------------------------------------------------------------------------------


@settings(max_examples=50)
@given(
    alpha=st.floats(1e-3, 1e3),
    nu=st.floats(1e-3, 1e3),
    r=st.lists(st.floats(-10, 10), min_size=1, max_size=5),
)
def test_minimised_over_z_the_loss_is_hubers(alpha, nu, r):
    r = np.array(r)
    z = soft_threshold(r, nu / (2 * alpha))
    value = alpha * (r - z) ** 2 + nu * np.abs(z)
    inner = np.abs(r) <= nu / (2 * alpha)
    huber = np.where(inner, alpha * r**2, nu * np.abs(r) - nu**2 / (4 * alpha))
    np.testing.assert_allclose(value, huber, rtol=1e-9, atol=1e-9)
    assert np.all(z[inner] == 0.0)
    for other in (0.9 * z, 1.1 * z, z + 0.01, z - 0.01):
        assert np.all(alpha * (r - other) ** 2 + nu * np.abs(other) >= value - 1e-9)


@SHAPES
def test_with_frozen_labels_it_is_a_row_sparse_huber_regression(shape):
    # An oracle that knows nothing of Z or of reweighting: L-BFGS on the smoothed Huber objective.
    rng = np.random.default_rng(2)
    n, d = shape
    problem = make_problem(rng.standard_normal(shape), alpha=2.0, beta=0.3, nu=0.3, gamma=1e14)
    F = normalised_indicator(random_labels(rng, n, 2), 2)
    Z = problem.operator.rows(0, n)

    def huber(w):
        W = w.reshape(d, 2)
        R, length = F - Z @ W, np.sqrt((W**2).sum(axis=1) + 1e-12)
        inner = np.abs(R) <= 0.3 / 4.0
        loss = np.where(inner, 2.0 * R**2, 0.3 * np.abs(R) - 0.09 / 8.0).sum()
        slope = -Z.T @ np.clip(4.0 * R, -0.3, 0.3) + 0.3 * W / length[:, None]
        return loss + 0.3 * length.sum(), slope.ravel()

    oracle = minimize(
        huber, np.zeros(2 * d), jac=True, method="L-BFGS-B",
        options={"maxiter": 20000, "maxfun": 50000, "ftol": 1e-15, "gtol": 1e-9},
    )  # fmt: skip
    state = solve(problem, F, max_iter=1000)[0].state
    assert (state.Z != 0.0).any()
    assert huber(state.W.ravel())[0] == pytest.approx(oracle.fun, rel=1e-5)


@SHAPES
@pytest.mark.parametrize("update", ["safe", "paper"])
def test_a_large_price_of_errors_leaves_a_group_lasso(update, shape):
    rng = np.random.default_rng(3)
    labels = random_labels(rng, shape[0], 3)
    X = rng.standard_normal(shape)
    X[:, :4] += 2.0 * rng.standard_normal((3, 4))[labels]
    # A thousand safe steps add up even at gamma = 1e8; the published ones would overflow at more.
    gamma = 1e14 if update == "safe" else 1e8
    problem = make_problem(X, alpha=2.0, beta=4.0, nu=1e6, gamma=gamma)
    F = normalised_indicator(labels, 3)
    state = solve(problem, F, update=update, max_iter=600)[0].state
    Z = problem.operator.rows(0, shape[0])
    lasso = MultiTaskLasso(
        (4.0 / 2.0) / (2 * shape[0]), fit_intercept=False, tol=1e-13, max_iter=500_000
    ).fit(Z, F)
    assert not state.Z.any()
    assert 0 < np.any(lasso.coef_ != 0.0, axis=0).sum() <= shape[1]
    np.testing.assert_allclose(state.W, lasso.coef_.T, atol=2e-5)


@quiet
def test_a_large_price_of_errors_leaves_ndfs():
    planted = make_planted(60, 30, n_informative=6, n_clusters=3, random_state=0)
    shared = {"init": planted.labels, "max_iter": 50, "tol": 0.0, "n_features_to_select": 6}
    # RSFS has beta outside of alpha(...).
    robust = RSFS(3, alpha=2.0, beta=6.0, nu=1e6, **shared).fit(planted.X)
    plain = NDFS(3, alpha=2.0, beta=3.0, **shared).fit(planted.X)
    assert not robust.noise_.any()
    np.testing.assert_allclose(robust.scores_, plain.scores_, atol=1e-6)


@pytest.mark.parametrize("update", ["safe", "paper"])
def test_only_the_ratios_of_the_parameters_matter(update):
    planted = make_planted(60, 30, n_informative=6, n_clusters=3, random_state=1)
    start = indicator if update == "paper" else normalised_indicator
    F = start(planted.labels, 3)
    weights = [
        solve(
            make_problem(planted.X, alpha=alpha, beta=beta, nu=nu), F, update=update, max_iter=20
        )[0].state.W
        for alpha, beta, nu in [(1.0, 1.0, 0.1), (100.0, 100.0, 10.0), (1e-3, 1e-3, 1e-4)]
    ]
    for W in weights[1:]:
        np.testing.assert_allclose(W, weights[0], atol=2e-6 * np.abs(weights[0]).max())


def test_the_cheaper_errors_are_the_smaller_the_weights_become():
    X = toy(0)
    problem = make_problem(X, beta=0.1, nu=1e-4)
    F = normalised_indicator(TOY_LABELS, 3)
    lengths = [np.linalg.norm(state.W) for state in solve(problem, F, max_iter=300)[1]]
    assert lengths[-1] < 1e-3 * lengths[0]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("update", ["safe", "paper"])
def test_errors_are_found_where_labels_were_flipped(update, seed):
    # rsfs.md: the nine longest rows of Z are the nine flipped samples.
    rng = np.random.default_rng(seed)
    flipped = rng.choice(90, 9, replace=False)
    labels = TOY_LABELS.copy()
    labels[flipped] = (labels[flipped] + rng.integers(1, 3, 9)) % 3
    problem = make_problem(toy(seed), alpha=1.0, beta=0.1, nu=0.2)
    F = normalised_indicator(labels, 3) if update == "safe" else indicator(labels, 3)
    state = solve(problem, F, update=update, max_iter=20)[0].state
    longest = np.argsort(-np.linalg.norm(state.Z, axis=1))[:9]
    assert set(longest) == set(flipped)


@pytest.mark.parametrize("seed", range(3))
def test_the_defaults_find_flipped_labels_too(seed):
    rng = np.random.default_rng(seed)
    flipped = rng.choice(90, 6, replace=False)
    labels = TOY_LABELS.copy()
    labels[flipped] = (labels[flipped] + 1) % 3
    model = RSFS(3, init=labels, n_features_to_select=4).fit(toy(seed))
    longest = np.argsort(-np.linalg.norm(model.noise_, axis=1))[:6]
    assert set(longest) == set(flipped)
    np.testing.assert_array_equal(model.labels_, labels)
    assert model.support_[:4].all()


# Descent ------------------------------------------------------------------------------------------


@st.composite
def descents(draw):
    """Return (problem, F): any shape and any parameters of a few orders of magnitude."""
    n, d = draw(st.integers(3, 25)), draw(st.integers(1, 40))
    c = draw(st.integers(1, min(n, 5)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((n, d)) + rng.integers(-2, 3, d)
    X[:, rng.random(d) < 0.1] = 1.0
    gamma = draw(st.sampled_from([0.0, 0.1, 1.0, 10.0, 1e3, 1e6, 1e8]))
    problem = make_problem(
        X,
        alpha=10.0 ** draw(st.integers(-3, 3)),
        beta=10.0 ** draw(st.integers(-2, 3)),
        nu=10.0 ** draw(st.integers(-3, 3)),
        gamma=gamma,
        scale=draw(st.sampled_from(["std", "none"])),
        center=draw(st.booleans()),
        k=3,
    )
    return problem, first_label_matrix(random_labels(rng, n, c), c, orthogonality=gamma)


@settings(max_examples=50)
@given(case=descents())
def test_no_step_ever_raises_the_objective(case):
    problem, F = case
    with np.errstate(all="raise", under="ignore"):
        solution, states = solve(problem, F, max_iter=15)
    values = np.array(solution.objective[1:])
    assert np.isfinite(values).all()
    assert np.all(np.diff(values) <= 1e-10 * np.abs(values[:-1]))
    for before, after in pairwise(states):
        new_weights = replace(before, W=after.W, fitted=after.fitted, inverse=after.inverse)
        steps = (before, new_weights, replace(new_weights, Z=after.Z), after)
        along = np.array([problem.objective(state) for state in steps])
        assert np.all(np.diff(along) <= 1e-10 * np.abs(along[:-1]))
    for state in states:
        assert state.F.min() >= 0.0


@settings(max_examples=25)
@given(case=descents())
def test_the_published_weights_and_errors_never_raise_it_either(case):
    # The rescaled label step may; its columns have unit length.
    problem, F = case
    _, states = solve(problem, F, update="paper", max_iter=10)
    for before, after in pairwise(states):
        new_weights = replace(before, W=after.W, fitted=after.fitted, inverse=after.inverse)
        steps = (before, new_weights, replace(new_weights, Z=after.Z))
        along = np.array([problem.objective(state) for state in steps])
        assert np.all(np.diff(along) <= 1e-10 * np.abs(along[:-1]))
    for state in states:
        assert state.F.min() >= 0.0
        np.testing.assert_allclose(np.linalg.norm(state.F, axis=0), 1.0, rtol=1e-12)


def test_the_objective_is_the_one_of_the_docstring():
    rng = np.random.default_rng(4)
    problem = make_problem(rng.standard_normal((20, 8)), alpha=0.3, beta=2.0, nu=0.05, gamma=5.0)
    F = first_label_matrix(random_labels(rng, 20, 3), 3, orthogonality=5.0)
    solution, states = solve(problem, F, max_iter=4)
    X, S = problem.operator.rows(0, 20), sample_graph(problem.operator, "heat").toarray()
    P = S / S.sum(axis=1, keepdims=True)
    for state, value in zip(states, solution.objective[1:], strict=True):
        F = state.F
        graph = (P * ((F[:, None] - F[None]) ** 2).sum(axis=2)).sum()
        loss = 0.3 * np.sum((F - X @ state.W - state.Z) ** 2) + 0.05 * np.abs(state.Z).sum()
        gap = np.linalg.norm(F.T @ F - np.eye(3)) ** 2
        assert state.Z.any()
        expected = graph + loss + 2.0 * smoothed_norm(state.W) + 2.5 * gap
        assert value == pytest.approx(expected, rel=1e-12)


# The labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("update", ["safe", "paper"])
def test_the_published_weight_freezes_the_labels(update):
    rng = np.random.default_rng(5)
    labels = random_labels(rng, 40, 3)
    F = normalised_indicator(labels, 3) if update == "safe" else indicator(labels, 3)
    problem = make_problem(rng.standard_normal((40, 12)))
    state = solve(problem, F, update=update, max_iter=20)[0].state
    np.testing.assert_allclose(state.F, normalised_indicator(labels, 3), atol=1e-7)


@quiet
@any_penalty
def test_a_small_weight_lets_labels_move_and_repairs_a_wrong_start():
    planted = make_planted(90, 20, n_informative=10, n_clusters=3, signal=4.0, random_state=0)
    wrong = planted.labels.copy()
    wrong[:20] = (wrong[:20] + 1) % 3
    frozen, free = (
        RSFS(3, init=wrong, beta=1.0, nu=0.5, orthogonality=gamma).fit(planted.X)
        for gamma in (1e8, 3.0)
    )
    np.testing.assert_array_equal(frozen.labels_, wrong)
    before, after = (adjusted_rand_score(planted.labels, m.labels_) for m in (frozen, free))
    assert before < 0.5
    assert after > 0.9


# Features that are known --------------------------------------------------------------------------


@pytest.mark.parametrize("update", ["safe", "paper"])
def test_the_toy_of_the_specification(update):
    found = [
        RSFS(
            3, n_features_to_select=4, beta=0.1, nu=0.1, update=update, max_iter=200, random_state=0
        ).fit(toy(seed)).support_[:4].sum()
        for seed in range(10)
    ]  # fmt: skip
    assert sum(count == 4 for count in found) >= 9
    assert min(found) >= 3


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(120, 50), (100, 150)], ids=["tall", "wide"])
def test_planted_features_are_found(shape, seed):
    planted = make_planted(
        *shape, n_informative=10, n_redundant=5, n_clusters=3, signal=4.0, random_state=seed
    )
    model = RSFS(3, n_features_to_select=15, random_state=0).fit(planted.X)
    assert (planted.informative | planted.redundant)[model.support_].sum() >= 13


# Invariances --------------------------------------------------------------------------------------


@SHAPES
@pytest.mark.parametrize("update", ["safe", "paper"])
def test_orders_of_samples_features_and_labels_do_not_matter(update, shape):
    planted = make_planted(*shape, n_informative=5, n_clusters=3, random_state=2)
    X, labels = planted.X, planted.labels
    rng = np.random.default_rng(6)
    rows, columns = rng.permutation(shape[0]), rng.permutation(shape[1])
    options = {"n_features_to_select": 5, "update": update, "tol": 1e-4}
    model = RSFS(3, init=labels, **options).fit(X)
    by_row = RSFS(3, init=labels[rows], **options).fit(X[rows])
    by_column = RSFS(3, init=labels, **options).fit(X[:, columns])
    renamed = RSFS(3, init=(labels + 1) % 3, **options).fit(X)
    atol = 1e-9 * model.scores_.max()
    np.testing.assert_allclose(by_row.scores_, model.scores_, atol=atol)
    np.testing.assert_allclose(by_row.noise_, model.noise_[rows], atol=1e-9)
    np.testing.assert_allclose(by_column.scores_, model.scores_[columns], atol=atol)
    np.testing.assert_allclose(renamed.scores_, model.scores_, atol=atol)


def test_a_column_that_does_not_vary_scores_zero_and_copies_score_the_same():
    planted = make_planted(50, 12, n_informative=4, n_clusters=3, random_state=3)
    X = np.column_stack([np.full(50, 3.0), planted.X, planted.X[:, 4]])
    model = RSFS(3, n_features_to_select=4, init=planted.labels).fit(X)
    assert model.scores_[0] == 0.0
    assert model.ranking_[0] == X.shape[1]
    assert model.scores_[5] == pytest.approx(model.scores_[-1], rel=1e-9)


# Parameters ---------------------------------------------------------------------------------------


def test_auto_is_half_of_the_penalty_at_which_the_weights_vanish():
    planted = make_planted(80, 20, n_informative=5, n_clusters=3, signal=3.0, random_state=4)
    X, labels = planted.X, planted.labels
    model = RSFS(3, alpha=3.0, init=labels, n_features_to_select=5).fit(X)
    assert model.nu_ == pytest.approx(3.0 * np.sqrt(3 / 80))
    largest = 2.0 * model.beta_
    # exactly: the slope of the Huber loss at W = 0
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    slope = np.clip(2.0 * 3.0 * normalised_indicator(labels, 3), -model.nu_, model.nu_)
    assert largest == pytest.approx(np.linalg.norm(Z.T @ slope, axis=1).max(), rel=1e-6)
    options = {"alpha": 3.0, "init": labels, "n_features_to_select": 5, "max_iter": 1000}
    below = RSFS(3, beta=0.97 * largest, tol=1e-9, **options).fit(X)
    assert below.scores_.max() > 1e-4
    with pytest.warns(UserWarning, match="beta is so large that all weights vanish"):
        above = RSFS(3, beta=1.03 * largest, tol=1e-9, **options).fit(X)
    assert above.scores_.max() < 1e-5


@pytest.mark.parametrize(
    ("parameter", "value", "error"),
    [
        ("alpha", 0.0, ValueError),
        ("alpha", "one", TypeError),
        ("beta", 0.0, ValueError),
        ("beta", "much", ValueError),
        ("beta", None, TypeError),
        ("nu", 0.0, ValueError),
        ("nu", -1.0, ValueError),
        ("nu", "some", ValueError),
        ("orthogonality", -1.0, ValueError),
        ("orthogonality", np.inf, ValueError),
        ("update", "fast", ValueError),
        ("init", "random", ValueError),
        ("affinity", "cosine", ValueError),
        ("n_neighbors", 0, ValueError),
        ("n_neighbors", 2.5, TypeError),
        ("scale", "minmax", ValueError),
        ("max_iter", 0, ValueError),
        ("tol", -1e-3, ValueError),
        ("callback", 3, TypeError),
    ],
)
def test_bad_parameters_are_refused_by_name(parameter, value, error, small_planted):
    with pytest.raises(error, match=parameter):
        RSFS(3, **{parameter: value}).fit(small_planted.X)
