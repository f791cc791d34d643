"""The adaptive loss: its limits, and the majoriser that makes it a weighted square."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.terms.adaptive_loss import adaptive_loss, adaptive_weights

lengths = st.floats(0.0, 1e6)
sigmas = st.floats(1e-6, 1e9)
fast = settings(max_examples=50, deadline=None)


def test_between_the_length_and_the_square():
    u = np.array([0.0, 1e-3, 0.5, 2.0, 30.0])
    np.testing.assert_allclose(adaptive_loss(u, 1e-12), u, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(adaptive_loss(u, 1e12), u**2, rtol=1e-8)
    np.testing.assert_allclose(adaptive_weights(u, 1e12), 1.0, rtol=1e-8)
    np.testing.assert_allclose(adaptive_loss(u, 0.5), 1.5 * u**2 / (u + 0.5))


@fast
@given(lengths, lengths, sigmas)
def test_the_weighted_square_bounds_the_loss_and_touches_it(u, v, sigma):
    u, v = np.array([u]), np.array([v])
    weight = adaptive_weights(u, sigma)
    bound = adaptive_loss(u, sigma) + weight * (v**2 - u**2)
    assert np.all(adaptive_loss(v, sigma) <= bound + 1e-12 * (1.0 + weight * (u**2 + v**2)))


@fast
@given(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_the_weight_is_the_slope_in_the_square(u, sigma):
    h = 1e-5 * u**2
    above, below = np.sqrt(u**2 + h), np.sqrt(u**2 - h)
    slope = (adaptive_loss(above, sigma) - adaptive_loss(below, sigma)) / (2.0 * h)
    np.testing.assert_allclose(adaptive_weights(np.array([u]), sigma), slope, rtol=1e-4)
