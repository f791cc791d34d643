"""``featsieve apply``: other rows, by the names of their columns."""

import json

import numpy as np
import pandas as pd
import pytest

from featsieve.cli import main
from tests.cli.ugly_tables import write_workbook

FAST = ("--clusters", "3", "--features", "6", "--subsamples", "0")


@pytest.fixture(scope="module")
def home(people, tmp_path_factory):
    """A folder with the results of a selection from the first 60 rows; the other 30 are new."""
    home = tmp_path_factory.mktemp("apply")
    people.iloc[:60].to_csv(home / "old.csv", index=False)
    people.iloc[60:].to_csv(home / "new.csv", index=False)
    roles = ("--id-column", "who", "--label-column", "kind")
    with pytest.raises(SystemExit, match="0"):
        main(["select", str(home / "old.csv"), "-o", str(home / "results"), *roles, *FAST])
    return home


def test_the_fitted_rows_give_the_table_of_select(call, people, home, tmp_path):
    """Whatever the order of the columns, and whatever else is there."""
    shuffled = people.iloc[:60].assign(more="text").sample(axis=1, frac=1.0, random_state=0)
    shuffled.to_csv(tmp_path / "shuffled.csv", index=False)
    out, clusters = tmp_path / "out.csv", tmp_path / "clusters.csv"
    model = home / "results" / "model.skops"
    arguments = ("apply", model, tmp_path / "shuffled.csv", "-o", out, "--clusters", clusters)
    code, shown, _ = call(*arguments)
    assert code == 0
    assert out.read_bytes() == (home / "results" / "selected.csv").read_bytes()
    assert shown == f"Wrote {out} and {clusters}: 60 rows, 6 selected features.\n"
    fitted = pd.read_csv(home / "results" / "samples.csv")
    predicted = pd.read_csv(clusters)
    assert predicted["sample"].tolist() == fitted["sample"].tolist()
    assert (predicted["cluster"] == fitted["cluster"]).mean() > 0.9  # the regression's answer


def test_for_machines(call, home, tmp_path):
    model = home / "results" / "model.skops"
    code, shown, told = call("apply", model, home / "new.csv", "-o", tmp_path / "o.npz", "--json")
    assert (code, told) == (0, "")
    found = json.loads(shown)
    assert found["n_samples"] == 30
    assert found["notes"] == []
    with np.load(tmp_path / "o.npz") as archive:
        assert archive["X"].shape == (30, 6)
        assert archive["feature_names"].tolist() == found["selected"]


@pytest.mark.parametrize(
    ("model", "table", "out", "sentence"),
    [
        ("gone.skops", "new.csv", "o.csv", "gone.skops: there is no such file"),
        ("new.csv", "results/model.skops", "o.csv", "new.csv is a table, not a model: name the"),
        ("old.skops", "new.csv", "o.csv", "is not a model of featsieve"),
        ("results/model.skops", "gone.csv", "o.csv", "gone.csv: there is no such file"),
        ("results/model.skops", "new.csv", "o.doc", "does not say how to write it"),
        ("results/model.skops", "new.csv", "new.csv", "would be written over"),
        ("results/model.skops", "other.csv", "o.csv", "must have the 6 columns that were selected"),
    ],
)
def test_a_mistake_ends_in_one_sentence(call, home, monkeypatch, model, table, out, sentence):
    monkeypatch.chdir(home)
    (home / "other.csv").write_text("a,b\n1,2\n3,4\n")
    (home / "old.skops").write_text("no model")
    code, shown, told = call("apply", model, table, "-o", out)
    assert (code, shown) == (2, "")
    assert sentence in told
    assert told.startswith("featsieve: ")
    assert told.count("\n") == 1
    assert not (home / "o.csv").exists()


def test_rows_without_the_names_of_the_fitted_table(call, people, home, tmp_path):
    reading = (home / "old.csv", "-o", tmp_path / "r", "--id-column", "who", "--drop-text")
    assert call("select", *reading, *FAST)[0] == 0
    people.iloc[60:].drop(columns="who").to_csv(tmp_path / "new.csv", index=False)
    code, _, told = call("apply", tmp_path / "r", tmp_path / "new.csv", "-o", tmp_path / "o.csv")
    assert code == 0
    assert "note: There is no column 'who', which named the samples: the rows stay" in told
    _, _, told = call("apply", tmp_path / "r", home / "new.csv", "-o", tmp_path / "o2.csv")
    assert "which named the samples" not in told


ODD = ("--method", "maxvariance", "--clusters", "3", "--features", "4", "--subsamples", "0")


def test_a_workbook_is_read_as_the_fitted_one_was(call, people, tmp_path):
    """The same sheet, its cells repaired; another file may be text, or have another sheet."""
    numbers = people.drop(columns=["who", "kind"]).iloc[:, :12].round(3)
    rows = [list(numbers), *numbers.astype(str).to_numpy().tolist()]
    rows[3][0] = f"<{rows[3][0]}"
    book, other, text = tmp_path / "a.xlsx", tmp_path / "b.xlsx", tmp_path / "c.csv"
    write_workbook(book, {"Notes": [["x"]], "Values": rows})
    write_workbook(other, {"Sheet1": rows})
    text.write_text("\n".join(map(",".join, rows)))
    results, out = tmp_path / "results", tmp_path / "out.csv"
    code, _, told = call("select", book, "-o", results, "--repair", *ODD)
    assert code == 0, told
    assert (results / "changes.csv").read_text().count("\n") == 2
    assert (results / "selected.csv").exists()  # workbooks are not written
    code, _, told = call("apply", results, other, "-o", out)
    assert code == 2
    assert "there is no sheet 'Values'; sheets are: 'Sheet1': name one" in told
    for new, more in ((other, ("--sheet", 1)), (text, ())):
        code, _, told = call("apply", results, new, "-o", out, "--force", *more)
        assert code == 0, told
        assert out.read_bytes() == (results / "selected.csv").read_bytes()


def test_odd_cells_are_refused_where_the_model_does_not_repair(call, people, home, tmp_path):
    selected = pd.read_csv(home / "results" / "selected.csv", index_col="who").columns
    odd = people.iloc[60:].astype({selected[0]: object})
    odd.loc[61, selected[0]] = "<5"
    odd.to_csv(tmp_path / "odd.csv", index=False)
    model, out = home / "results", tmp_path / "out.csv"
    code, _, told = call("apply", model, tmp_path / "odd.csv", "-o", out)
    assert code == 2
    assert f"'{selected[0]}' has numbers except in 1 cell ('<5'); turn them into" in told
    assert "featsieve select --repair" in told
    assert not out.exists()
