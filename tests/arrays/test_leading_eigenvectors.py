"""Thick-restart Lanczos against the dense solver: clusters, repeated eigenvalues, small spaces."""

import array_api_strict
import numpy as np
import pytest

from featsieve.arrays import leading_eigenvectors as module
from featsieve.arrays.leading_eigenvectors import leading_eigenvectors


def with_spectrum(theta, seed=0):
    """Return a symmetric matrix with given eigenvalues."""
    basis = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(theta), len(theta))))[0]
    return (basis * theta) @ basis.T


def find(A, count, **settings):
    start = np.random.default_rng(1).standard_normal(len(A))
    return leading_eigenvectors(lambda v: A @ v, start, count, **settings)


@pytest.mark.parametrize("count", [1, 3, 40])
@pytest.mark.parametrize(
    "theta",
    [
        np.linspace(1.0, 2.0, 300),  # no gap anywhere: many restarts
        np.r_[np.full(296, 1e-8), 1.0, 2.0, 3.0, 4.0],
        np.r_[-np.arange(150.0), np.arange(150.0)],
        np.geomspace(1e-12, 1e3, 300),
    ],
    ids=["flat", "spiked", "indefinite", "geometric"],
)
def test_same_as_the_dense_solver(theta, count):
    A = with_spectrum(theta)
    found, vectors = find(A, count)
    largest = np.sort(theta)[::-1][:count]
    scale = largest[0]
    np.testing.assert_allclose(found, largest, atol=1e-11 * scale)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(count), atol=1e-11)
    np.testing.assert_allclose(A @ vectors, vectors * found, atol=1e-10 * scale)


@pytest.mark.parametrize("multiplicity", [2, 5])
def test_repeated_eigenvalues(multiplicity):
    theta = np.r_[np.linspace(0.0, 1.0, 100), np.full(multiplicity, 2.0), 1.5]
    found, vectors = find(with_spectrum(theta), multiplicity + 1)
    np.testing.assert_allclose(found[:multiplicity], 2.0, atol=1e-12)
    assert found[-1] == pytest.approx(1.5)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(multiplicity + 1), atol=1e-11)


@pytest.mark.parametrize("matrix", [np.eye(60), np.zeros((60, 60)), np.diag([5.0] + [0.0] * 59)])
def test_an_invariant_start_is_left(matrix):
    found, vectors = leading_eigenvectors(lambda v: matrix @ v, np.eye(60)[0], 4)
    np.testing.assert_allclose(found, np.sort(np.diag(matrix))[::-1][:4], atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 7, 30])
def test_all_eigenvectors_of_a_small_space(d):
    theta = np.arange(d) - 3.0
    found, vectors = find(with_spectrum(theta), d)
    np.testing.assert_allclose(found, theta[::-1], atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(d), atol=1e-12)


def test_same_answer_every_time_and_on_other_arrays():
    A = with_spectrum(np.linspace(0.0, 1.0, 120) ** 3)
    first, second = find(A, 4), find(A, 4)
    np.testing.assert_array_equal(first[1], second[1])
    xp = array_api_strict
    B, start = xp.asarray(A), xp.asarray(np.random.default_rng(1).standard_normal(120))
    theta, vectors = leading_eigenvectors(lambda v: B @ v, start, 4)
    np.testing.assert_allclose(theta, first[0], rtol=1e-12)
    np.testing.assert_allclose(np.abs(np.from_dlpack(vectors)), np.abs(first[1]), atol=1e-9)


def test_a_start_of_the_same_seed_is_not_taken_for_a_new_direction():
    # The basis is invariant after two products, and the first direction drawn is the start again.
    A = np.diag([5.0, 5.0, 1.0, 1.0, 1.0, 1.0])
    start = np.random.default_rng(0).standard_normal(6)
    theta, vectors = leading_eigenvectors(lambda v: A @ v, start, 4)
    np.testing.assert_allclose(theta, [5.0, 5.0, 1.0, 1.0])
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(4), atol=1e-12)


def test_eigenvalues_below_the_rounding_of_the_largest_end_the_search_too():
    A, products = with_spectrum(np.r_[1e-13 * np.linspace(1.0, 2.0, 297), 1.0, 10.0, 1e3]), []
    start = np.random.default_rng(1).standard_normal(300)
    found = leading_eigenvectors(lambda v: (products.append(1), A @ v)[1], start, 5)[0]
    np.testing.assert_allclose(found[:3], [1e3, 10.0, 1.0], rtol=1e-10)
    assert len(products) <= module.basis_size(5, 300)
