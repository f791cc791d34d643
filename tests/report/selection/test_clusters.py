import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from featsieve import JASFS, MaxVariance
from featsieve.report.selection import clusters as selection_clusters
from featsieve.report.selection.clusters import cluster_means, cluster_rows, heat_map
from featsieve.report.selection.inputs import gather
from tests.report.selection.cases import planted


def selection():
    return gather(JASFS(3, n_features_to_select=8, random_state=0).fit(planted().X), planted().X)


@pytest.mark.parametrize("sparse", [False, True])
def test_means_are_those_of_pandas(sparse):
    X = np.where(planted().X > 0.0, 5.0 * planted().X, 0.0)
    clusters = selection().clusters
    frame = pd.DataFrame(X)
    scores = (frame - frame.mean()) / frame.std(ddof=0)
    expected = scores.groupby(clusters.codes).mean().to_numpy().T
    found = cluster_means(sp.csr_array(X) if sparse else X, clusters)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_the_heat_map_is_ordered_by_cluster_and_from_high_to_low():
    chosen = selection()
    heat = heat_map(chosen)
    assert heat["cluster"] == sorted(heat["cluster"])
    assert sorted(heat["feature"]) == sorted(f"x{j}" for j in chosen.chosen)
    own = [row[int(name)] for row, name in zip(heat["mean"], heat["cluster"], strict=True)]
    for name in set(heat["cluster"]):
        signs = [mean > 0 for mean, n in zip(own, heat["cluster"], strict=True) if n == name]
        assert signs == sorted(signs, reverse=True)


def test_the_heat_map_shows_only_the_best_of_many(monkeypatch):
    monkeypatch.setattr(selection_clusters, "MOST_FEATURES", 3)
    heat = heat_map(selection())
    assert sorted(heat["feature"]) == sorted(f"x{j}" for j in selection().chosen[:3])
    assert heat["of"] == 8


def test_rows_count_the_samples_and_name_marks():
    chosen = selection()
    rows = cluster_rows(chosen)
    assert [row["size"] for row in rows] == np.bincount(chosen.clusters.codes).tolist()
    means = cluster_means(planted().X, chosen.clusters)
    for k, row in enumerate(rows):
        assert len(row["marks"]) <= 3
        for mark in row["marks"]:
            high = means[int(mark["feature"][1:]), k] > 0
            assert mark["direction"] == ("high" if high else "low")


def test_no_rows_without_clusters():
    X = np.column_stack([np.arange(6.0), np.ones(6)])
    sieve = MaxVariance(1).fit(X)
    sieve.support_ = np.array([False, True])
    assert cluster_rows(gather(sieve, X)) == []
    assert heat_map(gather(sieve, X)) is None
