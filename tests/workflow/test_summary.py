"""The summary of a selection."""

import json

import numpy as np
import pytest

from featsieve.datasets import Dataset
from featsieve.evaluation.judging import Judge
from featsieve.workflow import select_features
from featsieve.workflow.summary import outcome, read_summary, summarize, unreported


@pytest.fixture(scope="module")
def run(small_planted):
    return select_features(small_planted.X, n_clusters=3, n_features=6, n_subsamples=0)


def test_what_is_known_is_in_it(run):
    summary = summarize(run, source="folder/people.csv", command="featsieve select people.csv")
    assert summary["table"]["file"] == "people.csv"
    assert summary["reproduce"]["command"] == "featsieve select people.csv"
    assert summary["structure"]["score"] == pytest.approx(run.structure, rel=0.01)
    assert not summary["table"]["named"]
    assert summarize(run, image_shape=(6, 10))["image"] is not None
    json.dumps(summary, allow_nan=False)


@pytest.mark.filterwarnings("ignore::featsieve.tuning.NoStructureWarning")
def test_clusters_are_the_same_everywhere(small_planted):
    """Also those of a method that finds none: in samples.csv, features.csv and the report."""
    run = select_features(
        small_planted.X, method="laplacianscore", n_clusters=4, n_features=6, n_subsamples=0
    )
    rows = summarize(run)["clusters"]["rows"]
    assert [row["size"] for row in rows] == np.bincount(run.labels).tolist()
    assert len(rows) == 4


def test_the_report_judges_as_compare_does(small_planted):
    table = Dataset("t", small_planted.X, y=small_planted.labels, class_names=list("abc"))
    run = select_features(table, n_clusters=3, n_features=8, n_subsamples=0)
    selected, everything, *_ = summarize(run)["evaluation"]["rows"]
    judge = Judge(table.X, table.y)
    for row, columns in ((selected, np.flatnonzero(run.selector.support_)), (everything, None)):
        accuracy, nmi, _ = judge.scores(columns).mean()
        assert row["accuracy"] == pytest.approx(accuracy, abs=1e-4)
        assert row["nmi"] == pytest.approx(nmi, abs=1e-4)


def test_notes_that_the_report_tells_are_left_to_it(small_planted):
    X = small_planted.X.copy()
    X[:, 0], X[:, 1], X[2, 3] = np.arange(80), 7.0, np.nan
    with pytest.warns(UserWarning, match="constant|counts the rows|filled"):
        run = select_features(X, impute="median", n_clusters=3, n_features=6, n_subsamples=0)
    assert [note.kind for note in run.notes] == ["row-numbers", "constant", "filled"]
    assert [note.kind for note in unreported(run)] == ["row-numbers"]
    told = {caveat["kind"] for caveat in summarize(run)["caveats"]}
    assert {"constant", "filled"} <= told


def test_the_essence_for_machines(run):
    plain = json.loads(json.dumps(outcome(run, summarize(run), {}), allow_nan=False))
    assert plain["selected"] == run.selected
    assert plain["stability"] is None
    assert plain["n_clusters"] == 3
    assert "unnamed" in [caveat["kind"] for caveat in plain["caveats"]]


@pytest.mark.parametrize("text", ["", "{", "[1]", "{}"])
def test_what_is_no_summary_is_told(text, tmp_path):
    (tmp_path / "summary.json").write_text(text)
    with pytest.raises(ValueError, match="is no summary of a selection"):
        read_summary(tmp_path / "summary.json")
