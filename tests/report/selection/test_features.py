import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from featsieve import JASFS, MaxVariance, explain
from featsieve.report.selection.features import (
    cluster_means,
    cluster_rows,
    correlations,
    feature_rows,
    heat_map,
    redundancy_graph,
)
from featsieve.report.selection.inputs import gather
from tests.report.selection.cases import planted


def fitted():
    return JASFS(3, n_features_to_select=6, random_state=0).fit(planted().X)


def test_rows_say_what_explain_says():
    sieve = fitted()
    names = [f"gene {j}" for j in range(40)]
    rows = feature_rows(gather(sieve, planted().X, feature_names=names), None)
    facts = explain(sieve, planted().X)
    assert rows["total"] == len(rows["name"]) == 40
    for i, j in enumerate(rows["index"]):
        assert rows["name"][i] == f"gene {j}"
        assert rows["rank"][i] == facts["rank"][j]
        assert rows["selected"][i] == facts["selected"][j]
        assert rows["status"][i] == facts["status"][j]
        assert rows["closest"][i] == "gene " + facts["closest_selected"][j][1:]  # was x7
        assert rows["cluster"][i] == str(facts["best_cluster"][j])
        np.testing.assert_allclose(rows["separation"][i], facts["separation"][j], rtol=1e-3)
        np.testing.assert_allclose(rows["correlation"][i], facts["correlation"][j], rtol=1e-3)


def test_constant_columns_have_no_cluster_and_no_neighbour():
    X = np.column_stack([planted().X[:, planted().informative], np.ones(60)])
    rows = feature_rows(gather(MaxVariance(2).fit(X), X, n_clusters=2), None)
    assert rows["status"][-1] == "constant"
    assert rows["cluster"][-1] is rows["correlation"][-1] is rows["closest"][-1] is None
    assert rows["separation"][-1] is None


def test_a_perfect_separation_is_infinite():
    X = np.array([[0.0, 1, 5], [0, 2, 4], [9, 1, 6], [9, 2, 5]])
    rows = feature_rows(gather(MaxVariance(1).fit(X), X, n_clusters=2), None)
    assert rows["separation"][0] in ("inf", "-inf")


def selected():
    return gather(JASFS(3, n_features_to_select=8, random_state=0).fit(planted().X), planted().X)


@pytest.mark.parametrize("sparse", [False, True])
def test_means_are_those_of_pandas(sparse):
    X = np.where(planted().X > 0.0, 5.0 * planted().X, 0.0)
    clusters = selected().clusters
    frame = pd.DataFrame(X)
    scores = (frame - frame.mean()) / frame.std(ddof=0)
    expected = scores.groupby(clusters.codes).mean().to_numpy().T
    found = cluster_means(sp.csr_array(X) if sparse else X, clusters)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_the_heat_map_is_ordered_by_cluster_and_from_high_to_low():
    chosen = selected()
    heat = heat_map(chosen)
    assert heat["cluster"] == sorted(heat["cluster"])
    assert sorted(heat["feature"]) == sorted(f"x{j}" for j in chosen.chosen)
    own = [row[int(name)] for row, name in zip(heat["mean"], heat["cluster"], strict=True)]
    for name in set(heat["cluster"]):
        signs = [mean > 0 for mean, n in zip(own, heat["cluster"], strict=True) if n == name]
        assert signs == sorted(signs, reverse=True)


def test_rows_count_the_samples_and_name_marks():
    chosen = selected()
    rows = cluster_rows(chosen)
    assert [row["size"] for row in rows] == np.bincount(chosen.clusters.codes).tolist()
    means = cluster_means(planted().X, chosen.clusters)
    for k, row in enumerate(rows):
        assert len(row["marks"]) <= 3
        for mark in row["marks"]:
            high = means[int(mark["feature"][1:]), k] > 0
            assert mark["direction"] == ("high" if high else "low")


def copies():
    """Return columns of which the first four are nearly the same, one of them turned round."""
    rng = np.random.default_rng(0)
    base = rng.standard_normal(80)
    copies = [base + 0.1 * rng.standard_normal(80) for _ in range(3)]
    return np.column_stack([base, *copies[:2], -copies[2], rng.standard_normal((80, 6))])


@pytest.mark.parametrize("sparse", [False, True])
def test_correlations_are_those_of_numpy(sparse):
    X = np.where(planted().X > 0.0, planted().X, 0.0)
    found = correlations(sp.csr_array(X) if sparse else X)
    np.testing.assert_allclose(found, np.corrcoef(X.T), atol=1e-10)


def test_edges_join_what_correlates():
    selection = gather(MaxVariance(10).fit(copies()), copies(), n_clusters=2)
    graph = redundancy_graph(selection)
    r = np.corrcoef(copies().T)
    index = [int(name[1:]) for name in graph["name"]]
    found = {frozenset((index[i], index[j])): value for i, j, value in graph["edges"]}
    expected = {frozenset((a, b)) for a in range(10) for b in range(a) if abs(r[a, b]) >= 0.5}
    assert set(found) == expected
    for (a, b), value in ((tuple(pair), value) for pair, value in found.items()):
        assert value == pytest.approx(r[a, b], abs=1e-3)
    strengths = [abs(value) for *_, value in graph["edges"]]
    assert strengths == sorted(strengths, reverse=True)
    assert graph["mean"] == pytest.approx(np.abs(r[np.triu_indices(10, 1)]).mean(), rel=1e-2)
