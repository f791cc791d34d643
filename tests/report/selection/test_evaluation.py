import copy

import pytest
from sklearn.metrics import confusion_matrix

from featsieve import JASFS
from featsieve.report import render_selection, summarize_selection
from featsieve.report.selection.caveats import caveats
from featsieve.report.selection.evaluation import best_cells, evaluation
from featsieve.report.selection.inputs import check_classes, gather
from tests.report.selection.cases import planted, stable


def test_the_clusters_of_the_method_are_judged_too():
    sieve = JASFS(3, n_features_to_select=8, random_state=0).fit(planted().X)
    judged = evaluation(gather(sieve, planted().X), planted().labels, ["a", "b", "c"])
    assert [row["kind"] for row in judged["rows"]] == ["selected", "all", "clusters"]
    assert [row["n_features"] for row in judged["rows"][:2]] == [8, 40]
    assert judged["rows"][2]["ari"] == 1.0
    table = confusion_matrix(sieve.labels_, planted().labels)
    assert judged["table"] == table.tolist()


@pytest.mark.parametrize(
    ("y", "names", "match"),
    [
        ([0, 1], None, "for 3 samples"),
        ([0, 1, 2], ["a", "b"], "integers from 0 to 1"),
        (["a", "b", "a"], ["a", "b"], "Leave class_names out"),
        ([0.5, 1.0, 1.0], None, "fractions"),
    ],
)
def test_classes_that_do_not_fit_are_refused(y, names, match):
    with pytest.raises(ValueError, match=match):
        check_classes(y, names, 3)


def scored(*aris, samples=400, classes=2):
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
    cells = best_cells(scored(*aris, samples=samples), ("ari",))
    assert cells == {(kind, "ari") for kind in best}


def found(evaluation):
    summary = copy.deepcopy(stable()[1]) | {"evaluation": evaluation}
    return {caveat["kind"]: caveat["text"] for caveat in caveats(summary)}


def test_all_features_that_do_better_are_a_caveat():
    text = found(scored(0.36, 0.68))["all-better"]
    assert "all features agrees better with the true classes" in text
    assert "84% against 68%" in text
    assert "all-better" not in found(scored(0.68, 0.36))
    assert "all-better" not in found(scored(0.62, 0.68))
    assert "all-better" not in found(scored(-0.5, 0.02))  # all are no better than chance
    assert "all-better" not in found(None)
    assert "all-better" not in found(scored() | {"skipped": "why"})


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
