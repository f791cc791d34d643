"""A sparse table gives the numbers of the same table stored densely, and is never densified."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import SparseOperator, as_operator

FORMATS = (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.csc_matrix, sp.lil_array)
DTYPES = ("float64", "float32", "int64", "uint8", "bool")
SCALES = ("unit", "sqrt", "none")

PRODUCTS = {
    "matmul": lambda A, W, R, J: A.matmul(W),
    "matmul, live rows named": lambda A, W, R, J: A.matmul(W, live=np.flatnonzero(W.any(axis=1))),
    "rmatmul": lambda A, W, R, J: A.rmatmul(R),
    "columns": lambda A, W, R, J: A.columns(J),
    "columns_gram": lambda A, W, R, J: A.columns_gram(J),
    "columns_matmul": lambda A, W, R, J: A.columns_matmul(J, W[J]),
    "columns_rmatmul": lambda A, W, R, J: A.columns_rmatmul(J, R),
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


# Centring and scaling apart, and products with weights and with graphs ---------------------------

LAYOUTS = [(scale, center) for scale in ("unit", "std", "none") for center in (True, False)]

FORMS = {
    "weighted_gram": lambda Z, p, e, A: Z.weighted_gram(p),
    "weighted_gram, no weights": lambda Z, p, e, A: Z.weighted_gram(None),
    "sample_gram": lambda Z, p, e, A: Z.sample_gram(e),
    "sample_gram, no weights": lambda Z, p, e, A: Z.sample_gram(),
    "column_forms": lambda Z, p, e, A: Z.column_forms(A),
    "column_forms, a diagonal": lambda Z, p, e, A: Z.column_forms(p),
    "graph_forms": lambda Z, p, e, A: np.stack(Z.graph_forms(A, p)),
    "quadratic": lambda Z, p, e, A: Z.quadratic(A),
    "rows": lambda Z, p, e, A: Z.rows(0, Z.shape[0]),
    "row_norms": lambda Z, p, e, A: Z.row_norms(),
    "column_norms": lambda Z, p, e, A: Z.column_norms(),
    "original_mean": lambda Z, p, e, A: Z.original_mean,
    "inverse_scale": lambda Z, p, e, A: Z.inverse_scale,
}


def weights_and_graph(shape, *, seed=0):
    """Return weights of samples and columns, some of them zero, and a signed symmetric matrix."""
    rng = np.random.default_rng(seed)
    n, d = shape
    p, e = (rng.random(size) * (rng.random(size) < 0.8) for size in (n, d))
    A = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.3)
    return p, e, sp.csr_array(A + A.T)


def assert_same_forms(sparse, dense, args, *, names=FORMS, tolerance=1e-11):
    size = max(1.0, float(np.abs(args[2].toarray()).max()))
    for name in names:
        got, expected = FORMS[name](sparse, *args), FORMS[name](dense, *args)
        assert isinstance(got, np.ndarray)
        atol = tolerance * size * max(1.0, float(np.abs(expected).max()))
        np.testing.assert_allclose(got, expected, rtol=0, atol=atol, err_msg=name)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("scale", "center"), LAYOUTS)
@settings(max_examples=10)
@given(
    shape=st.tuples(st.integers(2, 25), st.integers(1, 25)),
    seed=st.integers(0, 2**32 - 1),
    dtype=st.sampled_from(DTYPES),
    density=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    container=st.sampled_from(FORMATS),
)
def test_sparse_weighted_product_equals_dense(
    form, scale, center, shape, seed, dtype, density, container
):
    X = counts(np.random.default_rng(seed), shape, dtype=dtype, density=density)
    sparse = as_operator(container(X), scale=scale, center=center)
    dense = as_operator(X.astype(np.float64), scale=scale, center=center)
    tolerance = 1e-4 if dtype == "float32" else 1e-11
    args = weights_and_graph(shape, seed=seed)
    assert_same_forms(sparse, dense, args, names=[form], tolerance=tolerance)


@pytest.mark.parametrize("scale", ["unit", "std", "none"])
def test_full_columns_far_from_zero_keep_the_accuracy_of_weighted_products(scale):
    rng = np.random.default_rng(5)
    X = counts(rng, (40, 12), density=0.4)
    X[:, :4] = rng.standard_normal((40, 4)) + 1e8 * np.array([1, -1, 1, -1])
    exact = X.copy()
    exact[:, :4] -= 1e8 * np.array([1, -1, 1, -1])  # without rounding
    sparse, dense = as_operator(sp.csr_array(X), scale=scale), as_operator(exact, scale=scale)
    names = ("weighted_gram", "sample_gram", "column_forms", "quadratic", "rows", "row_norms")
    args = weights_and_graph(X.shape)
    assert_same_forms(sparse, dense, args, names=names, tolerance=1e-11)


def test_constant_columns_of_a_sparse_table_have_zero_forms():
    X = counts(np.random.default_rng(6), (30, 8), density=0.6)
    X[:, 2], X[:, 5] = 0.0, 7.3
    A = as_operator(sp.csr_array(X), scale="std")
    p, _, graph = weights_and_graph(X.shape)
    np.testing.assert_array_equal(A.column_forms(graph)[[2, 5]], 0.0)
    for square in (A.weighted_gram(p), A.quadratic(graph)):
        np.testing.assert_array_equal(square[[2, 5]], 0.0)
        np.testing.assert_array_equal(square[:, [2, 5]], 0.0)


def test_column_forms_of_a_table_too_large_to_densify():
    # With A = I they are the squared norms; with A = 11'/4 on the first two samples, (sum/2)^2.
    n = 100_000
    rng = np.random.default_rng(3)
    entries = (rng.random(1000), (rng.integers(0, n, 1000), rng.permutation(n)[:1000]))
    A = as_operator(sp.csr_array(entries, shape=(n, n)), scale="unit")
    np.testing.assert_allclose(
        A.column_forms(sp.csr_array(sp.eye_array(n))), A.column_norms(), rtol=1e-9, atol=1e-12
    )
    pair = sp.csr_array((np.full(4, 0.25), ([0, 0, 1, 1], [0, 1, 0, 1])), shape=(n, n))
    half = np.zeros((n, 1))
    half[:2] = 0.5
    np.testing.assert_allclose(A.column_forms(pair), A.rmatmul(half)[:, 0] ** 2, atol=1e-12)


@pytest.mark.parametrize("scale", ["unit", "std", "none"])
def test_weighted_products_of_a_sparse_table_write_to_nothing_they_are_given(scale):
    X = sp.csr_array(counts(np.random.default_rng(0), (15, 10)))
    args = weights_and_graph(X.shape)
    dense = as_operator(X.toarray(), scale=scale)
    for matrix in (X, args[2]):
        for part in (matrix.data, matrix.indices, matrix.indptr):
            part.flags.writeable = False
    for weights in args[:2]:
        weights.flags.writeable = False
    assert_same_forms(as_operator(X, scale=scale), dense, args)
