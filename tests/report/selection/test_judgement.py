import copy

import pytest

from featsieve import MaxVariance
from featsieve.report import render_selection, summarize_selection
from featsieve.report.selection.caveats import caveats
from featsieve.report.selection.judgement import best_cells
from tests.report.selection.cases import planted, stable


def judged(*aris, samples=400, classes=2):
    rows = [
        {"kind": kind, "accuracy": 0.5 + ari / 2.0, "nmi": abs(ari), "ari": ari}
        for kind, ari in zip(("selected", "all", "clusters"), aris, strict=False)
    ]
    sizes = [samples // classes] * classes
    names = [str(k) for k in range(classes)]
    return {"rows": rows, "samples": samples, "classes": names, "sizes": sizes, "skipped": None}


@pytest.mark.parametrize(
    ("aris", "samples", "best"),
    [
        ((0.8, 0.5, 0.5), 400, {"selected"}),
        ((0.8, 0.5, 0.8), 400, {"selected", "clusters"}),
        ((0.8, 0.78), 400, set()),  # no clear difference
        ((0.8, 0.7), 25, set()),  # nor one for so few samples
        ((0.8, 0.5), 25, {"selected"}),
        ((-0.1, -0.5), 400, set()),  # no better than chance
        ((0.04, -0.5), 400, set()),
    ],
)
def test_only_clear_bests_are_marked(aris, samples, best):
    cells = best_cells(judged(*aris, samples=samples), ("ari",))
    assert cells == {(kind, "ari") for kind in best}


def test_nothing_is_best_among_too_many_classes_or_none():
    assert best_cells(judged(0.9, 0.1, samples=9, classes=3), ("ari",)) != set()
    assert best_cells(judged(0.9, 0.1, samples=9, classes=9), ("ari",)) == set()
    assert best_cells(judged(), ("ari",)) == set()


def found(evaluation):
    summary = copy.deepcopy(stable()[1]) | {"evaluation": evaluation}
    return {caveat["kind"]: caveat["text"] for caveat in caveats(summary)}


def test_all_features_that_do_better_are_a_caveat():
    text = found(judged(0.36, 0.68))["all-better"]
    assert "all features agrees better with the true classes" in text
    assert "84% against 68%" in text
    assert "all-better" not in found(judged(0.68, 0.36))
    assert "all-better" not in found(judged(0.62, 0.68))
    assert "all-better" not in found(judged(-0.5, 0.02))  # all are no better than chance
    assert "all-better" not in found(None)
    assert "all-better" not in found(judged() | {"skipped": "why"})


def test_lost_features_are_told_of_a_real_fit():
    X = planted().X.copy()
    X[:, ~planted().informative] *= 100.0
    summary = summarize_selection(MaxVariance(8).fit(X), X, y=planted().labels)
    assert "all-better" in {caveat["kind"] for caveat in summary["caveats"]}


@pytest.mark.parametrize(("n_classes", "told"), [(31, True), (30, False)])
def test_more_classes_than_half_the_samples_mean_nothing(n_classes, told):
    y = [k % n_classes for k in range(60)]
    summary = summarize_selection(stable()[0], planted().X, y=y)
    texts = {caveat["kind"]: caveat["text"] for caveat in summary["caveats"]}
    assert ("many-classes" in texts) == told
    assert ("these numbers mean nothing" in render_selection(summary)) == told
    if told:
        assert "31 classes for 60 samples" in texts["many-classes"]
        assert "all-better" not in texts
