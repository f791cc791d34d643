"""The expansion of log(r_i + r_j), and the entropy that it serves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.terms.entropy_graph import BlockedKernel
from featsieve.terms.mean_entropy import log_cosh_products, mean_entropy, n_points


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    spread=st.sampled_from([0.0, 1e-12, 1e-3, 0.5, 3.0, 14.0, 40.0]),
)
def test_interpolated_log_cosh_is_log_cosh(seed, spread):
    a = spread * np.random.default_rng(seed).random(60) - 3.0
    basis, values = log_cosh_products(a)
    gap = np.abs(a[:, None] - a[None, :])
    expected = 0.5 * gap + np.log1p(np.exp(-gap)) - np.log(2.0)
    np.testing.assert_allclose(basis @ values.T, expected, rtol=0, atol=1e-14 * (4 + 4 * spread))


def test_few_points_do_and_their_number_grows_with_the_spread():
    counts = [n_points(half) for half in (0.0, 0.1, 1.5, 7.0)]
    assert counts == sorted(counts)
    assert counts[0] == 1
    assert counts[-1] < 120


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), gamma=st.sampled_from([1e-3, 0.7, 40.0]))
def test_entropy_by_products_is_the_sum_over_pairs(seed, gamma):
    rng = np.random.default_rng(seed)
    F, r = rng.random((40, 3)), 10.0 ** rng.uniform(-3, 0, 40)
    kernel = BlockedKernel(F, gamma)
    expected = kernel.symmetric_entropy(r)
    assert mean_entropy(kernel, r, F=F, gamma=gamma) == pytest.approx(expected, rel=1e-11)
