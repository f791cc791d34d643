"""NDFS: golden numbers of the public code, a group lasso as oracle, and a step that never rises."""

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import MultiTaskLasso
from sklearn.metrics import adjusted_rand_score

from featsieve import NDFS
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.graphs.affinity import normalised_laplacian, sample_graph
from featsieve.selectors.ndfs import NDFSProblem, solve_ndfs
from featsieve.solvers import Status
from featsieve.solvers.nonnegative_labels import first_label_matrix
from featsieve.solvers.reweighted_ridge import largest_penalty
from featsieve.terms import indicator, normalised_indicator
from featsieve.terms.row_shrinkage import SMOOTHING, inverse_weights, smoothed_norm
from tests.graphs.test_knn import T9
from tests.selectors.test_laplacian_score import toy

FORMS = ("gram", "sample")
T9_LABELS = np.repeat([0, 1, 2], 3)
# ndfs.md: T9, heat graph with k = 3, W0 = ones, alpha = beta = 1, by the public MATLAB code.
AFTER_5 = [3.497816721e-3, 2.742885700e-3, 1.935237772e-3, 1.588705672e-2, 6.694942451e-5]
AFTER_5_F0 = [0.5778237512, 3.384731784e-4, 3.925598388e-4]
AFTER_5_OBJECTIVE = [20.29360072, 3.649111548, 2.086063650, 1.930107860, 1.916163466]
AFTER_20 = [3.499040924e-3, 2.771080803e-3, 1.872040635e-3, 1.671437753e-2, 1.158397420e-8]
AFTER_20_HARD = [3.499043127e-3, 2.771072527e-3, 1.872062958e-3, 1.671407664e-2, 1.226030200e-8]
LIMIT = [0.0034989641, 0.0027713676, 0.0018712648, 0.0167248309, 0.0]
LIMIT_OBJECTIVE = 0.9778991352

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def make_problem(X, *, alpha=1.0, beta=1.0, gamma=1e8, scale="std", center=True, k=5, form="auto"):
    operator = as_operator(X, scale=scale, center=center)
    L = normalised_laplacian(sample_graph(operator, "heat", n_neighbors=k))
    return NDFSProblem(operator, L, alpha, beta, gamma, form)


def golden_problem(gamma, form="auto"):
    return make_problem(T9, gamma=gamma, scale="none", center=False, k=3, form=form)


def solve(problem, F, **settings):
    """Run the solver; return the solution and the states after every iteration."""
    states = []
    solution = solve_ndfs(
        problem, F, tol=0.0, callback=lambda i, value, state: states.append(state), **settings
    )
    return solution, states


def textbook(Z, L, F, *, alpha, beta, gamma, W, n_iter):
    """Yield (W, F, objective of the code) of the published loop with its explicit n x n matrix M.

    ``W`` starts the weights D; the published programs write down
    tr(F'MF) + (gamma/4) ||F'F - I||^2.
    """
    n, c = F.shape
    for _ in range(n_iter):
        D = np.diag(1.0 / (2.0 * np.sqrt((W**2).sum(axis=1) + SMOOTHING)))
        G = np.linalg.inv(Z.T @ Z + beta * D)
        W = G @ Z.T @ F
        M = L + alpha * (np.eye(n) - Z @ G @ Z.T)
        M = 0.5 * (M + M.T)
        F = F * (gamma * F + SMOOTHING) / (M @ F + gamma * F @ F.T @ F + SMOOTHING)
        F = F / np.sqrt(np.diag(F.T @ F) + SMOOTHING)
        gap = np.linalg.norm(F.T @ F - np.eye(c)) ** 2
        yield W, F, np.trace(F.T @ M @ F) + 0.25 * gamma * gap


def group_lasso(Z, T, beta):
    """Return the minimiser of ||ZW - T||^2 + beta ||W||_{2,1}."""
    lasso = MultiTaskLasso(beta / (2 * len(Z)), fit_intercept=False, tol=1e-13, max_iter=500_000)
    return lasso.fit(Z, T).coef_.T


def random_labels(rng, n, c):
    return rng.permutation(np.concatenate([np.arange(c), rng.integers(0, c, n - c)]))


