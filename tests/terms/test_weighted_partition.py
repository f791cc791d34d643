"""A weighted partition's kernel against the exact one."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.terms import UniformGraph
from featsieve.terms.entropy_graph import BlockedKernel
from featsieve.terms.low_rank_kernel import SMALLEST_N
from featsieve.terms.weighted_partition import WeightedPartitionKernel

seeds = st.integers(0, 2**32 - 1)


def weighted_partition(seed, n=SMALLEST_N + 40, c=4):
    rng = np.random.default_rng(seed)
    F = np.zeros((n, c))
    F[np.arange(n), rng.integers(0, c, n)] = rng.random(n) + 0.1
    return F


@settings(max_examples=15, deadline=None)
@given(seed=seeds, gamma=st.sampled_from([1e-4, 0.5, 30.0]), signed=st.booleans())
def test_products_and_entropy_are_those_of_the_blocks(seed, gamma, signed):
    F = weighted_partition(seed)
    rng = np.random.default_rng(seed)
    if signed:
        F *= rng.choice([-1.0, 0.0, 1.0], (len(F), 1))  # zero rows belong anywhere
    closed, blocked = WeightedPartitionKernel.of(F, gamma), BlockedKernel(F, gamma)
    M = rng.random((len(F), 3))
    np.testing.assert_allclose(closed.matmul(M), blocked.matmul(M), rtol=10 * closed.error)
    z = blocked.matmul(np.ones((len(F), 1)))[:, 0]
    gap = np.abs(closed.matmul(np.ones((len(F), 1)))[:, 0] - z)
    assert np.max(gap / z) <= closed.error + 1e-13
    bound = 10 * len(F) * closed.error * (1 + 4 * gamma) + 1e-9
    assert abs(closed.symmetric_entropy(1 / z) - blocked.symmetric_entropy(1 / z)) <= bound


def test_the_graph_takes_it_where_weights_differ_within_a_cluster():
    F = weighted_partition(0)
    graph = UniformGraph(F, 0.5)
    assert graph.mode == "weighted partition"
    assert graph.kernel.rank < 20
    F[F > 0] = 0.2
    assert UniformGraph(F, 0.5).mode == "partition"
    for other, gamma in ((F + 0.01, 1.0), (F[: SMALLEST_N - 1], 1.0), (weighted_partition(1), 1e7)):
        assert WeightedPartitionKernel.of(other, gamma) is None


def test_a_cluster_may_be_empty_or_a_single_sample():
    F = np.zeros((SMALLEST_N, 3))
    F[:-1, 0] = np.linspace(0.1, 1.0, SMALLEST_N - 1)
    F[-1, 2] = 0.5
    graph = UniformGraph(F, 2.0)
    assert graph.mode == "weighted partition"
    z = BlockedKernel(F, 2.0).matmul(np.ones((SMALLEST_N, 1)))[:, 0]
    np.testing.assert_allclose(graph.z, z, rtol=graph.error + 1e-13)
