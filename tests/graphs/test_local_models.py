"""The local discriminant matrix and the local-learning regulariser, against the textbook."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge

from featsieve.arrays import as_operator
from featsieve.graphs import distances
from featsieve.graphs.local_models import (
    local_discriminant_matrix,
    local_grams,
    local_learning_laplacian,
    local_predictors,
    mean_scatter,
    neighbourhoods,
)
from tests.graphs.test_knn import T9, T9_BANDWIDTH

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


# Local learning -----------------------------------------------------------------------------------


def predict_from_neighbours(X, G, k, ridge):
    """Return the prediction of every row of G by scikit-learn's kernel ridge regression."""
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    t = D.mean()
    predicted = np.empty_like(G)
    for i in range(len(X)):
        near = [j for j in np.argsort(D[i], kind="stable") if j != i][:k]
        model = KernelRidge(alpha=ridge, kernel="rbf", gamma=1.0 / (2.0 * t**2))
        predicted[i] = model.fit(X[near], G[near]).predict(X[i : i + 1])
    return predicted


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", [(20, 4), (12, 30)], ids=["tall", "wide"])
def test_predictions_are_those_of_kernel_ridge_regression(shape, container):
    rng = np.random.default_rng(0)
    X, G = rng.standard_normal(shape), rng.standard_normal((shape[0], 3))
    operator = as_operator(container(X))
    A = local_predictors(operator, n_neighbors=4, ridge=0.3)
    expected = predict_from_neighbours(X, G, 4, 0.3)
    np.testing.assert_allclose(A @ G, expected, atol=1e-10)
    assert A.nnz == 4 * shape[0]
    assert not A.diagonal().any()
    L = local_learning_laplacian(operator, n_neighbors=4, ridge=0.3)
    assert np.trace(G.T @ (L @ G)) == pytest.approx(np.sum((G - expected) ** 2), rel=1e-10)


def test_the_golden_matrix():
    # t is the mean of all distances, the zero diagonal included.
    A = local_predictors(as_operator(T9), n_neighbors=1, ridge=0.1)
    near = A.indices
    square = ((T9 - T9[near]) ** 2).sum(axis=1)
    # one neighbour: k/(1 + lam)
    np.testing.assert_allclose(A.data, np.exp(-square / (2 * T9_BANDWIDTH**2)) / 1.1, rtol=1e-12)


@settings(max_examples=40)
@given(
    n=st.integers(2, 30), d=st.integers(1, 8), k=st.integers(1, 40), seed=st.integers(0, 2**32 - 1)
)
def test_the_regulariser_is_symmetric_positive_semidefinite_and_sparse(n, d, k, seed):
    X = np.random.default_rng(seed).integers(0, 3, (n, d)) * 1.0  # samples may coincide
    L = local_learning_laplacian(as_operator(X), n_neighbors=k)
    dense = L.toarray()
    assert sp.issparse(L)
    assert L.nnz <= n * (min(k, n - 1) + 1) ** 2
    assert np.isfinite(dense).all()
    np.testing.assert_allclose(dense, dense.T, atol=1e-12)
    assert np.linalg.eigvalsh(dense)[0] >= -1e-10
