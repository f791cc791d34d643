"""What ``featsieve apply`` repeats on other rows: repair, words, gaps, batches, by name."""

import numpy as np
import pandas as pd
import pytest

from featsieve.criteria.structure import untested
from featsieve.datasets import read_table
from featsieve.workflow import save_run, select_features


def plants(n=90, seed=0):
    """Return three groups that height, width and coat tell, measured on two plates."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    plate = np.resize([0, 1], n)
    frame = pd.DataFrame({"height": 10.0 * group + rng.standard_normal(n) + 40.0 * plate})
    frame["width"] = 8.0 * group + rng.standard_normal(n)
    frame["leaves"] = 6.0 * group + rng.standard_normal(n)
    frame["noise"] = rng.standard_normal(n)
    frame["coat"] = np.array(["smooth", "hairy", "waxy"])[group]
    frame["site"] = rng.choice(["hill", "shore"], n)
    frame["plate"] = np.array(["p", "q"])[plate]
    return frame.round(3), group


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Return a folder with a model of a table with odd cells, words, gaps and batches."""
    home = tmp_path_factory.mktemp("repeats")
    frame = plants()[0].astype({"width": object})
    frame.loc[3, "width"] = f"<{frame.loc[3, 'width']}"
    frame.loc[[5, 6], "coat"] = None
    frame.loc[8, "leaves"] = np.nan
    frame.to_csv(home / "old.csv", index=False)
    read = {"encode": True, "repair": True, "batch_column": "plate", "trusted": True}
    numbers = {"n_clusters": 3, "n_features": 4, "n_subsamples": 0}
    with untested():  # which takes most of the time
        run = select_features(read_table(home / "old.csv", **read), impute="nearest", **numbers)
        save_run(run, home / "out")
    assert set(run.selected) == {"height", "width", "leaves", "coat"}
    assert any("The model holds the selected columns of 90 rows" in str(one) for one in run.notes)
    return home


def apply_to(call, home, frame, folder, *more):
    """Apply the model to a table; return the exit code, what is told, and the file."""
    frame.to_csv(folder / "new.csv", index=False)
    out = folder / "reduced.csv"
    code, _, told = call("apply", home / "out", folder / "new.csv", "-o", out, *more)
    return code, " ".join(told.split()), out


def test_all_of_it_at_once(home, call, tmp_path):
    """Repaired cells are listed, gaps come from rows of the same group, batches are used."""
    frame, group = plants(40, seed=1)
    whole = frame.copy()
    frame = frame.drop(columns=["noise", "site"]).sample(axis=1, frac=1.0, random_state=0)
    frame = frame.astype({"width": object})
    frame.loc[2, "width"] = f">{whole.loc[2, 'width']}"
    frame.loc[:9, "leaves"] = np.nan
    frame.loc[10:14, "coat"] = None
    frame.loc[20, "coat"] = "thorny"
    clusters, changes = tmp_path / "clusters.csv", tmp_path / "changes.csv"
    more = ("--clusters", clusters, "--changes", changes)
    code, told, out = apply_to(call, home, frame, tmp_path, *more)
    assert code == 0, told
    assert ": filled from the nearest rows of the table that the features" in told
    assert "'coat' has words that the fitted table does not have: 'thorny'" in told
    reduced = pd.read_csv(out)
    assert reduced.loc[2, "width"] == whole.loc[2, "width"]
    found = pd.read_csv(changes, keep_default_na=False).set_index("column")
    assert found.loc["width", "was"] == f">{whole.loc[2, 'width']}"
    assert found.loc["leaves", ["row", "was", "now", "how"]].tolist() == [
        *("", "missing", "", "nearest rows"),
    ]
    assert found["cells"].to_dict() == {"width": 1, "leaves": 10, "coat": 5}
    # the group's own values, which a median of all rows (6) would miss by 6 in two of three groups
    assert np.abs(reduced["leaves"] - whole["leaves"])[:10].max() < 4.5
    assert reduced["coat"][10:15].tolist() == whole["coat"][10:15].tolist()
    assert reduced["coat"][20] == "thorny"
    found = pd.read_csv(clusters)["cluster"]
    assert pd.crosstab(found, group).max(axis=1).sum() == 40  # plates lie 40 apart


@pytest.mark.parametrize(
    ("gone", "sentence"),
    [("coat", "there is no column 'coat'"), ("plate", "and the batches ('plate')")],
)
def test_a_missing_column_is_named(home, call, tmp_path, gone, sentence):
    frame = plants(20, seed=2)[0].drop(columns=gone)
    code, told, out = apply_to(call, home, frame, tmp_path, "--clusters", tmp_path / "c.csv")
    assert code == 2
    assert sentence in told
    assert not out.exists()


def test_a_batch_that_is_new_is_said_and_one_that_is_missing_has_its_row_named(
    home, call, tmp_path
):
    frame = plants(40, seed=4)[0]
    frame.loc[20:, "plate"] = "r"
    code, told, _ = apply_to(call, home, frame, tmp_path, "--clusters", tmp_path / "c.csv")
    assert code == 0, told
    assert "Batches that the fitted table does not have: 'r'. Their rows are centred" in told
    frame.loc[7, "plate"] = None
    more = ("--clusters", tmp_path / "c.csv", "--force")
    code, told, _ = apply_to(call, home, frame, tmp_path, *more)
    assert code == 2
    assert "new.csv: the batch of 1 of 40 samples is missing (the first is row 8): name it" in told


def test_words_in_a_column_of_numbers_become_missing_by_name(home, call, tmp_path):
    """The model repairs, so that a word in a column of numbers is a gap, and listed."""
    frame = plants(20, seed=3)[0].astype({"height": object})
    frame.loc[4, "height"] = "broken"
    code, told, out = apply_to(call, home, frame, tmp_path)
    assert code == 0, told
    assert "'height' has numbers except in 1 cell ('broken')" in told
    assert np.isfinite(pd.read_csv(out)["height"][4])
