"""Projection onto the simplex: feasible, nearest, and the same as by bisection."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from featsieve.terms.simplex import project_rows

rows = arrays(
    np.float64,
    st.tuples(st.integers(1, 5), st.integers(1, 8)),
    elements=st.floats(-1e6, 1e6, allow_nan=False),
)


def by_bisection(v):
    """Return max(v - t, 0) with the t that makes it sum to 1."""
    low, high = v.max() - 1.0, v.max()
    for _ in range(200):
        t = 0.5 * (low + high)
        low, high = (t, high) if np.maximum(v - t, 0.0).sum() > 1.0 else (low, t)
    return np.maximum(v - high, 0.0)


@settings(max_examples=40)
@given(rows)
def test_rows_are_on_the_simplex_and_the_same_as_by_bisection(V):
    S = project_rows(V)
    assert (S >= 0.0).all()
    np.testing.assert_allclose(S.sum(axis=1), 1.0, atol=1e-12)
    expected = np.array([by_bisection(v) for v in V])
    np.testing.assert_allclose(S, expected, atol=1e-9)


def test_an_offset_changes_nothing_however_large():
    V = np.array([[0.2, 0.1, -0.5]])
    np.testing.assert_allclose(project_rows(V + 1e9), project_rows(V), atol=1e-6)
    np.testing.assert_array_equal(project_rows(np.full((1, 4), -1e300)), np.full((1, 4), 0.25))


def test_corner_cases_and_unchanged_input():
    V = np.array([[5.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    before = V.copy()
    np.testing.assert_array_equal(project_rows(V)[0], [1.0, 0.0, 0.0])
    np.testing.assert_allclose(project_rows(V)[1], 1.0 / 3.0)
    np.testing.assert_array_equal(V, before)
    np.testing.assert_array_equal(project_rows(np.array([[-7.0], [3.0]])), [[1.0], [1.0]])
