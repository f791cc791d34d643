"""Shifted systems, inverse roots and polar factors against their definitions."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays.linalg import (
    largest_eigenpairs,
    orthonormal_columns,
    polar,
    solve_shifted,
)

EPS = np.finfo(np.float64).eps


def semidefinite(rng, size, rank):
    """Return a positive semidefinite matrix of the given rank."""
    A = rng.standard_normal((size, rank))
    return A @ A.T


@settings(max_examples=40)
@given(
    size=st.integers(1, 12),
    rank=st.integers(0, 12),
    columns=st.integers(1, 4),
    exponent=st.integers(-3, 6),
    seed=st.integers(0, 999),
)
def test_solve_shifted_solves_the_shifted_system(size, rank, columns, exponent, seed):
    rng = np.random.default_rng(seed)
    A, B = semidefinite(rng, size, rank), rng.standard_normal((size, columns))
    shift = 10.0**exponent * rng.uniform(0.5, 2.0, size)
    X = solve_shifted(A, shift, B)
    assert X.shape == B.shape
    np.testing.assert_allclose((A + np.diag(shift)) @ X, B, rtol=0, atol=1e-9)


@pytest.mark.parametrize("shift", [1e-20, 1e-300, 5e-324])
@pytest.mark.parametrize("size", [2, 6, 30])
def test_a_shift_that_rounding_would_swallow_is_raised(size, shift):
    rng = np.random.default_rng(1)
    A, B = semidefinite(rng, size, 1), rng.standard_normal((size, 2))
    least = size * EPS * A.diagonal().max()
    X = solve_shifted(A, np.full(size, shift), B)
    np.testing.assert_array_equal(X, solve_shifted(A, np.full(size, least), B))
    assert np.isfinite(X).all()
    assert np.linalg.norm(X) <= 1.5 * np.linalg.norm(B) / least


@settings(max_examples=40)
@given(n=st.integers(1, 10), c=st.integers(1, 10), seed=st.integers(0, 999))
def test_polar_is_the_nearest_matrix_with_orthonormal_columns(n, c, seed):
    n, c = max(n, c), min(n, c)
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, c))
    Q = polar(A)
    np.testing.assert_allclose(Q.T @ Q, np.eye(c), atol=1e-12)
    np.testing.assert_allclose(Q, scipy.linalg.polar(A)[0], atol=1e-8)
    other = np.linalg.qr(A + 0.3 * rng.standard_normal((n, c)))[0]
    assert np.linalg.norm(A - Q) <= np.linalg.norm(A - other) + 1e-12


@pytest.mark.parametrize("fault", [None, "gives up", "finds too few"])
def test_eigenpairs_also_where_lapack_fails(fault, monkeypatch):
    A = np.random.default_rng(0).standard_normal((30, 30))
    A = A + A.T
    whole = scipy.linalg.eigh

    def part(A, subset_by_index=None, **options):
        if subset_by_index is None:
            return whole(A, **options)
        if fault == "gives up":
            raise scipy.linalg.LinAlgError("Internal Error.")
        return whole(A, subset_by_index=[subset_by_index[0] + 1, subset_by_index[1]])

    if fault is not None:
        monkeypatch.setattr(scipy.linalg, "eigh", part)
    values, vectors = largest_eigenpairs(A, 4)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[-4:], rtol=1e-12)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-12)


@pytest.mark.parametrize("size", [2, 13, 17])
def test_as_many_eigenpairs_as_asked_for_where_they_repeat(size):
    """LAPACK finds none of the eigenvalues of a graph that links all samples alike (fuzzing)."""
    alike = (np.ones((size, size)) - np.eye(size)) / (size - 1)
    for A in (alike, -alike, alike - 3.0 / size, np.eye(size), np.zeros((size, size))):
        for count in range(1, size + 1):
            values, vectors = largest_eigenpairs(A, count)
            expected = np.linalg.eigvalsh(A)[-count:]
            np.testing.assert_allclose(values, expected, atol=1e-12)
            np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-12)
            np.testing.assert_allclose(vectors.T @ vectors, np.eye(count), atol=1e-12)


@pytest.mark.parametrize("spread", [0.0, 2.0, 9.0])
def test_orthonormal_columns_span_what_they_come_from(spread):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((60, 8)) * 10.0 ** -np.linspace(0.0, spread, 8)
    A = A @ np.linalg.qr(rng.standard_normal((8, 8)))[0]
    Q = orthonormal_columns(A)
    np.testing.assert_allclose(Q.T @ Q, np.eye(8), atol=1e-12)
    np.testing.assert_allclose(Q @ (Q.T @ A), A, atol=1e-12 * np.abs(A).max())


def test_orthonormal_columns_of_dependent_ones_are_those_of_a_qr_decomposition():
    A = np.random.default_rng(1).standard_normal((20, 3))
    Q = orthonormal_columns(np.column_stack([A, A]))
    np.testing.assert_allclose(Q.T @ Q, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(Q @ (Q.T @ A), A, atol=1e-12)
