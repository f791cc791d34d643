from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import mutual_info_score

from featsieve.evaluation import ClusteringScores, clustering_accuracy
from featsieve.evaluation.checks import as_classes


def nmi(y, labels):
    """Return the normalised mutual information of one clustering."""
    return ClusteringScores.of_labels(y, labels).nmi[0]


MEASURES = [clustering_accuracy, nmi]
partitions = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30)


@settings(max_examples=40)
@given(partitions)
def test_accuracy_is_the_best_over_all_matchings(pairs):
    y, labels = np.array(pairs).T
    best = max(np.mean(np.array(p)[labels] == y) for p in permutations(range(4)))
    assert clustering_accuracy(y, labels) == pytest.approx(best)
    # Of two classes and four clusters, two clusters are matched to classes that no sample has.
    few = y // 2
    best = max(np.mean(np.array(p)[labels] == few) for p in permutations(range(4)))
    assert clustering_accuracy(few, labels) == pytest.approx(best)


@settings(max_examples=40)
@given(partitions)
def test_nmi_divides_by_the_geometric_mean_of_the_entropies(pairs):
    y, labels = np.array(pairs).T
    entropies = mutual_info_score(y, y) * mutual_info_score(labels, labels)
    if entropies > 1e-12:
        expected = mutual_info_score(y, labels) / np.sqrt(entropies)
        assert nmi(y, labels) == pytest.approx(expected, abs=1e-9)


@settings(max_examples=40)
@given(partitions, st.permutations(range(4)), st.permutations(range(4)), st.randoms())
def test_neither_names_nor_the_order_of_samples_matter(pairs, classes, clusters, random):
    y, labels = np.array(pairs).T
    shuffled = list(pairs)
    random.shuffle(shuffled)
    renamed = [(f"class {classes[a]}", 10.0 * clusters[b]) for a, b in shuffled]
    other_y, other_labels = zip(*renamed, strict=True)
    for measure in MEASURES:
        value = measure(y, labels)
        assert measure(other_y, other_labels) == pytest.approx(value, abs=1e-12)


@settings(max_examples=40)
@given(partitions)
def test_bounds(pairs):
    y, labels = np.array(pairs).T
    # the largest cluster can be matched to the class that is most frequent in it
    largest = np.argmax(np.bincount(labels))
    assert np.bincount(y[labels == largest]).max() / len(y) <= clustering_accuracy(y, labels) <= 1
    assert 0 <= nmi(y, labels) <= 1
    for measure in MEASURES:
        assert measure(y, y) == pytest.approx(1.0)
        assert measure(labels, y) == pytest.approx(measure(y, labels), abs=1e-12)


def test_classes_and_clusters_of_other_samples_are_refused():
    with pytest.raises(ValueError, match=r"labels must be a list .* shape \(2,\) for 3 samples"):
        clustering_accuracy([0, 1, 2], [0, 1])
    with pytest.raises(ValueError, match="y_true must be a list"):
        clustering_accuracy([[0, 1], [1, 1]], [0, 1])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "one class for every sample"),
        ([[0], [1]], "ravel"),
        ([0, 1], "for 3 samples"),
        ([0.0, 1.0, np.nan], "missing values"),
        (np.array(["a", None, "b"], object), "Leave out samples without a class"),
    ],
)
def test_what_is_not_a_list_of_classes_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        as_classes("y", values, n_samples=3)
