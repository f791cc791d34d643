"""The local-learning regulariser against kernel ridge regressions, one sample at a time."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.kernel_ridge import KernelRidge

from featsieve.arrays import as_operator
from featsieve.graphs import distances
from featsieve.graphs.local_models import local_learning_laplacian, local_predictors
from tests.graphs.test_knn import T9, T9_BANDWIDTH


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


@settings(max_examples=20)
@given(n=st.integers(5, 200), elements=st.integers(1, 2000), seed=st.integers(0, 999))
def test_the_block_size_does_not_matter(n, elements, seed):
    operator = as_operator(np.random.default_rng(seed).standard_normal((n, 3)))
    expected = local_predictors(operator)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "BLOCK_ELEMENTS", elements)
        patch.setattr(distances, "FEWEST_ROWS", 1)
        found = local_predictors(operator)
    np.testing.assert_array_equal(found.indices, expected.indices)
    np.testing.assert_allclose(found.data, expected.data, rtol=1e-9)


def test_constant_labels_on_a_dense_cloud_are_nearly_free():
    # Rows of A sum to about 1; less where ridge regression shrinks, far from all neighbours.
    X = np.random.default_rng(1).standard_normal((200, 2))
    X[0] = 50.0
    sums = np.asarray(local_predictors(as_operator(X), n_neighbors=10).sum(axis=1)).ravel()
    assert np.median(np.abs(sums - 1.0)) < 0.02
    assert sums[0] < 0.1


def test_all_samples_coincide():
    L = local_learning_laplacian(as_operator(np.ones((6, 2))), n_neighbors=3)
    assert np.isfinite(L.toarray()).all()


def test_the_order_of_the_samples_does_not_matter():
    rng = np.random.default_rng(2)
    X, order = rng.standard_normal((30, 4)), rng.permutation(30)
    L = local_learning_laplacian(as_operator(X)).toarray()
    permuted = local_learning_laplacian(as_operator(X[order])).toarray()
    np.testing.assert_allclose(permuted, L[np.ix_(order, order)], atol=1e-12)
