"""Generalised power iterations: descent with a certified eta, and their limit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.solvers.stiefel import power_estimate, power_iterations


def problem(seed, n, c, *, definite=False):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    A = A @ A.T if definite else A + A.T
    F = np.linalg.qr(rng.standard_normal((n, c)))[0]
    return A, rng.standard_normal((n, c)), F


def value(A, B, F):
    return np.trace(F.T @ A @ F) - 2.0 * np.trace(F.T @ B)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 12),
    share=st.floats(0.1, 1.0),
    scale=st.sampled_from([0.0, 1e-3, 1.0, 1e3]),
)
def test_no_step_raises_the_objective_if_eta_is_an_upper_bound(seed, n, share, scale):
    A, B, F = problem(seed, n, max(1, int(share * n)))
    B = scale * B
    eta = float(np.linalg.eigvalsh(A)[-1])
    for _ in range(10):
        before = value(A, B, F)
        F = power_iterations(F, B, lambda F: (A @ F, eta), n_steps=1)
        assert value(A, B, F) <= before + 1e-10 * (1.0 + abs(before))
        np.testing.assert_allclose(F.T @ F, np.eye(F.shape[1]), atol=1e-12)


def test_without_linear_part_the_limit_spans_the_last_eigenvectors():
    A, B, F = problem(0, 8, 3, definite=True)
    eta = float(np.linalg.eigvalsh(A)[-1])
    F = power_iterations(F, 0.0 * B, lambda F: (A @ F, eta), n_steps=5000)
    vectors = np.linalg.eigh(A)[1][:, :3]
    np.testing.assert_allclose(F @ F.T, vectors @ vectors.T, atol=1e-6)


def test_power_estimate_approaches_the_largest_eigenvalue_from_below():
    A, _, _ = problem(3, 20, 2, definite=True)
    largest = float(np.linalg.eigvalsh(A)[-1])
    few, many = (
        power_estimate(lambda v: A @ v, 20, random_state=np.random.RandomState(0), n_steps=n_steps)
        for n_steps in (2, 500)
    )
    assert few < largest * (1.0 - 1e-6)
    assert many == pytest.approx(largest, rel=1e-8)
