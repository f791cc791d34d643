import copy

from featsieve import MaxVariance
from featsieve.report import summarize_selection
from featsieve.report.selection.table import short_rows, table_columns, table_note, table_rows
from tests.report.selection.cases import automatic, planted, stable


def cells(summary, title):
    columns = table_columns(summary)
    i = [column["title"] for column in columns].index(title)
    return [row["cells"][i] for row in table_rows(summary, columns)]


def test_only_columns_with_something_in_them_are_shown():
    titles = [column["title"] for column in table_columns(automatic()[1])]
    assert "Score" in titles
    assert "Selected in" not in titles
    titles = [column["title"] for column in table_columns(stable()[1])]
    assert "Selected in" in titles
    assert "Score" not in titles  # its scores are the frequencies
    single = MaxVariance(1).fit(planted().X)
    summary = summarize_selection(single, planted().X, structure=0.5) | {"clusters": None}
    titles = [column["title"] for column in table_columns(summary)]
    assert "Tells cluster" not in titles


def test_bars_are_shares_of_the_largest():
    summary = automatic()[1]
    bars = [cell["bar"] for cell in cells(summary, "Score")]
    scores = summary["features"]["score"]
    for bar, score in zip(bars, scores, strict=False):
        assert abs(bar - 100.0 * score / max(scores)) <= 1.0


def test_rows_for_the_script_hold_the_same_texts():
    summary = automatic()[1]
    rows = table_rows(summary, table_columns(summary))
    whys, short = short_rows(rows)
    left = [row for row in rows if not row["selected"]]
    assert len(short) == len(left) == 40 - len(summary["selected"])
    for (group, *texts, why), row in zip(short, left, strict=True):
        assert [*texts, whys[why]] == [cell["text"] for cell in row["cells"]]
        assert summary["clusters"]["names"][group] == texts[3].split(",")[0]


def test_infinite_separations_have_a_sign():
    summary = copy.deepcopy(automatic()[1])
    summary["features"]["separation"][:2] = ["inf", "-inf"]
    assert [cell["text"] for cell in cells(summary, "Separation")][:2] == ["∞", "-∞"]
    assert cells(summary, "Tells cluster")[1]["text"].endswith(", low")


def test_infinite_scores_have_full_bars():
    summary = copy.deepcopy(automatic()[1])
    summary["features"]["score"][0] = "inf"
    summary["features"]["score"][1] = -1.0
    assert [cell["bar"] for cell in cells(summary, "Score")][:2] == [100, 0]


def test_the_note_says_what_is_left_out():
    summary = copy.deepcopy(automatic()[1])
    assert table_note(summary) == "All 40 features can be shown."
    summary["features"]["total"] = 9999
    assert "40 best of 9,999" in table_note(summary)
    assert "featsieve.explain returns a table of all" in table_note(summary)
    summary["reproduce"]["more"]["files"] = {"features": "features.csv"}
    assert table_note(summary).endswith("all are in the file features.csv.")
    summary["reproduce"]["more"]["files"] = ["a.csv"]  # what a caller means by it is not known
    assert "featsieve.explain" in table_note(summary)
