import copy

import pytest

from featsieve import LaplacianScore
from featsieve.report import render_selection, summarize_selection
from featsieve.report.selection.page import page_parts, reason, table_columns
from tests.report.selection.cases import automatic, planted


def cells(summary, title):
    return next(c["cells"] for c in table_columns(summary) if c["title"] == title)


def test_rows_for_the_script_are_those_of_the_other_features():
    summary = automatic()[1]
    data = page_parts(summary)["data"]["rows"]
    n_selected = len(summary["selected"])
    assert [row[1] for row in data] == summary["features"]["name"][n_selected:]
    for group, *texts in data:
        assert summary["clusters"]["names"][group] == texts[3].split(",")[0]


def test_infinite_separations_have_a_sign():
    summary = copy.deepcopy(automatic()[1])
    summary["features"]["separation"][:2] = ["inf", "-inf"]
    assert cells(summary, "Separation")[:2] == ["∞", "-∞"]


def test_small_ranks_q_values_and_prices_are_good():
    summary = copy.deepcopy(automatic()[1])
    rows = summary["features"]
    rows["q_value"] = rows["price"] = [0.5] * len(rows["name"])
    least = {column["title"] for column in table_columns(summary) if column["least"]}
    assert least == {"Rank", "q", "Price"}


def test_the_page_says_which_features_are_listed():
    summary = copy.deepcopy(automatic()[1])
    assert "All 40 features can be shown." in render_selection(summary)
    summary["table"]["features"] = 9999
    assert "The 40 best of 9,999 features can be shown" in render_selection(summary)


def reason_of(summary=None, **facts):
    """Return the reason of the first feature, some facts about it changed."""
    summary = copy.deepcopy(automatic()[1] if summary is None else summary)
    known = {"cluster": "2", "side": "high", "eta_squared": 0.5, "closest": None}
    for key, value in (known | {"correlation": None} | facts).items():
        summary["features"][key][0] = value
    return reason(summary, 0)


@pytest.mark.parametrize(
    ("status", "facts", "expected"),
    [
        ("selected", {}, "high in cluster 2"),
        ("selected", {"side": "often red"}, "often red in cluster 2"),
        ("selected", {"eta_squared": 0.04}, "among the best ranks"),
        ("selected", {"cluster": None}, "among the best ranks"),
        ("low score", {}, "high in cluster 2, but ranked too low"),
        ("low score", {"eta_squared": 0.03}, "tells the clusters little: explains 3%"),
        ("low score", {"cluster": None}, "ranked too low"),
        ("redundant", {"closest": "x4", "correlation": 0.97}, "repeats x4 (r = 0.97)"),
        ("constant", {"cluster": None, "eta_squared": None}, "does not vary"),
    ],
)  # fmt: skip
def test_why_a_feature_was_selected_or_left_out(status, facts, expected):
    assert reason_of(status=status, **facts) == expected


def test_clusters_of_k_means_are_no_reason():
    X = planted().X
    summary = summarize_selection(LaplacianScore(5).fit(X), X)
    assert {reason(summary, i) for i in range(40)} == {"among the best ranks", "ranked too low"}
