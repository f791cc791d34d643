"""Every product of a dense operator against the explicit Z = (X - mean)/scale in plain NumPy."""

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from featsieve.arrays import DenseOperator, SparseOperator, as_operator, dense, operator
from tests.arrays.products import arguments, assert_products, explicit

DTYPES = ("float64", "float32", "float16", "int64", "uint8", "bool")
SCALES = ("unit", "std", "sqrt", "none")
WHOLE = {"int64": (-9, 10), "uint8": (0, 256), "bool": (0, 2)}


def tolerance_of(X):
    return 1e-5 if X.dtype in (np.float16, np.float32) else 1e-11


def random_table(rng, shape, *, dtype="float64"):
    """Return a table with columns of unlike spread and offset, some of them constant."""
    d = shape[1]
    if dtype in WHOLE:
        X = rng.integers(*WHOLE[dtype], shape).astype(dtype)
    else:
        spread, offset = 10.0 ** rng.integers(-1, 2, d), rng.integers(-3, 4, d)
        X = (spread * (rng.standard_normal(shape) + offset)).astype(dtype)
    constant = rng.random(d) < 0.2
    X[:, constant] = X[0, constant]
    return X


@st.composite
def tables(draw):
    n, d = draw(st.integers(3, 25)), draw(st.integers(1, 25))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = random_table(rng, (n, d), dtype=draw(st.sampled_from(DTYPES)))
    return np.asarray(X, order=draw(st.sampled_from("CF")))


def set_blocks(patch, elements):
    """Take every path of large tables, in blocks of so many elements."""
    for name in ("BLOCK_ELEMENTS", "CACHE_ELEMENTS"):
        patch.setattr(operator, name, elements)
    for name in ("CONVERT_ELEMENTS", "KEEP_ELEMENTS"):
        patch.setattr(dense, name, 0)


@settings(max_examples=100, deadline=None)
@given(
    X=tables(),
    scale=st.sampled_from(SCALES),
    center=st.booleans(),
    alive=st.sampled_from([0.0, 0.1, 1.0]),
    seed=st.integers(0, 99),
)
def test_products_equal_those_of_the_explicit_table(X, scale, center, alive, seed):
    args = arguments(X.shape, seed=seed, alive=alive)
    A = as_operator(X, scale=scale, center=center)
    Z = explicit(X, scale=scale, center=center)
    assert_products(A, Z, args=args, tolerance=tolerance_of(X))


@settings(max_examples=40, deadline=None)
@given(
    X=tables(),
    scale=st.sampled_from(SCALES),
    center=st.booleans(),
    elements=st.integers(1, 60),
)
def test_the_size_of_the_blocks_changes_nothing(X, scale, center, elements):
    with pytest.MonkeyPatch.context() as patch:
        set_blocks(patch, elements)
        A = as_operator(X, scale=scale, center=center)
        assert all(block.size <= max(elements, X.shape[1]) for block in A.row_blocks())
        column_blocks = A._column_blocks(elements)
        assert all(block.size <= max(elements, X.shape[0]) for _, block in column_blocks)
        Z = explicit(X, scale=scale, center=center)
        assert_products(A, Z, tolerance=tolerance_of(X))


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", ["float32", "float64", *WHOLE])
def test_large_tables_are_not_copied(dtype, order, monkeypatch):
    monkeypatch.setattr(dense, "CONVERT_ELEMENTS", 0)
    X = np.asarray(random_table(np.random.default_rng(0), (9, 5), dtype=dtype), order=order)
    assert np.shares_memory(DenseOperator(X)._X, X)


def test_half_precision_does_not_overflow_and_extended_becomes_double():
    X = np.array([[60000.0, 1.0], [-60000.0, 2.0], [30000.0, 4.0]], dtype=np.float16)
    assert_products(as_operator(X), explicit(X), tolerance=1e-6)
    assert as_operator(X.astype(np.longdouble)).dtype == np.float64


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("value", [0.0, 0.1, -1e8 / 3, 1e-150])
def test_constant_columns_become_zero_columns(value, center, scale):
    X = np.random.default_rng(0).standard_normal((1000, 4))
    X[:, [0, 2]] = value
    A = as_operator(X, scale=scale, center=center)
    constant = np.array([True, False, True, False])
    np.testing.assert_array_equal(A.varies, ~constant)
    np.testing.assert_array_equal(A.inverse_scale == 0, constant)
    p, graph = np.linspace(0.0, 1.0, 1000), csr_array(np.eye(1000))
    for found in (
        A.column_norms(),
        A.rows(0, 1000).T,
        A.rmatmul(X),
        A.column_forms(graph),
        A.weighted_gram(p),
        A.quadratic(graph),
    ):
        np.testing.assert_array_equal(found[constant], 0.0)


