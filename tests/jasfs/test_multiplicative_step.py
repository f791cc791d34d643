"""The multiplicative label step, against its formula with a dense graph."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve import JASFS
from featsieve.jasfs.paper import multiplicative_step
from featsieve.terms import UniformGraph, indicator, normalised_indicator

fast = settings(max_examples=30, deadline=None)
seeds = st.integers(0, 10**6)
GAMMA = 1.3


def soft(seed, n=9, c=3):
    """Positive pseudo-labels and a fitted HXW of about their size."""
    rng = np.random.default_rng(seed)
    return rng.random((n, c)) + 0.1, _centred(rng.standard_normal((n, c)))


def hard(seed, n=12, c=3):
    """A 0/1 indicator of c occupied clusters and a fitted HXW."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n) % c)
    return labels, indicator(labels, c), _centred(rng.standard_normal((n, c)))


def _centred(A):
    return A - A.mean(axis=0)


def printed(F, fitted, *, alpha, nu):
    """F * (nu F + Q) / (P F + nu F F'F) with dense matrices, columns to unit length."""
    n = len(F)
    K = np.exp(-GAMMA * np.sum((F[:, None, :] - F[None, :, :]) ** 2, axis=2))
    S = K / K.sum(axis=1, keepdims=True)
    T = 0.5 * (S + S.T)
    L = np.diag(T.sum(axis=1)) - T
    H = np.eye(n) - np.ones((n, n)) / n
    P, Q = H + 2.0 * alpha * L, fitted
    F = F * (nu * F + Q) / (P @ F + nu * F @ F.T @ F)
    return F / np.linalg.norm(F, axis=0)


def update(F, fitted, *, alpha=0.5, nu=10.0):
    graph = UniformGraph(F, GAMMA)
    return multiplicative_step(F, fitted, graph, alpha=alpha, orthogonality=nu)


@fast
@given(seeds, st.floats(0.0, 3.0), st.floats(20.0, 1e6))
def test_update_of_positive_labels_equals_the_formula(seed, alpha, nu):
    F, fitted = soft(seed)
    fitted *= 0.5  # nu F + Q > 0: nothing to clip
    expected = printed(F, fitted, alpha=alpha, nu=nu)
    assert expected.min() > 0.0
    new = update(F, fitted, alpha=alpha, nu=nu)
    np.testing.assert_allclose(new, expected, rtol=1e-10)


@fast
@given(seeds)
def test_default_nu_freezes_a_one_hot_start(seed):
    labels, F, fitted = hard(seed)
    start = normalised_indicator(labels, 3)
    for _ in range(5):
        F = update(F, fitted, alpha=1.0, nu=JASFS().orthogonality)
        np.testing.assert_array_equal(F == 0.0, start == 0.0)
        assert 0.0 < np.abs(F - start).max() < 1e-6


@fast
@given(seeds, st.sampled_from([1e-8, 1e-2, 1.0]), st.floats(0.0, 10.0), st.floats(0.1, 100.0))
def test_small_nu_never_gives_negative_or_undefined_entries(seed, nu, alpha, size):
    F, fitted = soft(seed)
    for _ in range(5):
        F = update(F, size * fitted, alpha=alpha, nu=nu)
        assert np.all(np.isfinite(F))
        assert F.min() >= 0.0
        length = np.linalg.norm(F, axis=0)
        assert np.all((length == 0.0) | (np.abs(length - 1.0) < 1e-12))


def test_column_without_a_positive_numerator_becomes_zero_and_not_undefined():
    _, F, _ = hard(0)
    fitted = np.zeros_like(F)
    fitted[:, 1] = 10.0 * _centred(-F[:, 1])
    new = update(F, fitted, nu=1.0)
    np.testing.assert_array_equal(np.linalg.norm(new, axis=0).round(12), [1.0, 0.0, 1.0])