# Golden numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("gamma", "n_iter", "soft", "expected"),
    [(1e3, 5, 0.2, AFTER_5), (1e8, 20, 0.2, AFTER_20), (1e8, 20, 0.0, AFTER_20_HARD)],
)
def test_golden_weights(gamma, n_iter, soft, expected, form):
    # W0 = ones is D = I/(2 sqrt(c)).
    solution, _ = solve(
        golden_problem(gamma, form),
        indicator(T9_LABELS, 3) + soft,
        inverse=2.0 * np.sqrt(3.0),
        update="paper",
        max_iter=n_iter,
    )
    assert solution.n_iter == n_iter
    np.testing.assert_allclose((solution.state.W**2).sum(axis=1), expected, rtol=1e-9)
    if gamma == 1e3:
        np.testing.assert_allclose(solution.state.F[0], AFTER_5_F0, rtol=1e-9)


def test_golden_objective_of_the_code():
    problem = golden_problem(1e3)
    F = indicator(T9_LABELS, 3) + 0.2
    _, states = solve(problem, F, inverse=2.0 * np.sqrt(3.0), update="paper", max_iter=5)
    written = textbook(
        T9.astype(float),
        problem.laplacian.toarray(),
        F,
        alpha=1.0,
        beta=1.0,
        gamma=1e3,
        W=np.ones((5, 3)),
        n_iter=5,
    )
    for state, (W, labels, objective), expected in zip(
        states, written, AFTER_5_OBJECTIVE, strict=True
    ):
        assert objective == pytest.approx(expected, rel=1e-9)
        np.testing.assert_allclose(state.W, W, atol=1e-12)
        np.testing.assert_allclose(state.F, labels, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_golden_limit_is_the_group_lasso_on_the_first_labels(form):
    # A thousand steps add up even at gamma = 1e8: here nothing moves.
    F = normalised_indicator(T9_LABELS, 3)
    solution, _ = solve(golden_problem(1e14, form), F, max_iter=1000)
    W = solution.state.W
    np.testing.assert_allclose((W**2).sum(axis=1), LIMIT, atol=1e-8)
    value = np.sum((T9 @ W - F) ** 2) + np.linalg.norm(W, axis=1).sum()
    assert value == pytest.approx(LIMIT_OBJECTIVE, rel=1e-7)
    np.testing.assert_allclose((group_lasso(T9 * 1.0, F, 1.0) ** 2).sum(axis=1), LIMIT, atol=1e-9)


# The same as the textbook -------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(40, 12), (15, 50)], ids=["tall", "wide"])
@pytest.mark.parametrize("gamma", [30.0, 1e3, 1e8])
def test_the_published_update_is_the_published_loop(gamma, shape, form):
    # The loop inverts d x d matrices and forms M; here MF = LF + alpha (F - XW).
    rng = np.random.default_rng(0)
    problem = make_problem(rng.standard_normal(shape), alpha=0.7, beta=2.0, gamma=gamma, form=form)
    F = indicator(random_labels(rng, shape[0], 3), 3) + 0.2
    Z = problem.operator.rows(0, shape[0])
    W = rng.standard_normal((shape[1], 3))
    W /= np.linalg.norm(W, axis=1, keepdims=True)  # D = I/2
    _, states = solve(problem, F, inverse=2.0, update="paper", max_iter=12)
    written = textbook(
        Z, problem.laplacian.toarray(), F, alpha=0.7, beta=2.0, gamma=gamma, W=W, n_iter=12
    )
    for state, (W, labels, _) in zip(states, written, strict=True):
        np.testing.assert_allclose(state.W, W, atol=1e-8)
        np.testing.assert_allclose(state.fitted, Z @ W, atol=1e-8)
        np.testing.assert_allclose(state.F, labels, atol=1e-8)


@pytest.mark.parametrize("shape", [(40, 12), (15, 50)], ids=["tall", "wide"])
@pytest.mark.parametrize("gamma", [0.5, 30.0, 1e8])
def test_the_safe_label_step_is_the_exact_one_for_the_split_by_sign(gamma, shape):
    # 00_common.md, 5.2, with A = L + alpha I and B = alpha XW.
    rng = np.random.default_rng(11)
    problem = make_problem(rng.standard_normal(shape), alpha=0.7, gamma=gamma)
    F = first_label_matrix(random_labels(rng, shape[0], 3), 3, orthogonality=gamma)
    L, Z = problem.laplacian.toarray(), problem.operator.rows(0, shape[0])
    _, states = solve(problem, F, max_iter=10)
    for state in states:
        V = 0.7 * Z @ state.W
        assert V.min() < 0.0 < V.max()
        a = np.maximum(-L, 0.0) @ F + np.maximum(V, 0.0) + gamma * F
        b = np.maximum(L, 0.0) @ F + 0.7 * F + np.maximum(-V, 0.0)
        q = gamma * F @ F.T @ F
        below = b + np.sqrt(b**2 + 4.0 * q * a)
        F = F * np.sqrt(2.0 * a / np.where(F > 0.0, below, 1.0))
        np.testing.assert_allclose(state.F, F, rtol=1e-10, atol=1e-12)
        F = state.F


@pytest.mark.parametrize("shape", [(20, 6), (10, 15)], ids=["tall", "wide"])
def test_where_the_safe_steps_end_the_objective_is_stationary(shape):
    rng = np.random.default_rng(12)
    problem = make_problem(rng.standard_normal(shape), alpha=2.0, beta=0.5, gamma=3.0)
    F = first_label_matrix(random_labels(rng, shape[0], 2), 2, orthogonality=3.0)
    state = solve(problem, F, max_iter=1500)[0].state
    F, W, Z = state.F, state.W, problem.operator.rows(0, shape[0])
    assert F.max() > 0.3
    slope = problem.laplacian @ F + 2.0 * (F - Z @ W) + 3.0 * (F @ F.T @ F - F)
    np.testing.assert_allclose(F * slope, 0.0, atol=1e-5)
    slope = 2.0 * Z.T @ (Z @ W - F) + 2.0 * 0.5 * W / inverse_weights(W)[:, None]
    np.testing.assert_allclose(slope, 0.0, atol=1e-4)


@pytest.mark.parametrize("update", ["safe", "paper"])
@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("shape", [(40, 12), (15, 50)], ids=["tall", "wide"])
def test_the_two_forms_of_the_regression_agree(shape, sparse, update):
    rng = np.random.default_rng(1)
    X = rng.poisson(0.7, shape) * 1.0
    X[:, 0] = 1.0
    F = first_label_matrix(random_labels(rng, shape[0], 3), 3, orthogonality=20.0)
    gram, sample = (
        solve(
            make_problem(sp.csr_array(X) if sparse else X, gamma=20.0, form=form),
            F,
            update=update,
            max_iter=25,
        )[0]
        for form in FORMS
    )
    np.testing.assert_allclose(gram.state.W, sample.state.W, atol=1e-10)
    np.testing.assert_allclose(gram.state.F, sample.state.F, atol=1e-10)
    np.testing.assert_allclose(gram.objective[1:], sample.objective[1:], rtol=1e-10)


def test_the_objective_is_the_one_of_the_docstring():
    rng = np.random.default_rng(2)
    problem = make_problem(rng.standard_normal((20, 8)), alpha=0.3, beta=2.0, gamma=5.0)
    F = first_label_matrix(random_labels(rng, 20, 3), 3, orthogonality=5.0)
    solution, states = solve(problem, F, max_iter=4)
    Z, L = problem.operator.rows(0, 20), problem.laplacian.toarray()
    for state, value in zip(states, solution.objective[1:], strict=True):
        regression = np.sum((Z @ state.W - state.F) ** 2) + 2.0 * smoothed_norm(state.W)
        gap = np.linalg.norm(state.F.T @ state.F - np.eye(3)) ** 2
        expected = np.trace(state.F.T @ L @ state.F) + 0.3 * regression + 2.5 * gap
        assert value == pytest.approx(expected, rel=1e-12)


def test_the_estimator_runs_the_solver_on_its_columns():
    planted = make_planted(60, 20, n_informative=5, n_clusters=3, signal=3.0, random_state=0)
    model = NDFS(3, n_features_to_select=5, init=planted.labels, beta=2.0).fit(planted.X)
    problem = make_problem(planted.X, beta=2.0)
    solution = solve_ndfs(problem, normalised_indicator(planted.labels, 3))
    W = solution.state.W
    np.testing.assert_allclose(model.scores_, np.linalg.norm(W, axis=1), rtol=1e-12)
    np.testing.assert_array_equal(model.objective_, solution.objective[1:])
    assert model.n_iter_ == solution.n_iter == len(model.objective_)
    assert model.status_ is Status.CONVERGED
    # coef_ is W in the units of X.
    centred = planted.X - planted.X.mean(axis=0)
    np.testing.assert_allclose(centred @ model.coef_, solution.state.fitted, atol=1e-10)


@quiet
def test_as_published_the_start_is_the_indicator_and_the_columns_are_raw():
    model = NDFS(
        3, n_features_to_select=2, beta=1.0, n_neighbors=3, update="paper", scale="raw",
        init=T9_LABELS, max_iter=20, tol=0.0,
    ).fit(T9)  # fmt: skip
    solution, _ = solve(golden_problem(1e8), indicator(T9_LABELS, 3), update="paper", max_iter=20)
    np.testing.assert_array_equal(model.coef_, solution.state.W)
    # D = I instead of W0 = ones is forgotten by then.
    np.testing.assert_allclose(model.scores_[:4] ** 2, AFTER_20_HARD[:4], rtol=1e-4)
    np.testing.assert_array_equal(model.ranking_, [2, 3, 4, 1, 5])


# What a huge orthogonality weight does ------------------------------------------------------------


@pytest.mark.parametrize("shape", [(60, 15), (30, 60)], ids=["tall", "wide"])
@pytest.mark.parametrize("share", [0.2, 0.6])
def test_with_frozen_labels_it_is_a_group_lasso(share, shape):
    rng = np.random.default_rng(3)
    labels = random_labels(rng, shape[0], 3)
    X = rng.standard_normal(shape)
    X[:, :4] += 2.0 * rng.standard_normal((3, 4))[labels]
    F = normalised_indicator(labels, 3)
    problem = make_problem(X)
    beta = share * largest_penalty(problem.operator, F)
    solution, _ = solve(replace(problem, beta=beta), F, max_iter=800)
    W, Z = solution.state.W, problem.operator.rows(0, shape[0])
    np.testing.assert_allclose(W, group_lasso(Z, F, beta), atol=1e-5)
    # Optimality: 2 z_j'(ZW - F) = -beta w_j/||w_j|| on the active rows, at most beta elsewhere.
    slope, length = 2.0 * Z.T @ (Z @ W - solution.state.F), np.linalg.norm(W, axis=1)
    active = length > 1e-4
    assert 0 < active.sum() < shape[1]
    residual = slope[active] + beta * W[active] / length[active, None]
    np.testing.assert_allclose(residual, 0.0, atol=1e-5)
    assert np.linalg.norm(slope, axis=1).max() <= beta * (1 + 1e-5)


@pytest.mark.parametrize("update", ["safe", "paper"])
@pytest.mark.parametrize(("alpha", "tolerance"), [(1e-4, 1e-7), (1.0, 1e-7), (1e4, 4e-4)])
def test_the_published_weight_freezes_the_labels(alpha, tolerance, update):
    rng = np.random.default_rng(4)
    labels = random_labels(rng, 40, 3)
    problem = make_problem(rng.standard_normal((40, 12)), alpha=alpha)
    F = normalised_indicator(labels, 3) if update == "safe" else indicator(labels, 3)
    solution, _ = solve(problem, F, update=update, max_iter=20)
    np.testing.assert_allclose(solution.state.F, normalised_indicator(labels, 3), atol=tolerance)


def test_a_soft_start_collapses_to_the_indicator():
    labels = random_labels(np.random.default_rng(5), 30, 3)
    problem = make_problem(np.random.default_rng(6).standard_normal((30, 8)))
    solution, _ = solve(problem, indicator(labels, 3) + 0.2, update="paper", max_iter=30)
    expected = normalised_indicator(labels, 3)
    np.testing.assert_allclose(solution.state.F, expected, atol=3e-8)


@quiet
@pytest.mark.parametrize("shape", [(80, 30), (40, 100)], ids=["tall", "wide"])
def test_with_frozen_labels_alpha_has_no_effect(shape):
    planted = make_planted(*shape, n_informative=8, n_clusters=3, signal=3.0, random_state=0)
    models = [
        NDFS(
            3, n_features_to_select=10, alpha=alpha, init=planted.labels, max_iter=40, tol=0.0
        ).fit(planted.X)
        for alpha in (1e-4, 1.0, 1e4)
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.support_, models[0].support_)
        np.testing.assert_allclose(model.scores_, models[0].scores_, atol=1e-3)


@quiet
def test_a_small_weight_lets_labels_move_and_repairs_a_wrong_start():
    planted = make_planted(90, 20, n_informative=10, n_clusters=3, signal=4.0, random_state=0)
    wrong = planted.labels.copy()
    wrong[:20] = (wrong[:20] + 1) % 3
    frozen, free = (
        NDFS(3, init=wrong, beta=1.0, orthogonality=gamma).fit(planted.X) for gamma in (1e8, 3.0)
    )
    np.testing.assert_array_equal(frozen.labels_, wrong)
    before, after = (adjusted_rand_score(planted.labels, m.labels_) for m in (frozen, free))
    assert before < 0.5
    assert after > 0.9


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
        gamma=gamma,
        scale=draw(st.sampled_from(["std", "none"])),
        center=draw(st.booleans()),
        k=3,
    )
    return problem, first_label_matrix(random_labels(rng, n, c), c, orthogonality=gamma)


