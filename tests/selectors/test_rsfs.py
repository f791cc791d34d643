"""RSFS: the golden trace of the authors' program, a Huber loss and a group lasso as oracles."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import MultiTaskLasso

from featsieve.graphs.affinity import smoothness
from featsieve.selectors.rsfs import RSFSProblem
from featsieve.solvers import Status
from featsieve.solvers.block_problem import solve
from featsieve.terms import indicator, normalised_indicator
from featsieve.terms.norms import SMOOTHING
from tests.graphs.test_knn import T9
from tests.selectors import label_problems
from tests.selectors.label_problems import FORMS, SHAPES, iterate, random_labels
from tests.selectors.test_laplacian_score import toy

T9_LABELS = np.repeat([0, 1, 2], 3)
TOY_LABELS = np.repeat([0, 1, 2], 30)
# rsfs.md: T9, heat graph with k = 3, 0/1 start, alpha = beta = 1, nu = 0.5, authors' program.
TRACE = [
    300000015.41025704, 4.85076719396503, 3.17452998264229, 3.12624653643789, 3.11662570226694,
    3.11358989514026,
]  # fmt: skip
SQUARES = [3.394928314e-3, 2.717561921e-3, 2.143081664e-3, 1.814179532e-2, 2.014297226e-4]


def make_problem(X, *, gamma=1e8, **more):
    return label_problems.make_problem("RSFS", X, orthogonality=gamma, **more)


class PublishedRSFS(RSFSProblem):
    """The problem with label step, objective and end of the authors' program: golden numbers."""

    def start(self, F):
        """Return the labels with W = 0 and Z = 0, of which the program records the objective."""
        W, zeros = np.zeros((self.operator.shape[1], F.shape[1])), np.zeros_like(F)
        return replace(super().start(F), W=W, fitted=zeros, Z=zeros)

    def value(self, state):
        """Return what the program records: gamma/2 times the row lengths of F'F - I."""
        gap = state.F.T @ state.F - np.eye(state.F.shape[1])
        return (
            smoothness(self.laplacian, state.F)
            + self.alpha * np.sum((state.F - state.fitted - state.Z) ** 2)
            + self.nu * np.sum(np.abs(state.Z))
            + self.beta * np.linalg.norm(state.W, axis=1).sum()
            + 0.5 * self.orthogonality * np.linalg.norm(gap, axis=1).sum()
        )

    def update_labels(self, state):
        """Multiply F by sqrt(a/(b + q)); give its columns unit length."""
        F, gamma = state.F, self.orthogonality
        attraction, repulsion = self.pulls(state)
        above = attraction + gamma * F + SMOOTHING
        below = repulsion + gamma * (F @ (F.T @ F)) + SMOOTHING
        F = F * np.sqrt(above / below)
        return replace(state, F=F / np.sqrt(np.einsum("ij,ij->j", F, F) + SMOOTHING))

    def status(self, state, history, tol):
        """End where (old - new)/new < tol, with its sign: an increase ends the run too."""
        ends = len(history) > 1 and history[-2] - history[-1] < tol * history[-1]
        return Status.CONVERGED if ends else None


def golden_problem(form="auto"):
    return make_problem(T9, nu=0.5, scale="none", center=False, k=3, form=form, kind=PublishedRSFS)


def textbook(Z, L, Y, *, alpha, beta, nu, gamma, n_iter):
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
        Y = Y * np.sqrt(2.0 * a / (b + np.sqrt(b**2 + 4.0 * q * a)))
        penalty = np.linalg.norm(Y.T @ Y - np.eye(Y.shape[1])) ** 2
        value = (
            np.trace(Y.T @ L @ Y)
            + alpha * np.linalg.norm(Y - Z @ W - noise) ** 2
            + beta * np.sqrt((W**2).sum(axis=1) + eps).sum()
            + nu * np.abs(noise).sum()
            + 0.5 * gamma * penalty
        )
        yield W, noise, Y, value


@pytest.mark.parametrize("form", FORMS)
def test_golden_trace(form):
    problem = golden_problem(form)
    start = problem.start(indicator(T9_LABELS, 3))
    solution = solve(problem, start, max_iter=20, tol=1e-3)
    assert solution.n_iter == 5
    assert solution.status is Status.CONVERGED
    # gamma/2 = 5e7 times what rounding leaves of F'F - I
    np.testing.assert_allclose(solution.objective, TRACE, rtol=1e-15, atol=1e-7)
    np.testing.assert_allclose((solution.state.W**2).sum(axis=1), SQUARES, rtol=1e-8)


@SHAPES
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("gamma", [0.5, 1e8])
def test_every_iteration_is_that_of_the_textbook(gamma, form, shape):
    rng = np.random.default_rng(0)
    parameters = {"alpha": 0.7, "beta": 2.0, "nu": 0.1, "gamma": gamma}
    problem = make_problem(rng.standard_normal(shape), form=form, **parameters)
    F = indicator(random_labels(rng, shape[0], 3), 3) + 0.2
    Z, L = problem.operator.rows(0, shape[0]), problem.laplacian.toarray()
    solution, states = iterate(problem, F, 12)
    written = textbook(Z, L, F, n_iter=12, **parameters)
    for state, value, (W, noise, Y, objective) in zip(
        states, solution.objective[1:], written, strict=True
    ):
        np.testing.assert_allclose(state.W, W, atol=1e-8)
        np.testing.assert_allclose(state.fitted, Z @ W, atol=1e-8)
        np.testing.assert_allclose(state.Z, noise, atol=1e-8)
        np.testing.assert_allclose(state.F, Y, atol=1e-8)
        assert value == pytest.approx(objective, rel=1e-8, abs=1e-6)


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
    state = iterate(problem, F, 1000)[0].state
    assert (state.Z != 0.0).any()
    assert huber(state.W.ravel())[0] == pytest.approx(oracle.fun, rel=1e-5)


@SHAPES
def test_a_large_price_of_errors_leaves_a_group_lasso(shape):
    rng = np.random.default_rng(3)
    labels = random_labels(rng, shape[0], 3)
    X = rng.standard_normal(shape)
    X[:, :4] += 2.0 * rng.standard_normal((3, 4))[labels]
    # A thousand steps add up even at gamma = 1e8.
    problem = make_problem(X, alpha=2.0, beta=4.0, nu=1e6, gamma=1e14)
    F = normalised_indicator(labels, 3)
    state = iterate(problem, F, 600)[0].state
    Z = problem.operator.rows(0, shape[0])
    lasso = MultiTaskLasso(
        (4.0 / 2.0) / (2 * shape[0]), fit_intercept=False, tol=1e-13, max_iter=500_000
    ).fit(Z, F)
    assert not state.Z.any()
    assert 0 < np.any(lasso.coef_ != 0.0, axis=0).sum() <= shape[1]
    np.testing.assert_allclose(state.W, lasso.coef_.T, atol=2e-5)


@pytest.mark.parametrize("seed", range(2))
def test_errors_are_found_where_labels_were_flipped(seed):
    # rsfs.md: the nine longest rows of Z are the nine flipped samples.
    rng = np.random.default_rng(seed)
    flipped = rng.choice(90, 9, replace=False)
    labels = TOY_LABELS.copy()
    labels[flipped] = (labels[flipped] + rng.integers(1, 3, 9)) % 3
    problem = make_problem(toy(seed), alpha=1.0, beta=0.1, nu=0.2)
    state = iterate(problem, normalised_indicator(labels, 3), 20)[0].state
    longest = np.argsort(-np.linalg.norm(state.Z, axis=1))[:9]
    assert set(longest) == set(flipped)
