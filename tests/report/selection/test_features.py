import numpy as np

from featsieve import JASFS, MaxVariance, explain
from featsieve.report.selection import features as selection_features
from featsieve.report.selection.features import feature_rows
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


def test_selected_ones_come_first_and_both_parts_best_first():
    rows = feature_rows(gather(fitted(), planted().X), None)
    assert rows["selected"] == [True] * 6 + [False] * 34
    assert rows["rank"] == list(range(1, 41))


def test_very_many_features_are_cut(monkeypatch):
    monkeypatch.setattr(selection_features, "MOST_ROWS", 7)
    rows = feature_rows(gather(fitted(), planted().X), np.linspace(0.0, 1.0, 40))
    assert rows["total"] == 40
    lists = [rows[key] for key in rows if key != "total"]
    assert {len(values) for values in lists} == {7}
    assert rows["frequency"][0] == float(f"{rows['index'][0] / 39:.6g}")


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
