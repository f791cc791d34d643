"""The structure score: nothing for noise, much for clusters, and a warning where there are none."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from featsieve import defaults
from featsieve.criteria import structure as module
from featsieve.datasets import make_planted
from featsieve.graphs import spectral_labels
from featsieve.graphs.affinity import modularity
from featsieve.graphs.views import VIEWS, sample_view
from featsieve.hypotheses.families import table_labels
from featsieve.tuning import NoStructureWarning, structure_score


@pytest.mark.parametrize("shape", [(80, 30), (50, 200), (120, 8)])
def test_noise_scores_about_nothing_and_warns(shape):
    X = np.random.default_rng(0).standard_normal(shape)
    labels = table_labels(X, 3, random_state=np.random.RandomState(0))
    with pytest.warns(NoStructureWarning, match="no clearer than those found after") as caught:
        score = structure_score(X, labels)
    assert caught[0].filename == __file__
    assert -0.2 < score < defaults.NOISE_SCORE


@pytest.mark.parametrize(("n", "d", "n_informative", "c"), [(120, 50, 20, 4), (60, 300, 20, 3)])
def test_planted_clusters_score_high_without_a_warning(n, d, n_informative, c):
    planted = make_planted(n, d, n_informative=n_informative, n_clusters=c, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert structure_score(planted.X, planted.labels) > 0.2


def test_wrong_labels_of_a_table_with_clusters_score_nothing(small_planted):
    wrong = np.random.default_rng(0).permutation(small_planted.labels)
    right = structure_score(small_planted.X, small_planted.labels)
    with pytest.warns(NoStructureWarning):
        assert structure_score(small_planted.X, wrong) < min(0.0, right)


def test_it_is_the_best_excess_over_permuted_tables(monkeypatch):
    planted = make_planted(60, 20, n_informative=8, n_clusters=3, random_state=0)
    permuted = np.random.default_rng(1).permuted(planted.X, axis=0)
    monkeypatch.setattr(module, "permuted_by", lambda X, seed: permuted)
    graphs = {name: sample_view(planted.X, name, n_clusters=3).graph for name in VIEWS}
    excesses = []
    for name, graph in graphs.items():
        chance = sample_view(permuted, name, n_clusters=3)
        found = spectral_labels(
            chance.graph, 3, random_state=np.random.RandomState(0), bridge=chance.bridge
        )
        excesses.append(modularity(graph, planted.labels) - modularity(chance.graph, found))
    score = structure_score(planted.X, planted.labels)
    assert score == pytest.approx(max(excesses), abs=0.02)  # k-means starts differ


@pytest.mark.parametrize(("signal", "factor", "shown"), [(2.0, 10.0, "raw"), (5.0, 0.01, "scaled")])
def test_few_columns_count_in_the_plain_view_that_shows_them(signal, factor, shown):
    planted = make_planted(120, 200, n_informative=10, n_clusters=3, signal=signal, random_state=0)
    X = np.where(planted.informative, factor, 1.0) * planted.X
    graphs = {name: sample_view(X, name, n_clusters=3).graph for name in VIEWS}
    quality = {name: float(modularity(graph, planted.labels)) for name, graph in graphs.items()}
    assert max(quality, key=quality.get) == shown
    assert structure_score(X, planted.labels) > 2 * defaults.NOISE_SCORE


def test_one_label_is_no_structure(small_planted):
    for labels in (np.zeros(80, dtype=int), ["all"] * 80):
        with pytest.warns(NoStructureWarning):
            assert structure_score(small_planted.X, labels) == 0.0


def test_wide_gaps_in_few_columns_are_structure_though_permuting_keeps_them():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 3, 150)
    X = rng.standard_normal((150, 200))
    X[:, :2] += 20.0 * rng.standard_normal((3, 2))[labels]
    structure_score(X, labels)  # a warning would be an error


def test_sparse_tables_score_as_dense_ones(small_planted):
    X = np.where(np.abs(small_planted.X) > 0.5, small_planted.X, 0.0)
    dense = structure_score(X, small_planted.labels)
    for table in (sp.csc_array(X), pd.DataFrame(X)):
        assert structure_score(table, small_planted.labels) == pytest.approx(dense, abs=1e-6)


def test_mistakes_get_an_answer(small_planted):
    X, labels = small_planted.X, small_planted.labels
    with pytest.raises(ValueError, match=r"one cluster per row of X, shape \(80,\)"):
        structure_score(X, labels[:-1])
    with pytest.raises(ValueError, match="All 3 columns of X are constant"):
        structure_score(np.ones((80, 3)), labels)
    with pytest.raises(ValueError, match="structure_score does not accept missing"):
        structure_score(np.where(X > 2.0, np.nan, X), labels)
