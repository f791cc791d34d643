"""RUFS: golden terms, convex oracles, and the textbook loop."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import brentq, minimize, nnls

from featsieve import RUFS, defaults
from featsieve.arrays import as_operator
from featsieve.graphs.affinity import smoothness
from featsieve.graphs.local_models import local_learning_laplacian
from featsieve.selectors.rufs import REGRESSION
from featsieve.solvers.nonnegative_labels import first_label_matrix
from featsieve.terms import normalised_indicator
from featsieve.terms.norms import SMOOTHING
from tests.graphs.test_knn import T9
from tests.selectors import label_problems
from tests.selectors.label_problems import FORMS, SHAPES, iterate, random_labels
from tests.selectors.test_laplacian_score import toy

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


def make_problem(X, **more):
    return label_problems.make_problem("RUFS", X, **more)


def golden_problem(form="auto", **more):
    return make_problem(T9, scale="none", center=False, shifted=False, k=3, form=form, **more)


def random_state(rng, problem, c):
    """Return a state without zeros, with the products that belong to it."""
    n, d = problem.operator.shape
    G, basis, W = rng.random((n, c)), rng.random((d, c)), rng.standard_normal((d, c))
    state = problem.start(G)
    images, fitted = problem.table.matmul(basis), problem.operator.matmul(W)
    return replace(state, basis=basis, images=images, W=W, fitted=fitted)


def written_out(problem, state):
    """Return J from n x d residuals, not smoothed."""
    G, F, W = state.F, state.basis.T, state.W
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
    W, G, F = state.W, state.F, state.basis.T.copy()
    ratio = problem.beta / problem.alpha
    for _ in range(n_iter):
        for _ in range(defaults.RUFS_PASSES):
            r = np.sqrt(((Z @ W - G) ** 2).sum(axis=1) + REGRESSION)
            e = np.sqrt((W**2).sum(axis=1) + SMOOTHING)
            left = Z.T @ np.diag(1.0 / r) @ Z + ratio * np.diag(1.0 / e)
            W = np.linalg.solve(left, Z.T @ np.diag(1.0 / r) @ G)
        for _ in range(defaults.RUFS_PASSES):
            a, b = pulls(problem, Z @ W, X, G, F)
            half = 0.5 * problem.orthogonality
            a, quartic = a + half * G, half * G @ G.T @ G
            G = G * np.sqrt(2.0 * a / (b + np.sqrt(b**2 + 4.0 * quartic * a)))
            traded = trade_length(G, *pulls(problem, Z @ W, X, G, F))
            before, after = (
                written_out(problem, replace(state, W=W, F=labels, basis=F.T))
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


@pytest.mark.parametrize("form", FORMS)
def test_golden_terms_at_the_start(form):
    problem = golden_problem(form)
    state = problem.start(normalised_indicator(T9_LABELS, 3))
    terms = {
        "reconstruction": problem.reconstruction_lengths(
            state.F, state.basis, state.images
        ).sum(),
        "graph": smoothness(problem.laplacian, state.F),
        "regression": problem.regression_lengths(state.F, state.fitted).sum(),
        "weights": np.linalg.norm(state.W, axis=1).sum(),
    }  # fmt: skip
    assert terms == pytest.approx(TERMS, rel=1e-10)
    np.testing.assert_allclose(state.basis[:, 0], FIRST_BASIS, rtol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_golden_optimum_of_the_weights(form):
    problem = golden_problem(form)
    state = problem.start(normalised_indicator(T9_LABELS, 3))
    for _ in range(300):
        state = problem.weights_step(state)
    value = np.linalg.norm(T9 @ state.W - state.F, axis=1).sum()
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
    state = problem.start(normalised_indicator(random_labels(rng, n, 2), 2))
    Z, G = problem.operator.rows(0, n), state.F

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
        fitted, other = state, replace(problem, form=form)
        for _ in range(300):
            fitted = other.weights_step(fitted)
        reached, oracle = (value(W, small=1e-30)[0] for W in (fitted.W.ravel(), best.x))
        assert oracle * (1.0 - 1e-3) <= reached <= oracle * (1.0 + 1e-5)


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
    lengths = problem.reconstruction_lengths(state.F, state.basis, state.images)
    direct = np.linalg.norm(
        problem.table.matmul(np.eye(shape[1])) - state.F @ state.basis.T, axis=1
    )
    np.testing.assert_allclose(lengths, direct, rtol=1e-9)


@SHAPES
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("L", "zeta"), [("graph", 1.0), ("local_learning", 1e7)])
def test_every_iteration_is_that_of_the_textbook(L, zeta, form, shape):
    rng = np.random.default_rng(3)
    X = rng.standard_normal(shape)
    given = {}
    if L == "local_learning":
        given["laplacian"] = local_learning_laplacian(as_operator(X, scale="std"))
    numbers = {"alpha": 1.5, "beta": 3.0, "orthogonality": zeta}
    problem = make_problem(X, form=form, **numbers, **given)
    G = first_label_matrix(random_labels(rng, shape[0], 3), 3, orthogonality=zeta)
    start = problem.start(G)
    solution, states = iterate(problem, start, 4)
    for state, value, (W, G, F) in zip(
        states, solution.objective[1:], textbook(problem, start, 4), strict=True
    ):
        np.testing.assert_allclose(state.W, W, atol=1e-8)
        np.testing.assert_allclose(state.F, G, atol=1e-8)
        np.testing.assert_allclose(state.basis.T, F, atol=1e-8)
        # smoothing: 1e-6 of a length for every sample that is fitted exactly
        assert value == pytest.approx(written_out(problem, state), rel=1e-6)


def test_rows_of_the_basis_in_turn_end_at_nonnegative_least_squares():
    # With overlapping labels; the weights of the samples are held by restarting from the state.
    rng = np.random.default_rng(4)
    problem = make_problem(rng.standard_normal((20, 6)), basis_penalty=0.0)
    state = random_state(rng, problem, 3)
    for _ in range(600):
        state = problem.update_basis(state)
    X = problem.table.matmul(np.eye(6))
    root = np.sqrt(0.5 / problem.reconstruction_lengths(state.F, state.basis, state.images))
    for j in range(6):
        expected = nnls(root[:, None] * state.F, root * X[:, j])[0]
        np.testing.assert_allclose(state.basis[j], expected, atol=1e-5)
    assert (state.basis == 0.0).any()


@pytest.mark.parametrize(("scale", "beta"), [("unit", "auto"), ("raw", 126.0)])
def test_an_outlying_sample_gets_the_smallest_weight(scale, beta):
    X = toy(0)
    X[7] *= 50.0
    states = []
    model = RUFS(
        3, n_features_to_select=4, init=TOY_LABELS, scale=scale, beta=beta, tol=1e-4,
        callback=lambda i, value, state: states.append(state),
    ).fit(X)  # fmt: skip
    assert model.sample_weights_.argmin() == 7
    assert model.sample_weights_.max() == 1.0
    assert model.support_[:4].sum() >= 3
    if scale == "raw":  # centred, or with small beta, W may bend to a sample of much leverage
        residuals = np.linalg.norm(states[-1].fitted - states[-1].F, axis=1)
        assert residuals.argmax() == 7  # the smallest weight of the regression, too


def test_raw_columns_are_neither_centred_nor_shifted():
    states = []
    RUFS(
        3, n_features_to_select=2, init=T9_LABELS, scale="raw", n_neighbors=3, beta=1.0,
        callback=lambda i, value, state: states.append((value, state)),
    ).fit(T9)  # fmt: skip
    value, state = states[-1]
    L = local_learning_laplacian(as_operator(T9, center=False), n_neighbors=3)
    assert value == pytest.approx(written_out(golden_problem(laplacian=L), state), rel=1e-5)
