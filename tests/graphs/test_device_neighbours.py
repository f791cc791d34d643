"""Neighbours on another device: those that the host finds, ties included."""

import array_api_strict
import numpy as np
import pytest

from featsieve.arrays import as_operator
from featsieve.graphs import device_neighbours
from featsieve.graphs.affinity import sample_graph
from featsieve.graphs.device_neighbours import device_candidates
from featsieve.graphs.knn import euclidean_distances, heat_kernel_graph, nearest_neighbours

DEVICE = array_api_strict.Device("device1")


def both(X, **settings):
    """Return the operators of a table on the host and on another device."""
    return as_operator(X, **settings), as_operator(
        array_api_strict.asarray(X, device=DEVICE), **settings
    )


TABLES = {
    "points": np.random.default_rng(0).standard_normal((70, 6)),
    "ties": np.random.default_rng(1).integers(0, 2, (70, 5)).astype(float),
    "copies": np.repeat(np.random.default_rng(2).standard_normal((7, 4)), 10, axis=0),
    "pair": np.array([[0.0, 1.0], [2.0, 0.0]]),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("rows", [64, 11])
def test_the_neighbours_of_the_host(name, rows, monkeypatch):
    monkeypatch.setattr(device_neighbours, "FEWEST_ROWS", rows)
    monkeypatch.setattr(device_neighbours, "BLOCK_ELEMENTS", 1)
    host, device = both(TABLES[name])
    n = host.shape[0]
    expected = nearest_neighbours(euclidean_distances(host), n, 5)
    found = nearest_neighbours(euclidean_distances(device), n, 5)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], atol=1e-12)


@pytest.mark.parametrize("affinity", ["heat", "binary"])
def test_graphs_agree(affinity):
    host, device = both(TABLES["points"], scale="std")
    expected = sample_graph(host, affinity).toarray()
    np.testing.assert_allclose(sample_graph(device, affinity).toarray(), expected, atol=1e-12)


def test_the_mean_distance_is_summed_over_all_blocks(monkeypatch):
    monkeypatch.setattr(device_neighbours, "FEWEST_ROWS", 9)
    monkeypatch.setattr(device_neighbours, "BLOCK_ELEMENTS", 1)
    host, device = both(TABLES["points"])
    expected = heat_kernel_graph(host).toarray()
    np.testing.assert_allclose(heat_kernel_graph(device).toarray(), expected, atol=1e-12)


def test_few_distances_leave_the_device():
    _, device = both(TABLES["points"])
    rows, columns, squares = device_candidates(
        euclidean_distances(device), 10, 40, k=5, error=np.zeros(30), relative=1e-12
    )
    assert len(rows) == len(columns) == len(squares) == 30 * 5
    assert not np.any(rows + 10 == columns)
