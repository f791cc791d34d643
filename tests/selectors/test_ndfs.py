"""NDFS: golden numbers of the public code, a group lasso as oracle, and the textbook loop."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import MultiTaskLasso

from featsieve.selectors.ndfs import NDFSProblem
from featsieve.solvers.nonnegative_labels import first_label_matrix, unit_columns
from featsieve.terms import indicator, normalised_indicator
from featsieve.terms.norms import SMOOTHING, inverse_weights, smoothed_norm
from tests.graphs.test_knn import T9
from tests.selectors import label_problems
from tests.selectors.label_problems import FORMS, SHAPES, iterate, random_labels

T9_LABELS = np.repeat([0, 1, 2], 3)
# ndfs.md: T9, heat graph with k = 3, W0 = ones, alpha = beta = 1, by the public MATLAB code.
AFTER_5 = [3.497816721e-3, 2.742885700e-3, 1.935237772e-3, 1.588705672e-2, 6.694942451e-5]
AFTER_5_F0 = [0.5778237512, 3.384731784e-4, 3.925598388e-4]
AFTER_5_OBJECTIVE = [20.29360072, 3.649111548, 2.086063650, 1.930107860, 1.916163466]
AFTER_20 = [3.499040924e-3, 2.771080803e-3, 1.872040635e-3, 1.671437753e-2, 1.158397420e-8]
AFTER_20_HARD = [3.499043127e-3, 2.771072527e-3, 1.872062958e-3, 1.671407664e-2, 1.226030200e-8]
LIMIT = [0.0034989641, 0.0027713676, 0.0018712648, 0.0167248309, 0.0]
LIMIT_OBJECTIVE = 0.9778991352


def make_problem(X, *, gamma=1e8, **more):
    return label_problems.make_problem("NDFS", X, orthogonality=gamma, **more)


class PublishedNDFS(NDFSProblem):
    """The problem with the label step of the public code, for which there are golden numbers."""

    def update_labels(self, state):
        """Multiply F by gamma F / (MF + gamma FF'F), MF = LF + alpha (F - XW)."""
        F, gamma = state.F, self.orthogonality
        M_F = self.laplacian @ F + self.alpha * (F - state.fitted)
        below = M_F + gamma * (F @ (F.T @ F)) + SMOOTHING
        return replace(state, F=unit_columns(F * (gamma * F + SMOOTHING) / below))


def golden_problem(gamma, form="auto", *, kind=PublishedNDFS):
    return make_problem(T9, gamma=gamma, scale="none", center=False, k=3, form=form, kind=kind)


def weighted_start(problem, F, inverse):
    """Return the first state with other weights of the rows: D = I/inverse."""
    state = problem.start(F)
    return replace(state, inverse=inverse * state.inverse)


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


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("gamma", "n_iter", "soft", "expected"),
    [(1e3, 5, 0.2, AFTER_5), (1e8, 20, 0.2, AFTER_20), (1e8, 20, 0.0, AFTER_20_HARD)],
)
def test_golden_weights(gamma, n_iter, soft, expected, form):
    # W0 = ones is D = I/(2 sqrt(c)).
    problem = golden_problem(gamma, form)
    start = weighted_start(problem, indicator(T9_LABELS, 3) + soft, 2.0 * np.sqrt(3.0))
    solution, _ = iterate(problem, start, n_iter)
    assert solution.n_iter == n_iter
    np.testing.assert_allclose((solution.state.W**2).sum(axis=1), expected, rtol=1e-9)
    if gamma == 1e3:
        np.testing.assert_allclose(solution.state.F[0], AFTER_5_F0, rtol=1e-9)


