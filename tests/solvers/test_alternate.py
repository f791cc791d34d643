"""Alternating minimisation, on a convex quadratic."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.solvers import Alternation, Status, run
from featsieve.solvers.alternate import relative_change

fast = settings(max_examples=15, deadline=None)


def gauss_seidel(tol=1e-12):
    """Coordinate-wise exact minimisation of 1/2 x'Ax - b'x for a problem (A, b)."""

    def minimise(i):
        def update(problem, x):
            A, b = problem
            x = x.copy()
            x[i] += (b[i] - A[i] @ x) / A[i, i]
            return x

        return update

    return Alternation(
        start=lambda problem: np.zeros(3),
        blocks=[minimise(i) for i in range(3)],
        value=lambda problem, x: float(0.5 * x @ problem[0] @ x - problem[1] @ x),
        stop=lambda x, history: Status.CONVERGED if relative_change(history) < tol else None,
    )


def quadratic(seed):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((6, 3))
    return M.T @ M + 0.5 * np.eye(3), rng.standard_normal(3)


@fast
@given(st.integers(0, 10**6))
def test_exact_block_updates_descend_to_the_minimiser_of_a_quadratic(seed):
    A, b = quadratic(seed)
    solution = run(gauss_seidel(tol=0.0), (A, b), max_iter=500)
    assert np.all(np.diff(solution.objective) <= 1e-12)
    np.testing.assert_allclose(solution.state, np.linalg.solve(A, b), atol=1e-6)


def test_small_relative_change_ends_the_run():
    solution = run(gauss_seidel(tol=1e-3), quadratic(0), max_iter=500)
    assert solution.status is Status.CONVERGED
    assert relative_change(solution.objective) < 1e-3 <= relative_change(solution.objective[:-1])


@pytest.mark.parametrize(
    ("history", "change"),
    [([3.0], math.inf), ([4.0, 3.0], 0.25), ([9.0, -2.0, -1.0], 0.5), ([0.0, 0.0], 0.0)],
)
def test_relative_change_compares_the_last_two_values(history, change):
    assert relative_change(history) == change
