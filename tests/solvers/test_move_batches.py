"""Classes of gains, and the batches that are tried in turn."""

from itertools import pairwise

import numpy as np
import pytest

from featsieve.arrays import as_operator
from featsieve.arrays.row_parts import MemoryParts
from featsieve.solvers.batched_moves import (
    CLASSES,
    N_CLASSES,
    SMALLEST_EXPONENT,
    batches,
    gain_classes,
    moved_labels,
)


def test_a_class_is_a_range_of_gains():
    gain = np.array([2.0**SMALLEST_EXPONENT, 2.0 ** (SMALLEST_EXPONENT - 9), 0.0, -1.0])
    np.testing.assert_array_equal(gain_classes(gain), -1)
    gain = np.append(2.0 ** np.random.default_rng(0).uniform(-79.0, 19.0, 200), 1.0001 * 2.0**-80)
    kinds = gain_classes(gain)
    low = 2.0 ** (kinds / CLASSES + SMALLEST_EXPONENT)
    assert np.all((low <= gain) & (gain < 2.0 ** (1 / CLASSES) * low))
    np.testing.assert_array_equal(gain_classes(np.array([1e7, 1e30, 1e300])), N_CLASSES - 1)


def batches_of(kinds, *, n_rows=None):
    """Return the rows of every batch."""
    n = len(kinds)
    parts = MemoryParts(as_operator(np.eye(n) + 1.0), n_rows=n_rows)
    kinds = np.asarray(kinds, dtype=np.int32)
    proposals = [(np.ones(b - a, dtype=int), kinds[a:b]) for a, b in parts.bounds]
    found = []
    for chosen, least in batches(parts, proposals):
        stay = parts.scatter(np.zeros(n, dtype=int))
        moved = parts.gather(parts.map(moved_labels, stay, chosen, shared=(least,)))
        found.append(np.flatnonzero(moved).tolist())
    return found


@pytest.mark.parametrize("n_rows", [None, 4])
@pytest.mark.parametrize("top", [7, N_CLASSES - 1])
def test_batches_are_halved_by_gain_and_then_by_row(top, n_rows):
    assert batches_of([-1] * 6, n_rows=n_rows) == []
    assert batches_of([-1, 3, -1], n_rows=n_rows) == [[1]]
    kinds = [top, 0, 2, -1, 5, 2, top, 0, 0, 5, -1, 2]
    # ten moves, of which five are of class 4 or more; of these two of the last class
    expected = [[0, 1, 2, 4, 5, 6, 7, 8, 9, 11], [0, 4, 6, 9], [0, 6], [0]]
    assert batches_of(kinds, n_rows=n_rows) == expected
    # the last class has more than half of them
    kinds = [1, top, top, -1, top, 1, top, top]
    expected = [[0, 1, 2, 4, 5, 6, 7], [1, 2, 4, 6, 7], [1, 2], [1]]
    assert batches_of(kinds, n_rows=n_rows) == expected


def test_exactly_half_is_few_enough_and_the_least_class_is_split_too():
    kinds = [0, 0, 0, 0, 3, 3, 5, 5]
    assert batches_of(kinds) == [[0, 1, 2, 3, 4, 5, 6, 7], [4, 5, 6, 7], [6, 7], [6]]
    for kind in (0, 1):
        assert batches_of([kind] * 5) == [[0, 1, 2, 3, 4], [0, 1], [0]]


@pytest.mark.parametrize("seed", range(20))
def test_every_batch_is_a_part_of_the_one_before_and_no_larger_gain_is_left_out(seed):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(-1, rng.integers(1, 30), 40)
    kinds[0] = 0
    found = batches_of(kinds, n_rows=7)
    assert found[0] == np.flatnonzero(kinds >= 0).tolist()
    assert len(found[-1]) == 1
    assert kinds[found[-1][0]] == kinds.max()
    for before, now in pairwise(found):
        assert set(now) < set(before)
        out = np.setdiff1d(before, now)
        assert kinds[now].min() >= kinds[out].max()
