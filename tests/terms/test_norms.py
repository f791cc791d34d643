"""Rows that are not zero; the smoothed l2,1 norm and the quadratic in its place."""

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.terms.norms import (
    SMOOTHING,
    count_rows,
    inverse_weights,
    row_norms,
    row_support,
    smoothed_norm,
)


def matrix(seed, shape=(7, 3)):
    """Return weights of very unequal rows, one of them zero."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal(shape) * 10.0 ** rng.integers(-10, 4, shape[0])[:, None]
    W[rng.integers(shape[0])] = 0.0
    return W


@settings(max_examples=40)
@given(seed=st.integers(0, 9999))
def test_smoothed_norm_is_the_l21_norm_up_to_the_smoothing(seed):
    W = matrix(seed)
    exact = np.linalg.norm(W, axis=1).sum()
    value = smoothed_norm(W)
    assert isinstance(value, float)
    assert exact * (1 - 1e-14) <= value <= exact * (1 + 1e-14) + len(W) * np.sqrt(SMOOTHING)
    expected = np.sqrt((W**2).sum(axis=1) + SMOOTHING).sum()
    assert value == pytest.approx(expected, rel=1e-14)


@settings(max_examples=60)
@given(seed=st.integers(0, 9999), other=st.integers(0, 9999))
def test_the_weighted_square_lies_above_the_norm(seed, other):
    # sqrt(s + eps) <= sqrt(s' + eps) + (s - s')/(2 sqrt(s' + eps)), the tangent in s = ||w||^2.
    V, W = matrix(seed), matrix(other)
    inverse = inverse_weights(V)
    gap = ((W**2).sum(axis=1) - (V**2).sum(axis=1)) / inverse
    bound = smoothed_norm(V) + gap.sum()
    assert smoothed_norm(W) <= bound * (1 + 1e-12)


def test_the_majoriser_has_the_slope_of_the_norm():
    V = np.random.default_rng(0).standard_normal((5, 2))
    direction = np.random.default_rng(1).standard_normal((5, 2))
    step = 1e-6
    slope = (smoothed_norm(V + step * direction) - smoothed_norm(V - step * direction)) / (2 * step)
    assert slope == pytest.approx(np.sum(2 * V * direction / inverse_weights(V)[:, None]), rel=1e-8)


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
