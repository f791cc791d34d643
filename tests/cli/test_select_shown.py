"""A selection on the terminal."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console

from featsieve.cli.select import show_selection
from featsieve.datasets import Dataset
from featsieve.workflow import select_features
from featsieve.workflow.outputs import summarize

FILES = [("Open in a browser", Path("out/report.html"))]


def shown(run, **more):
    console = Console(file=io.StringIO(), width=100, highlight=False)
    show_selection(console, summarize(run) | more, FILES, listed="features.csv")
    return " ".join(console.file.getvalue().split())


def test_names_are_no_markup_and_long_lists_are_cut(small_planted):
    frame = pd.DataFrame(small_planted.X, columns=[f"[b]g{j}[/b]" for j in range(60)])
    run = select_features(frame, n_clusters=3, n_features=12, n_subsamples=0)
    text = shown(run, answer=["Is it.", "What."], words=["How.", "And why."], caveats=[])
    assert text.count("[b]g") == 10
    assert "and 2 more in features.csv" in text
    assert text.startswith("Is it. What. rank feature")
    assert "- And why." in text
    assert text.endswith("Open in a browser out/report.html")
    assert "selected in" not in text
    assert "Mind that" not in text
    best = run.features["feature"][run.features["rank"].argmin()]
    assert text.index(best) == text.index("[b]g")


def test_subsamples_and_caveats_are_shown(small_planted):
    run = select_features(small_planted.X, n_clusters=3, n_features=4, n_subsamples=2)
    text = shown(run, caveats=[{"text": "Beware [b]of[/b] dogs."}])
    assert "Mind that - Beware [b]of[/b] dogs." in text
    assert "selected in" in text
    assert "Known classes" not in text


def test_known_classes_judge(small_planted):
    y, names = small_planted.labels, ["a", "b", "c"]
    table = Dataset("t", small_planted.X, y=y, class_names=names)
    run = select_features(table, n_clusters=3, n_features=8, n_subsamples=0)
    text = shown(run)
    rows = {row["kind"]: row for row in summarize(run)["evaluation"]["rows"]}
    where = {
        "selected": "k-means on the 8 selected features",
        "all": "k-means on all 60 features",
        "clusters": "the clusters of the method",
    }
    for kind, words in where.items():
        scores = f"accuracy {rows[kind]['accuracy']:.2f}, NMI {rows[kind]['nmi']:.2f}"
        assert f"{words}: {scores}" in text


def test_classes_that_speak_against_the_selection_are_shown(small_planted):
    y = small_planted.labels
    table = Dataset("t", small_planted.X, y=y, class_names=["a", "b", "c"])
    settings = {"n_clusters": 3, "n_subsamples": 0}
    run = select_features(table, method="randomselector", n_features=2, **settings)
    assert "The selection has lost some of what tells these classes apart" in shown(run)
    y = np.arange(len(y)) * 3 // 4
    names = [f"c{k}" for k in range(y.max() + 1)]
    table = Dataset("t", small_planted.X, y=y, class_names=names)
    run = select_features(table, n_features=8, **settings)
    assert f"{len(names)} classes for {len(y)} samples" in shown(run)
