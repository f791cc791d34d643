"""A selection on the terminal."""

import io
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

from featsieve.cli.selection_view import show_run
from featsieve.workflow import select_features

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
    assert "came back" not in text
    assert "Mind that" not in text
    best = run.features.sorted_by("rank")["feature"][0]
    assert text.index(best) == text.index("[b]g")


def test_caveats_and_stability_are_told(frame):
    run = select_features(frame, n_clusters=3, n_features=4, n_subsamples=2)
    text = shown(
        run, {"caveats": [{"kind": "x", "level": "note", "text": "Beware [b]of[/b] dogs."}]}
    )
    assert "- Beware [b]of[/b] dogs." in text
    assert "came back" in text
    assert f"stability  {run.stability.value:.2f}; 1:" in text


def test_a_narrow_terminal_cuts_no_names(frame):
    run = select_features(frame, n_clusters=3, n_features=4, n_subsamples=0)
    text = shown(run, width=60)
    assert "…" not in text
    for name in run.selected:
        assert name in text
