"""What is said about a table before a selection, in which cases, and in which not."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from featsieve.datasets import Dataset, make_cells, make_planted, read_table
from featsieve.io.dataset import Origin
from featsieve.workflow.findings import find_notes
from featsieve.workflow.inspect import inspect_table, read_to_inspect
from featsieve.workflow.prepare import prepare_table


def kinds(X, **about):
    return [note.kind for note in find_notes(Dataset("t", np.asarray(X), **about))]


def planted(n=90, d=30):
    rng = np.random.default_rng(0)
    X = make_planted(n, d, n_informative=6, n_clusters=3, random_state=0).X
    return X + rng.uniform(3.0, 15.0, size=d)


@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_usual_tables_are_not_talked_about(load):
    assert set(kinds(load().data)) <= {"constant"}
    assert kinds(planted()) == []


def test_units_are_told_with_what_to_do():
    table = Dataset("t", load_wine().data, feature_names=list(load_wine().feature_names))
    (note,) = find_notes(table)
    assert note.kind == "scales"
    assert "('proline' most, by 314; " in note
    assert "JASFS scales columns itself" in note
    assert prepare_table(table).notes == ()  # nothing to do for JASFS


def test_transposed_tables():
    X = planted().T  # 30 features in rows
    assert kinds(X) == ["transposed"]
    (note,) = find_notes(Dataset("t", X))
    assert "of the variance lies between the means of its rows, 0% between those of" in note
    assert "--transpose" in note
    assert "--center-rows" in note  # as likely, where names do not say
    assert kinds(load_wine().data.T) == ["transposed"]
    # after --transpose nothing is said any more
    origin = Origin({"transpose": True})
    assert kinds(X.T, origin=origin) == []
    # names alone: rows can well be proteins
    noise = np.random.default_rng(0).standard_normal((40, 8))
    rows = {"sample_names": ["g"] * 40, "id_name": "Gene Symbol"}
    (note,) = find_notes(Dataset("t", noise, **rows))
    assert note.startswith("The table may be transposed: 'Gene Symbol' is a name for features. If")
    few = {"sample_names": ["g"] * 8, "id_name": "Gene Symbol"}
    assert kinds(noise.T, **few) == []  # wide, as tables of samples are
    patients = [f"patient {i}" for i in range(8)]
    (note,) = find_notes(Dataset("t", noise, **rows, feature_names=patients))
    assert note.startswith("The table looks transposed: ")
    assert "--center-rows" not in note


def test_a_transposed_file_is_inspected_the_right_way_round(tmp_path):
    X = planted(60, 12)
    lines = [",".join(map(str, ["gene", *(f"patient{i}" for i in range(60))]))]
    lines += [",".join(map(str, [f"g{j}", *X[:, j]])) for j in range(12)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    table, (why,) = read_to_inspect(tmp_path / "t.csv", {})
    assert table.X.shape == (60, 12)
    assert why.startswith("The table looks transposed: ")
    assert why.endswith(
        ", and 'gene' is a name for features, and columns are called like samples ('patient0')."
    )
    # without a sign in the names it is said, and left to the reader
    text = "\n".join(lines).replace("gene,", "one,").replace("patient", "p")
    (tmp_path / "t.csv").write_text(text)
    table, notes = read_to_inspect(tmp_path / "t.csv", {})
    assert (table.X.shape, notes) == ((12, 60), [])
    assert "transposed" in [note.kind for note in find_notes(table)]


def test_raw_counts():
    cells = make_cells(300, 400, random_state=0)
    X = np.asarray(cells.X.toarray() if hasattr(cells.X, "toarray") else cells.X)
    assert "counts" in kinds(X)
    assert "counts" not in kinds(np.log1p(X))
    assert "counts" not in kinds(X, cells=True)  # an AnnData file says so itself
    for counts in (False, True):
        settled = prepare_table(X, counts=counts).notes
        assert "counts" not in [note.kind for note in settled]


def test_a_direction_that_moves_every_column():
    rng = np.random.default_rng(0)
    X = planted() + 1.5 * rng.standard_normal((90, 1))
    (note,) = find_notes(Dataset("t", X))
    assert note.kind == "offset"
    assert "makes up 6" in note
    assert "--center-rows" in note
    ready = prepare_table(X, center_rows=True)
    np.testing.assert_allclose(ready.X.mean(axis=1), 0.0, atol=1e-12)
    assert [note.kind for note in ready.notes] == ["rows"]
    assert "offset" not in kinds(load_breast_cancer().data)  # rows of many units have no mean


def test_near_duplicates():
    X = planted()
    twins = np.column_stack([X, X[:, 3] + 1e-3 * X[:, 4]])
    (note,) = find_notes(Dataset("t", twins))
    assert note.startswith("Nearly the same as a column before: 1 column of 31, such as 'x30' with")
    look = inspect_table(Dataset("t", twins))
    assert look["options"] == ["--drop", "x30"]
    many = np.column_stack([X[:, :20], X[:, :6] + 1e-3 * X[:, 6:12]])
    assert inspect_table(Dataset("t", many))["options"] == []  # no command line names so many


def test_words_that_name_the_samples():
    origin = Origin(text={"who": 90, "town": 3})
    assert kinds(planted(), origin=origin) == ["categories", "names"]
    assert kinds(planted(), origin=origin, sample_names=["a"] * 90) == ["categories"]


def test_select_says_what_inspect_says():
    X = np.column_stack([planted(), np.full(90, np.nan), np.arange(90.0), np.ones(90)])
    table = Dataset("t", X, origin=Origin(notes=("Left out above the header: 'x'.",)))
    said = list(find_notes(table))
    assert [note.kind for note in said] == ["file", "empty", "row-numbers", "constant"]
    assert prepare_table(table).notes == tuple(said)
    infinite = replace(table, X=np.where(X[0, 0] == X, np.inf, X))
    assert [note.kind for note in find_notes(infinite)] == [note.kind for note in said]


def test_a_column_called_class_is_proposed_as_such_beside_words_alone(tmp_path):
    rng = np.random.default_rng(0)
    words = {f"c{j}": rng.choice(["red", "green", "blue"], 40) for j in range(4)}
    words["class"] = rng.choice(["p", "q"], 40)
    lines = [",".join(words), *(",".join(row) for row in zip(*words.values(), strict=True))]
    (tmp_path / "words.csv").write_text("\n".join(lines), encoding="utf-8")
    table, notes = read_to_inspect(tmp_path / "words.csv", {})
    options = inspect_table(table, notes=notes)["options"]
    assert options == ["--encode", "--label-column", "class"]


def batch_file(path, name, values, *, transpose=False):
    """Write 40 rows of six numbers and a column that may be a batch."""
    X = np.random.default_rng(0).standard_normal((40, 6)) + np.arange(6)
    rows = [["gene", *(f"g{j}" for j in range(6)), name]]
    rows += [[f"sample{i}", *map(str, X[i]), str(values[i])] for i in range(40)]
    rows = list(zip(*rows, strict=True)) if transpose else [row[1:] for row in rows]
    path.write_text("\n".join(map(",".join, rows)), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "levels", "transpose"),
    [
        ("batch", "AB", False),
        ("Sequencing run", "AB", True),
        ("plate_no", (1, 2, 3), False),
        ("lab", ["Nord", "Sud"], False),
    ],
)
def test_a_batch_is_proposed_as_such_and_is_no_category(tmp_path, name, levels, transpose):
    path = tmp_path / "t.csv"
    batch_file(path, name, [levels[i % len(levels)] for i in range(40)], transpose=transpose)
    table, notes = read_to_inspect(path, {})
    assert table.batch_name == name
    assert table.names == [f"g{j}" for j in range(6)]
    look = inspect_table(table, notes=notes)
    options = ["--transpose"] * transpose + ["--batch-column", name]
    assert look["options"] == options
    (said,) = [note["text"] for note in look["notes"] if note["kind"] == "batches"]
    assert said.startswith(f"{name!r} may be a batch: --batch-column ")
    selected = read_table(path, encode=True, transpose=transpose)
    assert said in [str(note) for note in find_notes(selected)]
    left_out = read_table(path, drop_text=True, transpose=transpose)
    assert [n.kind for n in find_notes(left_out)].count("batches") == 1
    assert "categories" not in [note.kind for note in find_notes(left_out)]


def test_few_days_are_a_batch(tmp_path):
    """Whatever their column is called; one that is called so goes first."""
    days = ["2024-03-04", "2024-03-05"] * 20
    batch_file(tmp_path / "t.csv", "measured", days)
    table = read_to_inspect(tmp_path / "t.csv", {})[0]
    assert inspect_table(table)["options"] == ["--batch-column", "measured"]
    selected = read_table(tmp_path / "t.csv", encode=True)
    (said,) = [note for note in find_notes(selected) if note.kind == "batches"]
    assert said.startswith("'measured' may be a batch: ")
    batch_file(tmp_path / "t.csv", "measured,plate", [f"{d},{i // 20}" for i, d in enumerate(days)])
    assert read_to_inspect(tmp_path / "t.csv", {})[0].batch_name == "plate"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("batch", ["A"] * 40),  # one value
        ("donor", [f"D{i}" for i in range(40)]),  # as many as rows
        ("plate", range(40)),
        ("donor sex", ["f", "m"] * 20),  # of a donor, and no batch
        ("run", ["A", "B", "", "A"] * 10),  # a gap
        ("batch", ["A"] * 39 + ["B"]),  # of one row
        ("measured", [f"2024-03-{1 + i % 20:02}" for i in range(40)]),  # many days
    ],
)
def test_what_is_called_like_a_batch_and_is_none(tmp_path, name, values):
    batch_file(tmp_path / "t.csv", name, list(values))
    table = read_to_inspect(tmp_path / "t.csv", {})[0]
    assert table.batch is None
    assert not [note for note in find_notes(table, proposed=True) if note.kind == "batches"]


def test_words_in_other_letters_and_limits_are_told(tmp_path):
    sex, ph = ["f", "F", "m", "m"] * 10, ["<0.5", "0.7", "0.9", "1.2"] * 10
    batch_file(tmp_path / "t.csv", "sex,ph", [",".join(pair) for pair in zip(sex, ph, strict=True)])
    said = "\n".join(find_notes(read_table(tmp_path / "t.csv", encode=True, repair=True)))
    assert "'sex' has words that differ in capital letters only ('f', 'F'; the second is" in said
    assert "With --repair, these cells are read: 10 as numbers, 10 in one spelling." in said
    assert "A limit counts as its number: '<0.5' as 0.5." in said
    batch_file(tmp_path / "t.csv", "sex", sex)
    said = "".join(find_notes(read_table(tmp_path / "t.csv", encode=True)))
    assert "and count as different: 'F', 'f'; --repair (in Python repair=True) makes" in said
    batch_file(tmp_path / "t.csv", "sex", ["f", "m"] * 20)
    assert "capital" not in "".join(find_notes(read_table(tmp_path / "t.csv", encode=True)))