@settings(max_examples=50)
@given(case=descents())
def test_neither_step_ever_raises_the_objective(case):
    problem, F = case
    with np.errstate(all="raise", under="ignore"):
        solution, states = solve(problem, F, max_iter=15)
    values = np.array(solution.objective[1:])
    assert np.isfinite(values).all()
    assert np.all(np.diff(values) <= 1e-10 * np.abs(values[:-1]))
    for before, after in pairwise(states):
        # Between the steps: the new weights with the labels they were fitted to.
        between = problem.objective(replace(after, F=before.F))
        slack = 1e-10 * abs(between)
        assert between <= problem.objective(before) + slack
        assert problem.objective(after) <= between + slack
    for state in states:
        assert state.F.min() >= 0.0
        np.testing.assert_allclose(state.inverse, inverse_weights(state.W))


def test_the_published_step_can_raise_the_objective_and_leave_the_orthant():
    # ndfs.md: with gamma = 10 the published rule rises, and makes F negative; the safe one never.
    rises, negative = 0, 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        problem = make_problem(rng.standard_normal((30, 10)), gamma=10.0)
        F = indicator(random_labels(rng, 30, 3), 3) + 0.2
        solution, states = solve(problem, F, update="paper", max_iter=60)
        values = np.array(solution.objective[2:])
        rises += bool(np.any(np.diff(values) > 1e-9 * values[:-1]))
        negative += min(state.F.min() for state in states) < 0.0
        for state in states:
            np.testing.assert_allclose(np.linalg.norm(state.F, axis=0), 1.0, rtol=1e-12)
    assert rises > 0
    assert negative > 0