# The last digit of X is 1e-8 (float64) or 1e-4 (float32) of a standard deviation here.
@pytest.mark.parametrize(
    ("dtype", "offset", "tolerance"), [("float64", 1e8, 3e-13), ("float32", 1e3, 2e-6)]
)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("kept", [True, False])
def test_columns_far_from_zero_keep_accuracy(kept, dtype, offset, tolerance, scale, monkeypatch):
    if not kept:
        set_blocks(monkeypatch, 100)
    rng = np.random.default_rng(4)
    X = (rng.standard_normal((60, 15)) + offset * rng.choice([-1, 1], 15)).astype(dtype)
    X[:, 0] -= X[0, 0]  # one column near zero stays exact beside them
    exact = X.astype(np.longdouble)
    A = as_operator(X, scale=scale)
    assert_products(A, explicit(exact, scale=scale), tolerance=tolerance)
    mean = exact.mean(axis=0).astype(np.float64)
    np.testing.assert_allclose(A.original_mean, mean, rtol=1e-14, atol=1e-14 * offset)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("far", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_nothing_is_written_to(dtype, far, order, monkeypatch):
    if far:  # every column counts as far from zero and is centred explicitly
        monkeypatch.setattr(dense, "LARGEST_OFFSET", {"float32": 0.0, "float64": 0.0})
    X = random_table(np.random.default_rng(5), (14, 10), dtype=dtype)
    X = np.asarray(X, order=order)
    args = arguments(X.shape)
    for array in (X, args.W, args.R, args.J, args.p, args.e, args.S.data, args.S.indices):
        array.flags.writeable = False
    Z = explicit(X, scale="unit")
    assert_products(as_operator(X, scale="unit"), Z, args=args, tolerance=tolerance_of(X))


@pytest.mark.parametrize("blocks", ["one block", "many blocks"])
@pytest.mark.parametrize(("scale", "center"), [("unit", True), ("sqrt", True), ("std", False)])
@pytest.mark.parametrize("dtype", ["float64", "float32", "uint8"])
@pytest.mark.parametrize("shape", [(18, 7), (7, 18)])
def test_strict_arrays(shape, dtype, scale, center, blocks, monkeypatch):
    if blocks == "many blocks":
        set_blocks(monkeypatch, 30)
        monkeypatch.setattr(dense, "LARGEST_OFFSET", {"float32": 0.1, "float64": 0.1})
    X = random_table(np.random.default_rng(7), shape, dtype=dtype)
    A = as_operator(array_api_strict.asarray(X), scale=scale, center=center)
    Z = explicit(X, scale=scale, center=center)
    assert_products(A, Z, tolerance=tolerance_of(X), convert=array_api_strict.asarray)


def test_what_is_computed_once_and_which_operator_is_taken():
    A = as_operator(random_table(np.random.default_rng(11), (12, 5)))
    assert A.gram() is A.gram()
    assert A.row_norms() is A.row_norms()
    assert isinstance(A, DenseOperator)
    assert isinstance(as_operator(csr_array(np.eye(3))), SparseOperator)
    with pytest.raises(ValueError, match=r"'unit', 'std', 'sqrt', 'none'.*'standard'"):
        as_operator(np.eye(3), scale="standard")


def test_weighted_products_are_symmetric_to_the_last_bit():
    A = as_operator(random_table(np.random.default_rng(2), (30, 20)), scale="std")
    args = arguments((30, 20))
    for square in (A.weighted_gram(args.p), A.sample_gram(args.e), A.quadratic(args.S)):
        np.testing.assert_array_equal(square, square.T)


@pytest.mark.parametrize("container", [np.asarray, csr_array, array_api_strict.asarray])
@pytest.mark.parametrize("scale", ["unit", "std", "none"])
def test_any_operator_can_be_centred(scale, container):
    X = random_table(np.random.default_rng(8), (15, 6))
    A = as_operator(container(X), scale=scale, center=False)
    centred = A.centred()
    assert centred.centred() is centred
    assert type(centred) is type(A)
    for found, center in ((centred, True), (A, False)):
        Z = explicit(X, scale=scale, center=center)
        np.testing.assert_allclose(np.asarray(found.rows(0, 15)), Z, atol=1e-12)
