"""The local discriminant matrix: golden numbers, the textbook loop, and no n x n array."""

import numpy as np
import pytest
import scipy.sparse as sp

from featsieve.arrays import as_operator
from featsieve.graphs import distances
from featsieve.graphs.local_models import (
    local_discriminant_matrix,
    local_grams,
    mean_scatter,
    neighbourhoods,
)
from tests.graphs.test_knn import T9

# udfs.md: T9, k = 3, lambda = 1.
DIAGONAL = [
    5.045437534129594,
    5.413425088026261,
    6.013090632630032,
    3.764081063775317,
    3.348767520731393,
]


def matrix(X, *, k=5, ridge=1.0, **settings):
    operator = as_operator(X, **settings)
    members = neighbourhoods(operator, k)
    return local_discriminant_matrix(members, local_grams(operator, members), ridge=ridge)


def textbook(X, k, ridge):
    """Return Lu with explicit centring matrices, inverses and selection matrices, and the A_i."""
    n = len(X)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    np.fill_diagonal(squares, np.inf)
    L, blocks = np.zeros((n, n)), []
    H = np.eye(k + 1) - 1.0 / (k + 1)
    for i in range(n):
        R = np.zeros((k + 1, n))
        R[np.arange(k + 1), [i, *np.argsort(squares[i])[:k]]] = 1.0
        Y = H @ R @ X
        A = H @ np.linalg.inv(Y @ Y.T + ridge * np.eye(k + 1)) @ H
        blocks.append((Y, A))
        L += R.T @ A @ R
    return L, blocks


def test_golden_numbers():
    operator = as_operator(T9, center=False)
    M = operator.quadratic(matrix(T9, k=3, center=False))
    np.testing.assert_allclose(np.diag(M), DIAGONAL, rtol=1e-13)
    np.testing.assert_allclose([M[0, 1], M[2, 4]], [0.3533359708, 2.0309661755], rtol=1e-9)


@pytest.mark.parametrize("n_features", [2, 40])  # fewer than k + 1, and more
@pytest.mark.parametrize("ridge", [1e-6, 1.0, 1e4])
def test_same_as_the_textbook_loop(n_features, ridge):
    X = np.random.default_rng(0).standard_normal((30, n_features))
    expected, blocks = textbook(X, 5, ridge)
    L = matrix(X, ridge=ridge)
    np.testing.assert_allclose(L.toarray(), expected, atol=1e-9 * np.abs(expected).max())
    H = np.eye(6) - 1.0 / 6.0
    for Y, A in blocks:  # what the paper writes down is lambda A
        paper = H - Y @ np.linalg.inv(Y.T @ Y + ridge * np.eye(n_features)) @ Y.T
        np.testing.assert_allclose(ridge * A, paper, atol=1e-8)


@pytest.mark.parametrize("ridge", [1e-12, 1e-3, 1.0, 1e9])
def test_symmetric_positive_semidefinite_and_blind_to_an_offset(ridge):
    X = np.random.default_rng(1).standard_normal((40, 12))
    L = matrix(X, ridge=ridge).toarray()
    largest = np.abs(L).max()
    np.testing.assert_array_equal(L, L.T)
    assert np.linalg.eigvalsh(L).min() >= -1e-12 * largest
    np.testing.assert_allclose(L.sum(axis=1), 0.0, atol=1e-12 * largest)
    shifted = matrix(X + 1e4, ridge=ridge, center=False).toarray()
    np.testing.assert_allclose(shifted, L, atol=1e-6 * largest)


def test_units_of_the_table_and_the_ridge_go_together():
    X = np.random.default_rng(2).standard_normal((25, 7))
    one, other = matrix(X, ridge=0.5), matrix(100.0 * X, ridge=0.5e4)
    # L shrinks with s^2, so that X'LX stays.
    np.testing.assert_allclose(1e4 * other.toarray(), one.toarray(), rtol=1e-9, atol=1e-12)
    operators = [as_operator(X), as_operator(100.0 * X)]
    scatter = [mean_scatter(local_grams(op, neighbourhoods(op, 5))) for op in operators]
    assert scatter[1] == pytest.approx(1e4 * scatter[0])


def test_sparse_tables():
    X = np.where(np.random.default_rng(3).random((40, 15)) > 0.6, 1.5, 0.0)
    X[:, 0] = np.arange(40) / 10.0  # no ties
    dense = matrix(X, scale="std")
    for kind in (sp.csr_array, sp.csc_array):
        np.testing.assert_allclose(
            matrix(kind(X), scale="std").toarray(), dense.toarray(), atol=1e-10
        )


def test_no_n_by_n_array(monkeypatch):
    X = np.random.default_rng(4).standard_normal((200, 6))
    operator = as_operator(X)
    members = neighbourhoods(operator, 4)
    expected = local_grams(operator, members)
    asked = []
    real = type(operator).row_products

    def spy(self, start, stop):
        asked.append(stop - start)
        return real(self, start, stop)

    monkeypatch.setattr(distances, "BLOCK_ELEMENTS", 1)
    monkeypatch.setattr(type(operator), "row_products", spy)
    np.testing.assert_array_equal(local_grams(operator, members), expected)
    assert max(asked) == distances.FEWEST_ROWS < 200
    assert sum(asked) == 200
    L = local_discriminant_matrix(members, expected, ridge=1.0)
    assert L.nnz <= 200 * 5**2


def test_copies_of_samples_are_harmless():
    X = np.repeat(np.random.default_rng(5).standard_normal((5, 8)), 6, axis=0)
    operator = as_operator(X)
    members = neighbourhoods(operator, 5)
    grams = local_grams(operator, members)
    np.testing.assert_array_equal(grams, 0.0)  # every neighbourhood is one point
    assert mean_scatter(grams) == 1.0
    L = local_discriminant_matrix(members, grams, ridge=1.0)
    assert np.isfinite(L.data).all()
    assert abs(operator.quadratic(L)).max() < 1e-12


def test_more_neighbours_than_samples():
    X = np.random.default_rng(6).standard_normal((4, 3))
    np.testing.assert_allclose(matrix(X, k=10).toarray(), textbook(X, 3, 1.0)[0], atol=1e-12)