def test_golden_objective_of_the_code():
    problem = golden_problem(1e3)
    F = indicator(T9_LABELS, 3) + 0.2
    _, states = iterate(problem, weighted_start(problem, F, 2.0 * np.sqrt(3.0)), 5)
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
    solution, _ = iterate(golden_problem(1e14, form, kind=NDFSProblem), F, 1000)
    W = solution.state.W
    np.testing.assert_allclose((W**2).sum(axis=1), LIMIT, atol=1e-8)
    value = np.sum((T9 @ W - F) ** 2) + np.linalg.norm(W, axis=1).sum()
    assert value == pytest.approx(LIMIT_OBJECTIVE, rel=1e-7)
    np.testing.assert_allclose((group_lasso(T9 * 1.0, F, 1.0) ** 2).sum(axis=1), LIMIT, atol=1e-9)


@pytest.mark.parametrize("form", FORMS)
@SHAPES
@pytest.mark.parametrize("gamma", [30.0, 1e8])
def test_the_published_update_is_the_published_loop(gamma, shape, form):
    # The loop inverts d x d matrices and forms M; here MF = LF + alpha (F - XW).
    rng = np.random.default_rng(0)
    parameters = {"alpha": 0.7, "beta": 2.0, "gamma": gamma}
    problem = make_problem(rng.standard_normal(shape), form=form, kind=PublishedNDFS, **parameters)
    F = indicator(random_labels(rng, shape[0], 3), 3) + 0.2
    Z = problem.operator.rows(0, shape[0])
    W = rng.standard_normal((shape[1], 3))
    W /= np.linalg.norm(W, axis=1, keepdims=True)  # D = I/2
    _, states = iterate(problem, weighted_start(problem, F, 2.0), 12)
    written = textbook(Z, problem.laplacian.toarray(), F, W=W, n_iter=12, **parameters)
    for state, (W, labels, _) in zip(states, written, strict=True):
        np.testing.assert_allclose(state.W, W, atol=1e-8)
        np.testing.assert_allclose(state.fitted, Z @ W, atol=1e-8)
        np.testing.assert_allclose(state.F, labels, atol=1e-8)


@SHAPES
@pytest.mark.parametrize("gamma", [0.5, 1e8])
def test_the_safe_label_step_is_the_exact_one_for_the_split_by_sign(gamma, shape):
    # 00_common.md, 5.2, with A = L + alpha I and B = alpha XW.
    rng = np.random.default_rng(11)
    problem = make_problem(rng.standard_normal(shape), alpha=0.7, gamma=gamma)
    F = first_label_matrix(random_labels(rng, shape[0], 3), 3, orthogonality=gamma)
    L, Z = problem.laplacian.toarray(), problem.operator.rows(0, shape[0])
    _, states = iterate(problem, F, 10)
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
    state = iterate(problem, F, 1500)[0].state
    F, W, Z = state.F, state.W, problem.operator.rows(0, shape[0])
    assert F.max() > 0.3
    slope = problem.laplacian @ F + 2.0 * (F - Z @ W) + 3.0 * (F @ F.T @ F - F)
    np.testing.assert_allclose(F * slope, 0.0, atol=1e-5)
    slope = 2.0 * Z.T @ (Z @ W - F) + 2.0 * 0.5 * W / inverse_weights(W)[:, None]
    np.testing.assert_allclose(slope, 0.0, atol=1e-4)


def test_the_objective_is_the_one_of_the_docstring():
    rng = np.random.default_rng(2)
    problem = make_problem(rng.standard_normal((20, 8)), alpha=0.3, beta=2.0, gamma=5.0)
    F = first_label_matrix(random_labels(rng, 20, 3), 3, orthogonality=5.0)
    solution, states = iterate(problem, F, 4)
    Z, L = problem.operator.rows(0, 20), problem.laplacian.toarray()
    for state, value in zip(states, solution.objective[1:], strict=True):
        regression = np.sum((Z @ state.W - state.F) ** 2) + 2.0 * smoothed_norm(state.W)
        gap = np.linalg.norm(state.F.T @ state.F - np.eye(3)) ** 2
        expected = np.trace(state.F.T @ L @ state.F) + 0.3 * regression + 2.5 * gap
        assert value == pytest.approx(expected, rel=1e-12)
