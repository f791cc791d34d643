"""The few functions that know an array library by name."""

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from featsieve.arrays.namespace import (
    column_dots,
    columns_are_contiguous,
    minus_row,
    stable_order,
)


@given(keys=arrays(np.float64, st.integers(0, 30), elements=st.sampled_from([0.0, -0.0, 1, 2, 9])))
def test_order_from_large_to_small_with_ties_by_index(keys):
    expected = sorted(range(len(keys)), key=lambda j: (-keys[j], j))
    assert stable_order(keys).tolist() == expected


def test_order_with_infinite_keys():
    assert stable_order(np.array([-np.inf, 1.0, -np.inf, 2.0])).tolist() == [3, 1, 0, 2]


@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_by_columns_in_either_memory_order(order):
    A = np.asarray(np.random.default_rng(0).standard_normal((7, 4)), order=order)
    assert columns_are_contiguous(A) == (order == "F")
    assert not columns_are_contiguous(A[::2])  # strided: neither
    np.testing.assert_allclose(column_dots(A, A), (A**2).sum(axis=0), rtol=1e-14)
    shifted = minus_row(A, A[0])
    np.testing.assert_array_equal(shifted, A - A[0])
    assert shifted.flags.c_contiguous


def test_another_array_library():
    A = array_api_strict.asarray(np.arange(6.0).reshape(3, 2))
    assert not columns_are_contiguous(A)
    np.testing.assert_array_equal(np.from_dlpack(column_dots(A, A)), [20.0, 35.0])
    np.testing.assert_array_equal(np.from_dlpack(minus_row(A, A[0, :]))[-1], [4.0, 4.0])
