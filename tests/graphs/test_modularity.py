"""Modularity against its definition: a sum over all pairs of samples."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

from featsieve.graphs.affinity import modularity


def by_pairs(A, labels):
    """Return Q = 1/(2m) sum_ij (a_ij - k_i k_j/(2m)) [same cluster], term by term."""
    degree, total = A.sum(axis=1), A.sum()
    value = 0.0
    for i in range(len(A)):
        for j in range(len(A)):
            if labels[i] == labels[j]:
                value += (A[i, j] - degree[i] * degree[j] / total) / total
    return value


@st.composite
def graphs(draw):
    """Return a small symmetric weighted graph (isolated samples allowed)."""
    n = draw(st.integers(2, 9))
    weights = st.one_of(st.just(0.0), st.floats(0.01, 10.0))
    A = np.zeros((n, n))
    A[np.triu_indices(n, 1)] = draw(
        st.lists(weights, min_size=n * (n - 1) // 2, max_size=n * (n - 1) // 2)
    )
    assume(A.any())
    return A + A.T


@st.composite
def graphs_with_labels(draw, n_runs=1):
    A = draw(graphs())
    entries = st.lists(st.integers(0, 4), min_size=len(A), max_size=len(A))
    return A, np.array(draw(st.lists(entries, min_size=n_runs, max_size=n_runs)))


@given(case=graphs_with_labels())
def test_it_is_the_sum_over_pairs(case):
    A, (labels,) = case
    assert modularity(sp.csr_array(A), labels) == pytest.approx(by_pairs(A, labels), abs=1e-12)


@given(case=graphs_with_labels(n_runs=3))
def test_several_clusterings_at_once_are_judged_one_by_one(case):
    A, runs = case
    graph = sp.csr_array(A)
    together = modularity(graph, runs)
    assert together.shape == (3,)
    np.testing.assert_array_equal(together, [modularity(graph, run) for run in runs])


def test_two_triangles_joined_by_an_edge():
    A = np.zeros((6, 6))
    for i, j in [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)]:
        A[i, j] = A[j, i] = 1.0
    # 6 of 7 edges inside, each side holds half of the degrees.
    assert modularity(sp.csr_array(A), np.array([0, 0, 0, 1, 1, 1])) == pytest.approx(6 / 7 - 1 / 2)


def test_one_cluster_has_none_and_equal_components_have_the_most():
    graph = sp.csr_array(sp.block_diag([sp.csr_array(np.ones((4, 4)) - np.eye(4))] * 5))
    assert modularity(graph, np.zeros(20, dtype=int)) == pytest.approx(0.0, abs=1e-12)
    assert modularity(graph, np.repeat(np.arange(5), 4)) == pytest.approx(1 - 1 / 5)


def test_one_clustering_gives_a_number_without_axis():
    graph = sp.csr_array(np.ones((3, 3)) - np.eye(3))
    assert modularity(graph, np.array([0, 1, 1])).shape == ()
    assert modularity(graph, np.array([[0, 1, 1]])).shape == (1,)
