"""The few functions that know an array library by name."""

from importlib.util import find_spec

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from featsieve.arrays import namespace
from featsieve.arrays.namespace import (
    as_numpy,
    entries_of,
    has_double_precision,
    in_double,
    is_dense,
    is_foreign_array,
    is_single,
    like,
    minus_outer,
    on_host,
    pick_columns,
    sparse_product,
    stable_order,
    take_rows,
    to_numpy,
    without_gradient,
)


@given(keys=arrays(np.float64, st.integers(0, 30), elements=st.sampled_from([0.0, -0.0, 1, 2, 9])))
def test_order_from_large_to_small_with_ties_by_index(keys):
    expected = sorted(range(len(keys)), key=lambda j: (-keys[j], j))
    assert stable_order(keys).tolist() == expected


def test_order_with_infinite_keys():
    assert stable_order(np.array([-np.inf, 1.0, -np.inf, 2.0])).tolist() == [3, 1, 0, 2]
    keys = np.array([1.0, np.inf, -np.inf, 1e308, np.inf])
    assert stable_order(keys, rounding=1e-12).tolist() == [1, 4, 3, 0, 2]


def test_keys_that_differ_by_rounding_are_ties():
    step = np.finfo(np.float64).eps
    keys = np.array([2.0, 3.0, 3.0 + 4 * step, 2.0 + 2 * step, 0.0, -np.inf, 1e-300, -np.inf])
    assert stable_order(keys).tolist() == [2, 1, 3, 0, 6, 4, 5, 7]
    assert stable_order(keys, rounding=1e-12).tolist() == [1, 2, 0, 3, 6, 4, 5, 7]
    shuffled = np.random.default_rng(0).permutation(1000)
    keys = 1.0 + (shuffled // 10) + step * (shuffled % 10)
    expected = np.lexsort((np.arange(1000), -np.floor(keys)))
    assert stable_order(keys, rounding=1e-12).tolist() == expected.tolist()


def test_ties_do_not_chain():
    rounding = 1e-3
    keys = 1.0 + np.arange(3000)[::-1] * 4e-4  # large to small, every step within the rounding
    order = stable_order(keys[::-1], rounding=rounding)
    # a group starts with its largest key, and holds all that lie within the rounding of it
    expected, left = [], sorted(range(3000), key=lambda j: -keys[::-1][j])
    while left:
        largest = keys[::-1][left[0]]
        group = [j for j in left if keys[::-1][j] >= largest * (1.0 - rounding)]
        expected += sorted(group)
        left = left[len(group) :]
    assert order.tolist() == expected


# Other libraries and devices ----------------------------------------------------------------------

DEVICE = array_api_strict.Device("device1")


def strict(values):
    return array_api_strict.asarray(values, device=DEVICE)


def tensor(values):
    return pytest.importorskip("torch").asarray(np.array(values))


CONVERT = [np.asarray, strict, *([tensor] if find_spec("torch") else [])]


def test_which_arrays_are_foreign_and_where_they_are():
    A = np.eye(3)
    assert not is_foreign_array(A)
    assert on_host(A)
    assert not is_foreign_array(sp.csr_array(A))
    assert not is_foreign_array([[1.0]])
    assert not is_foreign_array(np.float64(1.0))
    assert is_foreign_array(array_api_strict.asarray(A))
    assert on_host(array_api_strict.asarray(A))
    assert is_foreign_array(strict(A))
    assert not on_host(strict(A))
    assert is_dense(strict(A))
    assert has_double_precision(strict(A))
    single = array_api_strict.asarray([1], device=array_api_strict.Device("no_float64"))
    assert not has_double_precision(single)


@pytest.mark.parametrize("convert", CONVERT)
def test_values_follow_an_array(convert):
    A = convert(np.eye(3))
    frozen = np.arange(3.0)
    frozen.flags.writeable = False
    for values in (frozen, np.arange(6.0)[::-2], np.array([True, False])):
        found = like(values, A)
        assert type(found) is type(A)
        assert namespace.device_of(found) == namespace.device_of(A)
        np.testing.assert_array_equal(to_numpy(found), values)
        np.testing.assert_array_equal(as_numpy(found), values)
    assert as_numpy([1, 2]).tolist() == [1, 2]


@pytest.mark.parametrize("convert", [*CONVERT, sp.csr_array])
def test_rows_columns_and_precision_of_any_table(convert):
    A = np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32)
    table = convert(A)

    def dense(X):
        return X.toarray() if sp.issparse(X) else to_numpy(X)

    some = np.array([3, 0])
    np.testing.assert_array_equal(dense(take_rows(table, some)), A[some])
    np.testing.assert_array_equal(dense(pick_columns(table, some)), A[:, some])
    assert is_single(table)
    assert not is_single(in_double(table))
    np.testing.assert_array_equal(dense(in_double(table)), A)
    if not sp.issparse(table):
        np.testing.assert_array_equal(entries_of(table, some, some), A[some, some])


@pytest.mark.parametrize("convert", CONVERT)
@pytest.mark.parametrize("shape", [(30, 1), (30, 7), (30, 40)])
def test_products_with_a_graph(convert, shape):
    rng = np.random.default_rng(0)
    A = sp.random_array((30, 30), density=0.1, random_state=rng, format="csr")
    twice = sp.csr_array(
        (np.ones(4), np.array([2, 2, 1, 0]), np.array([0, 3, *[4] * 29])), shape=(30, 30)
    )
    B = rng.standard_normal(shape)
    for graph in (A, twice):  # the second stores an entry in two pieces, out of order
        product = sparse_product(graph, convert(np.zeros(2)))
        found = product(convert(B))
        assert type(found) is type(convert(B))
        np.testing.assert_allclose(to_numpy(found), graph.toarray() @ B, atol=1e-14)
        turned = convert(np.ascontiguousarray(B.T)).T
        np.testing.assert_allclose(to_numpy(product(turned)), graph.toarray() @ B, atol=1e-14)


def test_gradients_are_left_behind():
    torch = pytest.importorskip("torch")
    learned = torch.ones(3, requires_grad=True)
    assert not without_gradient(learned).requires_grad
    assert learned.requires_grad
    plain = torch.ones(3)
    assert without_gradient(plain) is plain
    assert not is_dense(torch.eye(3).to_sparse())


@pytest.mark.parametrize("elements", [2**15, 60, 7])
@pytest.mark.parametrize("order", ["C", "F"])
def test_outer_products_are_subtracted_in_place_where_columns_are_contiguous(
    elements, order, monkeypatch
):
    monkeypatch.setattr(namespace, "OUTER_ELEMENTS", elements)
    rng = np.random.default_rng(0)
    A = np.asarray(rng.standard_normal((20, 9)), order=order)
    column, row = rng.standard_normal(40)[::2], rng.standard_normal(9)
    expected = A - np.outer(column, row)
    found = minus_outer(A, column, row)
    np.testing.assert_allclose(found, expected, atol=1e-14)
    assert (found is A) is (order == "F")
