import copy

import numpy as np
import pytest

from featsieve import JASFS, LaplacianScore, MaxVariance, StabilitySelection
from featsieve.report import summarize_selection
from featsieve.report.selection.caveats import caveats
from tests.report.selection.cases import automatic, noise, planted, stable


def kinds(summary):
    return {caveat["kind"]: caveat["level"] for caveat in summary["caveats"]}


def changed(**parts):
    """Return the caveats of a summary of which some parts are changed, {part: {key: value}}."""
    summary = copy.deepcopy(stable()[1])
    for part, values in parts.items():
        summary[part] = values if summary[part] is None else summary[part] | values
    return {caveat["kind"]: caveat for caveat in caveats(summary)}


def test_a_clear_case_has_no_warnings():
    names = [f"gene {j}" for j in range(40)]
    summary = summarize_selection(stable()[0], planted().X, feature_names=names)
    assert "warning" not in kinds(summary).values()
    assert "unnamed" not in kinds(summary)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_noise_is_called_noise():
    sieve = StabilitySelection(JASFS(3, n_features_to_select=4), n_subsamples=5, random_state=0)
    found = kinds(summarize_selection(sieve.fit(noise()), noise()))
    assert found["no-structure"] == "warning"
    assert found["unstable"] == "warning"
    assert list(found.values()) == sorted(found.values(), reverse=True)  # warnings first


def test_noise_is_not_noise_where_all_neighbours_agree():
    found = changed(structure={"score": 0.01, "noise": 0.06, "certain": True})
    assert found["no-structure"]["level"] == "note"
    found = changed(structure={"score": 0.01, "noise": 0.06, "certain": False})
    assert found["no-structure"]["level"] == "warning"
    assert "0.01" in found["no-structure"]["text"]


def test_doubtful_clusters():
    assert "doubtful-clusters" not in changed(clusters={"accuracy": 0.61})
    assert "59%" in changed(clusters={"accuracy": 0.59})["doubtful-clusters"]["text"]


def test_tiny_clusters_are_named():
    rows = [{"name": str(k), "size": size, "marks": []} for k, size in enumerate((2, 30, 28))]
    assert "Cluster 0 holds" in changed(clusters={"rows": rows})["tiny-clusters"]["text"]


def test_copies_are_named():
    X = planted().X[:, planted().informative]
    X = np.column_stack([X, X[:, 0] + 1e-3 * noise(60, 1)[:, 0]])
    summary = summarize_selection(MaxVariance(9).fit(X), X)
    text = next(c["text"] for c in summary["caveats"] if c["kind"] == "near-duplicates")
    assert "x0" in text
    assert "x8" in text
    assert "(r = 1.00)" in text
    assert "2 of the 9 selected features correlate with another selected one" in text


def test_the_clusters_of_k_means_cannot_speak_for_the_selection():
    summary = summarize_selection(LaplacianScore(5).fit(planted().X), planted().X)
    text = next(c["text"] for c in summary["caveats"] if c["kind"] == "k-means-clusters")
    assert "LaplacianScore finds no clusters" in text
    assert "suggested by the same columns and is right within a factor of about two" in text


@pytest.mark.parametrize(("chosen", "level"), [(400, "warning"), (5, "note"), (20, None)])
def test_a_number_at_the_edge(chosen, level):
    summary = copy.deepcopy(automatic()[1])
    summary["curve"] |= {"sizes": [5, 20, 400], "chosen": chosen, "equivalent": [chosen, chosen]}
    summary["table"]["features"] = 1000
    found = {caveat["kind"]: caveat["level"] for caveat in caveats(summary)}
    assert found.get("edge") == level
    summary["table"]["features"] = 400  # all of them: there are no more to try
    found = {caveat["kind"]: caveat["level"] for caveat in caveats(summary)}
    assert found.get("edge") == (None if chosen == 400 else level)


def test_a_wide_range_of_numbers():
    summary = copy.deepcopy(automatic()[1])
    summary["curve"] |= {"equivalent": [5, 40]}
    assert "wide-range" in {caveat["kind"] for caveat in caveats(summary)}
    summary["curve"] |= {"equivalent": [5, 39]}
    assert "wide-range" not in {caveat["kind"] for caveat in caveats(summary)}


@pytest.mark.parametrize(
    ("filled", "text"),
    [
        (3, "3 missing values were filled in."),
        ({"a": 1, "b": 4}, "5 missing values were filled in in 2 columns (a and b)."),
        ("Medians were used.", "Medians were used."),
    ],
)
def test_what_was_done_to_the_table(filled, text):
    found = changed(table={"filled": filled, "dropped": ["id"], "constant": 2, "samples": 12})
    assert found["filled"]["text"] == text.replace("filled in in", "filled in, in")
    assert "1 column was left out before the selection: id." in found["dropped"]["text"]
    assert "2 columns of 40 do not vary" in found["constant"]["text"]
    assert found["few-samples"]["level"] == "warning"


def test_units_matter_to_methods_that_take_columns_as_they_are():
    X = noise(60, 40) * np.logspace(0, 4, 40)
    found = kinds(summarize_selection(MaxVariance(4).fit(X), X, structure=0.5))
    assert found["units"] == "warning"
    sieve = JASFS(3, n_features_to_select=4, random_state=0).fit(X)
    assert "units" not in kinds(summarize_selection(sieve, X, structure=0.5))


def test_a_solver_that_did_not_finish_and_constant_columns():
    found = changed(objective={"success": False, "status": "it was late"})
    assert "it was late" in found["unfinished"]["text"]
    assert "constant-selected" in changed(table={"constant_selected": 1})


def test_stability_that_nobody_measured():
    assert kinds(automatic()[1])["stability-unknown"] == "note"
    assert "stability-unknown" not in kinds(stable()[1])


def test_what_the_caller_adds_stands_among_them():
    class Told(str):
        kind = "ConvergenceWarning"

    found = caveats(stable()[1], [Told("It was late."), "Plain words."])
    assert found[0] == {"kind": "ConvergenceWarning", "level": "warning", "text": "It was late."}
    assert found[-1] == {"kind": "told", "level": "note", "text": "Plain words."}
