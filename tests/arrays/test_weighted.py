"""The operator of weighted, re-centred samples, against the matrix it never forms."""

import array_api_strict as strict
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import as_operator
from featsieve.arrays.weighted import WeightedOperator
from featsieve.solvers import RowSparseRegression

fast = settings(max_examples=30, deadline=None)
seeds = st.integers(0, 2**32 - 1)
shapes = st.tuples(st.integers(2, 20), st.integers(1, 20))
bases = st.sampled_from([("std", True), ("none", True), ("none", False)])


def draw(seed, shape):
    """A table with zeros and a constant column, and positive weights."""
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal(shape) + 1.0) * (rng.random(shape) < 0.7)
    X[:, 0] = 3.0
    return X, rng.random(shape[0]) * 4.0 + 0.05


def explicit(base, w):
    """Z~ as it is written down."""
    Z = base.rows(0, base.shape[0])
    return np.sqrt(w)[:, None] * (Z - (w @ Z) / w.sum())


def arguments(seed, shape):
    rng = np.random.default_rng(seed + 1)
    n, d = shape
    A = rng.standard_normal((n, n)) * (rng.random((n, n)) < 0.4)
    return {
        "W": rng.standard_normal((d, 3)) * (rng.random(d) < 0.2)[:, None],
        "R": rng.standard_normal((n, 2)),
        "J": rng.integers(0, d, 4),
        "p": rng.random(n),
        "e": rng.random(d),
        "A": sp.csr_array(A + A.T),
    }


PRODUCTS = {
    "matmul": (lambda o, a: o.matmul(a["W"]), lambda Z, a: Z @ a["W"]),
    "live": (
        lambda o, a: o.matmul(a["W"], live=np.flatnonzero(a["W"].any(axis=1))),
        lambda Z, a: Z @ a["W"],
    ),
    "rmatmul": (lambda o, a: o.rmatmul(a["R"]), lambda Z, a: Z.T @ a["R"]),
    "columns": (lambda o, a: o.columns(a["J"]), lambda Z, a: Z[:, a["J"]]),
    "rows": (lambda o, a: o.rows(1, o.shape[0]), lambda Z, a: Z[1:]),
    "row_blocks": (lambda o, a: np.concatenate(list(o.row_blocks())), lambda Z, a: Z),
    "row_products": (lambda o, a: o.row_products(1, o.shape[0]), lambda Z, a: Z[1:] @ Z.T),
    "gram": (lambda o, a: o.gram(), lambda Z, a: Z.T @ Z),
    "weighted_gram": (
        lambda o, a: o.weighted_gram(a["p"]),
        lambda Z, a: Z.T @ (a["p"][:, None] * Z),
    ),
    "sample_gram": (lambda o, a: o.sample_gram(), lambda Z, a: Z @ Z.T),
    "sample_gram(e)": (lambda o, a: o.sample_gram(a["e"]), lambda Z, a: (Z * a["e"]) @ Z.T),
    "column_forms": (
        lambda o, a: o.column_forms(a["A"]),
        lambda Z, a: np.einsum("ij,ij->j", Z, a["A"] @ Z),
    ),
    "quadratic": (lambda o, a: o.quadratic(a["A"]), lambda Z, a: Z.T @ (a["A"] @ Z)),
    "column_norms": (lambda o, a: o.column_norms(), lambda Z, a: np.sum(Z * Z, axis=0)),
    "row_norms": (lambda o, a: o.row_norms(), lambda Z, a: np.sum(Z * Z, axis=1)),
    "lipschitz": (lambda o, a: np.asarray(o.lipschitz()), lambda Z, a: np.linalg.norm(Z, 2) ** 2),
}


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("product", PRODUCTS)
@fast
@given(seed=seeds, shape=shapes, base=bases)
def test_product_equals_that_of_the_explicit_matrix(container, product, seed, shape, base):
    X, w = draw(seed, shape)
    scale, center = base
    operator = as_operator(container(X), scale=scale, center=center)
    got, expected = PRODUCTS[product]
    args = arguments(seed, shape)
    value = got(WeightedOperator(operator, w), args)
    np.testing.assert_allclose(value, expected(explicit(operator, w), args), rtol=0, atol=1e-9)


@fast
@given(seed=seeds, shape=shapes)
def test_equal_weights_leave_a_centred_table_as_it_is(seed, shape):
    X, _ = draw(seed, shape)
    base = as_operator(X, scale="std")
    weighted = WeightedOperator(base, np.ones(shape[0]))
    np.testing.assert_allclose(weighted.rows(0, shape[0]), base.rows(0, shape[0]), atol=1e-12)


@fast
@given(seed=seeds, shape=shapes)
def test_the_origin_of_the_columns_does_not_matter(seed, shape):
    X, w = draw(seed, shape)
    raw = WeightedOperator(as_operator(X, center=False), w)
    centred = WeightedOperator(as_operator(X), w)
    np.testing.assert_allclose(raw.gram(), centred.gram(), atol=1e-9)


def test_a_column_that_does_not_vary_is_zero():
    X, w = draw(0, (12, 5))
    for base in (as_operator(X), as_operator(X, center=False), as_operator(sp.csr_array(X))):
        operator = WeightedOperator(base, w)
        assert operator.varies.tolist() == [False, True, True, True, True]
        assert operator.column_norms()[0] == 0.0
        assert not operator.columns(np.array([0])).any()


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


@fast
@given(seed=seeds, shape=shapes)
def test_curvature_is_bounded_by_the_largest_weight(seed, shape):
    X, w = draw(seed, shape)
    base = as_operator(X)
    assert WeightedOperator(base, w).lipschitz() <= w.max() * base.lipschitz() * (1 + 1e-9) + 1e-12


def test_other_array_libraries():
    X, w = draw(0, (9, 6))
    args = arguments(0, (9, 6))
    expected = explicit(as_operator(X, scale="std"), w)
    operator = WeightedOperator(as_operator(strict.asarray(X), scale="std"), strict.asarray(w))
    W, live = strict.asarray(args["W"]), strict.asarray(np.flatnonzero(args["W"].any(axis=1)))
    for product in (operator.matmul(W), operator.matmul(W, live=live)):
        np.testing.assert_allclose(np.asarray(product), expected @ args["W"], atol=1e-10)
    product = operator.rmatmul(strict.asarray(args["R"]))
    np.testing.assert_allclose(np.asarray(product), expected.T @ args["R"], atol=1e-10)
    np.testing.assert_allclose(np.asarray(operator.gram()), expected.T @ expected, atol=1e-10)


def test_single_precision_stays_single_in_the_products():
    X, w = draw(3, (30, 8))
    operator = WeightedOperator(as_operator(X.astype(np.float32), scale="std"), w)
    expected = explicit(as_operator(X, scale="std"), w)
    assert operator.dtype == np.float32
    np.testing.assert_allclose(operator.gram(), expected.T @ expected, atol=1e-3)
    assert operator.varies.tolist() == [False] + [True] * 7