@pytest.mark.parametrize("beta", [1e-8, 1e-14])
def test_a_small_beta_does_not_raise_the_objective(beta):
    rng = np.random.default_rng(7)
    problem = make_problem(rng.standard_normal((20, 31)), beta=beta)
    F = normalised_indicator(random_labels(rng, 20, 3), 3)
    solution, _ = solve(problem, F, max_iter=30)
    values = np.array(solution.objective[1:])
    assert np.all(np.diff(values) <= 1e-10 * np.abs(values[:-1]))


@pytest.mark.parametrize("update", ["safe", "paper"])
def test_any_first_weights_lead_to_the_same_end(update):
    # W0 = 0, as in one public program, is D = I/(2 sqrt(eps)): the same limit, but slowly.
    rng = np.random.default_rng(8)
    labels = random_labels(rng, 40, 3)
    X = rng.standard_normal((40, 10))
    X[:, :4] += 2.0 * rng.standard_normal((3, 4))[labels]
    problem, F = make_problem(X, beta=2.0), normalised_indicator(labels, 3)
    starts = {"identity": 1.0, "ones": 2.0 * np.sqrt(3.0), "zero": 2.0 * np.sqrt(SMOOTHING)}
    few, many = (
        {
            name: solve(problem, F, inverse=inverse, update=update, max_iter=n_iter)[0].state.W
            for name, inverse in starts.items()
        }
        for n_iter in (5, 500)
    )
    size = np.linalg.norm(many["ones"])
    for W in many.values():
        np.testing.assert_allclose(W, many["ones"], atol=1e-5 * size)
    near, far = (np.linalg.norm(few[name] - many["ones"]) for name in ("ones", "zero"))
    assert far > 2.0 * near


