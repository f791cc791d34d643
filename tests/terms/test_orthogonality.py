"""Feasible pseudo-labels: the normalised indicator of a partition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.terms import indicator, is_feasible, normalised_indicator


@st.composite
def partitions(draw):
    """Return (labels, n_clusters) without empty clusters."""
    n_clusters = draw(st.integers(1, 6))
    extra = draw(st.lists(st.integers(0, n_clusters - 1), max_size=30))
    return np.array(draw(st.permutations([*range(n_clusters), *extra]))), n_clusters


@settings(max_examples=40, deadline=None)
@given(partition=partitions())
def test_normalised_indicator_is_feasible_with_entries_one_over_root_size(partition):
    labels, n_clusters = partition
    F = normalised_indicator(labels, n_clusters)
    assert is_feasible(F)
    sizes = np.bincount(labels)
    np.testing.assert_allclose(F[np.arange(len(labels)), labels], 1 / np.sqrt(sizes[labels]))
    np.testing.assert_array_equal(F.argmax(axis=1), labels)
    assert np.count_nonzero(F) == len(labels)


def test_indicator_keeps_a_column_for_an_empty_cluster():
    np.testing.assert_array_equal(indicator(np.array([2, 0]), 3), [[0, 0, 1], [1, 0, 0]])


@pytest.mark.parametrize(
    "F",
    [
        pytest.param(np.array([[1.0, 0.0], [0.0, -1.0]]), id="negative"),
        pytest.param(np.array([[1.0, 0.0], [0.0, 2.0]]), id="not unit"),
        pytest.param(np.array([[0.6, 0.8], [0.8, 0.6]]), id="not orthogonal"),
        pytest.param(np.array([[1.0, 0.0], [1e-9, 1.0]]), id="nearly orthogonal"),
    ],
)
def test_infeasible_matrices_are_told(F):
    assert not is_feasible(F)
