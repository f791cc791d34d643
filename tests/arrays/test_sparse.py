"""A sparse table gives the numbers of the same table stored densely, and is never densified."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import SparseOperator, as_operator

FORMATS = (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.csc_matrix, sp.lil_array)
DTYPES = ("float64", "float32", "int64", "uint8", "bool")
SCALES = ("unit", "none")

PRODUCTS = {
    "matmul": lambda A, W, R, J: A.matmul(W),
    "matmul, live rows named": lambda A, W, R, J: A.matmul(W, live=np.flatnonzero(W.any(axis=1))),
    "rmatmul": lambda A, W, R, J: A.rmatmul(R),
    "columns": lambda A, W, R, J: A.columns(J),
    "rows": lambda A, W, R, J: A.rows(1, A.shape[0]),
    "row_blocks": lambda A, W, R, J: np.concatenate(list(A.row_blocks())),
    "gram": lambda A, W, R, J: A.gram(),
    "sample_gram": lambda A, W, R, J: A.sample_gram(),
    "column_norms": lambda A, W, R, J: A.column_norms(),
    "row_norms": lambda A, W, R, J: A.row_norms(),
    "lipschitz": lambda A, W, R, J: np.asarray(A.lipschitz()),
    "varies": lambda A, W, R, J: A.varies,
    "inverse_scale": lambda A, W, R, J: A.inverse_scale,
    "original_mean": lambda A, W, R, J: A.original_mean,
}


def counts(rng, shape, *, dtype="float64", density=0.3):
    """Return a dense table that is mostly zero; some rows and columns are all zero."""
    X = rng.integers(1, 9, shape) * (rng.random(shape) < density)
    X[rng.random(shape[0]) < 0.15] = 0
    X[:, rng.random(shape[1]) < 0.15] = 0
    X = X.astype(dtype)
    return X / np.asarray(4, dtype) if X.dtype.kind == "f" else X


def arguments(shape, *, seed=0, alive=1.0):
    rng = np.random.default_rng(seed)
    n, d = shape
    W = rng.standard_normal((d, 3)) * (rng.random(d) < alive)[:, None]
    return W, rng.standard_normal((n, 2)), rng.integers(0, d, rng.integers(1, d + 2))


def assert_same(sparse, dense, *, args, names=PRODUCTS, tolerance=1e-11):
    for name in names:
        got, expected = PRODUCTS[name](sparse, *args), PRODUCTS[name](dense, *args)
        assert isinstance(got, np.ndarray)
        atol = tolerance * max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(got, expected, rtol=0, atol=atol, err_msg=name)


@pytest.mark.parametrize("product", PRODUCTS)
@settings(max_examples=30, deadline=None)
@given(
    shape=st.tuples(st.integers(2, 25), st.integers(1, 25)),
    seed=st.integers(0, 2**32 - 1),
    dtype=st.sampled_from(DTYPES),
    density=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    scale=st.sampled_from(SCALES),
    container=st.sampled_from(FORMATS),
    alive=st.sampled_from([0.0, 0.1, 1.0]),
)
def test_sparse_product_equals_dense(product, shape, seed, dtype, density, scale, container, alive):
    X = counts(np.random.default_rng(seed), shape, dtype=dtype, density=density)
    sparse, dense = as_operator(container(X), scale=scale), as_operator(X, scale=scale)
    assert isinstance(sparse, SparseOperator)
    args = arguments(shape, seed=seed, alive=alive)
    tolerance = 1e-4 if dtype == "float32" else 1e-11
    assert_same(sparse, dense, args=args, names=[product], tolerance=tolerance)


@pytest.mark.parametrize("scale", SCALES)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_stored_zeros_and_unsorted_indices_change_nothing(scale, seed):
    rng = np.random.default_rng(seed)
    X = counts(rng, (12, 9))
    stored = (X != 0) | (rng.random(X.shape) < 0.3)
    row, column = np.nonzero(stored)
    shuffled = np.lexsort((rng.random(row.size), row))  # rows in order, columns in any
    row, column = row[shuffled], column[shuffled]
    indptr = np.concatenate([[0], np.cumsum(stored.sum(axis=1))])
    sparse = sp.csr_array((X[row, column], column, indptr), shape=X.shape)
    assert sparse.nnz == stored.sum()
    operator = as_operator(sparse, scale=scale)
    assert_same(operator, as_operator(X, scale=scale), args=arguments(X.shape, seed=seed))


def test_repeated_coordinates_are_summed():
    row, column = np.array([0, 0, 1, 2]), np.array([0, 0, 1, 0])
    sparse = sp.coo_array((np.array([1.0, 2.0, 4.0, 5.0]), (row, column)), shape=(4, 2))
    assert_same(as_operator(sparse), as_operator(sparse.toarray()), args=arguments((4, 2)))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array])
def test_the_table_is_never_written_to(container, dtype, scale):
    X = container(counts(np.random.default_rng(0), (15, 10), dtype=dtype))
    before = X.copy()
    for part in (X.data, X.indices, X.indptr):
        part.flags.writeable = False
    dense = as_operator(X.toarray(), scale=scale)
    assert_same(as_operator(X, scale=scale), dense, args=arguments(X.shape), tolerance=1e-4)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, part), getattr(before, part))


def test_floating_csr_tables_are_not_copied():
    X = sp.csr_array(counts(np.random.default_rng(1), (15, 10)))
    assert np.shares_memory(SparseOperator(X)._X.data, X.data)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("alive", [0.05, 1.0])
@pytest.mark.parametrize("container", [sp.csr_array, sp.csc_array])
def test_products_and_norms_never_densify(container, alive, scale, monkeypatch):
    X = counts(np.random.default_rng(2), (30, 40))
    dense = as_operator(X, scale=scale)
    names = ["matmul", "matmul, live rows named", "rmatmul", "column_norms", "row_norms"]
    table = container(X)

    def refuse(self, *args, **kwargs):
        raise AssertionError("the table was densified")

    for cls in (sp.csr_array, sp.csc_array, sp.coo_array):
        for owner in cls.__mro__:
            for method in ("toarray", "todense"):
                if method in vars(owner):
                    monkeypatch.setattr(owner, method, refuse)
    with pytest.raises(AssertionError, match="densified"):
        table.toarray()
    args = arguments(X.shape, alive=alive)
    assert_same(as_operator(table, scale=scale), dense, args=args, names=names)


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


@pytest.mark.parametrize(
    ("shape", "scale"), [((60, 40), "none"), ((40, 60), "unit"), ((501, 510), "unit")]
)
def test_lipschitz_bounds_the_curvature_from_just_above(scale, shape):
    X = counts(np.random.default_rng(4), shape, density=0.05)
    true = np.linalg.eigvalsh(as_operator(X, scale=scale).sample_gram())[-1]
    estimate = as_operator(sp.csr_array(X), scale=scale).lipschitz()
    assert true * (1 - 1e-9) <= estimate <= 1.05 * true


def test_an_entry_stored_in_pieces_is_one_entry():
    X = sp.csr_array(([1.0, 1.0, 2.0], [0, 0, 1], [0, 2, 3, 3]), shape=(3, 2))
    assert_same(as_operator(X), as_operator(X.toarray()), args=arguments((3, 2)))
    assert X.nnz == 3  # the caller's table is as it was
