"""A sparse table gives the numbers of the explicit Z, and is never densified."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import SparseOperator, as_operator
from tests.arrays.products import arguments, assert_products, explicit

FORMATS = (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.csc_matrix, sp.lil_array)
DTYPES = ("float64", "float32", "int64", "uint8", "bool")
SCALES = ("unit", "std", "sqrt", "none")


def counts(rng, shape, *, dtype="float64", density=0.3):
    """Return a dense table that is mostly zero; some rows and columns are all zero."""
    X = rng.integers(1, 9, shape) * (rng.random(shape) < density)
    X[rng.random(shape[0]) < 0.15] = 0
    X[:, rng.random(shape[1]) < 0.15] = 0
    X = X.astype(dtype)
    return X / np.asarray(4, dtype) if X.dtype.kind == "f" else X


@settings(max_examples=100, deadline=None)
@given(
    shape=st.tuples(st.integers(2, 25), st.integers(1, 25)),
    seed=st.integers(0, 2**32 - 1),
    dtype=st.sampled_from(DTYPES),
    density=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    scale=st.sampled_from(SCALES),
    center=st.booleans(),
    container=st.sampled_from(FORMATS),
    alive=st.sampled_from([0.0, 0.1, 1.0]),
)
def test_products_equal_those_of_the_explicit_table(
    shape, seed, dtype, density, scale, center, container, alive
):
    X = counts(np.random.default_rng(seed), shape, dtype=dtype, density=density)
    sparse = as_operator(container(X), scale=scale, center=center)
    assert isinstance(sparse, SparseOperator)
    Z = explicit(X, scale=scale, center=center)
    np.testing.assert_array_equal(sparse.varies, np.ptp(X.astype(float), axis=0) > 0)
    args = arguments(shape, seed=seed, alive=alive)
    tolerance = 1e-5 if dtype == "float32" else 1e-11
    assert_products(sparse, Z, args=args, tolerance=tolerance)


def test_an_entry_stored_in_pieces_is_one_entry():
    row, column = np.array([0, 0, 1, 2]), np.array([0, 0, 1, 0])
    pieces = sp.coo_array((np.array([1.0, 2.0, 4.0, 5.0]), (row, column)), shape=(4, 2))
    table = sp.csr_array(([1.0, 1.0, 2.0], [0, 0, 1], [0, 2, 3, 3]), shape=(3, 2))
    for X in (pieces, table):
        assert_products(as_operator(X), explicit(X.toarray()), tolerance=1e-11)
    assert table.nnz == 3  # the caller's table is as it was


def test_a_table_too_large_to_densify_is_multiplied():
    # 1e5 x 1e5 would take 80 GB as a dense array.
    n = 100_000
    rng = np.random.default_rng(3)
    entries = (rng.random(1000), (rng.integers(0, n, 1000), rng.permutation(n)[:1000]))
    A = as_operator(sp.csr_array(entries, shape=(n, n)), scale="unit")
    image = A.matmul(A.rmatmul(np.ones((n, 1)) + np.eye(n, 1)))
    assert image.shape == (n, 1)
    assert abs(image.sum()) < 1e-9  # columns of Z are centred
    np.testing.assert_allclose(A.column_norms()[A.varies], 1.0, rtol=1e-12)
    assert A.row_norms().sum() == pytest.approx(1000.0, rel=1e-9)
    # With A = I forms are the squared norms; with A = 11'/4 on the first two samples, (sum/2)^2.
    np.testing.assert_allclose(
        A.column_forms(sp.csr_array(sp.eye_array(n))), A.column_norms(), rtol=1e-9, atol=1e-12
    )
    pair = sp.csr_array((np.full(4, 0.25), ([0, 0, 1, 1], [0, 1, 0, 1])), shape=(n, n))
    half = np.zeros((n, 1))
    half[:2] = 0.5
    np.testing.assert_allclose(A.column_forms(pair), A.rmatmul(half)[:, 0] ** 2, atol=1e-12)


@pytest.mark.parametrize("scale", SCALES)
def test_full_columns_far_from_zero_keep_accuracy(scale):
    rng = np.random.default_rng(5)
    X = counts(rng, (40, 12), density=0.4)
    X[:, :4] = rng.standard_normal((40, 4)) + 1e8 * np.array([1, -1, 1, -1])
    exact = X.copy()
    exact[:, :4] -= 1e8 * np.array([1, -1, 1, -1])  # without rounding
    A = as_operator(sp.csr_array(X), scale=scale)
    assert_products(A, explicit(exact, scale=scale), tolerance=1e-12)
