import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from featsieve.arrays import as_operator
from featsieve.arrays.row_parts import RowParts
from featsieve.graphs.coordinates import hat_coordinates, hat_directions
from featsieve.graphs.landmarks import LandmarkGraph, choose_landmarks, smallest


def blobs(n_samples=900, n_features=30):
    return make_blobs(n_samples, n_features, centers=5, cluster_std=1.5, random_state=0)


def graph_of(X, *, n_rows=None, n_landmarks=60, seed=0):
    operator = as_operator(X, scale="unit")
    parts = RowParts(operator, n_rows=n_rows)
    landmarks = choose_landmarks(
        operator,
        hat_directions(operator),
        n_landmarks=n_landmarks,
        random_state=np.random.RandomState(seed),
    )
    return LandmarkGraph(parts, landmarks)


def dense_links(graph):
    nearest, weights = graph.parts.gather(graph.links)
    B = np.zeros((len(nearest), graph.n_landmarks))
    np.put_along_axis(B, nearest, weights, axis=1)
    return B


@given(
    arrays(
        np.float64, st.tuples(st.integers(1, 6), st.integers(1, 300)), elements=st.floats(-9, 9)
    ),
    st.integers(1, 6),
)
def test_the_smallest_entries_are_those_of_a_sort(D, count):
    count = min(count, D.shape[1])
    indices, values = smallest(D, count)
    np.testing.assert_array_equal(values, np.sort(D, axis=1)[:, :count])
    np.testing.assert_array_equal(np.take_along_axis(D, indices, axis=1), values)


@pytest.mark.parametrize("n_features", [4, 30])  # by distance, by angle
def test_samples_are_joined_to_their_nearest_landmarks(n_features):
    X, _ = blobs(n_features=n_features)
    graph = graph_of(X)
    E = hat_coordinates(as_operator(X, scale="unit"))
    np.testing.assert_allclose(np.abs(E.T @ E), np.diag(np.diag(E.T @ E)), atol=1e-8)
    by_angle = graph.landmarks.by_angle
    assert by_angle == (n_features == 30)
    own = as_operator(X, scale="unit").matmul(graph.landmarks.directions)
    np.testing.assert_allclose(own @ own.T, E @ E.T, atol=1e-8)
    search = NearestNeighbors(n_neighbors=5, metric="cosine" if by_angle else "euclidean")
    distances, expected = search.fit(graph.landmarks.points).kneighbors(own)
    nearest, weights = graph.parts.gather(graph.links)
    assert np.mean(nearest == expected) > 0.999  # ties within rounding
    squares = 2.0 * distances if by_angle else distances**2
    raw = np.exp(-squares / squares[:, -1:])
    np.testing.assert_allclose(weights, raw / raw.sum(axis=1)[:, None], atol=1e-3)


def test_the_graph_is_symmetric_with_rows_that_sum_to_one():
    X, _ = blobs()
    graph = graph_of(X)
    B = dense_links(graph)
    np.testing.assert_allclose(B.sum(axis=1), 1.0, rtol=1e-6)
    np.testing.assert_allclose(B.sum(axis=0), graph.mass, rtol=1e-6)
    joined = graph.mass > 0
    S = (B[:, joined] / graph.mass[joined]) @ B[:, joined].T
    np.testing.assert_allclose(S.sum(axis=1), 1.0, rtol=1e-5)


def test_the_mass_of_clusters_is_that_of_the_dense_product():
    X, y = blobs()
    graph = graph_of(X, n_rows=250)
    M = np.eye(5)[y]
    found = graph.cluster_mass(graph.parts.scatter(y), 5)
    np.testing.assert_allclose(found, dense_links(graph).T @ M, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", ["dense", "sparse", "uint8"])
def test_clear_clusters_are_found(kind):
    X, y = blobs()
    X = X - X.min()
    table = {
        "dense": X,
        "sparse": sp.csr_array(X),
        "uint8": X.round().astype(np.uint8),
    }[kind]
    graph = graph_of(table)
    labels = graph.parts.gather(graph.labels(5, random_state=np.random.RandomState(0)))
    assert adjusted_rand_score(y, labels) > 0.99


def test_how_the_table_is_cut_does_not_matter():
    X, _ = blobs()
    whole, cut = graph_of(X), graph_of(X, n_rows=113)
    for one, other in zip(
        whole.parts.gather(whole.links), cut.parts.gather(cut.links), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-5)
    labels = [
        g.parts.gather(g.labels(5, random_state=np.random.RandomState(3))) for g in (whole, cut)
    ]
    np.testing.assert_array_equal(*labels)


def test_directions_of_wide_tables_come_from_subspace_iteration(monkeypatch):
    X, _ = blobs(n_features=150)
    operator = as_operator(X, scale="unit")
    exact = hat_directions(operator)
    monkeypatch.setattr("featsieve.defaults.LARGEST_EXACT_DIRECTIONS", 100)
    found = hat_directions(as_operator(X, scale="unit"))
    E, F = operator.matmul(exact[:, :8]), operator.matmul(found[:, :8])
    np.testing.assert_allclose(np.abs(E), np.abs(F), rtol=1e-3, atol=1e-4)
