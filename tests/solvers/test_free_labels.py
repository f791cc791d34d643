"""The curvature among few free entries is the dense one, restricted."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.solvers import run
from featsieve.solvers.free_labels import FreeCurvature
from featsieve.solvers.projected_labels import LabelProblem, ProjectedNewton, newton_direction


def draw(seed, n, c, *, share=0.3):
    """Return a sparse symmetric A, a sparse F with empty rows and columns, and free entries."""
    rng = np.random.default_rng(seed)
    A = sp.csr_array(np.where(rng.random((n, n)) < 0.3, rng.standard_normal((n, n)), 0.0))
    A = sp.csr_array(A + A.T + 4.0 * sp.eye_array(n))
    F = np.where(rng.random((n, c)) < share, rng.random((n, c)), 0.0)
    free = rng.random((n, c)) < share  # also where F is zero, and not everywhere it is positive
    return A, F, free


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 6), st.booleans())
def test_it_is_the_dense_curvature_at_the_free_entries(seed, n, c, convex):
    A, F, free = draw(seed, n, c)
    problem = LabelProblem(A.__matmul__, np.zeros_like(F), 7.0)
    few = FreeCurvature(A, F, free=free, orthogonality=7.0, convex=convex)
    V = np.where(free, np.random.default_rng(seed + 1).standard_normal(F.shape), 0.0)
    expected = np.where(free, problem.curvature(F, V, convex=convex), 0.0)
    np.testing.assert_array_equal(few.expand(few.restrict(V)), V)
    np.testing.assert_allclose(few.expand(few(few.restrict(V))), expected, atol=1e-11)


@pytest.mark.parametrize("size", [1e-12, 1.0])  # near the solution, and far: without the last term
def test_the_newton_direction_does_not_depend_on_the_form(size):
    A, F, free = draw(5, 40, 12, share=0.05)
    A = sp.csr_array(A @ A.T + sp.eye_array(40))  # bends up
    slope = np.where(free, size * np.random.default_rng(0).standard_normal(F.shape), 0.0)
    dense = LabelProblem(A.__matmul__, np.zeros_like(F), 0.1)
    sparse = LabelProblem(A.__matmul__, np.zeros_like(F), 0.1, A)
    expected = newton_direction(dense, F, slope)
    assert np.abs(expected).max() > 0.0
    got = newton_direction(sparse, F, slope)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12 * size)


def test_labels_are_the_same_in_both_forms():
    rng = np.random.default_rng(0)
    n, c = 120, 10
    truth = np.repeat(np.arange(c), n // c)
    same = sp.csr_array((truth[:, None] == truth[None, :]).astype(float))
    L = sp.csr_array(sp.diags_array(same.sum(axis=1)) - same)
    A = sp.csr_array(sp.eye_array(n) + 0.1 * L)
    B = (
        (truth[:, None] == np.arange(c)) / np.sqrt(n / c)
        + 0.02 * rng.standard_normal((n, c))
        - 0.03
    )
    start = np.maximum(B + 0.02 * rng.standard_normal(B.shape), 0.0)
    found = [
        run(ProjectedNewton(start), LabelProblem(A.__matmul__, B, 50.0, graph), max_iter=200)
        for graph in (None, A)
    ]
    assert all(solution.status.success for solution in found)
    assert np.count_nonzero(found[1].state.F) <= 0.2 * n * c  # the sparse form was used
    np.testing.assert_allclose(found[1].state.F, found[0].state.F, atol=1e-7)
