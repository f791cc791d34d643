"""Neighbour graphs against scikit-learn and the golden matrix T9 of the specification."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import SpectralCoclustering
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from featsieve import defaults
from featsieve.arrays import as_operator
from featsieve.graphs import distances, heat_kernel_graph, nearest_neighbours, self_tuning_graph
from featsieve.graphs.affinity import SharedNeighbours, mutual_graph
from featsieve.graphs.distances import Distances, EuclideanDistances
from featsieve.graphs.spectral_labels import spectral_labels

# 00_common.md, 7.1: k = 3, no ties
T9 = np.array(
    [
        [9, 0, 2, 0, 0],
        [9, 3, 1, 0, 0],
        [7, 1, 2, 1, 1],
        [0, 8, 0, 0, 0],
        [1, 7, 8, 2, 1],
        [1, 8, 5, 0, 2],
        [9, 9, 5, 1, 1],
        [8, 8, 2, 3, 1],
        [9, 6, 4, 3, 3],
    ]
)
T9_BINARY_DEGREES = [3, 5, 3, 3, 3, 3, 5, 4, 5]
T9_BANDWIDTH = 7.127606508954592
T9_HEAT_DEGREES = [
    2.404747529763635,
    3.787844192504370,
    2.498782180105088,
    1.705620584953814,
    1.824032656393711,
    2.124243854484182,
    3.269387898180573,
    2.901527258399000,
    3.652224197164401,
]


def squared_distances(X):
    return ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)


class Matrix(Distances):
    """The blocks of a full matrix of squared distances."""

    def __init__(self, D, rounding=0.0):
        self.D, self.rounding = D, np.full(len(D), rounding)

    def __call__(self, start, stop):
        return self.D[start:stop].copy()


@st.composite
def points(draw):
    """Return a table without ties, and a number of neighbours."""
    n = draw(st.integers(2, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.standard_normal((n, draw(st.integers(1, 6)))), draw(st.integers(1, n - 1))


@settings(max_examples=40, deadline=None)
@given(case=points(), elements=st.integers(1, 200))
def test_nearest_neighbours_are_those_of_scikit_learn_whatever_the_blocks(case, elements):
    X, k = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "BLOCK_ELEMENTS", elements)
        patch.setattr(distances, "FEWEST_ROWS", 1)
        indices, squares = nearest_neighbours(EuclideanDistances(as_operator(X)), k)
    distance, expected = NearestNeighbors(n_neighbors=k).fit(X).kneighbors()
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(squares, distance**2, rtol=1e-9, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(n=st.integers(2, 30), k=st.integers(1, 40), seed=st.integers(0, 999))
def test_no_sample_is_its_own_neighbour_even_among_coinciding_samples(n, k, seed):
    X = np.random.default_rng(seed).integers(0, 2, (n, 2)).astype(float)  # many coincide
    D = squared_distances(X)
    indices, squares = nearest_neighbours(Matrix(D), k)
    assert indices.shape == (n, min(k, n - 1))
    np.fill_diagonal(D, np.inf)
    np.testing.assert_array_equal(squares, np.sort(D, axis=1)[:, : min(k, n - 1)])
    np.testing.assert_array_equal(np.take_along_axis(D, indices, axis=1), squares)
    assert all(len(set(row)) == len(row) for row in indices.tolist())


def test_of_equally_distant_samples_the_lower_indices_are_neighbours():
    X = np.random.default_rng(0).integers(0, 3, (100, 4)).astype(float)
    D = squared_distances(X)
    indices, squares = nearest_neighbours(Matrix(D - 1e-17), 5)
    np.fill_diagonal(D, np.inf)
    np.testing.assert_array_equal(indices, np.argsort(D, axis=1, kind="stable")[:, :5])
    assert squares.min() == 0.0  # negative rounding is cut off


# The authors' graph -----------------------------------------------------------------------------


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("elements", [1, 20, 2**22])
def test_heat_kernel_graph_has_the_golden_degrees_and_bandwidth(container, elements, monkeypatch):
    monkeypatch.setattr(distances, "BLOCK_ELEMENTS", elements)
    monkeypatch.setattr(distances, "FEWEST_ROWS", 1)
    graph = heat_kernel_graph(as_operator(container(T9)), n_neighbors=3)
    np.testing.assert_array_equal((graph > 0).sum(axis=1), T9_BINARY_DEGREES)
    np.testing.assert_allclose(graph.sum(axis=1), T9_HEAT_DEGREES, rtol=1e-12)
    edges = graph.tocoo()
    square = squared_distances(T9.astype(float))[edges.row, edges.col]
    bandwidth = np.sqrt(-square / (2 * np.log(edges.data)))  # w = exp(-d^2/(2 t^2))
    np.testing.assert_allclose(bandwidth, T9_BANDWIDTH, rtol=1e-12)


def explicit_graph(X, k, weight_of):
    """Return max(A, A') of weights of the neighbours that scikit-learn finds."""
    D = squared_distances(X)
    distance, nearest = NearestNeighbors(n_neighbors=k).fit(X).kneighbors()
    weight = np.zeros_like(D)
    for row, near in enumerate(nearest):
        weight[row, near] = np.maximum(weight_of(D, distance[:, -1], row, near), 1e-13)
    return np.maximum(weight, weight.T)


@settings(max_examples=25, deadline=None)
@given(case=points())
def test_both_graphs_are_the_explicit_ones(case):
    X, k = case
    D = squared_distances(X)
    t = np.sqrt(D).mean()
    heat = explicit_graph(X, k, lambda D, s, i, j: np.exp(-D[i, j] / (2 * t**2)))
    found = heat_kernel_graph(as_operator(X), n_neighbors=k).toarray()
    np.testing.assert_allclose(found, heat, rtol=1e-9, atol=2e-13)
    tuned = explicit_graph(X, k, lambda D, s, i, j: np.exp(-D[i, j] / (s[i] * s[j])))
    found = self_tuning_graph(Matrix(D), n_neighbors=k).toarray()
    np.testing.assert_allclose(found, tuned, rtol=1e-8, atol=2e-13)
    scaled = self_tuning_graph(Matrix(1e6 * D), n_neighbors=k).toarray()
    np.testing.assert_allclose(scaled, found)  # units of distance do not matter


@settings(max_examples=25, deadline=None)
@given(case=points())
def test_graphs_of_lists_are_the_explicit_ones(case):
    X, k = case
    nearest = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(return_distance=False)
    lists = np.zeros((len(X), len(X)))
    np.put_along_axis(lists, nearest, 1.0, axis=1)
    either, both = np.maximum(lists, lists.T), lists * lists.T
    expected = either + (defaults.MUTUAL_WEIGHT - 1.0) * both
    np.testing.assert_array_equal(mutual_graph(nearest).toarray(), expected)
    lists += np.eye(len(X))
    expected = [[np.sum(one * other / lists.sum(axis=0)) for other in lists] for one in lists]
    found, ones = SharedNeighbours(nearest), np.ones(len(X))
    np.testing.assert_allclose(found.toarray(), np.array(expected) / (k + 1.0), atol=1e-14)
    np.testing.assert_allclose(found @ ones, ones)
    weight = np.random.default_rng(0).standard_normal(len(X))
    np.testing.assert_allclose(found @ weight, found.toarray() @ weight, atol=1e-12)


def test_shared_graphs_are_cut_as_scikit_learn_clusters_both_sides_of_lists():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 2)) + np.repeat([[0, 0], [4, 0], [0, 4]], 30, axis=0)
    nearest = NearestNeighbors(n_neighbors=5).fit(X).kneighbors(return_distance=False)
    lists = np.eye(90)
    np.put_along_axis(lists, nearest, 1.0, axis=1)
    theirs = SpectralCoclustering(3, random_state=0).fit(lists).row_labels_
    seeds = np.random.RandomState(0)
    ours = spectral_labels(SharedNeighbours(nearest), 3, random_state=seeds)
    assert adjusted_rand_score(theirs, ours) > 0.95


def test_graphs_of_coinciding_samples_have_unit_weights():
    X = np.zeros((8, 2))
    X[0] = 1.0
    graph = heat_kernel_graph(as_operator(X), n_neighbors=3)
    assert np.all(np.isfinite(graph.data))
    np.testing.assert_allclose(graph[1:, 1:].data, 1.0, rtol=1e-12)
    assert (heat_kernel_graph(as_operator(np.ones((8, 2))), n_neighbors=3).data == 1.0).all()
    graph = self_tuning_graph(Matrix(np.zeros((12, 12))))
    np.testing.assert_array_equal(graph.data, 1.0)
    assert np.all((graph > 0).sum(axis=1) >= 5)
