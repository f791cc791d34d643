"""The files of a selection."""

import json
import sys

import numpy as np
import pandas as pd
import pytest

from featsieve import load_model
from featsieve.datasets import Dataset, read_table, write_table
from featsieve.evaluation.judging import Judge
from featsieve.io.dataset import Origin
from featsieve.workflow import save_run, select_features
from featsieve.workflow.outputs import plan_files, read_summary, summarize
from featsieve.workflow.prepare import change_table, prepare_table

NAMES = ["features.csv", "model.skops", "report.html", "samples.csv", "summary.json"]


@pytest.fixture(scope="module")
def run(table):
    return select_features(table, n_clusters=3, n_features=6, n_subsamples=2)


def test_everything_is_written(run, table, tmp_path):
    files = save_run(run, tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(
        [*NAMES, "selected.csv"]
    )
    reduced = read_table(files["selected"], id_column="who", label_column="kind")
    assert reduced.feature_names == run.selected
    np.testing.assert_array_equal(reduced.X, table.X[:, run.selector.support_])
    assert reduced.sample_names == table.sample_names
    assert [reduced.class_names[k] for k in reduced.y] == [table.class_names[k] for k in table.y]

    features = pd.read_csv(files["features"])
    assert sorted(features["feature"]) == sorted(table.feature_names)
    k = len(run.selected)
    assert features["selected"].tolist() == [True] * k + [False] * (len(features) - k)
    assert set(features["feature"][:k]) == set(run.selected)
    assert features["rank"][:k].is_monotonic_increasing
    assert features["rank"][k:].is_monotonic_increasing
    by_name = features.set_index("feature").loc[table.feature_names]
    np.testing.assert_allclose(by_name["selection_frequency"], run.frequency)

    samples = pd.read_csv(files["samples"])
    assert list(samples) == ["sample", "cluster", "certainty", "class"]
    np.testing.assert_allclose(samples["certainty"], run.selector.sample_certainty_)
    assert samples["class"].tolist() == [table.class_names[k] for k in table.y]
    assert samples["cluster"].tolist() == run.labels.tolist()

    model = load_model(files["model"])
    assert list(model.selected) == run.selected
    np.testing.assert_array_equal(model.transform(table).X, reduced.X)

    summary = json.loads(files["summary"].read_text())
    assert sorted(summary["selected"]) == sorted(run.selected)
    assert summary["reproduce"]["more"]["files"]["selected"] == "selected.csv"
    page = files["report"].read_text()
    assert all(name in page for name in run.selected)


@pytest.mark.parametrize("ending", [".tsv.gz", ".parquet", ".npz", ".mat", ".h5ad"])
def test_formats_follow_the_source(run, table, ending, tmp_path):
    source = tmp_path / f"source{ending}"
    write_table(source, table)
    files = save_run(run, tmp_path / "out", source=source)
    assert files["selected"].name == f"selected{ending}"
    reduced = read_table(files["selected"], columns=run.selected)
    np.testing.assert_array_equal(reduced.X, table.X[:, run.selector.support_])
    with pytest.raises(ValueError, match="g"):
        read_table(files["selected"], columns=table.feature_names)


@pytest.mark.parametrize(
    ("module", "ending"),
    [("skops.io", ".tsv.gz"), ("jinja2", ".csv"), ("pyarrow", ".parquet"), ("anndata", ".h5ad")],
)
def test_missing_libraries_are_told_before(monkeypatch, module, ending):
    assert plan_files(f"a{ending}")["selected"] == f"selected{ending}"
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match="pip install 'featsieve"):
        plan_files(f"a{ending}")


def test_the_summary_holds_what_is_known(run):
    summary = summarize(run, source="folder/people.csv", command="featsieve select people.csv")
    assert summary["table"]["file"] == "people.csv"
    assert summary["reproduce"]["command"] == "featsieve select people.csv"
    assert summary["structure"] == run.structure.summary()
    assert summary["table"]["named"]
    assert summarize(run, image_shape=(6, 10))["image"] is not None
    json.dumps(summary, allow_nan=False)


