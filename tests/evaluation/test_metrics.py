from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from featsieve.evaluation import (
    clustering_accuracy,
    normalized_mutual_information,
    paper_protocol,
)

partitions = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30)


@given(partitions)
def test_accuracy_is_the_best_over_all_matchings(pairs):
    y, labels = np.array(pairs).T
    best = max(np.mean(np.array(p)[labels] == y) for p in permutations(range(4)))
    assert clustering_accuracy(y, labels) == pytest.approx(best)


@given(partitions)
def test_nmi_divides_by_the_geometric_mean_of_the_entropies(pairs):
    y, labels = np.array(pairs).T
    entropies = mutual_info_score(y, y) * mutual_info_score(labels, labels)
    if entropies > 1e-12:
        expected = mutual_info_score(y, labels) / np.sqrt(entropies)
        assert normalized_mutual_information(y, labels) == pytest.approx(expected, abs=1e-9)


def test_protocol_is_reproducible_and_finds_separated_clusters():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20)
    X = rng.standard_normal((40, 3)) + 20 * y[:, None]
    assert paper_protocol(X, y) == (1.0, 1.0)
    noise = rng.standard_normal((40, 3))
    assert paper_protocol(noise, y) == paper_protocol(noise, y)
    assert paper_protocol(noise, y)[0] < 0.9
