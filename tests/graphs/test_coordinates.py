"""Hat coordinates against the explicit ridge hat matrix."""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve import defaults
from featsieve.arrays import as_operator
from featsieve.graphs import hat_coordinates, principal_coordinates


def standardised(X):
    """Return Z of scale="unit" without its constant columns."""
    X = X[:, np.ptp(X, axis=0) > 0]
    variance = X.var(axis=0)
    return (X - X.mean(axis=0)) / np.sqrt(len(X) * variance)


def hat_matrix(Z, *, shrinkage, n_directions=None):
    """Return Z (Z'Z + mI)^(-1) Z', of the leading directions of Z where a number is given."""
    m = shrinkage * np.sum(Z**2) / min(Z.shape)
    if n_directions is not None:
        U, s, Vt = np.linalg.svd(Z, full_matrices=False)
        Z = (U[:, :n_directions] * s[:n_directions]) @ Vt[:n_directions]
    return Z @ np.linalg.solve(Z.T @ Z + m * np.eye(Z.shape[1]), Z.T)


@st.composite
def tables(draw):
    n, d = draw(st.integers(3, 25)), draw(st.integers(2, 25))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-1, 2, d) + rng.integers(-3, 4, d)
    X[:, 1:][:, rng.random(d - 1) < 0.2] = 1.5  # constant columns: m must not count them
    return X


@settings(max_examples=40, deadline=None)
@given(X=tables(), shrinkage=st.sampled_from([0.1, 1.0, 10.0]))
def test_hat_coordinates_square_to_the_ridge_hat_matrix(X, shrinkage):
    E = hat_coordinates(as_operator(X, scale="unit"), shrinkage=shrinkage)
    expected = hat_matrix(standardised(X), shrinkage=shrinkage)
    np.testing.assert_allclose(E @ E.T, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("asked", "kept"), [(10, 100), (100, 100), (110, 110), (500, 120)])
def test_tall_tables_keep_a_hundred_leading_directions_or_as_many_as_asked(container, asked, kept):
    X = np.random.default_rng(0).standard_normal((150, 120))
    E = hat_coordinates(as_operator(container(X), scale="unit"), n_directions=asked)
    assert E.shape == (150, kept)
    expected = hat_matrix(standardised(X), shrinkage=1.0, n_directions=kept)
    np.testing.assert_allclose(E @ E.T, expected, rtol=0, atol=1e-9)


@settings(max_examples=30, deadline=None)
@given(X=tables())
def test_principal_coordinates_are_an_isometry_with_orthogonal_columns_largest_first(X):
    A = as_operator(X, scale="unit")
    points, energy = principal_coordinates(A)
    Z = A.rows(0, len(X))
    np.testing.assert_allclose(points @ points.T, Z @ Z.T, rtol=0, atol=1e-9)
    np.testing.assert_allclose(points.T @ points, np.diag(energy), rtol=0, atol=1e-9)
    assert np.all(np.diff(energy) <= 1e-12)
    assert len(energy) == np.linalg.matrix_rank(Z, tol=1e-5 * np.linalg.norm(Z, 2))


@pytest.mark.parametrize("shape", [(150, 140), (140, 150)])
def test_subspace_iteration_spans_the_leading_directions(shape, monkeypatch):
    monkeypatch.setattr(defaults, "LARGEST_EXACT_DIRECTIONS", 50)
    rng = np.random.default_rng(2)
    left, right = (np.linalg.qr(rng.standard_normal((side, 140)))[0] for side in shape)
    A = as_operator(left * 0.95 ** np.arange(140) @ right.T)
    points, energy = principal_coordinates(A)
    U, s, _ = np.linalg.svd(A.rows(0, shape[0]))
    assert points.shape == (shape[0], 100)
    np.testing.assert_allclose(energy[:50], s[:50] ** 2, rtol=1e-9)
    np.testing.assert_allclose(energy, s[:100] ** 2, rtol=1e-3)
    leading = (U[:, :100] * s[:100] ** 2) @ U[:, :100].T
    np.testing.assert_allclose(points @ points.T, leading, rtol=0, atol=1e-9 * s[0] ** 2)


@pytest.mark.parametrize("largest_exact", [3000, 5])
@pytest.mark.parametrize("shape", [(125, 150), (150, 125)])
def test_strict_arrays_give_the_numbers_of_numpy(shape, largest_exact, monkeypatch):
    monkeypatch.setattr(defaults, "LARGEST_EXACT_DIRECTIONS", largest_exact)
    X = np.random.default_rng(4).standard_normal(shape)
    E = hat_coordinates(as_operator(X, scale="unit"))
    strict = hat_coordinates(as_operator(array_api_strict.asarray(X), scale="unit"))
    assert isinstance(strict, type(array_api_strict.asarray(X)))
    strict = np.asarray(strict)
    np.testing.assert_allclose(strict @ strict.T, E @ E.T, rtol=0, atol=1e-10)
