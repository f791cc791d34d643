import copy

import numpy as np
import pytest

from featsieve import LaplacianScore, MaxVariance
from featsieve.report import summarize_selection
from featsieve.report.selection.reasons import reasons
from tests.report.selection.cases import automatic, noise, planted


def reason(summary=None, **facts):
    """Return the reason of the first feature, some facts about it changed."""
    summary = copy.deepcopy(automatic()[1] if summary is None else summary)
    known = {"cluster": "2", "separation": 3.0, "eta_squared": 0.5, "closest": None}
    for key, value in (known | {"correlation": None} | facts).items():
        summary["features"][key][0] = value
    return reasons(summary)[0]


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({}, "high in cluster 2"),
        ({"separation": "-inf"}, "low in cluster 2"),
        ({"eta_squared": 0.04}, "among the best scores"),
        ({"cluster": None}, "among the best scores"),
        (
            {"closest": "x4", "correlation": -0.95},
            "high in cluster 2; nearly a copy of x4 (r = -0.95)",
        ),
        ({"closest": "x4", "correlation": 0.8}, "high in cluster 2"),
    ],
)
def test_why_a_feature_was_selected(facts, expected):
    assert reason(status="selected", **facts) == expected


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ({"status": "low score"}, "high in cluster 2, but adds too little"),
        (
            {"status": "low score", "eta_squared": 0.03},
            "tells the clusters little: explains 3%",
        ),
        ({"status": "low score", "separation": None}, "score too low"),
        (
            {"status": "redundant", "closest": "x4", "correlation": 0.97},
            "repeats x4 (r = 0.97)",
        ),
        ({"status": "constant", "cluster": None, "eta_squared": None}, "does not vary"),
        ({"status": "of another kind"}, "of another kind"),
    ],
)
def test_why_a_feature_was_left_out(facts, expected):
    assert reason(**facts) == expected


def test_nothing_is_said_to_add_where_no_path_was_followed():
    summary = copy.deepcopy(automatic()[1])
    summary["path"]["kind"] = "scores"
    assert reason(summary, status="low score") == "high in cluster 2, but its score is too low"


def test_clusters_of_k_means_are_no_reason():
    X = planted().X
    summary = summarize_selection(LaplacianScore(5).fit(X), X)
    assert set(reasons(summary)) == {"among the best scores", "score too low"}


def test_copies_and_constants_of_a_table():
    X = np.column_stack([noise(50, 3) * [9.0, 3.0, 1.0], np.ones(50)])
    X = np.column_stack([X, X[:, 0] / 2.0])
    summary = summarize_selection(MaxVariance(1).fit(X), X)
    why = dict(zip(summary["features"]["name"], reasons(summary), strict=True))
    assert why["x3"] == "does not vary"
    assert why["x4"] == "repeats x0 (r = 1.00)"
