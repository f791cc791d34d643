"""Weighted samples and shifted columns, against the matrices that are never formed."""

import array_api_strict as strict
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import as_operator
from featsieve.arrays.derived import WeightedOperator, shifted_to_zero
from featsieve.solvers import RowSparseRegression
from tests.arrays.products import PRODUCTS, arguments, assert_products

fast = settings(max_examples=20, deadline=None)
seeds = st.integers(0, 2**32 - 1)
shapes = st.tuples(st.integers(2, 20), st.integers(1, 20))
# Solvers ask weighted rows for these alone.
WEIGHTED = (
    "matmul",
    "matmul, live rows",
    "rmatmul",
    "columns",
    "columns_gram",
    "gram_columns",
    "rows",
    "gram",
    "sample_gram",
    "column_norms",
)


def draw(seed, shape):
    """Return a table with zeros and a constant column, and positive weights."""
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal(shape) + 1.0) * (rng.random(shape) < 0.7)
    X[:, 0] = 3.0
    return X, rng.random(shape[0]) * 4.0 + 0.05


def weighted(base, w):
    """Return Z~ as it is written down."""
    Z = np.asarray(base.rows(0, base.shape[0]))
    return np.sqrt(w)[:, None] * (Z - (w @ Z) / w.sum())


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@settings(max_examples=60, deadline=None)
@given(
    seed=seeds,
    shape=shapes,
    base=st.sampled_from([("std", True), ("none", True), ("none", False)]),
)
def test_weighted_products_equal_those_of_the_explicit_matrix(container, seed, shape, base):
    X, w = draw(seed, shape)
    operator = as_operator(container(X), scale=base[0], center=base[1])
    args = arguments(shape, seed=seed)
    Z = weighted(operator, w)
    for product in WEIGHTED:
        ours, theirs, *_ = PRODUCTS[product]
        found = ours(WeightedOperator(operator, w), args)
        np.testing.assert_allclose(found, theirs(Z, args), rtol=0, atol=1e-9, err_msg=product)


@fast
@given(seed=seeds, ridge=st.sampled_from([0.0, 0.5]))
def test_row_sparse_regression_on_it_is_weighted_regression_with_an_intercept(seed, ridge):
    rng = np.random.default_rng(seed)
    X, Y, w = rng.standard_normal((15, 6)), rng.standard_normal((15, 2)), rng.random(15) + 0.1
    centred = np.sqrt(w)[:, None] * (Y - (w @ Y) / w.sum())
    problem = RowSparseRegression(WeightedOperator(as_operator(X), w), centred, ridge=ridge)
    support = np.array([4, 1, 2])
    # [1, X_S] with rows scaled by sqrt(w), and the ridge as further rows (not for the intercept).
    A = np.sqrt(w)[:, None] * np.column_stack([np.ones(15), X[:, support]])
    A = np.vstack([A, np.column_stack([np.zeros(3), np.sqrt(ridge) * np.eye(3)])])
    B = np.vstack([np.sqrt(w)[:, None] * Y, np.zeros((3, 2))])
    solution = np.linalg.lstsq(A, B, rcond=None)[0]
    np.testing.assert_allclose(problem.refit(support), solution[1:], atol=1e-9)
    assert problem.value(support) == pytest.approx(0.5 * np.sum((A @ solution - B) ** 2))


def test_other_array_libraries_and_single_precision():
    X, w = draw(0, (9, 6))
    base = as_operator(strict.asarray(X), scale="std")
    operator = WeightedOperator(base, strict.asarray(w))
    names = ["matmul", "matmul, live rows", "rmatmul", "columns", "rows", "gram"]
    Z = weighted(base, w)
    assert_products(operator, Z, names=names, tolerance=1e-11, convert=strict.asarray)
    single = WeightedOperator(as_operator(X.astype(np.float32), scale="std"), w)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single.gram(), Z.T @ Z, atol=1e-3)
    assert single.varies.tolist() == [False] + [True] * 5


# Shifted columns ----------------------------------------------------------------------------------


def table():
    X = np.random.default_rng(0).poisson(0.8, (12, 7)) * 1.0
    X[:, 1] = 4.0  # does not vary
    X[:, 2] -= 3.0  # negative
    X[:, 3] += 2.0  # no zeros
    return X


@pytest.mark.parametrize("scale", ["std", "none"])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, sp.csr_matrix, np.asfortranarray])
def test_shifted_columns_have_minimum_zero(container, center, scale):
    X = table()
    operator = as_operator(container(X), scale=scale, center=center)
    shifted = shifted_to_zero(operator, container(X))
    length = X.std(axis=0) if scale == "std" else np.ones(7)
    expected = (X - X.min(axis=0)) / np.where(X.std(axis=0) > 0.0, length, 1.0)
    np.testing.assert_allclose(shifted.matmul(np.eye(7)), expected, atol=1e-12)
    np.testing.assert_allclose(shifted.rmatmul(np.eye(12)), expected.T, atol=1e-12)
    np.testing.assert_allclose(shifted.row_norms, (expected**2).sum(axis=1), atol=1e-12)
