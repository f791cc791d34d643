"""Words in tables, on the command line: proposed, taken part, repeated on other rows."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture(scope="module")
def flowers(tmp_path_factory):
    """Return a file with two telling columns of words, and the classes as words."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 60)
    frame = pd.DataFrame({"height": 3.0 * group + rng.standard_normal(60)})
    frame["noise"] = rng.standard_normal(60)
    frame["color"] = np.array(["red", "white", "blue"])[group]
    frame["size"] = np.array(["small", "mid", "large"])[group]
    frame["site"] = rng.choice(["hill", "shore"], 60)
    frame["species"] = np.array(["rose", "lily", "iris"])[group]
    path = tmp_path_factory.mktemp("flowers") / "flowers.csv"
    frame.to_csv(path, index=False)
    return path


def test_select_and_apply_know_the_words(spawn, call, flowers, tmp_path):
    numbers = ["--clusters", 3, "--features", 3, "--subsamples", 0]
    words = ["--encode", "--encode-order", "size=small,mid,large", "--label-column", "species"]
    found = spawn("select", flowers, "-o", tmp_path / "out", *words, *numbers, "--json")
    assert found.returncode == 0, found.stderr
    assert set(json.loads(found.stdout)["selected"]) == {"height", "color", "size"}
    frame = pd.read_csv(flowers)
    reduced = pd.read_csv(tmp_path / "out" / "selected.csv")
    assert reduced["color"].tolist() == frame["color"].tolist()
    assert reduced["size"].tolist() == frame["size"].tolist()

    frame.head(20).replace("red", "pink").to_csv(tmp_path / "new.csv", index=False)
    code, _, told = call("apply", tmp_path / "out", tmp_path / "new.csv", "-o", tmp_path / "r.csv")
    assert code == 0
    assert "'color' has words that the fitted table does not have: 'pink'" in " ".join(told.split())
    assert "pink" in set(pd.read_csv(tmp_path / "r.csv")["color"])
    frame.drop(columns="color").to_csv(tmp_path / "less.csv", index=False)
    code, _, told = call("apply", tmp_path / "out", tmp_path / "less.csv", "-o", tmp_path / "l.csv")
    assert code == 2
    assert "'color'" in told


def test_an_order_is_proposed_and_never_taken_unasked(call, flowers, tmp_path):
    _, shown, _ = call("inspect", flowers, "--json")
    look = json.loads(shown)
    ordered = ["--encode-order", "size=small,mid,large"]
    assert look["options"] == ["--encode", *ordered, "--label-column", "species"]
    (said,) = [note["text"] for note in look["notes"] if note["kind"] == "order"]
    assert "column 'size', from low to high small, mid, large" in said
    assert "--encode-order size=small,mid,large" in said
    words = ["--encode", "--label-column", "species", "--clusters", 3, "--features", 3]
    for name, more in (("unasked", []), ("asked", ordered)):
        folder = tmp_path / name
        code, _, _ = call("select", flowers, "-o", folder, *words, *more, "--subsamples", 0)
        assert code == 0
        told = [c["text"] for c in json.loads((folder / "summary.json").read_text())["caveats"]]
        levels = set(pd.read_csv(folder / "features.csv")["level"].dropna())
        assert (said in told) == (name == "unasked")
        assert any(level.startswith("size = ") for level in levels) == (name == "unasked")


def test_an_order_without_words_is_refused(call, flowers, tmp_path):
    code, _, told = call("select", flowers, "-o", tmp_path / "out", "--encode-order", "size")
    assert code == 2
    assert "size=small,large" in told
