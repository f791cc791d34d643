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


def test_a_scale_of_many_questions_is_one_option(call, tmp_path):
    """Answers of two groups, some "don't know": one order for all questions, also of other rows."""
    rng = np.random.default_rng(0)
    scale = ["never", "rarely", "sometimes", "often", "always"]
    group = rng.integers(0, 2, 120)
    answers = np.clip(
        np.round(2 + 1.5 * (2 * group[:, None] - 1) + rng.normal(size=(120, 4))), 0, 4
    )
    answers = np.hstack([answers, rng.integers(0, 5, (120, 4))]).astype(int)
    frame = pd.DataFrame(np.array(scale)[answers], columns=[f"q{j}" for j in range(8)])
    frame = frame.mask(rng.random((120, 8)) < 0.05, "Don't know")
    frame.loc[frame["q2"] == "never", "q2"] = "rarely"  # a question without one of the answers
    frame.to_csv(tmp_path / "survey.csv", index=False)
    _, shown, _ = call("inspect", tmp_path / "survey.csv", "--json")
    look = json.loads(shown)
    order = ["--encode-order", ",".join(scale)]
    assert look["options"] == ["--encode", *order, "--impute", "median"]
    assert look["structure"]["verdict"] == "clusters"
    numbers = ["--clusters", 2, "--features", 4, "--subsamples", 0, "--json"]
    out = tmp_path / "out"
    code, shown, _ = call("select", tmp_path / "survey.csv", "-o", out, *look["options"], *numbers)
    assert code == 0
    found = json.loads(shown)
    assert set(found["selected"]) == {"q0", "q1", "q2", "q3"}
    told = [caveat["text"] for caveat in json.loads((out / "summary.json").read_text())["caveats"]]
    gone = int((frame == "Don't know").to_numpy().sum())
    assert f'No answers, and missing in columns in an order: "Don\'t know" ({gone} cells in 8' in (
        " ".join(told)
    )
    frame.head(20).to_csv(tmp_path / "new.csv", index=False)
    reduced = tmp_path / "new-selected.csv"
    code, _, told = call("apply", out, tmp_path / "new.csv", "-o", reduced)
    assert code == 0, told
    wanted = frame.head(20)[["q0", "q1", "q2", "q3"]]
    known = wanted.mask(wanted == "Don't know")
    assert ((pd.read_csv(reduced)[known.columns] == known) | known.isna()).to_numpy().all()
