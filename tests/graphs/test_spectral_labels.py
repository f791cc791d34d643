"""First pseudo-labels: components are found exactly, and labels are always valid."""

import importlib

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.metrics import adjusted_rand_score

from featsieve.arrays import as_operator
from featsieve.graphs import (
    kmeans_labels,
    laplacian_labels,
    self_tuning_graph,
    spectral_labels,
)
from featsieve.graphs.distances import EuclideanDistances

# The package exports the function under the name of its module.
module = importlib.import_module("featsieve.graphs.spectral_labels")

METHODS = {"spectral": spectral_labels, "laplacian": laplacian_labels}
PATHS = {"dense": 1000, "lanczos": 0}


@pytest.fixture(params=PATHS)
def path(request, monkeypatch):
    """Take the dense, then the Lanczos solver."""
    monkeypatch.setattr(module, "LARGEST_DENSE", PATHS[request.param])
    return request.param


def components_graph(sizes, *, seed=0):
    """Return a graph of connected components with random weights, and each sample's component."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    A = np.zeros((len(truth), len(truth)))
    for component in range(len(sizes)):
        members = rng.permutation(np.flatnonzero(truth == component))
        A[members, np.roll(members, 1)] = rng.uniform(0.2, 1.0, len(members))  # a ring
        chords = np.triu(rng.random((len(members),) * 2) < 0.3, 1)
        A[np.ix_(members, members)] += chords * rng.uniform(0.2, 1.0, chords.shape)
    return sp.csr_array(np.maximum(A, A.T)), truth


def assert_valid(labels, n_samples, n_clusters):
    """Labels are 0..c-1, none empty, numbered by their first sample."""
    assert labels.shape == (n_samples,)
    values, first = np.unique(labels, return_index=True)
    np.testing.assert_array_equal(values, np.arange(n_clusters))
    assert np.all(np.diff(first) > 0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sizes", [(8, 8), (20, 5, 11), (6, 9, 7, 8, 12), (60, 4, 30)])
def test_as_many_components_as_clusters_are_recovered_exactly(method, sizes, path):
    for seed in range(3):
        graph, truth = components_graph(sizes, seed=seed)
        random_state = np.random.RandomState(seed)
        labels = METHODS[method](graph, len(sizes), random_state=random_state)
        assert_valid(labels, len(truth), len(sizes))
        assert adjusted_rand_score(truth, labels) == 1.0


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_components", [1, 2, 4, 6, 9])
def test_fewer_or_more_components_than_clusters_give_valid_labels(method, n_components, path):
    graph, truth = components_graph((7,) * n_components, seed=n_components)
    n_clusters = min(4, len(truth) // 3)
    labels = METHODS[method](graph, n_clusters, random_state=np.random.RandomState(0))
    assert_valid(labels, len(truth), n_clusters)
    if method == "spectral" and n_components <= n_clusters:  # no cluster crosses a component
        assert all(len(set(truth[labels == k])) == 1 for k in range(n_clusters))


def test_the_bridge_decides_which_components_belong_together(path):
    graph, component = components_graph((10, 8, 12, 9), seed=1)
    for pairs in ([0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]):
        truth = np.array(pairs)[component]
        bridge = np.eye(2)[truth]
        labels = spectral_labels(graph, 2, random_state=np.random.RandomState(0), bridge=bridge)
        assert adjusted_rand_score(truth, labels) == 1.0


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("method", METHODS)
def test_labels_are_k_means_in_the_eigenvectors_of_the_definition(method, seed):
    rng = np.random.default_rng(seed)
    A = rng.random((40, 40)) ** 8 * np.outer(*[rng.random(40) ** 2 + 0.01] * 2)
    A = np.maximum(A, A.T) * (1 - np.eye(40))  # connected, degrees very unequal
    degree = A.sum(axis=1)
    if method == "spectral":
        points = np.linalg.eigh(A / np.sqrt(np.outer(degree, degree)))[1][:, -4:]
        points /= np.linalg.norm(points, axis=1, keepdims=True)
    else:
        T = A / degree[:, None] + (A / degree[:, None]).T
        points = np.linalg.eigh(np.diag(T.sum(axis=1)) - T)[1][:, :4]
    expected = kmeans_labels(points, 4, random_state=np.random.RandomState(seed))
    labels = METHODS[method](sp.csr_array(A), 4, random_state=np.random.RandomState(seed))
    assert adjusted_rand_score(expected, labels) == 1.0


def test_an_isolated_sample_is_no_obstacle(path):
    parts = [np.ones((m, m)) - np.eye(m) for m in (30, 29, 1)]
    graph = sp.csr_array(sp.block_diag([sp.csr_array(part) for part in parts]))
    labels = spectral_labels(graph, 4, random_state=np.random.RandomState(0))
    assert_valid(labels, 60, 4)


def test_fewer_distinct_points_than_clusters_are_split_without_a_warning():
    labels = kmeans_labels(np.zeros((6, 2)), 3, random_state=np.random.RandomState(0))
    assert_valid(labels, 6, 3)


# Many clusterings of one graph -----------------------------------------------------------------


def clusterings(graph, most, *, bridge=None, seed=0):
    """Return the labels of one graph for several numbers of clusters."""
    random_state = np.random.RandomState(seed)
    return module.SpectralClusterings(graph, most, random_state=random_state, bridge=bridge)


def linked(sizes, *, seed):
    """Return a connected graph of clear clusters, and these."""
    graph, truth = components_graph(sizes, seed=seed)
    weak = np.random.default_rng(seed).uniform(0.5e-3, 1.5e-3, graph.shape)
    weak = np.triu(weak, 1)
    return sp.csr_array(graph + sp.csr_array(weak + weak.T)), truth


@pytest.mark.parametrize("sizes", [(20, 16), (12, 15, 18), (9, 12, 10, 14)])
@pytest.mark.parametrize("most", [6, 20])
def test_many_clusterings_of_a_connected_graph_are_those_made_one_by_one(sizes, most, path):
    graph, truth = linked(sizes, seed=len(sizes))
    many = clusterings(graph, most)
    assert most != 20 or most > graph.shape[0] // 3
    labels = many.labels(len(sizes))
    assert_valid(labels, len(truth), len(sizes))
    assert adjusted_rand_score(truth, labels) == 1.0
    for c in range(1, len(sizes) + 1):
        one = spectral_labels(graph, c, random_state=np.random.RandomState(0))
        assert adjusted_rand_score(many.labels(c), one) == 1.0


@pytest.mark.parametrize("pairs", [[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]])
@pytest.mark.parametrize("most", [2, 4, 7, 20])
def test_many_clusterings_join_components_by_the_bridge(pairs, most, path):
    graph, component = components_graph((10, 8, 12, 9), seed=1)
    truth = np.array(pairs)[component]
    many = clusterings(graph, most, bridge=np.eye(2)[truth])
    assert adjusted_rand_score(truth, many.labels(2)) == 1.0
    if most >= 4:
        assert adjusted_rand_score(component, many.labels(4)) == 1.0
    if most > 4:  # the graph decides: nothing crosses a component
        labels = many.labels(6)
        assert_valid(labels, 39, 6)
        assert all(len(set(component[labels == k])) == 1 for k in range(6))


def test_a_flat_spectrum_gets_rough_vectors(monkeypatch):
    rng = np.random.default_rng(0)
    truth = np.repeat([0, 1, 2], 40)
    points = rng.standard_normal((120, 5)) + 10.0 * np.eye(3)[truth][:, [0, 1, 2, 0, 1]]
    graph = self_tuning_graph(EuclideanDistances(as_operator(points)), n_neighbors=20)
    monkeypatch.setattr(module, "LARGEST_DENSE", 50)
    solve, calls = module.largest_by_lanczos, []

    def fails_at_first(*arguments, **options):
        calls.append(options)
        if len(calls) == 1:
            raise ArpackNoConvergence("no convergence", np.zeros(0), np.zeros((120, 0)))
        return solve(*arguments, **options)

    monkeypatch.setattr(module, "largest_by_lanczos", fails_at_first)
    noisy = graph + 1e-3 * sp.csr_array(np.ones((120, 120)))  # connected: Lanczos has work to do
    labels = spectral_labels(sp.csr_array(noisy), 3, random_state=np.random.RandomState(0))
    assert adjusted_rand_score(truth, labels) == 1.0
    assert len(calls) == 2
    assert calls[1]["tol"] > 0.0