# Invariances --------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[(60, 20), (30, 70)], ids=["tall", "wide"])
def table(request):
    return make_planted(*request.param, n_informative=6, n_clusters=3, signal=3.0, random_state=1)


def fit(X, labels, **settings):
    settings = {"orthogonality": 50.0, "n_features_to_select": 6} | settings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return NDFS(3, init=labels, max_iter=30, **settings).fit(X)


@pytest.mark.parametrize("update", ["safe", "paper"])
def test_features_samples_and_labels_may_be_permuted(table, update):
    rng = np.random.default_rng(0)
    n, d = table.X.shape
    plain = fit(table.X, table.labels, update=update)
    columns, rows = rng.permutation(d), rng.permutation(n)
    np.testing.assert_allclose(
        fit(table.X[:, columns], table.labels, update=update).scores_,
        plain.scores_[columns],
        atol=1e-9,
    )
    shuffled = fit(table.X[rows], table.labels[rows], update=update)
    np.testing.assert_allclose(shuffled.scores_, plain.scores_, atol=1e-9)
    np.testing.assert_array_equal(shuffled.labels_, plain.labels_[rows])
    renamed = fit(table.X, np.array([2, 0, 1])[table.labels], update=update)
    np.testing.assert_allclose(renamed.scores_, plain.scores_, atol=1e-9)


