"""Clusters that go with a selection."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from featsieve import JASFS, LaplacianScore
from featsieve.tuning import NoStructureWarning, structure_score
from featsieve.workflow import clusters
from featsieve.workflow.clusters import clusters_of, score_structure, verdict


def test_a_method_has_its_own(small_planted):
    sieve = JASFS(3, n_features_to_select=5, random_state=0).fit(small_planted.X)
    np.testing.assert_array_equal(clusters_of(sieve, small_planted.X), sieve.labels_)


@pytest.mark.parametrize("n_clusters", [3, None])
def test_others_get_those_of_the_selected_columns(small_planted, n_clusters):
    sieve = LaplacianScore(8).fit(small_planted.X)
    labels = clusters_of(sieve, small_planted.X, n_clusters=n_clusters)
    assert adjusted_rand_score(small_planted.labels, labels) == 1.0


def test_the_score_is_that_of_the_library(small_planted):
    X, labels = small_planted.X, small_planted.labels
    assert score_structure(X, labels) == structure_score(X, labels)
    assert score_structure(X, np.zeros(len(X), dtype=int)) == 0.0


def test_long_tables_are_sampled(small_planted, monkeypatch):
    monkeypatch.setattr(clusters, "MOST_SAMPLES", 50)
    assert score_structure(small_planted.X, small_planted.labels) > 0.2
    noise = np.random.default_rng(0).standard_normal((80, 30))
    with pytest.warns(NoStructureWarning, match="no clearer"):
        score_structure(noise, np.arange(80) % 3)


def test_scores_in_words():
    assert [verdict(score, 0.1).split(":")[0] for score in (0.05, 0.15, 0.25)] == [
        "no clearer than noise",
        "hardly clearer than noise",
        "there are clusters",
    ]


def test_a_low_score_does_not_tell_where_neighbours_agree():
    assert verdict(0.0, 0.05).startswith("no clearer than noise")
    assert "nearly all neighbours agree" in verdict(0.0, 0.05, certain=True)
    assert verdict(0.3, 0.05, certain=True) == "there are clusters"
