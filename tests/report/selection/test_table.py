import copy

import numpy as np

from featsieve import MaxVariance, explain
from featsieve.report import render_selection, summarize_selection
from featsieve.report.selection.page import page_parts, table_columns
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


def test_the_reasons_are_those_of_explain_under_the_names_of_the_page():
    sieve, summary = automatic()
    why = explain(sieve, planted().X)
    rows = summary["features"]
    assert rows["reason"] == why["reason"].iloc[rows["index"]].tolist()
    X = np.repeat(planted().X[:, :2], 2, axis=1)  # of two copies one is selected
    rows = summarize_selection(MaxVariance(1).fit(X), X, image_shape=(2, 2))["features"]
    assert [name for name in rows["name"] if f"with {rows['name'][0]}" in rows["reason"][1]]
    assert cells(summary, "Why") == summary["features"]["reason"]
