"""A fast look at a table."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

import featsieve.workflow.inspect as inspect_module
from featsieve import defaults
from featsieve.datasets import Dataset, make_planted, read_table
from featsieve.workflow.inspect import inspect_table, read_to_inspect
from featsieve.workflow.select import select_features


@pytest.fixture(scope="module")
def planted():
    return make_planted(120, 60, n_informative=10, n_clusters=4, random_state=0)


def structure(X):
    return inspect_table(Dataset("t", X))["structure"]


@pytest.mark.slow
@pytest.mark.whole_structure_test
def test_clusters_are_told_from_noise(planted):
    seen = structure(planted.X)
    assert seen["n_clusters"] == 4
    assert seen["plausible_range"] == (2, 8)
    assert (seen["verdict"], seen["p_permuted"], seen["p_rotated"]) == ("clusters", 0.05, 0.05)
    noise = structure(np.random.default_rng(1).standard_normal((120, 60)))
    assert (noise["verdict"], noise["p_rotated"]) == ("nothing", None)
    rng = np.random.default_rng(0)
    gradient = structure(rng.standard_normal((120, 1)) + rng.standard_normal((120, 30)))
    assert (gradient["verdict"], gradient["answer"]) == ("gradient", "a gradient, not groups")


def test_everything_that_is_odd_is_seen(planted, tmp_path):
    frame = pd.DataFrame(planted.X, columns=[f"g{j}" for j in range(60)])
    frame["g1"], frame["id"] = 3.0, np.arange(120)
    frame.loc[frame.index[:5], "g4"] = np.nan
    frame.loc[3, "g5"], frame.loc[7, "g6"] = np.nan, np.inf
    frame["empty"] = np.nan
    frame["kind"], frame["who"] = "text", "more"
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = read_table(tmp_path / "t.csv", drop=["who"], drop_text=True)
    look = json.loads(json.dumps(inspect_table(table, asked=["who"]), allow_nan=False))
    assert look["text"] == ["kind"]
    assert look["missing"] == {"g4": 5, "g5": 1}
    assert look["empty"] == ["empty"]
    assert look["infinite"] == {"g6": 1}
    assert look["constant"] == ["g1"]
    assert look["row_numbers"] == ["id"]
    assert look["options"] == [
        *("--drop-text", "--id-column", "id", "--drop", "g6", "--impute", "median"),
    ]
    assert look["structure"]["n_clusters"] == 4  # nothing of this keeps it from looking


def test_samples_have_one_name_only():
    X = np.column_stack([np.arange(9), np.arange(1, 10), np.random.default_rng(0).random(9)])
    unnamed, named = Dataset("t", X), Dataset("t", X, sample_names=list("abcdefghi"))
    looks = [inspect_table(table) for table in (unnamed, named)]
    assert looks[0]["options"] == ["--id-column", "x0", "--drop", "x1"]  # and x1 once
    assert looks[1]["options"] == ["--drop", "x0", "--drop", "x1"]


def test_memory_and_zeros(planted):
    dense = np.where(planted.X > 1.0, planted.X, 0.0).astype(np.float32)
    look = inspect_table(Dataset("t", dense))
    assert look["n_bytes"] == dense.nbytes
    assert look["zeros"] == pytest.approx(np.mean(dense == 0))
    sparse = sp.csr_array(dense)
    few = inspect_table(Dataset("t", sparse))
    assert few["zeros"] == pytest.approx(look["zeros"])
    assert few["n_bytes"] == sum(a.nbytes for a in (sparse.data, sparse.indices, sparse.indptr))
    assert few["sparse"]


@pytest.mark.slow
def test_large_tables_are_sampled_and_it_is_said(monkeypatch, planted):
    monkeypatch.setattr(defaults, "INSPECTED_SAMPLES", 60)
    monkeypatch.setattr(defaults, "INSPECTED_ELEMENTS", 60 * 40)
    for X in (planted.X, sp.csr_array(planted.X)):
        seen = structure(X)
        assert (seen["n_samples"], seen["n_features"], seen["sampled_columns"]) == (60, 40, True)
    rows_only = structure(planted.X[:, :40])
    assert (rows_only["n_samples"], rows_only["sampled_columns"]) == (60, False)


@pytest.mark.slow
def test_sparse_gaps_do_not_matter(planted):
    X = np.where(np.abs(planted.X) > 0.5, planted.X, 0.0)
    X[0, 3] = np.nan
    assert structure(sp.csr_array(X))["n_clusters"] == 4


@pytest.mark.parametrize("X", [np.eye(3), np.ones((20, 5)), np.arange(20.0)[:, None]])
def test_too_little_to_look_at(X):
    assert structure(X) is None


@pytest.mark.whole_structure_test
def test_wide_gaps_in_few_columns_are_no_noise():
    assert structure(load_iris().data)["verdict"] == "clusters"


def test_no_column_is_lost_for_cells_that_can_be_repaired(tmp_path):
    X = np.random.default_rng(0).random((12, 3)).round(3).astype(str).astype(object)
    X[:8, 1], X[4, 2] = "<LOD", "inf"
    pd.DataFrame(X, columns=list("abc")).to_csv(tmp_path / "t.csv", index=False)
    table, _ = read_to_inspect(tmp_path / "t.csv", {})
    assert inspect_table(table)["options"] == ["--repair", "--impute", "median"]
    assert table.origin.changes["was"] == ["<LOD"] * 8 + ["inf"]
    assert table.X.shape == (12, 3)


def test_names_alone_say_that_scaled_genes_are_in_rows(tmp_path):
    X = np.random.default_rng(0).standard_normal((15, 8))
    frame = pd.DataFrame(X, columns=[f"sample{j}" for j in range(8)])
    frame.insert(0, "gene", [f"g{i}" for i in range(15)])
    frame.to_csv(tmp_path / "t.csv", index=False)
    table, notes = read_to_inspect(tmp_path / "t.csv", {})
    assert table.X.shape == (8, 15)
    assert [note.kind for note in notes] == ["transposed"]
    assert inspect_table(table, notes=notes)["options"] == ["--transpose"]


def test_counts_of_a_wide_table_are_looked_at_as_select_will(tmp_path, untested_fits, monkeypatch):
    """With --counts; of a long table of whole numbers it is said, and left to the reader."""
    rng = np.random.default_rng(0)
    counts = rng.negative_binomial(0.5, 0.5 / (0.5 + rng.gamma(0.3, 200.0, 80)), (30, 80))
    frame = pd.DataFrame(counts, columns=[f"g{j}" for j in range(80)])
    frame.to_csv(tmp_path / "t.csv", index=False)

    def proposed(frame):
        frame.to_csv(tmp_path / "t.csv", index=False)
        table, notes = read_to_inspect(tmp_path / "t.csv", {})
        look = inspect_table(table, notes=notes)
        assert "counts" in [note["kind"] for note in look["notes"]]
        return look["options"]

    seen = []
    prepare = inspect_module.prepare_table
    monkeypatch.setattr(
        inspect_module,
        "prepare_table",
        lambda table, **settings: seen.append(settings) or prepare(table, **settings),
    )
    assert proposed(frame) == ["--counts"]
    assert seen[-1]["counts"] is True
    numbered = frame.assign(id=np.arange(1, 31), unit=7)
    assert proposed(numbered) == ["--counts", "--id-column", "id"]
    assert proposed(frame.iloc[:, :20]) == []
    assert "counts" not in seen[-1]
    frame.iloc[4] = 0  # which --counts would refuse
    assert "--counts" not in proposed(frame)


def test_dates_that_take_part_are_named(tmp_path, untested_fits):
    X = np.random.default_rng(0).standard_normal((40, 3))
    frame = pd.DataFrame(X, columns=list("abc"))
    for j, name in enumerate(("admitted", "left")):
        days = pd.date_range("2024-01-01", periods=40 + j)[j:]
        frame[name] = np.random.default_rng(j).permutation(days.strftime("%Y-%m-%d"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    table, notes = read_to_inspect(tmp_path / "t.csv", {})
    said = [note["text"] for note in inspect_table(table, notes=notes)["notes"]]
    (text,) = [text for text in said if text.startswith("Dates take part as numbers of days: ")]
    assert "2 columns ('admitted', 'left')" in text
    assert "--drop admitted" in text


def test_dates_do_not_name_samples(tmp_path, untested_fits):
    """Neither as another word in every row, nor as days that rise by one."""
    X = np.random.default_rng(0).standard_normal((40, 3))
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["visit"] = pd.date_range("2024-01-01", periods=40).strftime("%d %B %Y")
    frame.to_csv(tmp_path / "t.csv", index=False)
    table, _ = read_to_inspect(tmp_path / "t.csv", {})
    look = inspect_table(table)
    assert (look["options"], look["row_numbers"]) == (["--encode"], [])
    frame["visit"] = [f"0{1 + i % 9}/0{1 + i // 9}/2024" for i in range(40)]
    frame.to_csv(tmp_path / "t.csv", index=False)
    look = inspect_table(read_to_inspect(tmp_path / "t.csv", {})[0])
    assert look["options"] == ["--drop-text"]
    assert any("may begin with the day or the month" in note["text"] for note in look["notes"])


def test_words_are_looked_at_as_select_sees_them(tmp_path, monkeypatch):
    """As indicators of one feature, without what may be the classes."""
    seen = {}

    def look(X, **options):
        seen.update(options, X=X)

    monkeypatch.setattr("featsieve.workflow.inspect.find_structure", look)
    words = np.array(["a", "b", "c"])[np.random.default_rng(0).integers(0, 3, (30, 2))]
    frame = pd.DataFrame(words, columns=["coat", "class"]).assign(x=np.arange(30.0) ** 2)
    frame.loc[2, "coat"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    look = inspect_table(read_to_inspect(tmp_path / "t.csv", {})[0])
    assert look["options"] == ["--encode", "--label-column", "class", "--impute", "category"]
    assert seen["variables"].tolist() == [0, 0, 0, 0, 1]  # a missing word is a level
    assert (seen["X"][:, :4].sum(axis=1) == 1).all()


def test_classes_may_have_many_words(tmp_path, untested_fits):
    frame = pd.DataFrame({"x": np.arange(40.0) % 7, "class": [f"kind {i % 15}" for i in range(40)]})
    frame.to_csv(tmp_path / "t.csv", index=False)
    look = inspect_table(read_to_inspect(tmp_path / "t.csv", {})[0])
    assert look["options"] == ["--label-column", "class"]


@pytest.mark.parametrize("case", ["words", "batches", "rows"])
def test_select_finds_the_clusters_that_inspect_shows(tmp_path, case):
    """Whatever words, gaps, batches or many rows there are."""
    rng = np.random.default_rng(0)
    n = 700 if case == "rows" else 150
    group = rng.integers(0, 3, n)
    means = 4.0 * np.repeat(np.eye(3, 4), 2, axis=1)
    frame = pd.DataFrame(rng.standard_normal((n, 8)) + means[group])
    frame.columns = [f"m{j}" for j in range(8)]
    frame.loc[rng.random(n) < 0.1, "m7"] = np.nan
    if case == "batches":
        plate = rng.integers(0, 2, n)
        frame[["m3", "m4", "m5"]] += 4.0 * plate[:, None]
        frame["plate"] = plate
    else:
        frame.insert(0, "town", np.array(["Ulm", "Bonn", "Kiel"])[rng.integers(0, 3, n)])
        frame.loc[3, "town"] = None
    frame.to_csv(tmp_path / "t.csv", index=False)
    look = inspect_table(read_to_inspect(tmp_path / "t.csv", {})[0])
    given = {"batch_column": "plate"} if case == "batches" else {"encode": True}
    run = select_features(
        read_table(tmp_path / "t.csv", **given),
        impute=look["options"][-1],
        n_subsamples=0,
    )
    seen = look["structure"]
    assert look["options"][-2] == "--impute"
    assert seen["n_clusters"] == run.n_clusters
    assert run.structure.summary() == {k: seen[k] for k in run.structure.summary()}
    assert not seen["sampled"]


def test_what_keeps_select_from_a_table_is_said(tmp_path):
    X = np.column_stack([np.random.default_rng(0).standard_normal((30, 3)), np.zeros(30)])
    table = Dataset("t", X, batch=["a"] * 29 + ["b"], batch_name="plate")
    look = inspect_table(table)
    assert look["structure"] is None
    assert "one row only ('b')" in look["notes"][-1]["text"]
