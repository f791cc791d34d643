"""Distances in blocks: among points, rows of operators, and on another device."""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from featsieve import defaults
from featsieve.arrays import as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.graphs import distances, heat_kernel_graph, nearest_neighbours
from featsieve.graphs.distances import (
    Distances,
    EuclideanDistances,
    GivenDistances,
    PointDistances,
    hat_distances,
)
from tests.graphs.test_knn import squared_distances


@pytest.mark.parametrize("scale", ["unit", "none"])
@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_euclidean_distances_are_those_between_rows_of_z(container, scale):
    X = np.random.default_rng(0).poisson(0.5, (20, 12)) * 1.0
    A = as_operator(container(X), scale=scale)
    expected = squared_distances(A.rows(0, 20))
    np.testing.assert_allclose(EuclideanDistances(A)(0, 20), expected, atol=1e-12)
    np.testing.assert_allclose(EuclideanDistances(A)(3, 8), expected[3:8], atol=1e-12)


def test_hat_distances_are_angles_in_many_dimensions_and_lengths_in_few():
    E = np.random.default_rng(1).standard_normal((15, defaults.FEW_DIRECTIONS))
    unit = E / np.linalg.norm(E, axis=1, keepdims=True)
    np.testing.assert_allclose(hat_distances(E)(0, 15), squared_distances(unit), atol=1e-14)
    np.testing.assert_allclose(hat_distances(7 * E)(2, 5), hat_distances(E)(2, 5), atol=1e-14)
    few = E[:, 1:]
    np.testing.assert_allclose(hat_distances(few)(2, 5), squared_distances(few)[2:5], atol=1e-13)
    E[0] = 0.0  # at a right angle to everything
    np.testing.assert_allclose(hat_distances(E)(0, 1)[0, 1:], 2.0, rtol=1e-14)


# Points: a first look in single precision --------------------------------------------------------


class ExactDistances(PointDistances):
    """Every distance in double precision."""

    candidates = Distances.candidates


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


@settings(max_examples=60, deadline=None)
@given(case=clouds(), elements=st.sampled_from([1, 2**10, 2**23]))
def test_neighbours_of_points_are_the_same_with_and_without_single_precision(case, elements):
    X, k = case
    expected, distance = nearest_neighbours(ExactDistances(X), k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(distances, "BLOCK_ELEMENTS", elements)
        patch.setattr(distances, "MOST_CANDIDATES", 1.0)  # never fall back
        indices, squares = nearest_neighbours(PointDistances(X), k)
    scale = (X**2).sum(axis=1).max()
    np.testing.assert_allclose(squares, distance, rtol=1e-9, atol=1e-11 * scale)
    np.testing.assert_array_equal(indices, expected)


def test_distances_closer_than_single_precision_are_told_apart():
    # Neighbours at 1, 1 + 1e-9, 1 + 2e-9, ...: all the same in float32.
    near = np.sqrt(1.0 + 1e-9 * np.arange(200)[::-1])
    X = np.concatenate([[[0.0, 0.0]], np.column_stack([near, np.zeros(200)])])
    indices, _ = nearest_neighbours(PointDistances(X), 5)
    np.testing.assert_array_equal(indices[0], [200, 199, 198, 197, 196])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_points_in_either_precision_have_the_neighbours_of_scikit_learn(dtype):
    X = np.random.default_rng(4).standard_normal((700, 20)).astype(dtype)
    indices, squares = nearest_neighbours(PointDistances(X), 7)
    distance, expected = (
        NearestNeighbors(n_neighbors=7, algorithm="brute").fit(X.astype(float)).kneighbors()
    )
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_allclose(squares, distance**2, rtol=1e-9)


# Another device -----------------------------------------------------------------------------------

TABLES = {
    "points": np.random.default_rng(0).standard_normal((70, 6)),
    "ties": np.random.default_rng(1).integers(0, 2, (70, 5)).astype(float),
    "copies": np.repeat(np.random.default_rng(2).standard_normal((7, 4)), 10, axis=0),
    "pair": np.array([[0.0, 1.0], [2.0, 0.0]]),
}


def elsewhere(X):
    """Return a table on another device."""
    return array_api_strict.asarray(X, device=array_api_strict.Device("device1"))


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("rows", [64, 11])
def test_the_neighbours_of_the_host(name, rows, monkeypatch):
    monkeypatch.setattr(distances, "FEWEST_ROWS", rows)
    monkeypatch.setattr(distances, "DEVICE_ELEMENTS", 1)
    host, device = as_operator(TABLES[name]), as_operator(elsewhere(TABLES[name]))
    expected = nearest_neighbours(EuclideanDistances(host), 5)
    found = nearest_neighbours(EuclideanDistances(device), 5)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], atol=1e-12)
    graphs = (heat_kernel_graph(operator).toarray() for operator in (device, host))
    np.testing.assert_allclose(*graphs, atol=1e-12)  # the mean distance sums over all blocks


KINDS = {
    "points": (PointDistances, lambda X: X),
    "angles": (hat_distances, lambda X: X @ np.eye(X.shape[1], defaults.FEW_DIRECTIONS)),
    "products": (GivenDistances, lambda X: X @ X.T),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TABLES)
def test_distances_of_points_and_products_are_those_of_the_host(kind, name):
    distances_of, prepared = KINDS[kind]
    samples = prepared(TABLES[name])
    host, device = distances_of(samples), distances_of(elsewhere(samples))
    everything = host(0, len(samples))
    np.testing.assert_allclose(to_numpy(device(0, len(samples))), everything, atol=1e-12)
    np.testing.assert_array_equal(*(nearest_neighbours(found, 3)[0] for found in (device, host)))
    rows = np.arange(0, len(samples), 2)
    among = device.among(rows)(0, len(rows))
    np.testing.assert_allclose(to_numpy(among), everything[np.ix_(rows, rows)], atol=1e-12)
    nearest = everything[np.arange(len(samples)), rows[device.nearest(rows)]]
    np.testing.assert_allclose(nearest, everything[:, rows].min(axis=1), atol=1e-12)
