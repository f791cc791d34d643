import copy
import json

from featsieve import LaplacianScore
from featsieve.report import summarize_selection
from featsieve.report.selection.page import number_note, page_parts
from tests.report.selection.cases import automatic, planted, stable


def texts(page, title):
    column = next(i for i, column in enumerate(page["columns"]) if column["title"] == title)
    return [row["cells"][column]["text"] for row in page["rows"]]


def test_selected_features_are_rows_and_the_others_are_data():
    summary = automatic()[1]
    page = page_parts(summary)
    assert texts(page, "Feature") == summary["selected"]
    assert page["n_more"] == len(page["data"]["rows"]) == 40 - len(summary["selected"])
    assert {len(row) for row in page["data"]["rows"]} == {len(page["columns"]) + 1}
    json.dumps(page["data"], allow_nan=False)


def test_tiles_say_what_matters_most():
    tiles = {tile["name"]: tile for tile in page_parts(stable()[1])["tiles"]}
    assert tiles["features selected"]["value"] == str(stable()[1]["number"]["selected"])
    assert tiles["stability"]["value"] == f"{stable()[0].stability_:.2f}"
    tiles = {tile["name"]: tile for tile in page_parts(automatic()[1])["tiles"]}
    low, high = automatic()[0].equivalent_range_
    assert f"{low} to {high} nearly as good" in tiles["features selected"]["note"]
    assert "stability" not in tiles


def test_the_heat_map_has_the_full_colour_at_two_deviations():
    summary = copy.deepcopy(automatic()[1])
    summary["heatmap"]["mean"][0] = [2.5, -1.0, None]
    cells = page_parts(summary)["heat"][0]["cells"]
    assert [cell["strength"] for cell in cells] == [100, 50, 0]
    assert [cell["side"] for cell in cells][:2] == ["p", "q"]
    assert [cell["text"] for cell in cells] == ["2.5", "-1.0", "0.0"]


def test_the_best_score_is_marked():
    summary = copy.deepcopy(stable()[1])
    summary["evaluation"]["rows"][1] |= {"accuracy": 0.7, "nmi": 0.5, "ari": 0.4}
    scores = page_parts(summary)["scores"]
    assert [row["name"].split()[-2] for row in scores[:2]] == ["selected", "all"]
    assert all(cell["best"] for cell in scores[0]["cells"])
    assert not any(cell["best"] for cell in scores[1]["cells"])


def test_negative_scores_are_never_marked():
    summary = copy.deepcopy(stable()[1])
    for row, ari in zip(summary["evaluation"]["rows"], (-0.5, -0.1, -0.5), strict=False):
        row |= {"ari": ari}
    scores = page_parts(summary)["scores"]
    assert not any(cell["best"] for row in scores for cell in row["cells"])


def test_settings_are_said_to_be_set_by_the_command_where_there_is_one():
    summary = copy.deepcopy(automatic()[1])
    total = len(summary["method"]["settings"])
    note = f"2 of {total} set in the call, the others as they are by default"
    assert page_parts(summary)["settings_note"] == note
    summary["reproduce"]["command"] = "featsieve select a.csv"
    assert "set by featsieve select, the others" in page_parts(summary)["settings_note"]
    summary["method"] |= {"settings": {"a": 1}, "changed": ["a"]}
    assert page_parts(summary)["settings_note"] == "1 of 1 set by featsieve select"


def test_the_time_is_that_of_the_fit():
    summary = copy.deepcopy(automatic()[1])
    summary["method"]["seconds"] = 0.54
    assert page_parts(summary)["tiles"][-1] == {
        "value": "0.54 s", "name": "time of the fit", "note": ""
    }  # fmt: skip


def test_what_the_caller_told_is_a_text_or_a_list():
    summary = copy.deepcopy(automatic()[1])
    summary["reproduce"]["more"] = {"files": {"model": "m.skops"}, "lab": "north", "none": None}
    files, lab, none = page_parts(summary)["more"]
    assert files == {"name": "Files", "text": "", "entries": [("model", "m.skops")]}
    assert lab == {"name": "lab", "text": "north", "entries": []}
    assert not none["text"]


def test_changed_settings_come_first():
    settings = page_parts(automatic()[1])["settings"]
    assert [row["name"] for row in settings if row["changed"]] == ["n_clusters", "random_state"]
    assert [row["changed"] for row in settings] == sorted(
        (row["changed"] for row in settings), reverse=True
    )


def test_notes():
    assert number_note(automatic()[1]) == ""
    assert "frequencies" in number_note(stable()[1])
    X = planted().X
    summary = summarize_selection(LaplacianScore(4).fit(X), X, structure=0.5)
    assert "asked for" in number_note(summary)


def test_samples_are_numbered_unless_only_some_are_drawn():
    summary = copy.deepcopy(automatic()[1])
    assert page_parts(summary)["data"]["map"]["rows"] is None
    summary["map"]["of"] = 100
    assert page_parts(summary)["data"]["map"]["rows"] == list(range(60))
