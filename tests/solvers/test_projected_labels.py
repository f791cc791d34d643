"""Projected gradient steps for the labels: descent, optimality, known solutions."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad, nnls

from featsieve.solvers import Status, run
from featsieve.solvers.projected_labels import LabelProblem, ProjectedGradient, penalty_sequence

fast = settings(max_examples=50, deadline=None)
seeds = st.integers(0, 10**6)
penalties = st.sampled_from([0.0, 1.0, 100.0, 1e4, 1e8])


def draw(seed, n=10, c=3, *, nu=10.0, definite=False):
    """A symmetric A (with negative eigenvalues unless definite), any B, and a start."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    A = A @ A.T + 0.1 * np.eye(n) if definite else A + A.T
    B = rng.standard_normal((n, c))
    F = np.maximum(rng.standard_normal((n, c)), 0.0)
    return LabelProblem(A.__matmul__, B, nu), A, F


def textbook(A, B, nu, F):
    gap = F.T @ F - np.eye(F.shape[1])
    return np.trace(F.T @ A @ F) - 2.0 * np.trace(F.T @ B) + 0.5 * nu * np.trace(gap @ gap)


@fast
@given(seeds, st.integers(2, 12), st.integers(1, 4), penalties)
def test_value_and_gradient_are_those_of_the_formula(seed, n, c, nu):
    problem, A, F = draw(seed, n, c, nu=min(nu, 100.0))
    value = textbook(A, problem.linear, problem.orthogonality, F)
    assert problem.value(F, A @ F) == pytest.approx(value, rel=1e-9, abs=1e-9)

    def at(x):
        G = x.reshape(n, c)
        return textbook(A, problem.linear, problem.orthogonality, G)

    def slope(x):
        G = x.reshape(n, c)
        return problem.gradient(G, A @ G).ravel()

    size = max(1.0, np.abs(slope(F.ravel())).max())
    assert check_grad(at, slope, F.ravel()) <= 1e-4 * size


@fast
@given(seeds, st.integers(2, 12), st.integers(1, 4), penalties, st.booleans())
def test_every_step_lowers_the_objective_over_non_negative_matrices(seed, n, c, nu, definite):
    problem, A, F = draw(seed, n, c, nu=nu or 1.0, definite=definite)
    solution = run(ProjectedGradient(F), problem, max_iter=60)
    assert solution.state.F.min() >= 0.0
    assert np.all(np.diff(solution.objective) <= 0.0)
    assert solution.objective[-1] == pytest.approx(
        textbook(A, problem.linear, problem.orthogonality, solution.state.F), rel=1e-9, abs=1e-9
    )


@fast
@given(seeds, st.sampled_from([1.0, 10.0, 100.0]))
def test_it_ends_where_the_projected_gradient_vanishes(seed, nu):
    problem, _, F = draw(seed, nu=nu, definite=True)
    solution = run(ProjectedGradient(F, tol=0.0), problem, max_iter=20_000)
    assert solution.status.success
    F, gradient = solution.state.F, solution.state.gradient
    size = max(1.0, float(np.abs(problem.linear).max()), nu)
    assert np.abs(np.where(F > 0.0, gradient, np.minimum(gradient, 0.0))).max() <= 1e-4 * size


@fast
@given(seeds)
def test_without_penalty_it_is_non_negative_least_squares(seed):
    problem, A, F = draw(seed, nu=0.0, definite=True)
    found = run(ProjectedGradient(F, tol=0.0), problem, max_iter=50_000).state.F
    # f'Af - 2f'b = ||R f - R^-T b||^2 + const with A = R'R
    R = np.linalg.cholesky(A).T
    exact = [nnls(R, np.linalg.solve(R.T, b))[0] for b in problem.linear.T]
    np.testing.assert_allclose(found, np.column_stack(exact), atol=1e-4)


def test_a_zero_can_grow_and_a_stationary_point_stays():
    problem = LabelProblem(lambda F: F, np.array([[1.0, -1.0]]), 0.0)
    solution = run(ProjectedGradient(np.array([[0.0, 0.5]]), tol=0.0), problem, max_iter=100)
    np.testing.assert_allclose(solution.state.F, [[1.0, 0.0]], atol=1e-7)
    again = run(ProjectedGradient(np.array([[1.0, 0.0]])), problem, max_iter=100)
    assert again.status is Status.STATIONARY
    assert again.state.F.tolist() == [[1.0, 0.0]]


def test_a_large_penalty_gives_orthonormal_columns():
    problem, _, F = draw(0, n=20, nu=1e6, definite=True)
    F = run(ProjectedGradient(F), problem, max_iter=2000).state.F
    np.testing.assert_allclose(F.T @ F, np.eye(3), atol=1e-2)


def test_only_products_are_asked_for():
    problem, A, F = draw(1, definite=True)
    sparse = sp.csr_array(A)
    calls = []

    def product(G):
        calls.append(G.shape)
        return sparse @ G

    hidden = LabelProblem(product, problem.linear, problem.orthogonality)
    got = run(ProjectedGradient(F), hidden, max_iter=30)
    expected = run(ProjectedGradient(F), problem, max_iter=30)
    np.testing.assert_allclose(got.state.F, expected.state.F, atol=1e-9)
    assert set(calls) == {(10, 3)}


def test_penalties_are_a_number_or_a_rising_sequence():
    assert penalty_sequence(10) == (10.0,)
    assert penalty_sequence((1, 20.0)) == (1.0, 20.0)
    assert penalty_sequence(np.array([1.0, 2.0])) == (1.0, 2.0)
    for bad in ((), (10, 10), (10, 1)):
        with pytest.raises(ValueError, match=r"orthogonality must be a number above 0, or a seq"):
            penalty_sequence(bad)
    with pytest.raises(ValueError, match="orthogonality must be a number above 0; got 0"):
        penalty_sequence((0, 1))
    for bad in ("many", [None]):
        with pytest.raises(TypeError, match="orthogonality must be a number above 0"):
            penalty_sequence(bad)
