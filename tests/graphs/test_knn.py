"""Neighbour graphs against scikit-learn and the golden matrix T9 of the specification."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from featsieve.arrays import as_operator
from featsieve.graphs import heat_kernel_graph, knn, nearest_neighbours, self_tuning_graph
from featsieve.graphs.knn import euclidean_distances, hat_distances

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


def blocks_of(D):
    """Return the block function of a full matrix of squared distances."""
    return lambda start, stop: D[start:stop].copy()


@st.composite
def points(draw):
    """Return a table without ties, and a number of neighbours."""
    n = draw(st.integers(2, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.standard_normal((n, draw(st.integers(1, 6)))), draw(st.integers(1, n - 1))


@settings(max_examples=40, deadline=None)
@given(case=points())
def test_nearest_neighbours_are_those_of_scikit_learn(case):
    X, k = case
    indices, squares = nearest_neighbours(euclidean_distances(as_operator(X)), len(X), k)
    distance, expected = NearestNeighbors(n_neighbors=k).fit(X).kneighbors()
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(squares, distance**2, rtol=1e-9, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(case=points(), elements=st.integers(1, 200))
def test_the_block_size_does_not_matter(case, elements):
    X, k = case
    D = squared_distances(X)
    indices, squares = nearest_neighbours(blocks_of(D), len(X), k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knn, "BLOCK_ELEMENTS", elements)
        other_indices, other_squares = nearest_neighbours(blocks_of(D), len(X), k)
    np.testing.assert_array_equal(indices, other_indices)
    np.testing.assert_array_equal(squares, other_squares)


@settings(max_examples=30, deadline=None)
@given(n=st.integers(2, 30), k=st.integers(1, 40), seed=st.integers(0, 999))
def test_no_sample_is_its_own_neighbour_even_among_coinciding_samples(n, k, seed):
    X = np.random.default_rng(seed).integers(0, 2, (n, 2)).astype(float)  # many coincide
    D = squared_distances(X)
    indices, squares = nearest_neighbours(blocks_of(D), n, k)
    assert indices.shape == (n, min(k, n - 1))
    np.fill_diagonal(D, np.inf)
    np.testing.assert_array_equal(squares, np.sort(D, axis=1)[:, : min(k, n - 1)])
    np.testing.assert_array_equal(np.take_along_axis(D, indices, axis=1), squares)
    assert all(len(set(row)) == len(row) for row in indices.tolist())


def test_equal_distances_are_listed_by_the_lower_index():
    D = squared_distances(np.array([[0.0], [1.0], [-1.0], [2.0], [-2.0]]))
    indices, _ = nearest_neighbours(blocks_of(D), 5, 4)
    np.testing.assert_array_equal(indices[0], [1, 2, 3, 4])


def test_negative_rounding_of_distances_is_cut_off():
    D = np.full((3, 3), -1e-17)
    _, squares = nearest_neighbours(blocks_of(D), 3, 2)
    np.testing.assert_array_equal(squares, 0.0)


@pytest.mark.parametrize("scale", ["unit", "none"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_euclidean_distances_are_those_between_rows_of_z(container, scale):
    X = np.random.default_rng(0).poisson(0.5, (20, 12)) * 1.0
    A = as_operator(container(X), scale=scale)
    expected = squared_distances(A.rows(0, 20))
    np.testing.assert_allclose(euclidean_distances(A)(0, 20), expected, atol=1e-12)
    np.testing.assert_allclose(euclidean_distances(A)(3, 8), expected[3:8], atol=1e-12)


def test_hat_distances_are_those_of_unit_rows_in_many_dimensions():
    E = np.random.default_rng(1).standard_normal((15, knn.FEW_DIRECTIONS))
    unit = E / np.linalg.norm(E, axis=1, keepdims=True)
    np.testing.assert_allclose(hat_distances(E)(0, 15), squared_distances(unit), atol=1e-14)
    np.testing.assert_allclose(hat_distances(7 * E)(2, 5), hat_distances(E)(2, 5), atol=1e-14)


def test_hat_distances_are_euclidean_in_few_dimensions():
    E = np.random.default_rng(2).standard_normal((15, knn.FEW_DIRECTIONS - 1))
    np.testing.assert_allclose(hat_distances(E)(0, 15), squared_distances(E), atol=1e-13)
    np.testing.assert_allclose(hat_distances(E)(2, 5), squared_distances(E)[2:5], atol=1e-13)


def test_a_zero_row_is_at_a_right_angle_to_everything():
    E = np.eye(4, knn.FEW_DIRECTIONS)
    E[0] = 0.0
    np.testing.assert_array_equal(hat_distances(E)(0, 1), 2.0)


# The authors' graph -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.int64, np.uint8])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("elements", [1, 20, 2**22])
def test_heat_kernel_graph_has_the_golden_degrees_and_bandwidth(
    container, dtype, elements, monkeypatch
):
    monkeypatch.setattr(knn, "BLOCK_ELEMENTS", elements)
    graph = heat_kernel_graph(as_operator(container(T9.astype(dtype))), n_neighbors=3)
    np.testing.assert_array_equal((graph > 0).sum(axis=1), T9_BINARY_DEGREES)
    np.testing.assert_allclose(graph.sum(axis=1), T9_HEAT_DEGREES, rtol=1e-12)
    edges = graph.tocoo()
    square = squared_distances(T9.astype(float))[edges.row, edges.col]
    bandwidth = np.sqrt(-square / (2 * np.log(edges.data)))  # w = exp(-d^2/(2 t^2))
    np.testing.assert_allclose(bandwidth, T9_BANDWIDTH, rtol=1e-12)


@settings(max_examples=25, deadline=None)
@given(case=points())
def test_heat_kernel_graph_is_the_explicit_one(case):
    X, k = case
    D = squared_distances(X)
    t = np.sqrt(D).mean()
    weight = np.zeros_like(D)
    nearest = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(return_distance=False)
    for row, neighbours in enumerate(nearest):
        weight[row, neighbours] = np.exp(-D[row, neighbours] / (2 * t**2))
    graph = heat_kernel_graph(as_operator(X), n_neighbors=k).toarray()
    np.testing.assert_allclose(graph, np.maximum(weight, weight.T), rtol=1e-9, atol=2e-13)


def test_heat_kernel_graph_of_coinciding_samples_has_unit_weights():
    X = np.zeros((8, 2))
    X[0] = 1.0
    graph = heat_kernel_graph(as_operator(X), n_neighbors=3)
    assert np.all(np.isfinite(graph.data))
    np.testing.assert_allclose(graph[1:, 1:].data, 1.0, rtol=1e-12)


# The self-tuning graph --------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(case=points())
def test_self_tuning_graph_is_the_explicit_one(case):
    X, k = case
    D = squared_distances(X)
    distance, nearest = NearestNeighbors(n_neighbors=k).fit(X).kneighbors()
    sigma = distance[:, -1]
    weight = np.zeros_like(D)
    for row, neighbours in enumerate(nearest):
        weight[row, neighbours] = np.exp(-D[row, neighbours] / (sigma[row] * sigma[neighbours]))
    weight[weight > 0] = np.maximum(weight[weight > 0], 1e-13)
    graph = self_tuning_graph(blocks_of(D), len(X), n_neighbors=k)
    np.testing.assert_allclose(graph.toarray(), np.maximum(weight, weight.T), rtol=1e-8, atol=2e-13)


@settings(max_examples=30, deadline=None)
@given(case=points(), spread=st.sampled_from([1e-6, 1.0, 1e6]))
def test_self_tuning_graph_is_symmetric_with_weights_up_to_one_and_no_loops(case, spread):
    X, k = case
    X = spread * X**3  # very unequal local scales
    graph = self_tuning_graph(blocks_of(squared_distances(X)), len(X), n_neighbors=k)
    assert (graph != graph.T).nnz == 0
    assert np.all((graph.data > 0) & (graph.data <= 1))
    np.testing.assert_array_equal(graph.diagonal(), 0.0)
    assert np.all((graph > 0).sum(axis=1) >= k)


@pytest.mark.parametrize("n_same", [6, 10, 19])
def test_self_tuning_graph_joins_coinciding_samples_with_full_weight(n_same):
    X = np.random.default_rng(2).standard_normal((20, 3))
    X[:n_same] = X[0]
    graph = self_tuning_graph(blocks_of(squared_distances(X)), 20)
    assert np.all(np.isfinite(graph.data))
    assert np.all((graph.data > 0) & (graph.data <= 1))
    same = graph[:n_same, :n_same].toarray()
    np.testing.assert_array_equal(same[same > 0], 1.0)
    assert np.all((same > 0).sum(axis=1) >= 5)


def test_self_tuning_graph_of_samples_that_all_coincide_has_unit_weights():
    graph = self_tuning_graph(blocks_of(np.zeros((12, 12))), 12)
    np.testing.assert_array_equal(graph.data, 1.0)
    assert np.all((graph > 0).sum(axis=1) >= 5)


def test_self_tuning_weights_do_not_change_with_the_unit_of_distance():
    D = squared_distances(np.random.default_rng(3).standard_normal((30, 2)))
    graph = self_tuning_graph(blocks_of(D), 30).toarray()
    np.testing.assert_allclose(self_tuning_graph(blocks_of(1e6 * D), 30).toarray(), graph)


def test_of_equally_distant_samples_the_lower_indices_are_neighbours():
    X = np.random.default_rng(0).integers(0, 3, (100, 4)).astype(float)
    D = squared_distances(X)
    np.fill_diagonal(D, np.inf)
    indices, _ = nearest_neighbours(blocks_of(D), 100, 5)
    np.testing.assert_array_equal(indices, np.argsort(D, axis=1, kind="stable")[:, :5])


def test_heat_kernel_graph_of_one_repeated_sample_has_unit_weights():
    assert (heat_kernel_graph(as_operator(np.ones((8, 2))), n_neighbors=3).data == 1.0).all()


# Points: a first look in single precision --------------------------------------------------------


def exact_neighbours(points, k):
    """Neighbours by the block function alone: every distance in double precision."""
    exact = knn.PointDistances(points)
    return nearest_neighbours(lambda a, b: exact(a, b), len(points), k, rounding=exact.rounding)


@st.composite
def clouds(draw):
    """Return points of very unequal sizes, many of which coincide or tie."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, r = draw(st.integers(2, 300)), draw(st.integers(1, 30))
    X = rng.standard_normal((n, r)) if draw(st.booleans()) else rng.integers(-1, 2, (n, r)) * 1.0
    X *= 10.0 ** draw(st.integers(-8, 8))
    if draw(st.booleans()):  # a few outliers, which cost single precision its digits
        X[: n // 20] *= 1e5
    return X, draw(st.integers(1, min(n - 1, 12)))


@settings(max_examples=80, deadline=None)
@given(case=clouds(), elements=st.sampled_from([1, 2**10, 2**23]))
def test_neighbours_of_points_are_the_same_with_and_without_single_precision(case, elements):
    X, k = case
    expected, distance = exact_neighbours(X, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(knn, "ROUGH_ELEMENTS", elements)
        patch.setattr(knn, "MOST_CANDIDATES", 1.0)  # never fall back
        indices, squares = nearest_neighbours(knn.PointDistances(X), len(X), k)
    scale = (X**2).sum(axis=1).max()
    np.testing.assert_allclose(squares, distance, rtol=1e-9, atol=1e-11 * scale)
    np.testing.assert_array_equal(indices, expected)


def test_distances_closer_than_single_precision_are_told_apart():
    # Neighbours at 1, 1 + 1e-9, 1 + 2e-9, ...: all the same in float32.
    near = np.sqrt(1.0 + 1e-9 * np.arange(200)[::-1])
    X = np.concatenate([[[0.0, 0.0]], np.column_stack([near, np.zeros(200)])])
    indices, _ = nearest_neighbours(knn.PointDistances(X), len(X), 5)
    np.testing.assert_array_equal(indices[0], [200, 199, 198, 197, 196])


def test_outliers_send_the_search_to_double_precision(monkeypatch):
    X = np.random.default_rng(0).standard_normal((400, 12))
    X[0] = 1e6
    expected = exact_neighbours(X, 5)[0]
    blocks = []
    real = knn.PointDistances.__call__

    def count(self, start, stop):
        blocks.append((start, stop))
        return real(self, start, stop)

    monkeypatch.setattr(knn.PointDistances, "__call__", count)
    np.testing.assert_array_equal(nearest_neighbours(knn.PointDistances(X), 400, 5)[0], expected)
    assert blocks
    blocks.clear()
    nearest_neighbours(knn.PointDistances(X[1:]), 399, 5)
    assert not blocks


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_points_in_either_precision_have_the_neighbours_of_scikit_learn(dtype):
    X = np.random.default_rng(4).standard_normal((700, 20)).astype(dtype)
    indices, squares = nearest_neighbours(knn.PointDistances(X), 700, 7)
    distance, expected = (
        NearestNeighbors(n_neighbors=7, algorithm="brute").fit(X.astype(float)).kneighbors()
    )
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(squares, distance**2, rtol=1e-9)
