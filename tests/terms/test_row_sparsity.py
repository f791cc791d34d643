"""The l2,0 term: its proximal steps against brute force over all supports."""

from itertools import chain, combinations

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from featsieve.terms import RowSparsityConstraint, RowSparsityPenalty
from featsieve.terms.row_sparsity import count_rows, row_support

# Small whole numbers: norms are exact, and equal rows and exact ties are common.
matrices = arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 3)),
    elements=st.integers(-3, 3).map(float),
)


def restrictions(V):
    """Yield V with every subset of its rows kept, small subsets first."""
    rows = range(len(V))
    for kept in chain.from_iterable(combinations(rows, size) for size in range(len(V) + 1)):
        W = np.zeros_like(V)
        W[list(kept)] = V[list(kept)]
        yield W


def penalised(W, V, *, sparsity, step):
    """Return ||W - V||^2/(2 step) + lam ||W||_{2,0}."""
    return np.sum((W - V) ** 2) / (2 * step) + sparsity * np.count_nonzero(np.any(W, axis=1))


@settings(max_examples=25, deadline=None)
@given(V=matrices, sparsity=st.sampled_from([0.0, 0.5, 1.0, 2.5]), step=st.sampled_from([0.5, 1.0]))
def test_penalty_prox_is_the_sparsest_minimiser_over_all_supports(V, sparsity, step):
    W = RowSparsityPenalty(sparsity).prox(V, step)
    cost = penalised(W, V, sparsity=sparsity, step=step)
    for other in restrictions(V):
        other_cost = penalised(other, V, sparsity=sparsity, step=step)
        assert cost <= other_cost
        if other_cost == cost:  # halves and whole numbers: comparison is exact
            assert count_rows(W) <= count_rows(other)


def test_a_row_on_the_threshold_becomes_zero():
    V = np.array([[1.0, 1.0], [1.0, np.nextafter(1.0, 2.0)], [0.0, 0.0], [-2.0, 0.0]])
    expected = np.array([[0.0, 0.0], V[1], [0.0, 0.0], [-2.0, 0.0]])  # 2 lam step = 2
    np.testing.assert_array_equal(RowSparsityPenalty(2.0).prox(V, 0.5), expected)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rounding_does_not_decide_between_rows_of_one_length(dtype):
    """Sums in another order give other last digits: the selection must be the same (fuzzing)."""
    rng = np.random.default_rng(0)
    lengths = np.array([3.0, 1.0, 2.0, 2.0, 2.0, 0.5])
    for k, kept in ((1, [0]), (2, [0, 2]), (3, [0, 2, 3]), (4, [0, 2, 3, 4]), (5, [0, 1, 2, 3, 4])):
        for _ in range(20):
            noise = np.finfo(dtype).eps * rng.uniform(-1.0, 1.0, 6)
            V = (lengths * (1.0 + noise))[:, None].astype(dtype)
            for table in (V, array_api_strict.asarray(V)):
                keep = RowSparsityConstraint(k).keep(table, 1.0)
                assert np.flatnonzero(np.asarray(keep)).tolist() == kept
    V = np.array([[1.0], [1.0 + 1e-5]], dtype=dtype)  # that is no rounding
    assert RowSparsityConstraint(1).keep(V, 1.0).tolist() == [False, True]


@settings(max_examples=25, deadline=None)
@given(V=matrices, k=st.integers(0, 7))
def test_constraint_keeps_the_longest_rows_and_the_lower_index_of_equals(V, k):
    before = V.copy()
    W = RowSparsityConstraint(k).prox(V, 1.0)
    squares = (V**2).sum(axis=1)
    kept = sorted(range(len(V)), key=lambda row: (-squares[row], row))[:k]
    expected = np.zeros_like(V)
    expected[kept] = V[kept]
    np.testing.assert_array_equal(W, expected)
    np.testing.assert_array_equal(V, before)


def test_values_count_the_rows_that_are_exactly_non_zero():
    W = np.array([[0.0, 0.0], [1e-300, 0.0], [2.0, -2.0], [-0.0, 0.0]])
    np.testing.assert_array_equal(row_support(W), [False, True, True, False])
    assert count_rows(W) == 2
    assert RowSparsityPenalty(0.25).value(W) == 0.5
    assert RowSparsityConstraint(2).value(W) == 0.0
    assert RowSparsityConstraint(1).value(W) == float("inf")


@pytest.mark.parametrize("term", [RowSparsityPenalty(1.0), RowSparsityConstraint(3)])
def test_strict_arrays_give_the_numbers_of_numpy(term):
    V = np.random.default_rng(0).integers(-2, 3, (8, 2)).astype(float)
    W = term.prox(V, 1.0)
    strict = term.prox(array_api_strict.asarray(V), 1.0)
    assert isinstance(strict, type(array_api_strict.asarray(V)))
    np.testing.assert_array_equal(np.asarray(strict), W)
    assert 0 < count_rows(strict) == count_rows(W) < 8
    assert term.value(strict) == term.value(W)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_columns", [2, 6, 39])
def test_identical_rows_tie_whatever_their_position(order, n_columns):
    row = np.random.default_rng(0).standard_normal((1, n_columns))
    V = np.asarray(np.repeat(row, 101, axis=0), order=order)
    W = RowSparsityConstraint(3).prox(V, 1.0)
    np.testing.assert_array_equal(np.flatnonzero(W.any(axis=1)), [0, 1, 2])
