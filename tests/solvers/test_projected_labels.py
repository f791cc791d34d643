"""Projected Newton steps for the labels: descent, optimality, known solutions."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, check_grad, minimize, nnls

from featsieve.solvers import Status, run
from featsieve.solvers.projected_labels import (
    LabelProblem,
    ProjectedNewton,
)

fast = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 10**6)
penalties = st.sampled_from([0.0, 1.0, 100.0, 1e4, 1e8])


def draw(seed, n=10, c=3, *, nu=10.0, definite=False):
    """A symmetric A (with negative eigenvalues unless definite), any B, and a start."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    A = A @ A.T + 0.1 * np.eye(n) if definite else A + A.T
    B = rng.standard_normal((n, c))
    F = np.maximum(rng.standard_normal((n, c)), 0.0)
    return LabelProblem(A, B, nu), A, F


def textbook(A, B, nu, F):
    gap = F.T @ F - np.eye(F.shape[1])
    return np.trace(F.T @ A @ F) - 2.0 * np.trace(F.T @ B) + 0.5 * nu * np.trace(gap @ gap)


@fast
@given(seeds, st.integers(2, 12), st.integers(1, 4), penalties)
def test_value_and_gradient_are_those_of_the_formula(seed, n, c, nu):
    problem, A, F = draw(seed, n, c, nu=min(nu, 100.0))
    value = textbook(A, problem.linear, problem.orthogonality, F)
    assert problem.expand(F, A @ F)[0] == pytest.approx(value, rel=1e-9, abs=1e-9)

    def at(x):
        G = x.reshape(n, c)
        return textbook(A, problem.linear, problem.orthogonality, G)

    def slope(x):
        G = x.reshape(n, c)
        return problem.expand(G, A @ G)[1].ravel()

    size = max(1.0, np.abs(slope(F.ravel())).max())
    assert check_grad(at, slope, F.ravel()) <= 1e-4 * size
    V = np.random.default_rng(seed + 1).standard_normal((n, c))

    def along(t):
        return slope(F.ravel() + t[0] * V.ravel())

    change = approx_fprime(np.zeros(1), along, 1e-6)[:, 0]
    everything = np.ones(F.shape, dtype=bool)
    bend = problem.curvature(F, everything)(V.T.ravel()).reshape(c, n).T.ravel()
    assert np.abs(change - bend).max() <= 1e-4 * max(1.0, np.abs(bend).max())


@fast
@given(seeds, st.integers(2, 12), st.integers(1, 4), penalties, st.booleans())
def test_every_step_lowers_the_objective_over_non_negative_matrices(seed, n, c, nu, definite):
    problem, A, F = draw(seed, n, c, nu=nu or 1.0, definite=definite)
    solution = run(ProjectedNewton(F), problem, max_iter=60)
    assert solution.state.F.min() >= 0.0
    values = np.asarray(solution.objective)
    assert np.all(np.diff(values) <= 1e-15 * np.maximum(np.abs(values[:-1]), 1.0))
    assert solution.objective[-1] == pytest.approx(
        textbook(A, problem.linear, problem.orthogonality, solution.state.F), rel=1e-9, abs=1e-9
    )


@fast
@given(seeds, st.sampled_from([1.0, 10.0, 100.0, 1e4]))
def test_it_ends_where_the_projected_gradient_vanishes(seed, nu):
    problem, A, F = draw(seed, nu=nu, definite=True)
    solution = run(ProjectedNewton(F), problem, max_iter=200)
    assert solution.status.success
    F = solution.state.F
    half = A @ F - problem.linear + nu * F @ (F.T @ F - np.eye(3))
    size = max(1.0, float(np.abs(problem.linear).max()), nu)
    assert np.abs(np.where(F > 0.0, half, np.minimum(half, 0.0))).max() <= 1e-8 * size


@pytest.mark.parametrize("nu", [10.0, 1e4])
def test_a_general_solver_cannot_go_on(nu):
    for seed in range(5):
        problem, A, F = draw(seed, n=20, nu=nu, definite=True)
        found = run(ProjectedNewton(F), problem, max_iter=200).state

        def at(x, A=A, B=problem.linear):
            return textbook(A, B, nu, x.reshape(20, 3))

        def slope(x, A=A, problem=problem):
            G = x.reshape(20, 3)
            return problem.expand(G, A @ G)[1].ravel()

        lower = minimize(
            at, found.F.ravel(), jac=slope, method="L-BFGS-B", bounds=60 * [(0.0, None)]
        ).fun
        assert lower >= found.value - 1e-10 * abs(found.value)


@fast
@given(seeds)
def test_without_penalty_it_is_non_negative_least_squares(seed):
    problem, A, F = draw(seed, nu=0.0, definite=True)
    found = run(ProjectedNewton(F), problem, max_iter=200).state.F
    # f'Af - 2f'b = ||R f - R^-T b||^2 + const with A = R'R
    R = np.linalg.cholesky(A).T
    exact = [nnls(R, np.linalg.solve(R.T, b))[0] for b in problem.linear.T]
    np.testing.assert_allclose(found, np.column_stack(exact), atol=1e-7)


def test_a_zero_can_grow_and_a_stationary_point_stays():
    problem = LabelProblem(np.eye(1), np.array([[1.0, -1.0]]), 0.0)
    solution = run(ProjectedNewton(np.array([[0.0, 0.5]])), problem, max_iter=100)
    np.testing.assert_allclose(solution.state.F, [[1.0, 0.0]], atol=1e-7)
    again = run(ProjectedNewton(np.array([[1.0, 0.0]])), problem, max_iter=100)
    assert again.status is Status.CONVERGED
    assert again.n_iter == 0
    assert again.state.F.tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize("convex", [False, True])
@pytest.mark.parametrize("share", [0.05, 0.5])
def test_the_curvature_is_the_formula_at_the_free_entries(share, convex):
    rng = np.random.default_rng(0)
    n, c, nu = 40, 8, 7.0
    A = sp.random_array((n, n), density=0.2, rng=rng, format="csr")
    A = sp.csr_array(A + A.T)
    F = np.where(rng.random((n, c)) < share, rng.random((n, c)), 0.0)
    free = rng.random((n, c)) < share  # also where F is zero, and not everywhere it is positive
    free[:, 3] = False
    V = np.where(free, rng.standard_normal((n, c)), 0.0)
    bend = F @ (F.T @ V + V.T @ F) + (0.0 if convex else V @ (F.T @ F - np.eye(c)))
    expected = 2.0 * (A @ V + nu * bend)
    product = LabelProblem(A, np.zeros((n, c)), nu).curvature(F, free, convex=convex)
    np.testing.assert_allclose(product(V.T[free.T]), expected.T[free.T], atol=1e-12)
