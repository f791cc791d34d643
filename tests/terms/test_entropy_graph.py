"""The adaptive graph with S eliminated against the same term with S written out."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.terms import NeighbourGraph, UniformGraph, entropy_graph, normalised_indicator
from featsieve.terms.entropy_graph import BlockedKernel, PartitionKernel

seeds = st.integers(0, 2**32 - 1)
weights = st.tuples(st.sampled_from([0.01, 0.3, 5.0]), st.sampled_from([0.02, 1.0, 50.0]))


def squared_distances(F):
    return ((F[:, None, :] - F[None, :, :]) ** 2).sum(axis=2)


def explicit_graph(F, gamma, prior=None):
    """Return S, s_ij = a_ij exp(-gamma d_ij)/z_i, as a dense softmax."""
    prior = np.ones((len(F), len(F))) if prior is None else prior
    K = prior * np.exp(-gamma * squared_distances(F))
    return K / K.sum(axis=1, keepdims=True)


def laplacian(S):
    T = (S + S.T) / 2
    return np.diag(T.sum(axis=1)) - T


def x_log_x(S, prior=1.0):
    """Return sum s log(s/a) with 0 log 0 = 0."""
    ratio = np.divide(S, prior, out=np.ones_like(S), where=S > 0)
    return float(np.sum(S * np.log(ratio)))


def explicit_term(F, S, *, alpha, beta, prior=1.0):
    """Return alpha tr(F' L_S F) + beta sum s log(s/a)."""
    return alpha * np.trace(F.T @ laplacian(S) @ F) + beta * x_log_x(S, prior)


def soft_labels(seed, n_clusters=3):
    rng = np.random.default_rng(seed)
    return rng.random((rng.integers(2, 25), n_clusters))


def random_partition(seed):
    """Return (labels, n_clusters), every cluster non-empty."""
    rng = np.random.default_rng(seed)
    n_clusters = int(rng.integers(1, 6))
    labels = np.append(np.arange(n_clusters), rng.integers(0, n_clusters, rng.integers(1, 40)))
    return rng.permutation(labels), n_clusters


def random_prior(seed, n, *, n_neighbors=3):
    """Return a sparse non-negative prior (rows sum to one) on random neighbours, and it dense."""
    rng = np.random.default_rng(seed)
    A = np.zeros((n, n))
    for row in range(n):
        others = np.delete(np.arange(n), row)
        neighbours = rng.choice(others, min(n_neighbors, n - 1), replace=False)
        A[row, neighbours] = rng.random(len(neighbours)) + 0.01
    return sp.csr_array(A), A / A.sum(axis=1, keepdims=True)


def finite_differences(function, F, *, step=1e-5):
    numeric = np.empty_like(F)
    for index in np.ndindex(F.shape):
        ahead, behind = F.copy(), F.copy()
        ahead[index] += step
        behind[index] -= step
        numeric[index] = (function(ahead) - function(behind)) / (2 * step)
    return numeric


# The paper's term: uniform prior ----------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(seed=seeds, weight=weights, feasible=st.booleans())
def test_eliminating_s_leaves_the_value_at_the_explicit_softmax(seed, weight, feasible):
    alpha, beta = weight
    F = normalised_indicator(*random_partition(seed)) if feasible else soft_labels(seed)
    gamma = alpha / (2 * beta)
    explicit = explicit_term(F, explicit_graph(F, gamma), alpha=alpha, beta=beta)
    eliminated = -beta * UniformGraph(F, gamma).log_partition()
    assert eliminated == pytest.approx(explicit, rel=1e-12, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(seed=seeds, gamma=st.sampled_from([1e-3, 0.5, 20.0]), feasible=st.booleans())
def test_products_and_entropies_are_those_of_the_dense_graph(seed, gamma, feasible):
    F = normalised_indicator(*random_partition(seed)) if feasible else soft_labels(seed)
    graph, S = UniformGraph(F, gamma), explicit_graph(F, gamma)
    L, M = laplacian(S), np.random.default_rng(seed).standard_normal((len(F), 4))
    np.testing.assert_allclose(graph.laplacian_product(M), L @ M, rtol=0, atol=1e-12)
    np.testing.assert_allclose(graph.product, L @ F, rtol=0, atol=1e-12)
    assert graph.smoothness(M) == pytest.approx(np.trace(M.T @ L @ M), rel=1e-10, abs=1e-12)
    assert graph.symmetric_entropy() == pytest.approx(x_log_x((S + S.T) / 2), rel=1e-11, abs=1e-11)
    np.testing.assert_allclose(graph.degree, np.diag(L) + np.diag(S), rtol=1e-12)


@settings(max_examples=15, deadline=None)
@given(seed=seeds, gamma=st.sampled_from([1e-3, 0.5, 20.0, 1e4]))
def test_the_partition_kernel_is_the_blocked_kernel_of_a_normalised_indicator(seed, gamma):
    F = normalised_indicator(*random_partition(seed))
    closed, blocked = PartitionKernel.of(F, gamma), BlockedKernel(F, gamma)
    assert isinstance(closed, PartitionKernel)
    assert UniformGraph(F, gamma).kernel.__class__ is PartitionKernel
    M = np.random.default_rng(seed).standard_normal((len(F), 3))
    np.testing.assert_allclose(closed.matmul(M), blocked.matmul(M), rtol=0, atol=1e-10)
    r = 1.0 / blocked.matmul(np.ones((len(F), 1)))[:, 0]
    entropy = blocked.symmetric_entropy(r)
    assert closed.symmetric_entropy(r) == pytest.approx(entropy, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize(
    "F",
    [
        pytest.param(np.array([[0.9, 0.1], [0.2, 0.8]]), id="soft"),
        pytest.param(np.array([[1.0, 0.0], [0.0, -1.0]]), id="negative"),
        pytest.param(np.array([[1.0, 0.0], [1.0, 0.0]]), id="empty cluster"),
        pytest.param(np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), id="zero row"),
        pytest.param(np.array([[0.6, 0.0], [0.8, 0.0], [0.0, 1.0]]), id="unequal in a cluster"),
    ],
)
def test_the_partition_kernel_refuses_what_is_no_partition(F):
    assert PartitionKernel.of(F, 1.0) is None
    K = np.exp(-squared_distances(F))
    np.testing.assert_allclose(UniformGraph(F, 1.0).z, K.sum(axis=1), rtol=1e-14)


def test_the_partition_kernel_accepts_rounding_only_where_it_is_harmless():
    F = normalised_indicator(*random_partition(7))
    F *= 1.0 + 1e-9 * np.random.default_rng(0).standard_normal((len(F), 1))
    ones = np.ones((len(F), 1))
    for gamma in (0.5, 50.0):
        closed, blocked = PartitionKernel.of(F, gamma), BlockedKernel(F, gamma)
        np.testing.assert_allclose(closed.matmul(ones), blocked.matmul(ones), rtol=1e-11)
    assert PartitionKernel.of(F, 5e5) is None  # 5e5 x 1e-9 would show


def test_the_origin_of_the_labels_does_not_matter():
    F = np.random.default_rng(0).integers(0, 1024, (20, 3)) / 1024.0  # shifted without rounding
    here, there = BlockedKernel(F, 0.7), BlockedKernel(F + 2.0**20, 0.7)
    K = np.exp(-0.7 * squared_distances(F))
    np.testing.assert_allclose(here.matmul(np.eye(20)), K, rtol=1e-13)
    np.testing.assert_allclose(there.matmul(np.eye(20)), K, rtol=1e-13)


@settings(max_examples=15, deadline=None)
@given(seed=seeds, elements=st.integers(1, 100))
def test_the_block_size_does_not_matter(seed, elements):
    F = soft_labels(seed)
    whole = UniformGraph(F, 0.7)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entropy_graph, "BLOCK_ELEMENTS", elements)
        blocks = UniformGraph(F, 0.7)
        product, entropy = blocks.laplacian_product(F), blocks.symmetric_entropy()
    np.testing.assert_allclose(blocks.z, whole.z, rtol=1e-13)
    np.testing.assert_allclose(product, whole.laplacian_product(F), atol=1e-13)
    assert entropy == pytest.approx(whole.symmetric_entropy(), rel=1e-12)


@settings(max_examples=10, deadline=None)
@given(seed=seeds, weight=weights)
def test_gradients_are_finite_differences_of_the_values(seed, weight):
    alpha, beta = weight
    F, gamma = soft_labels(seed), alpha / (2 * beta)
    gradient = 2 * alpha * UniformGraph(F, gamma).laplacian_product(F)
    numeric = finite_differences(lambda G: -beta * UniformGraph(G, gamma).log_partition(), F)
    np.testing.assert_allclose(gradient, numeric, rtol=1e-4, atol=1e-6)
    graph = NeighbourGraph(random_prior(seed, len(F))[0], alpha=alpha, beta=beta)
    numeric = finite_differences(graph.value, F)
    np.testing.assert_allclose(2 * alpha * graph.laplacian(F) @ F, numeric, rtol=1e-4, atol=1e-6)


@settings(max_examples=15, deadline=None)
@given(seed=seeds, weight=weights, concentration=st.sampled_from([0.05, 1.0, 30.0]))
def test_no_graph_on_the_simplex_beats_the_softmax(seed, weight, concentration):
    alpha, beta = weight
    F = soft_labels(seed)
    n = len(F)
    prior, dense_prior = random_prior(seed, n)
    rng = np.random.default_rng(seed)
    S = rng.dirichlet(np.full(n, concentration), n)
    best = -beta * UniformGraph(F, alpha / (2 * beta)).log_partition()
    assert best <= explicit_term(F, S, alpha=alpha, beta=beta) + 1e-9
    S = S * (dense_prior > 0) + 1e-9 * (dense_prior > 0)
    S /= S.sum(axis=1, keepdims=True)
    best = NeighbourGraph(prior, alpha=alpha, beta=beta).value(F)
    divisor = np.where(dense_prior > 0, dense_prior, 1.0)
    assert best <= explicit_term(F, S, alpha=alpha, beta=beta, prior=divisor) + 1e-9


def test_for_a_partition_the_term_depends_on_cluster_sizes_only():
    # DESIGN 2: z_k = n_k + sum_{l != k} n_l exp(-gamma (1/n_k + 1/n_l))
    sizes, gamma = np.array([4, 1, 7]), 2.5
    F = normalised_indicator(np.repeat(np.arange(3), sizes), 3)
    across = np.exp(-gamma * (1 / sizes[:, None] + 1 / sizes[None, :]))
    np.fill_diagonal(across, 1.0)
    expected = np.sum(sizes * np.log(across @ sizes))
    assert UniformGraph(F, gamma).log_partition() == pytest.approx(expected, rel=1e-14)


# The data's neighbour graph as prior ------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(seed=seeds, weight=weights, scaled=st.booleans())
def test_neighbour_graph_is_the_explicit_softmax_over_its_prior(seed, weight, scaled):
    alpha, beta = weight
    F = soft_labels(seed)
    sparse, prior = random_prior(seed, len(F))
    graph = NeighbourGraph(sp.csr_array(7.0 * sparse) if scaled else sparse, alpha=alpha, beta=beta)
    S = explicit_graph(F, alpha / (2 * beta), prior)
    divisor = np.where(prior > 0, prior, 1.0)
    explicit = explicit_term(F, S, alpha=alpha, beta=beta, prior=divisor)
    assert graph.value(F) == pytest.approx(explicit, rel=1e-12, abs=1e-12)
    np.testing.assert_allclose(graph.weights(F).toarray(), S, rtol=0, atol=1e-13)
    np.testing.assert_allclose(graph.laplacian(F).toarray(), laplacian(S), rtol=0, atol=1e-13)


# Extreme weights --------------------------------------------------------------------------------


def test_tiny_beta_reaches_the_nearest_of_the_neighbours():
    F = soft_labels(6)
    sparse, prior = random_prior(6, len(F))
    graph = NeighbourGraph(sparse, alpha=1.0, beta=1e-8)
    distance = np.where(prior > 0, squared_distances(F), np.inf)
    assert graph.value(F) == pytest.approx(0.5 * distance.min(axis=1).sum(), rel=1e-5)
    S = graph.weights(F).toarray()
    np.testing.assert_array_equal(S.argmax(axis=1), distance.argmin(axis=1))
    np.testing.assert_allclose(S.sum(axis=1), 1.0, rtol=1e-14)
    assert np.all(np.isfinite(graph.laplacian(F).toarray()))


@pytest.mark.parametrize("gamma", [5e7, 5e11, 1e18])
def test_a_sample_is_at_no_distance_from_itself_however_small_beta(gamma):
    F = np.abs(np.random.default_rng(0).standard_normal((50, 3)))
    graph = UniformGraph(F, gamma)
    np.testing.assert_allclose(graph.z, 1.0, rtol=1e-12)
    assert np.isfinite(graph.symmetric_entropy())


def test_stored_zeros_of_the_prior_are_no_edges():
    edges = ([0.0, 1.0, 1.0, 1.0], ([0, 0, 1, 2], [1, 2, 0, 0]))
    graph = NeighbourGraph(sp.csr_array(edges, shape=(3, 3)), alpha=1.0, beta=1e-8)
    assert np.isfinite(graph.value(np.array([[0.0], [0.0], [1.0]])))


def test_a_sample_without_neighbours_is_refused():
    prior = sp.csr_array(([1.0, 1.0], ([0, 1], [1, 0])), shape=(3, 3))
    with pytest.raises(ValueError, match="empty row"):
        NeighbourGraph(prior, alpha=1.0, beta=1.0)