def test_equal_columns_get_equal_scores(table):
    model = fit(np.hstack([table.X, table.X[:, :3]]), table.labels)
    d = table.X.shape[1]
    np.testing.assert_allclose(model.scores_[d:], model.scores_[:3], rtol=1e-6, atol=1e-12)


def test_with_unit_scale_units_and_offsets_do_not_matter(table):
    rng = np.random.default_rng(1)
    factor, offset = 10.0 ** rng.integers(-3, 4, table.X.shape[1]), rng.integers(-5, 6)
    plain, other = fit(table.X, table.labels), fit(factor * (table.X + offset), table.labels)
    np.testing.assert_allclose(other.scores_, plain.scores_, atol=1e-8)
    np.testing.assert_allclose(other.coef_ * factor[:, None], plain.coef_, atol=1e-8)


@pytest.mark.parametrize("scale", ["unit", "none", "raw"])
@pytest.mark.parametrize("update", ["safe", "paper"])
def test_sparse_tables_give_the_answer_of_dense_ones(table, update, scale):
    X = np.where(table.X > 0.3, table.X, 0.0)
    dense, sparse = (
        fit(kind(X), table.labels, update=update, scale=scale)
        for kind in (np.asarray, sp.csr_array)
    )
    np.testing.assert_allclose(sparse.scores_, dense.scores_, atol=1e-8)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-8)
    np.testing.assert_array_equal(sparse.labels_, dense.labels_)


def test_single_precision_is_near_double_precision(table):
    X = table.X.astype(np.float32)
    single, double = (fit(X.astype(dtype), table.labels) for dtype in (np.float32, np.float64))
    np.testing.assert_allclose(single.scores_, double.scores_, atol=1e-4)


@pytest.mark.parametrize("scale", ["unit", "none", "raw"])
@pytest.mark.parametrize("value", [0.0, 5.0])
def test_constant_columns_are_last_and_leave_the_others_alone(table, value, scale):
    column = np.full(len(table.X), value)
    plain = fit(table.X, table.labels, scale=scale)
    model = fit(np.column_stack([column, table.X, column]), table.labels, scale=scale)
    d = table.X.shape[1]
    np.testing.assert_array_equal(model.scores_[[0, -1]], 0.0)
    np.testing.assert_array_equal(model.coef_[[0, -1]], 0.0)
    np.testing.assert_array_equal(model.ranking_[[0, -1]], [d + 1, d + 2])
    np.testing.assert_allclose(model.scores_[1:-1], plain.scores_, rtol=1e-6, atol=1e-12)


@quiet
@pytest.mark.filterwarnings("ignore:All weights are so small")  # units of 1e8
def test_the_first_labels_of_raw_columns_do_not_depend_on_the_origin():
    planted = make_planted(60, 10, n_informative=8, n_clusters=3, signal=1.0, random_state=0)
    far = planted.X + 1e8
    near = far - 1e8  # without rounding
    of_far, of_near = (
        NDFS(3, scale="raw", random_state=0, max_iter=1).fit(X).labels_ for X in (far, near)
    )
    np.testing.assert_array_equal(of_far, of_near)


# Recovery -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("update", ["safe", "paper"])
def test_the_known_ranking(update):
    found = [
        NDFS(3, n_features_to_select=4, beta=0.1, update=update, random_state=0)
        .fit(toy(seed))
        .support_[:4]
        .sum()
        for seed in range(10)
    ]
    assert min(found) >= 3
    assert found.count(4) >= 9


# In a wide table of unit variances the noise hides the clusters; in its own units it does not.
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("shape", "scale"), [((150, 60), "unit"), ((60, 150), "none")], ids=["tall", "wide"]
)
def test_planted_features_are_found(shape, scale, seed):
    planted = make_planted(
        *shape, n_informative=8, n_redundant=4, n_clusters=3, signal=4.0, random_state=seed
    )
    model = NDFS(3, n_features_to_select=12, scale=scale, random_state=0).fit(planted.X)
    assert (planted.informative | planted.redundant)[model.support_].sum() >= 10
    assert adjusted_rand_score(planted.labels, model.labels_) > 0.9


