"""A selection on the terminal."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from featsieve.cli.selection_view import show_run
from featsieve.datasets import Dataset
from featsieve.workflow import select_features
from featsieve.workflow.outputs import summarize

FILES = {kind: Path(f"out/{kind}") for kind in ("report", "features", "samples", "model")}


def shown(run, summary=None, width=100):
    console = Console(file=io.StringIO(), width=width, highlight=False)
    show_run(console, run, summary or {}, FILES | {"selected": Path("out/selected.tsv.gz")})
    return console.file.getvalue()


@pytest.fixture(scope="module")
def frame(small_planted):
    return pd.DataFrame(small_planted.X, columns=[f"[b]g{j}[/b]" for j in range(60)])


def test_names_are_no_markup_and_long_lists_are_cut(frame):
    run = select_features(frame, n_clusters=3, n_features=12, n_subsamples=0)
    text = shown(run)
    assert text.count("[b]g") == 10
    assert "and 2 more in features.csv" in text
    assert "12 of 60 features selected for 3 clusters of 80 samples" in text
    assert "featsieve apply out/model NEW.tsv.gz -o NEW-selected.tsv.gz" in text
    assert "stability" not in text
    assert "selected in" not in text
    assert "Mind that" not in text
    best = run.features.sorted_by("rank")["feature"][0]
    assert text.index(best) == text.index("[b]g")


def test_caveats_and_stability_are_told(frame):
    run = select_features(frame, n_clusters=3, n_features=4, n_subsamples=2)
    text = shown(
        run, {"caveats": [{"kind": "x", "level": "note", "text": "Beware [b]of[/b] dogs."}]}
    )
    assert "- Beware [b]of[/b] dogs." in text
    assert "selected in" in text
    assert f"stability  {run.stability.value:.2f}; 1:" in text


@pytest.mark.slow
def test_a_found_number_of_clusters_is_told_as_a_guess(frame):
    run = select_features(frame, n_features=4, n_subsamples=0)
    low, high = run.selector.cluster_count_.plausible_range
    told = (
        f"clusters   {run.n_clusters} (found, right within a factor of about two: {low} to {high};"
    )
    assert told in shown(run)


def judged(small_planted, method="jasfs", y=None, **arguments):
    """Return what is told about known classes, and the summary it comes from."""
    y = small_planted.labels if y is None else y
    table = Dataset("t", small_planted.X, y=y, class_names=[f"c{k}" for k in range(y.max() + 1)])
    run = select_features(table, method=method, n_clusters=3, n_subsamples=0, **arguments)
    summary = summarize(run)
    text = shown(run, summary)
    return run, summary, " ".join(text[text.index("known classes") :].split())


def test_whose_clusters_are_judged(small_planted):
    run, summary, text = judged(small_planted, n_features=8)
    rows = {row["kind"]: row for row in summary["evaluation"]["rows"]}
    accuracy, nmi = run.agreement["accuracy"], run.agreement["nmi"]
    assert f"clusters of JASFS (3): accuracy {accuracy:.2f}, NMI {nmi:.2f}" in text
    for kind, where in (("selected", "the 8 selected features"), ("all", "all 60 features")):
        scores = f"accuracy {rows[kind]['accuracy']:.2f}, NMI {rows[kind]['nmi']:.2f}"
        assert f"k-means on {where}: {scores}" in text
    assert "labels used to judge only" in text
    assert "clearly better" not in text
    assert "mean nothing" not in text


@pytest.mark.filterwarnings("ignore::featsieve.tuning.NoStructureWarning")
def test_all_features_doing_better_is_told(small_planted):
    _, summary, text = judged(small_planted, "randomselector", n_features=2)
    rows = {row["kind"]: row for row in summary["evaluation"]["rows"]}
    assert rows["all"]["accuracy"] - rows["selected"]["accuracy"] > 0.2
    assert "clusters of k-means (" in text
    assert "(clearly better: the selection lost" in text


def test_classes_that_are_names_are_told(small_planted):
    y = np.arange(len(small_planted.X)) * 3 // 4
    _, _, text = judged(small_planted, y=y, n_features=8)
    assert f"{y.max() + 1} classes of {len(y)} samples: these numbers mean nothing" in text
