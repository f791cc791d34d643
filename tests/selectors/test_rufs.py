"""RUFS: golden terms, gradients by differences, convex oracles, and blocks that never rise."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq, minimize, nnls
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from featsieve import RUFS
from featsieve.arrays import as_operator
from featsieve.arrays.derived import shifted_to_zero, unshifted
from featsieve.datasets import make_planted
from featsieve.graphs.affinity import laplacian, row_normalised_laplacian, sample_graph, smoothness
from featsieve.graphs.local_learning import local_learning_laplacian
from featsieve.selectors.rufs import first_state
from featsieve.selectors.rufs_paper import gradients, solve_rufs_as_published
from featsieve.selectors.rufs_problem import REGRESSION, RUFSProblem
from featsieve.selectors.rufs_safe import PASSES, basis_step, solve_rufs, weights_step
from featsieve.solvers import Status
from featsieve.solvers.nonnegative_labels import first_label_matrix
from featsieve.solvers.reweighted_ridge import ReweightedRidge
from featsieve.terms import normalised_indicator
from featsieve.terms.row_shrinkage import SMOOTHING
from tests.graphs.test_knn import T9
from tests.selectors.test_laplacian_score import toy

FORMS = ("gram", "sample")
SHAPES = pytest.mark.parametrize("shape", [(40, 12), (15, 50)], ids=["tall", "wide"])
T9_LABELS = np.repeat([0, 1, 2], 3)
TOY_LABELS = np.repeat([0, 1, 2], 30)
# rufs.md: T9, G = one-hot/sqrt(3), F = G'X, Deg - S (heat, k = 3), nu = alpha = beta = 1, ridge W.
TERMS = {
    "reconstruction": 22.020392625062,
    "graph": 3.108358273704,
    "regression": 2.002481643302,
    "weights": 0.386961346522,
}
FIRST_BASIS = [14.4337567297, 2.3094010768, 2.8867513459, 0.5773502692, 0.5773502692]
BEST_WEIGHTS = 2.0499275
BEST_LENGTHS = [0.058115, 0.042896, 0.099051, 0.195763, 0.109921]

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def make_problem(X, *, scale="std", center=True, shifted=True, k=5, L="graph", form="auto", **more):
    operator = as_operator(X, scale=scale, center=center)
    if isinstance(L, str):
        L = laplacian(sample_graph(operator, "heat", n_neighbors=k))
    numbers = {
        "nu": 1.0, "alpha": 1.0, "beta": 1.0, "orthogonality": 1e7, "label_penalty": 0.1,
        "basis_penalty": 1e-4,
    } | more  # fmt: skip
    table = shifted_to_zero(operator, X) if shifted else unshifted(operator)
    return RUFSProblem(operator, table, L, form=form, **numbers)


def golden_problem(form="auto"):
    return make_problem(T9, scale="none", center=False, shifted=False, k=3, form=form)


def solve(problem, state, *, published=False, **options):
    """Run a solver to max_iter; return the solution and the states after every iteration."""
    states = []
    solver = solve_rufs_as_published if published else solve_rufs
    solution = solver(
        problem,
        state,
        tol=-np.inf,
        callback=lambda i, value, state: states.append(state),
        **options,
    )
    return solution, states


def random_labels(rng, n, c):
    return rng.permutation(np.concatenate([np.arange(c), rng.integers(0, c, n - c)]))


def random_state(rng, problem, c):
    """Return a state without zeros, with the products that belong to it."""
    n, d = problem.operator.shape
    G, basis, W = rng.random((n, c)), rng.random((d, c)), rng.standard_normal((d, c))
    state = first_state(problem, G)
    images, fitted = problem.table.matmul(basis), problem.operator.matmul(W)
    return replace(state, basis=basis, images=images, W=W, fitted=fitted)


def written_out(problem, state):
    """Return J from n x d residuals, not smoothed."""
    G, F, W = state.G, state.basis.T, state.W
    n, d = problem.operator.shape
    Z, X = problem.operator.rows(0, n), problem.table.matmul(np.eye(d))
    return (
        np.linalg.norm(X - G @ F, axis=1).sum()
        + problem.nu * np.trace(G.T @ problem.laplacian.toarray() @ G)
        + problem.alpha * np.linalg.norm(Z @ W - G, axis=1).sum()
        + problem.beta * np.linalg.norm(W, axis=1).sum()
        + 0.25 * problem.orthogonality * np.linalg.norm(G.T @ G - np.eye(G.shape[1])) ** 2
        + problem.label_penalty * G.sum()
        + problem.basis_penalty * np.linalg.norm(F, axis=0).sum()
    )


def pulls(problem, V, X, G, F):
    """Return a and b of the label step (rufs.md), without the penalty."""
    L = problem.laplacian.toarray()
    P = np.diag(0.5 / np.sqrt(((X - G @ F) ** 2).sum(axis=1) + problem.smoothing))
    Q = np.diag(0.5 * problem.alpha / np.sqrt(((V - G) ** 2).sum(axis=1) + REGRESSION))
    a = P @ X @ F.T + problem.nu * np.maximum(-L, 0.0) @ G + Q @ np.maximum(V, 0.0)
    b = P @ G @ F @ F.T + problem.nu * np.maximum(L, 0.0) @ G + Q @ (G + np.maximum(-V, 0.0))
    return a, b + 0.5 * problem.label_penalty


def trade_length(G, a, b):
    """Return G sqrt(a/(b + lam G)), lam by a root finder, column by column."""
    new = G.copy()
    for column in range(G.shape[1]):
        live = G[:, column] > 0.0
        g, up, down = G[live, column], a[live, column], b[live, column]

        def excess(lam, g=g, up=up, down=down):
            return np.sum(g**2 * up / (down + lam * g)) - np.sum(g**2)

        pole, high = np.max(-down / g), np.max((up - down) / g)
        low = pole + 1e-9 * (high - pole)
        lam = brentq(excess, low, high + 1e-9 * (high - pole), xtol=1e-14, rtol=1e-15)
        new[live, column] = g * np.sqrt(up / (down + lam * g))
    return new


def textbook(problem, state, n_iter):
    """Yield (W, G, F) of the same steps with d x d systems, n x d residuals and dense L."""
    n, d = problem.operator.shape
    Z, X = problem.operator.rows(0, n), problem.table.matmul(np.eye(d))
    delta = problem.smoothing
    W, G, F = state.W, state.G, state.basis.T.copy()
    ratio = problem.beta / problem.alpha
    for _ in range(n_iter):
        for _ in range(PASSES):
            r = np.sqrt(((Z @ W - G) ** 2).sum(axis=1) + REGRESSION)
            e = np.sqrt((W**2).sum(axis=1) + SMOOTHING)
            left = Z.T @ np.diag(1.0 / r) @ Z + ratio * np.diag(1.0 / e)
            W = np.linalg.solve(left, Z.T @ np.diag(1.0 / r) @ G)
        for _ in range(PASSES):
            a, b = pulls(problem, Z @ W, X, G, F)
            half = 0.5 * problem.orthogonality
            a, quartic = a + half * G, half * G @ G.T @ G
            G = G * np.sqrt(2.0 * a / (b + np.sqrt(b**2 + 4.0 * quartic * a)))
            traded = trade_length(G, *pulls(problem, Z @ W, X, G, F))
            before, after = (
                written_out(problem, replace(state, W=W, G=labels, basis=F.T))
                for labels in (G, traded)
            )
            G = traded if after < before else G
        P = np.diag(0.5 / np.sqrt(((X - G @ F) ** 2).sum(axis=1) + delta))
        shrinkage = 0.5 * problem.basis_penalty / np.sqrt((F**2).sum(axis=0) + delta)
        for row in range(len(F)):
            others = X - np.delete(G, row, 1) @ np.delete(F, row, 0)
            g = G[:, row]
            F[row] = np.maximum(g @ P @ others, 0.0) / (g @ P @ g + shrinkage)
        yield W, G, F.copy()


# Golden numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_golden_terms_at_the_start(form):
    problem = golden_problem(form)
    state = first_state(problem, normalised_indicator(T9_LABELS, 3))
    terms = {
        "reconstruction": problem.reconstruction_lengths(
            state.G, state.basis, state.images
        ).sum(),
        "graph": smoothness(problem.laplacian, state.G),
        "regression": problem.regression_lengths(state.G, state.fitted).sum(),
        "weights": np.linalg.norm(state.W, axis=1).sum(),
    }  # fmt: skip
    assert terms == pytest.approx(TERMS, rel=1e-10)
    np.testing.assert_allclose(state.basis[:, 0], FIRST_BASIS, rtol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_golden_optimum_of_the_weights(form):
    problem = golden_problem(form)
    state = first_state(problem, normalised_indicator(T9_LABELS, 3))
    ridge = ReweightedRidge(problem.operator, form)
    for _ in range(300):
        state = weights_step(problem, ridge, state)
    value = np.linalg.norm(T9 @ state.W - state.G, axis=1).sum()
    value += np.linalg.norm(state.W, axis=1).sum()
    assert value == pytest.approx(BEST_WEIGHTS, rel=1e-6)
    np.testing.assert_allclose(np.linalg.norm(state.W, axis=1), BEST_LENGTHS, atol=1e-6)


@SHAPES
@pytest.mark.parametrize("ratio", [0.3, 3.0])
def test_the_weights_solve_the_convex_problem(ratio, shape):
    # The oracle: L-BFGS on the row-wise norms, smoothed, without any reweighting.
    rng = np.random.default_rng(0)
    n, d = shape
    problem = make_problem(rng.standard_normal(shape), alpha=2.0, beta=2.0 * ratio)
    state = first_state(problem, normalised_indicator(random_labels(rng, n, 2), 2))
    Z, G = problem.operator.rows(0, n), state.G

    def value(w, small=1e-10):
        W = w.reshape(d, 2)
        R = Z @ W - G
        r, e = np.sqrt((R**2).sum(axis=1) + small), np.sqrt((W**2).sum(axis=1) + small)
        slope = 2.0 * Z.T @ (R / r[:, None]) + 2.0 * ratio * W / e[:, None]
        return 2.0 * r.sum() + 2.0 * ratio * e.sum(), slope.ravel()

    best = minimize(
        value, state.W.ravel(), jac=True, method="L-BFGS-B",
        options={"maxiter": 20000, "maxfun": 50000, "ftol": 1e-14, "gtol": 1e-8},
    )  # fmt: skip
    for form in FORMS:
        fitted, ridge = state, ReweightedRidge(problem.operator, form)
        for _ in range(300):
            fitted = weights_step(problem, ridge, fitted)
        reached, oracle = (value(W, small=1e-30)[0] for W in (fitted.W.ravel(), best.x))
        assert oracle * (1.0 - 1e-3) <= reached <= oracle * (1.0 + 1e-5)


def test_the_published_weights_stop_near_the_optimum():
    problem = golden_problem()
    start = first_state(problem, normalised_indicator(T9_LABELS, 3))
    state = best = solve(problem, start, published=True, max_iter=10)[0].state
    for _ in range(200):
        best = weights_step(problem, ReweightedRidge(problem.operator), best)
    stopped, least = (problem.regression_value(s.G, s.W, s.fitted) for s in (state, best))
    assert least < stopped < 1.05 * least


@quiet
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("shape", [(60, 30), (40, 100)], ids=["tall", "wide"])
def test_the_safe_steps_end_below_the_published_ones(shape, seed):
    planted = make_planted(*shape, n_informative=10, n_clusters=3, random_state=seed)
    options = {"init": planted.labels, "n_features_to_select": 10}
    safe = RUFS(3, **options).fit(planted.X)
    published = RUFS(3, update="paper", max_iter=10, tol=1e-4, **options).fit(planted.X)
    assert safe.objective_[-1] <= published.objective_[-1]


# Formulas -----------------------------------------------------------------------------------------


@SHAPES
@pytest.mark.parametrize("shifted", [True, False])
@pytest.mark.parametrize("block", ["W", "G", "basis"])
def test_gradients_by_differences(block, shifted, shape):
    rng = np.random.default_rng(1)
    problem = make_problem(
        rng.standard_normal(shape),
        shifted=shifted,
        nu=0.7,
        alpha=1.3,
        beta=0.4,
        orthogonality=2.0,
        label_penalty=0.3,
        basis_penalty=0.2,
    )
    state = random_state(rng, problem, 3)
    position = {"W": 0, "G": 1, "basis": 2}[block]
    gradient = gradients(problem, state)[position]

    def value(V):
        moved = replace(state, **{block: V})
        if block == "W":
            moved = replace(moved, fitted=problem.operator.matmul(V))
        if block == "basis":
            moved = replace(moved, images=problem.table.matmul(V))
        return problem.objective(moved)

    V, step = getattr(state, block), 1e-5
    for _ in range(8):
        direction = rng.standard_normal(V.shape)
        direction /= np.linalg.norm(direction)
        slope = (value(V + step * direction) - value(V - step * direction)) / (2.0 * step)
        assert np.sum(gradient * direction) == pytest.approx(slope, rel=1e-6, abs=1e-6)


@SHAPES
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shifted", [True, False])
def test_the_objective_is_the_one_of_the_docstring(shifted, container, shape):
    rng = np.random.default_rng(2)
    X = rng.poisson(0.7, shape) * 1.0
    X[:, 0] = 1.0
    problem = make_problem(
        container(X), shifted=shifted, nu=0.7, alpha=1.3, beta=0.4, orthogonality=2.0
    )
    state = random_state(rng, problem, 3)
    assert problem.objective(state) == pytest.approx(written_out(problem, state), rel=1e-9)
    lengths = problem.reconstruction_lengths(state.G, state.basis, state.images)
    direct = np.linalg.norm(
        problem.table.matmul(np.eye(shape[1])) - state.G @ state.basis.T, axis=1
    )
    np.testing.assert_allclose(lengths, direct, rtol=1e-9)


@SHAPES
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("zeta", [1.0, 1e3, 1e7])
@pytest.mark.parametrize("L", ["graph", "local_learning"])
def test_every_iteration_is_that_of_the_textbook(L, zeta, form, shape):
    rng = np.random.default_rng(3)
    X = rng.standard_normal(shape)
    if L == "local_learning":
        L = local_learning_laplacian(as_operator(X, scale="std"))
    problem = make_problem(X, alpha=1.5, beta=3.0, orthogonality=zeta, L=L, form=form)
    G = first_label_matrix(random_labels(rng, shape[0], 3), 3, orthogonality=zeta)
    start = first_state(problem, G)
    solution, states = solve(problem, start, max_iter=6)
    for state, value, (W, G, F) in zip(
        states, solution.objective[1:], textbook(problem, start, 6), strict=True
    ):
        np.testing.assert_allclose(state.W, W, atol=1e-8)
        np.testing.assert_allclose(state.G, G, atol=1e-8)
        np.testing.assert_allclose(state.basis.T, F, atol=1e-8)
        # smoothing: 1e-6 of a length for every sample that is fitted exactly
        assert value == pytest.approx(written_out(problem, state), rel=1e-6)


def test_rows_of_the_basis_in_turn_end_at_nonnegative_least_squares():
    # With overlapping labels; the weights of the samples are held by restarting from the state.
    rng = np.random.default_rng(4)
    problem = make_problem(rng.standard_normal((20, 6)), basis_penalty=0.0)
    state = random_state(rng, problem, 3)
    for _ in range(600):
        state = basis_step(problem, state)
    X = problem.table.matmul(np.eye(6))
    root = np.sqrt(0.5 / problem.reconstruction_lengths(state.G, state.basis, state.images))
    for j in range(6):
        expected = nnls(root[:, None] * state.G, root * X[:, j])[0]
        np.testing.assert_allclose(state.basis[j], expected, atol=1e-5)
    assert (state.basis == 0.0).any()


def test_with_disjoint_labels_one_basis_step_is_exact():
    rng = np.random.default_rng(5)
    problem = make_problem(rng.standard_normal((20, 6)), basis_penalty=0.0)
    G = normalised_indicator(random_labels(rng, 20, 3), 3) * rng.uniform(0.5, 2.0, (20, 1))
    state = replace(random_state(rng, problem, 3), G=G)
    p = 0.5 / problem.reconstruction_lengths(G, state.basis, state.images)
    N = problem.table.rmatmul(p[:, None] * G)
    expected = np.maximum(N, 0.0) / (p[:, None] * G**2).sum(axis=0)
    np.testing.assert_allclose(basis_step(problem, state).basis, expected, rtol=1e-9)


@SHAPES
@pytest.mark.parametrize("published", [False, True])
def test_sparse_tables_and_the_two_forms_agree(published, shape):
    rng = np.random.default_rng(6)
    X = rng.poisson(0.7, shape) * 1.0
    X[:, 0] = 1.0
    G = normalised_indicator(random_labels(rng, shape[0], 3), 3)
    states = []
    for table in (X, sp.csr_array(X)):
        for form in FORMS:
            problem = make_problem(table, form=form)
            start = first_state(problem, G)
            n_iter = 1 if published else 8  # line searches magnify rounding
            states.append(solve(problem, start, published=published, max_iter=n_iter)[0].state)
    for state in states[1:]:
        np.testing.assert_allclose(state.W, states[0].W, atol=1e-8)
        np.testing.assert_allclose(state.G, states[0].G, atol=1e-8)
        np.testing.assert_allclose(state.basis, states[0].basis, atol=1e-8)


# Descent ------------------------------------------------------------------------------------------


@st.composite
def descents(draw):
    """Return (problem, first state): any shape, parameters of a few orders of magnitude."""
    n, d = draw(st.integers(3, 25)), draw(st.integers(1, 40))
    c = draw(st.integers(1, min(n - 1, 5)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((n, d)) + rng.integers(-2, 3, d)
    X[:, rng.random(d) < 0.1] = 1.0
    zeta = draw(st.sampled_from([0.0, 0.1, 1.0, 10.0, 1e3, 1e7]))
    problem = make_problem(
        X,
        nu=10.0 ** draw(st.integers(-3, 3)),
        alpha=10.0 ** draw(st.integers(-3, 3)),
        beta=10.0 ** draw(st.integers(-3, 3)),
        orthogonality=zeta,
        label_penalty=draw(st.sampled_from([0.0, 0.1, 10.0])),
        basis_penalty=draw(st.sampled_from([0.0, 1e-4, 1.0])),
        scale=draw(st.sampled_from(["std", "none"])),
        center=draw(st.booleans()),
        shifted=draw(st.booleans()),
        k=3,
    )
    G = first_label_matrix(random_labels(rng, n, c), c, orthogonality=zeta)
    return problem, first_state(problem, G)


@settings(max_examples=50)
@given(case=descents())
def test_no_block_ever_raises_the_objective(case):
    problem, start = case
    with np.errstate(all="raise", under="ignore"):
        solution, states = solve(problem, start, max_iter=5)
    values = np.array(solution.objective)
    assert np.isfinite(values).all()
    assert np.all(np.diff(values) <= 1e-9 * np.abs(values[:-1]))
    for before, after in pairwise([start, *states]):
        new_weights = replace(before, W=after.W, fitted=after.fitted)
        steps = (before, new_weights, replace(new_weights, G=after.G), after)
        along = np.array([problem.objective(state) for state in steps])
        assert np.all(np.diff(along) <= 1e-9 * np.abs(along[:-1]))
    for state in states:
        assert state.G.min() >= 0.0
        assert state.basis.min() >= 0.0


@settings(max_examples=15)
@given(case=descents())
def test_no_published_block_raises_it_either(case):
    problem, start = case
    solution, states = solve(problem, start, published=True, max_iter=4)
    values = np.array(solution.objective)
    assert np.isfinite(values).all()
    assert np.all(np.diff(values) <= 1e-9 * np.abs(values[:-1]))
    for state in states:
        assert state.G.min() >= 0.0
        assert state.basis.min() >= 0.0


# The labels ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("update", ["safe", "paper"])
@pytest.mark.parametrize("laplacian", ["local_learning", "graph"])
def test_labels_of_separated_clusters_are_those_of_kmeans(laplacian, update):
    X = toy(0)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    labels = KMeans(3, n_init=20, random_state=0).fit(Z).labels_
    states = []
    model = RUFS(
        3, n_features_to_select=4, init="k-means", laplacian=laplacian, update=update,
        random_state=0, callback=lambda i, value, state: states.append(state),
    ).fit(X)  # fmt: skip
    assert adjusted_rand_score(labels, model.labels_) == 1.0
    G = states[-1].G
    assert np.linalg.norm(G.T @ G - np.eye(3)) < 1e-3
    assert model.support_[:4].all()


@quiet
@pytest.mark.filterwarnings("ignore:beta is so large")
def test_a_small_weight_lets_labels_move_and_repairs_a_wrong_start():
    planted = make_planted(90, 20, n_informative=10, n_clusters=3, signal=4.0, random_state=0)
    wrong = planted.labels.copy()
    wrong[:20] = (wrong[:20] + 1) % 3
    frozen, free = (
        RUFS(3, init=wrong, beta=1.0, orthogonality=zeta, max_iter=40).fit(planted.X)
        for zeta in (1e7, 10.0)
    )
    np.testing.assert_array_equal(frozen.labels_, wrong)
    before, after = (adjusted_rand_score(planted.labels, m.labels_) for m in (frozen, free))
    assert before < 0.5
    assert after > 0.9


# Robustness ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("scale", ["unit", "none", "raw"])
@pytest.mark.parametrize("update", ["safe", "paper"])
def test_an_outlying_sample_gets_the_smallest_weight(update, scale, seed):
    X = toy(seed)
    X[7] *= 50.0
    states = []
    model = RUFS(
        3, n_features_to_select=4, init=TOY_LABELS, scale=scale, update=update, tol=1e-4,
        callback=lambda i, value, state: states.append(state),
    ).fit(X)  # fmt: skip
    assert model.sample_weights_.argmin() == 7
    assert model.sample_weights_.max() == 1.0
    assert model.support_[:4].sum() >= 3
    if scale == "raw":  # centred, W may bend to a sample of so much leverage
        residuals = np.linalg.norm(states[-1].fitted - states[-1].G, axis=1)
        assert residuals.argmax() == 7  # the smallest weight of the regression, too


# Features that are known --------------------------------------------------------------------------


@pytest.mark.parametrize("update", ["safe", "paper"])
@quiet
def test_the_toy_of_the_specification(update):
    found = []
    for seed in range(10):
        X = toy(seed)
        L = row_normalised_laplacian(sample_graph(as_operator(X, scale="std"), "heat"))
        model = RUFS(
            3, n_features_to_select=4, nu=0.1, alpha=1.0, beta=0.1, laplacian=L, update=update,
            max_iter=10, random_state=0,
        ).fit(X)  # fmt: skip
        found.append(model.support_[:4].sum())
    assert sum(count == 4 for count in found) >= 9
    assert min(found) >= 3


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(120, 50), (100, 150)], ids=["tall", "wide"])
def test_planted_features_are_found(shape, seed):
    planted = make_planted(
        *shape, n_informative=10, n_redundant=5, n_clusters=3, signal=4.0, random_state=seed
    )
    model = RUFS(3, n_features_to_select=15, random_state=0).fit(planted.X)
    assert (planted.informative | planted.redundant)[model.support_].sum() >= 13


# The estimator ------------------------------------------------------------------------------------


@pytest.mark.parametrize("update", ["safe", "paper"])
def test_the_estimator_runs_the_solver_on_its_columns(update):
    planted = make_planted(60, 20, n_informative=5, n_clusters=3, signal=3.0, random_state=0)
    X = planted.X
    model = RUFS(3, n_features_to_select=5, init=planted.labels, beta=9.0, update=update).fit(X)
    L = local_learning_laplacian(as_operator(X, scale="std"))
    problem = make_problem(X, beta=9.0, L=L)
    start = first_state(problem, normalised_indicator(planted.labels, 3))
    solver = solve_rufs if update == "safe" else solve_rufs_as_published
    solution = solver(problem, start, max_iter=200, tol=1e-5)
    state = solution.state
    np.testing.assert_array_equal(model.objective_, solution.objective[1:])
    np.testing.assert_allclose(model.scores_, np.linalg.norm(state.W, axis=1), rtol=1e-12)
    np.testing.assert_array_equal(model.basis_, state.basis.T)
    assert model.status_ is Status.CONVERGED
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(centred @ model.coef_, state.fitted, atol=1e-10)
    # The reconstruction sees standardised columns with minimum 0.
    shifted = (X - X.min(axis=0)) / X.std(axis=0)
    lengths = np.linalg.norm(shifted - state.G @ model.basis_, axis=1)
    np.testing.assert_allclose(model.sample_weights_, lengths.min() / lengths, rtol=1e-9)


def test_raw_columns_are_neither_centred_nor_shifted():
    states = []
    RUFS(
        3, n_features_to_select=2, init=T9_LABELS, scale="raw", n_neighbors=3, beta=1.0,
        laplacian="graph", callback=lambda i, value, state: states.append((value, state)),
    ).fit(T9)  # fmt: skip
    value, state = states[-1]
    assert value == pytest.approx(written_out(golden_problem(), state), rel=1e-5)


@SHAPES
def test_orders_of_samples_features_and_labels_do_not_matter(shape):
    planted = make_planted(*shape, n_informative=5, n_clusters=3, random_state=2)
    X, labels = planted.X, planted.labels
    rng = np.random.default_rng(7)
    rows, columns = rng.permutation(shape[0]), rng.permutation(shape[1])
    model = RUFS(3, init=labels, n_features_to_select=5).fit(X)
    by_row = RUFS(3, init=labels[rows], n_features_to_select=5).fit(X[rows])
    by_column = RUFS(3, init=labels, n_features_to_select=5).fit(X[:, columns])
    renamed = RUFS(3, init=(labels + 1) % 3, n_features_to_select=5).fit(X)
    atol = 1e-9 * model.scores_.max()
    np.testing.assert_allclose(by_row.scores_, model.scores_, atol=atol)
    np.testing.assert_allclose(by_column.scores_, model.scores_[columns], atol=atol)
    np.testing.assert_allclose(renamed.scores_, model.scores_, atol=atol)


@pytest.mark.parametrize("scale", ["unit", "none", "raw"])
def test_sparse_and_dense_tables_give_the_same_answer(scale):
    planted = make_planted(50, 20, n_informative=5, n_clusters=3, signal=3.0, random_state=3)
    X = np.where(planted.X > 0.5, planted.X, 0.0)
    dense, sparse = (
        RUFS(3, init=planted.labels, n_features_to_select=5, scale=scale).fit(table)
        for table in (X, sp.csr_array(X))
    )
    np.testing.assert_allclose(sparse.scores_, dense.scores_, atol=1e-8 * dense.scores_.max())
    np.testing.assert_allclose(sparse.basis_, dense.basis_, atol=1e-8)


def test_a_column_that_does_not_vary_scores_zero_and_copies_score_the_same():
    planted = make_planted(50, 12, n_informative=4, n_clusters=3, random_state=3)
    X = np.column_stack([np.full(50, 3.0), planted.X, planted.X[:, 4]])
    model = RUFS(3, n_features_to_select=4, init=planted.labels).fit(X)
    assert model.scores_[0] == 0.0
    assert model.ranking_[0] == X.shape[1]
    assert model.scores_[5] == pytest.approx(model.scores_[-1], rel=1e-9)


@quiet
def test_auto_is_half_of_the_penalty_at_which_the_weights_vanish():
    planted = make_planted(80, 20, n_informative=5, n_clusters=3, signal=3.0, random_state=4)
    X, labels = planted.X, planted.labels
    model = RUFS(3, alpha=3.0, init=labels, n_features_to_select=5).fit(X)
    largest = 2.0 * model.beta_
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    assert largest == pytest.approx(
        3.0 * np.linalg.norm(Z.T @ np.eye(3)[labels], axis=1).max(), rel=1e-6
    )
    options = {"alpha": 3.0, "init": labels, "n_features_to_select": 5, "max_iter": 60}
    below = RUFS(3, beta=0.97 * largest, tol=0.0, **options).fit(X)
    assert below.scores_.max() > 1e-4
    with pytest.warns(UserWarning, match="beta is so large that all weights vanish"):
        above = RUFS(3, beta=1.03 * largest, tol=0.0, **options).fit(X)
    assert above.scores_.max() < 0.01 * below.scores_.max()


def test_the_small_penalties_may_be_zero():
    planted = make_planted(50, 20, n_informative=5, n_clusters=3, signal=3.0, random_state=5)
    model = RUFS(
        3, n_features_to_select=5, nu=0.0, label_penalty=0.0, basis_penalty=0.0, random_state=0
    ).fit(planted.X)
    assert np.isfinite(model.objective_).all()


@pytest.mark.parametrize(
    ("L", "message"),
    [
        (np.eye(4), "shape"),
        (np.ones(80), "shape"),
        (np.full((80, 80), np.nan), "non-finite"),
        (np.triu(np.ones((80, 80))), "not symmetric"),
        (sp.csr_array(np.triu(np.ones((80, 80)))), "not symmetric"),
    ],
)
def test_a_bad_laplacian_is_refused_with_the_reason(L, message, small_planted):
    with pytest.raises(ValueError, match=f"laplacian must be .*{message}"):
        RUFS(3, laplacian=L).fit(small_planted.X)


@pytest.mark.parametrize(
    ("parameter", "value", "error"),
    [
        ("nu", -1.0, ValueError),
        ("alpha", 0.0, ValueError),
        ("alpha", "one", TypeError),
        ("beta", 0.0, ValueError),
        ("beta", "much", ValueError),
        ("orthogonality", -1.0, ValueError),
        ("label_penalty", -0.1, ValueError),
        ("basis_penalty", np.nan, ValueError),
        ("laplacian", "normalised", ValueError),
        ("update", "fast", ValueError),
        ("init", "random", ValueError),
        ("affinity", "cosine", ValueError),
        ("n_neighbors", 0, ValueError),
        ("scale", "minmax", ValueError),
        ("max_iter", 0, ValueError),
        ("tol", -1e-3, ValueError),
        ("callback", 3, TypeError),
    ],
)
def test_bad_parameters_are_refused_by_name(parameter, value, error, small_planted):
    with pytest.raises(error, match=parameter):
        RUFS(3, **{parameter: value}).fit(small_planted.X)
