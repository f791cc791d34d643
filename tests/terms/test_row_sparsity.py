"""The rows of W that are not zero."""

import array_api_strict
import numpy as np
import pytest

from featsieve.terms.row_sparsity import count_rows, row_norms, row_support


def test_rows_count_that_are_exactly_non_zero():
    W = np.array([[0.0, 0.0], [1e-300, 0.0], [2.0, -2.0], [-0.0, 0.0]])
    for table in (W, array_api_strict.asarray(W)):
        np.testing.assert_array_equal(np.asarray(row_support(table)), [False, True, True, False])
        assert count_rows(table) == 2
        np.testing.assert_array_equal(np.asarray(row_norms(table)), [0.0, 0.0, 8.0, 0.0])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_columns", [2, 6, 39])
def test_identical_rows_are_equally_long_whatever_their_position(order, n_columns):
    row = np.random.default_rng(0).standard_normal((1, n_columns))
    V = np.asarray(np.repeat(row, 101, axis=0), order=order)
    assert len(set(row_norms(V).tolist())) == 1