# Beyond the largest useful penalty ----------------------------------------------------------------


@pytest.mark.parametrize("factor", [1.0001, 1e2, 1e6])
def test_a_beta_that_kills_all_weights_is_told_and_ranks_one_at_a_time(table, factor):
    F = normalised_indicator(table.labels, 3)
    operator = as_operator(table.X, scale="std")
    largest = largest_penalty(operator, F)
    with pytest.warns(UserWarning, match=r"beta is so large .* Choose beta below") as caught:
        model = NDFS(3, n_features_to_select=6, init=table.labels, beta=factor * largest).fit(
            table.X
        )
    assert [w.filename for w in caught] == [__file__]
    if factor > 10.0:
        marginal = np.linalg.norm(operator.rmatmul(F), axis=1)
        np.testing.assert_array_equal(np.argsort(-model.scores_), np.argsort(-marginal))
    assert model.scores_.min() > 0.0


@pytest.mark.parametrize("scale", ["unit", "none", "raw"])
def test_by_default_beta_is_half_of_the_largest(table, scale):
    model = NDFS(3, init=table.labels, scale=scale).fit(table.X)
    centred = table.X - (0.0 if scale == "raw" else table.X.mean(axis=0))
    Z = centred / (table.X.std(axis=0) if scale == "unit" else 1.0)
    largest = 2.0 * np.linalg.norm(Z.T @ normalised_indicator(table.labels, 3), axis=1).max()
    assert model.beta_ == pytest.approx(0.5 * largest, rel=1e-10)
    same = NDFS(3, init=table.labels, scale=scale, beta=model.beta_).fit(table.X)
    np.testing.assert_array_equal(same.scores_, model.scores_)


def test_a_useful_beta_gives_no_warning(table):
    F = normalised_indicator(table.labels, 3)
    beta = 0.95 * largest_penalty(as_operator(table.X, scale="std"), F)
    NDFS(3, init=table.labels, beta=beta, n_features_to_select=2).fit(table.X)


@pytest.mark.parametrize("parameter", ["beta", "orthogonality", "alpha"])
@pytest.mark.filterwarnings("ignore:beta is so large")
@quiet
@pytest.mark.filterwarnings("ignore:The pseudo-labels have vanished")
def test_absurd_parameters_do_not_put_a_constant_column_first(table, parameter):
    X = np.column_stack([np.ones(len(table.X)), table.X])
    model = NDFS(3, n_features_to_select=6, init=table.labels, **{parameter: 1e160}).fit(X)
    assert not model.support_[0]
    np.testing.assert_array_equal(model.labels_, table.labels)


# Labels, warnings, refusals -----------------------------------------------------------------------


def test_given_labels_keep_their_order_and_found_ones_are_numbered_by_first_sample(table):
    given = NDFS(3, init=np.array(["c", "a", "b"])[table.labels]).fit(table.X)
    np.testing.assert_array_equal(given.labels_, np.array([2, 0, 1])[table.labels])
    called = NDFS(3, init=lambda X, n_clusters, random_state: table.labels).fit(table.X)
    np.testing.assert_array_equal(called.labels_, table.labels)
    for init in ("spectral", "k-means"):
        labels = NDFS(3, init=init, random_state=0).fit(table.X).labels_
        _, first = np.unique(labels, return_index=True)
        assert np.all(np.diff(first) > 0)


def test_a_given_affinity_decides_the_first_labels():
    rng = np.random.default_rng(9)
    labels = random_labels(rng, 40, 3)
    S = (labels[:, None] == labels) + 1e-3
    model = NDFS(3, affinity=S, random_state=0).fit(rng.standard_normal((40, 10)))
    assert adjusted_rand_score(labels, model.labels_) == 1.0


def test_too_few_iterations_are_told_once(table):
    with pytest.warns(ConvergenceWarning, match=r"NDFS stopped at max_iter=1") as caught:
        model = NDFS(3, init=table.labels, max_iter=1).fit(table.X)
    assert [w.filename for w in caught] == [__file__]
    assert model.status_ is Status.ITERATION_LIMIT
    assert model.n_iter_ == len(model.objective_) == 1


