"""Shifted tables against the same numbers written out."""

import numpy as np
import pytest
import scipy.sparse as sp

from featsieve.arrays import as_operator
from featsieve.arrays.shifted import ShiftedTable, shifted_to_zero, unshifted


def table(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.8, (12, 7)) * 1.0
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


def test_products_are_those_of_the_shifted_table():
    rng = np.random.default_rng(1)
    operator = as_operator(table(), scale="std")
    shift = rng.standard_normal(7)
    shifted = ShiftedTable(operator, shift)
    dense = operator.rows(0, 12) + shift
    B, R = rng.standard_normal((7, 3)), rng.standard_normal((12, 2))
    np.testing.assert_allclose(shifted.matmul(B), dense @ B, atol=1e-12)
    np.testing.assert_allclose(shifted.rmatmul(R), dense.T @ R, atol=1e-12)
    np.testing.assert_allclose(shifted.row_norms, (dense**2).sum(axis=1), rtol=1e-12)


def test_unshifted_is_the_table_itself():
    operator = as_operator(table(), center=False)
    np.testing.assert_allclose(unshifted(operator).matmul(np.eye(7)), operator.rows(0, 12))


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, bool])
def test_other_types_and_large_offsets(dtype):
    X = (np.random.default_rng(2).random((15, 4)) * 9.0).astype(dtype)
    shifted = shifted_to_zero(as_operator(X), X)
    expected = X.astype(float) - X.min(axis=0)
    np.testing.assert_allclose(shifted.matmul(np.eye(4)), expected, atol=1e-5)


def test_a_large_offset_costs_no_digits():
    X = np.random.default_rng(3).standard_normal((20, 5)) + 1e9
    shifted = shifted_to_zero(as_operator(X, scale="std"), X)
    expected = (X - X.min(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(shifted.matmul(np.eye(5)), expected, atol=1e-6)