def test_clusters_are_the_same_everywhere(small_planted):
    """Also those of a method that finds none: in samples.csv, features.csv and the report."""
    run = select_features(
        small_planted.X, method="laplacianscore", n_clusters=4, n_features=6, n_subsamples=0
    )
    rows = summarize(run)["clusters"]["rows"]
    assert [row["size"] for row in rows] == np.bincount(run.labels).tolist()
    assert len(rows) == 4


def test_the_report_judges_as_compare_does(run, table):
    selected, everything, *_ = summarize(run)["evaluation"]["rows"]
    judge = Judge(table.X, table.y)
    for row, columns in ((selected, np.flatnonzero(run.selector.support_)), (everything, None)):
        accuracy, nmi, _ = judge.scores(columns).mean()
        assert row["accuracy"] == pytest.approx(accuracy, abs=1e-4)
        assert row["nmi"] == pytest.approx(nmi, abs=1e-4)


def test_notes_that_the_report_tells_are_left_to_it(small_planted):
    X = small_planted.X.copy()
    X[:, 0], X[:, 1], X[2, 3] = np.arange(80), 7.0, np.nan
    run = select_features(X, impute="median", n_clusters=3, n_features=6, n_subsamples=0)
    assert [note.kind for note in run.notes] == ["row-numbers", "constant", "filled"]
    told = [caveat["kind"] for caveat in summarize(run)["caveats"]]
    assert all(told.count(note.kind) == 1 for note in run.notes)


@pytest.mark.parametrize("text", ["", "{", "[1]", "{}"])
def test_what_is_no_summary_is_told(text, tmp_path):
    (tmp_path / "summary.json").write_text(text)
    with pytest.raises(ValueError, match="is not a summary of a selection"):
        read_summary(tmp_path / "summary.json")


def test_distributions_are_in_the_units_of_the_file():
    X = np.random.default_rng(0).standard_normal((40, 3)) * [1.0, 5.0, 1.0] + [0.0, 7000.0, 0.0]
    X[:20, 1] += 100.0
    settings = {"n_clusters": 2, "n_features": 1, "n_subsamples": 0}
    summaries = [
        summarize(select_features(X, standardize=scaled, **settings)) for scaled in (False, True)
    ]
    for summary in summaries:
        assert 6950.0 < min(summary["distribution"]["median"][0]) < 7200.0
    assert summaries[1]["table"]["standardized"]


@pytest.mark.parametrize("how", ["median", "nearest", "category"])
def test_what_fills_gaps_is_listed_for_every_column(how):
    """One row each, however many gaps there are; empty columns are none."""
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.standard_normal((40, 3)), np.arange(40) % 3, (np.arange(40) % 3 < 1) + 7.0]
    )
    X = np.column_stack([X, np.full(40, np.nan)])
    X[:4, 0], X[5, 3], X[6:8, 4] = np.nan, np.nan, np.nan
    known = {"coat": {"kind": "category", "levels": ["fur", "wool", "skin"]}}
    known["day"] = {"kind": "date", "levels": []}
    names = ["a", "b", "c", "coat", "day", "empty"]
    changes = {"row": [9], "column": ["b"], "was": ["<1"], "now": [1.0]}
    about = {"origin": Origin({"encode": known}, changes=changes), "feature_names": names}
    table = Dataset("t", X, sample_names=[f"s{i}" for i in range(40)], **about)
    found = change_table(prepare_table(table, impute=how).table)
    rows = list(zip(*found.values(), strict=True))
    assert list(found) == ["row", "sample", "column", "was", "now", "cells", "how"]
    assert rows[0] == (9, "s8", "b", "<1", 1.0, 1, "repaired")
    filled = {row[2]: row[4:] for row in rows[1:]}
    assert {row[:2] + row[3:4] for row in rows[1:]} == {("", "", "missing")}
    assert {name: cells for name, (_, cells, _) in filled.items()} == {"a": 4, "coat": 1, "day": 2}
    if how == "nearest":
        assert filled["a"] == ("", 4, "nearest rows")
        return
    assert filled["a"] == (np.nanmedian(X[:, 0]), 4, "median")
    assert filled["day"] == ("1970-01-08", 2, "median")
    by_word = ("fur", 1, "most frequent word") if how == "median" else ("", 1, "level of its own")
    assert filled["coat"] == by_word
