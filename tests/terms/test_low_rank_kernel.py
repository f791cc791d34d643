"""The low-rank kernel against the exact one: its certificate, its rank, its gradient."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from featsieve.terms import UniformGraph, normalised_indicator
from featsieve.terms.entropy_graph import BlockedKernel, PartitionKernel, kernel_of
from featsieve.terms.low_rank_kernel import (
    MIN_CANDIDATES,
    SMALLEST_N,
    TOLERANCE,
    LowRankKernel,
    largest_rank,
)

seeds = st.integers(0, 2**32 - 1)
N = 600


def soft_labels(seed, n=N, c=3, *, kind="uniform"):
    rng = np.random.default_rng(seed)
    if kind == "orthonormal":
        return np.linalg.qr(rng.standard_normal((n, c)))[0]
    if kind == "clusters":  # a few points, almost repeated
        return rng.random((4, c))[rng.integers(0, 4, n)] + 1e-3 * rng.random((n, c))
    return rng.random((n, c))


def dense(F, gamma):
    difference = F[:, None, :] - F[None, :, :]
    return np.exp(-gamma * np.einsum("ijk,ijk->ij", difference, difference))


cases = st.tuples(
    seeds,
    st.sampled_from(
        [("uniform", 0.01), ("uniform", 0.3), ("clusters", 50.0), ("orthonormal", 5.0)]
    ),
    st.integers(1, 4),
)


@settings(max_examples=15, deadline=None)
@given(case=cases)
def test_the_certificate_bounds_the_error_of_every_entry_and_of_every_row_sum(case):
    seed, (kind, gamma), c = case
    F = soft_labels(seed, 250, c, kind=kind)
    kernel = LowRankKernel.of(F, gamma, max_rank=200)
    assume(kernel is not None)
    K = dense(F, gamma)
    gap = np.abs(kernel.matmul(np.eye(len(F))) - K)
    height, rounding = kernel.entry_errors()
    assert np.all(gap <= height[:, None] * height[None, :] + rounding)
    assert np.max(gap.sum(axis=1) / K.sum(axis=1)) <= kernel.error * (1.0 + kernel.error)
    assert kernel.error * kernel.stretch <= TOLERANCE


@pytest.mark.parametrize(
    ("kind", "gamma"),
    [("uniform", 0.01), ("uniform", 0.5), ("clusters", 50.0), ("orthonormal", 5.0)],
)
def test_graph_of_low_rank_is_the_graph_of_exact_blocks(kind, gamma):
    F = soft_labels(1, kind=kind)
    graph, exact = UniformGraph(F, gamma), UniformGraph.__new__(UniformGraph)
    exact.__dict__.update(vars(graph), kernel=BlockedKernel(F, gamma))
    exact.z = exact.kernel.matmul(np.ones((N, 1)))[:, 0]
    exact.r = 1.0 / exact.z
    exact.degree = 0.5 * (1.0 + exact.kernel.matmul(exact.r[:, None])[:, 0])
    assert graph.mode == "low rank"
    assert 0.0 < graph.error <= TOLERANCE
    np.testing.assert_allclose(graph.z, exact.z, rtol=graph.error)
    np.testing.assert_allclose(graph.degree, exact.degree, rtol=4 * graph.error)
    M = np.random.default_rng(0).standard_normal((N, 4))
    product = exact.laplacian_product(M)
    gap = graph.laplacian_product(M) - product
    assert np.abs(gap).max() <= 10 * graph.error * np.abs(M).max()
    assert graph.log_partition() == pytest.approx(exact.log_partition(), abs=2 * N * graph.error)
    for name in ("entropy", "symmetric_entropy"):
        bound = 10 * N * graph.error * graph.kernel.stretch
        assert abs(getattr(graph, name)() - getattr(exact, name)()) <= bound


def test_the_form_is_chosen_by_what_fits():
    partition = normalised_indicator(np.arange(N) % 3, 3)
    assert isinstance(kernel_of(partition, 1.0), PartitionKernel)
    modes = {gamma: UniformGraph(soft_labels(4), gamma).mode for gamma in (0.1, 1e4)}
    assert modes == {0.1: "low rank", 1e4: "blocks"}
    assert UniformGraph(soft_labels(4), 1e4).error == 0.0
    assert UniformGraph(soft_labels(4, SMALLEST_N - 1), 0.1).mode == "blocks"


def test_the_rank_that_pays_is_bounded_by_time_and_by_memory():
    assert largest_rank(600) <= 150
    assert largest_rank(10**6) * 10**6 <= 2**26
    assert LowRankKernel.of(soft_labels(5), 5.0, max_rank=20) is None


def test_candidates_that_miss_samples_are_found_out():
    # Every candidate of the first round is the same point; the rest must be found by remainder.
    n, max_rank = 1500, 60
    F = np.zeros((n, 1))
    odd = np.setdiff1d(np.arange(n), np.linspace(0, n - 1, MIN_CANDIDATES).astype(int))
    F[odd] = np.random.default_rng(6).random((len(odd), 1))
    kernel = LowRankKernel.of(F, 3.0, max_rank=max_rank)
    assert len(kernel.factors) > 1
    np.testing.assert_allclose(
        kernel.matmul(np.ones((n, 1)))[:, 0], dense(F, 3.0).sum(axis=1), rtol=kernel.error
    )
