"""The smallest entries of rows, against a full sort."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.graphs.distances import GROUP, entries_below, sorted_by_distance, upper_bounds


@st.composite
def blocks(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 2000))
    block = rng.integers(0, draw(st.integers(1, 5000)), (draw(st.integers(1, 5)), n)) * 1.0
    return block, draw(st.integers(1, min(n, 20)))


@settings(max_examples=60, deadline=None)
@given(case=blocks())
def test_the_bound_is_not_below_the_kth_smallest_and_nothing_up_to_it_is_missed(case):
    block, k = case
    minima, bound = upper_bounds(block, k)
    assert np.all(bound >= np.sort(block, axis=1)[:, k - 1])
    rows, columns = entries_below(block, minima, bound)
    expected = np.nonzero(block <= bound[:, None])
    order = np.lexsort((columns, rows))
    np.testing.assert_array_equal(rows[order], expected[0])
    np.testing.assert_array_equal(columns[order], expected[1])


def test_the_bound_leaves_few_candidates():
    block = np.random.default_rng(0).random((50, 100 * GROUP + 7))
    minima, bound = upper_bounds(block, 5)
    assert minima.shape[1] < block.shape[1] / 20
    rows, _ = entries_below(block, minima, bound)
    assert np.bincount(rows).min() >= 5
    assert len(rows) < 8 * 50


@pytest.mark.parametrize(
    ("equal", "expected"), [(0.0, [3, 1, 0]), (0.15, [1, 3, 0]), (1.0, [0, 1, 3])]
)
def test_distances_that_follow_closely_are_one_and_the_lower_column_is_first(equal, expected):
    columns = np.array([0, 1, 3])
    squares = np.array([0.5, 0.1, 0.0])
    found, values = sorted_by_distance(
        np.zeros(3, dtype=int), columns, squares, equal=np.array([equal]), k=3
    )
    np.testing.assert_array_equal(found, [expected])
    np.testing.assert_array_equal(values[0], squares[np.searchsorted(columns, expected)])
