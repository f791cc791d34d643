"""Feasible pseudo-labels: the normalised indicator of a partition."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.terms import indicator, normalised_indicator


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
    np.testing.assert_allclose(F.T @ F, np.eye(n_clusters), atol=1e-12)
    assert F.min() >= 0.0
    sizes = np.bincount(labels)
    np.testing.assert_allclose(F[np.arange(len(labels)), labels], 1 / np.sqrt(sizes[labels]))
    np.testing.assert_array_equal(F.argmax(axis=1), labels)
    assert np.count_nonzero(F) == len(labels)


def test_indicator_keeps_a_column_for_an_empty_cluster():
    np.testing.assert_array_equal(indicator(np.array([2, 0]), 3), [[0, 0, 1], [1, 0, 0]])