def test_the_callback_sees_every_iteration_and_can_stop():
    planted = make_planted(40, 10, n_informative=4, n_clusters=3, random_state=0)
    seen = []

    def callback(iteration, objective, state):
        seen.append((iteration, objective, state.W.shape))
        return iteration == 3

    model = NDFS(3, init=planted.labels, callback=callback).fit(planted.X)
    assert [iteration for iteration, _, _ in seen] == [1, 2, 3]
    np.testing.assert_array_equal(model.objective_, [objective for _, objective, _ in seen])
    assert {shape for _, _, shape in seen} == {(10, 3)}
    assert model.status_ is Status.STOPPED


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("beta", 1.0),
        ("tol", 1e-5),
        ("alpha", 1.0),
        ("orthogonality", 1e8),
    ],
)
def test_parameters_may_be_numpy_numbers(table, name, value):
    # As in a grid, np.logspace(-1, 1, 3).
    plain, model = (
        NDFS(3, init=table.labels, **{name: kind(value)}).fit(table.X)
        for kind in (float, np.float64)
    )
    np.testing.assert_array_equal(model.scores_, plain.scores_)


@pytest.mark.filterwarnings("ignore:n_clusters=1", "ignore:beta is so large")
@quiet
@pytest.mark.parametrize(
    ("shape", "n_clusters"), [((2, 1), 1), ((2, 1), 2), ((2, 5), 2), ((7, 3), 7), ((12, 40), 1)]
)
@pytest.mark.parametrize("update", ["safe", "paper"])
@pytest.mark.parametrize("gamma", [0.0, 1.0, 1e8])
@pytest.mark.filterwarnings("ignore:The pseudo-labels have vanished")
def test_small_and_odd_problems_give_finite_answers(shape, n_clusters, update, gamma):
    X = np.random.default_rng(10).standard_normal(shape)
    model = NDFS(
        n_clusters, n_features_to_select=1, update=update, orthogonality=gamma, max_iter=20,
        random_state=0,
    ).fit(X)  # fmt: skip
    for name in ("scores_", "coef_", "objective_"):
        assert np.isfinite(getattr(model, name)).all()
    assert model.support_.sum() == 1
    assert model.labels_.shape == shape[:1]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"alpha": 0.0}, ValueError, "alpha must be a number above 0; got 0.0"),
        ({"alpha": -1.0}, ValueError, "alpha must be a number above 0"),
        ({"beta": 0.0}, ValueError, "beta must be a number above 0"),
        ({"beta": np.inf}, ValueError, "beta must be a number above 0; got inf"),
        ({"beta": "1"}, ValueError, "beta must be 'auto' or a number above 0"),
        ({"beta": None}, TypeError, "beta must be a number above 0"),
        ({"orthogonality": -1.0}, ValueError, "orthogonality must be a number of at least 0"),
        ({"update": "fast"}, ValueError, "update must be one of 'safe', 'paper'"),
        ({"scale": "std"}, ValueError, "scale must be one of 'unit', 'none', 'raw'"),
        ({"affinity": "cosine"}, ValueError, "affinity must be one of 'heat', 'binary'"),
        ({"affinity": np.ones((8, 8))}, ValueError, r"here \(9, 9\)"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors must be an integer of at least 1"),
        ({"max_iter": 0}, ValueError, "max_iter must be an integer of at least 1"),
        ({"max_iter": 2.5}, TypeError, "max_iter must be an integer"),
        ({"tol": -1e-9}, ValueError, "tol must be a number of at least 0"),
        ({"callback": 3}, TypeError, "callback must be callable or None"),
        ({"init": "best"}, ValueError, "init must be one of 'spectral', 'k-means'"),
        ({"init": None}, ValueError, "init must be one of"),
        ({"init": [0, 1] * 4}, ValueError, "one label per sample"),
        ({"init": [0, 0, 0, 0, 1, 1, 1, 1, 1]}, ValueError, "pass n_clusters=2"),
        ({"n_clusters": 10}, ValueError, "choose n_clusters between 1 and 9"),
        ({"n_clusters": 0}, ValueError, "n_clusters must be an integer of at least 1"),
        ({"n_features_to_select": None}, ValueError, "does not decide how many to keep"),
        ({"n_features_to_select": 6}, ValueError, "between 1 and 5"),
    ],
)
def test_bad_values_are_refused_with_the_fix(settings, error, message):
    with pytest.raises(error, match=message):
        NDFS(**{"n_clusters": 3, **settings}).fit(T9)


@quiet
def test_labels_that_vanish_are_reported(table):
    model = NDFS(3, n_features_to_select=6, init=table.labels, orthogonality=1e-3)
    with pytest.warns(UserWarning, match="orthogonality is too small"):
        model.fit(table.X)
