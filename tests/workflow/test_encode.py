"""Categories, orders and dates: from the words of a file to a selection, and back to words."""

import json

import numpy as np
import pandas as pd
import pytest

from featsieve import JASFS, load_model, save_model
from featsieve.criteria.structure import untested
from featsieve.datasets import read_table, write_table
from featsieve.io.formats.common import _one_spelling
from featsieve.tables import Encoding, column_words, encode
from featsieve.workflow import save_run, select_features
from featsieve.workflow.apply import apply_model
from featsieve.workflow.compare import compare_methods
from featsieve.workflow.inspect import inspect_table
from featsieve.workflow.prepare import prepare_table

FAST = {"n_clusters": 3, "n_features": 3, "n_subsamples": 0}


def animals(n=90, seed=0):
    """Return a table in which weight, coat and size tell three groups."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, n)
    frame = pd.DataFrame({"weight": 4.0 * group + rng.standard_normal(n)})
    for j in range(3):
        frame[f"noise{j}"] = rng.standard_normal(n)
    coats = np.array(["fur", "feathers", "scales"])
    frame["coat"] = np.where(rng.random(n) < 0.1, rng.choice(coats, n), coats[group])
    frame["color"] = rng.choice(["red", "green", "blue", "grey"], n)
    frame["tame"] = rng.choice(["yes", "no"], n)
    frame["size"] = np.array(["small", "mid", "large"])[group]
    return frame


@pytest.fixture(autouse=True)
def without_structure_tests():
    """Leave the test of structure out, which takes most of the time."""
    with untested():
        yield


@pytest.fixture
def path(tmp_path):
    animals().to_csv(tmp_path / "animals.csv", index=False)
    return tmp_path / "animals.csv"


def read(path, **options):
    return read_table(path, trusted=True, **options)


def test_the_rule_of_encoding():
    assert Encoding.of(["b", "a"] * 8) == Encoding("category", ("a", "b"))
    assert Encoding.of(["c"] * 3 + ["b"] * 4 + ["a"] * 2).levels == ("b", "c", "a")
    assert Encoding.of([f"w{i}" for i in range(5)] * 4) is None  # 5 words in 20 rows
    assert Encoding.of(["2024-01-05", None, "2024-02-30"] * 9).kind == "category"  # no such day
    dates = Encoding.of(["2024-01-05", None, "1969-12-31 12:00"])
    days, _ = dates.codes(["1970-01-02", None, "1969-12-31 12:00"])
    assert days[[0, 2]].tolist() == [1.0, -0.5]
    assert dates.words(days) == ["1970-01-02", "", "1969-12-31 12:00:00"]


def test_a_minus_is_an_answer_beside_a_plus_and_where_it_is_known():
    assert column_words(pd.Series(["+", "-", "++", "n/a"])) == ["+", "-", "++", None]
    assert column_words(pd.Series(["yes", "-", "no"])) == ["yes", None, "no"]
    assert column_words(pd.Series(["a", "-", "N/A"]), ["-", "n/a"]) == ["a", "-", "N/A"]


def test_genotypes_keep_their_spelling_and_known_levels_theirs():
    words = ["AA", "Aa", "aa", None]
    assert _one_spelling(words)[0] == words
    assert _one_spelling(["m", "M", "M", "no", "No", "No"])[0] == ["M"] * 3 + ["No"] * 3
    assert _one_spelling(["yes", "Yes", "YES"], ["Yes", "yes"])[0] == ["yes", "Yes", "Yes"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["31/05/2024", "1/6/2024"], ["2024-05-31", "2024-06-01"]),
        (["5/31/2024", "6/1/2024 12:30"], ["2024-05-31", "2024-06-01 12:30:00"]),
        (["3.4.2024", "5.6.2024"], ["2024-04-03", "2024-06-05"]),
        (["31 May 2024", "Jun 1, 2024"], ["2024-05-31", "2024-06-01"]),
        (["2024/05/31", "2024/6/1"], ["2024-05-31", "2024-06-01"]),
        (["15-Oct-22", "3-Nov-98"], ["2022-10-15", "1998-11-03"]),
        (["5 Mar 68 7:30", "5-Mar-69"], ["2068-03-05 07:30:00", "1969-03-05"]),  # always so
    ],
)
def test_usual_forms_of_dates(words, expected):
    found = Encoding.of(words)
    assert found.kind == "date"
    assert found.words(found.codes(words)[0]) == expected


def test_dates_that_may_be_two_days_are_refused_with_the_fix(tmp_path):
    frame = animals(20).assign(visit=[f"0{1 + i % 9}/0{1 + i % 7}/2024" for i in range(20)])
    frame.to_csv(tmp_path / "visits.csv", index=False)
    with pytest.raises(ValueError, match=r"'visit': dates such as '01/01/2024' .* 2024-05-31"):
        read(tmp_path / "visits.csv", encode=True)
    with pytest.raises(ValueError, match="'visit': dates such as"):
        encode(frame)
    left_out = read(tmp_path / "visits.csv", encode=True, drop_text=True)
    assert "visit" in left_out.dropped
    assert any("may begin with the day or the month" in note for note in left_out.origin.notes)
    assert Encoding.of(["31/12/2024", "12/31/2024"]).kind == "category"  # not both are dates
    with pytest.raises(ValueError, match="'12/31/2024' is no date"):
        Encoding("date", ("day",)).codes(["12/31/2024"])


def test_cells_that_hold_no_word_and_capital_letters(tmp_path):
    """What stands for a gap is one among words, too; --repair spells words alike, also later."""
    frame = animals().assign(visit=[f"{1 + i % 28}/3/2024" for i in range(90)], humidity=55.5)
    frame.loc[::9, ["coat", "tame", "visit"]] = "-"
    frame.loc[1::9, "tame"], frame.loc[::7, "size"] = "n/a", frame["size"][::7].str.upper()
    frame["humidity"] = np.where(np.arange(90) % 10 == 0, -999, np.arange(90))
    frame.to_csv(tmp_path / "t.csv", index=False)
    plain = read(tmp_path / "t.csv", encode=True)
    assert plain.encodings["tame"].levels == ("no", "yes")
    assert plain.encodings["visit"].kind == "date"
    assert len(plain.encodings["size"].levels) == 6
    table = read(tmp_path / "t.csv", encode=True, repair=True)
    assert set(table.encodings["size"].levels) == {"small", "mid", "large"}
    changes = pd.DataFrame(table.origin.changes)
    assert changes["column"].value_counts().to_dict() == {"size": 13, "humidity": 9}
    upper = changes["column"] == "size"
    assert (changes["was"][upper].str.lower() == changes["now"][upper]).all()
    run = select_features(table, impute="category", keep=["size", "humidity"], **FAST)
    frame.iloc[:5].assign(size="LARGE", humidity=[1, -999, 2, 3, 4]).to_csv(tmp_path / "new.csv")
    reduced, _, _ = apply_model(run.model, tmp_path / "new.csv")
    words = reduced.encodings["size"].words(reduced.X[:, reduced.names.index("size")])
    assert words == ["large"] * 5
    filled = np.nanmedian(table.X[:, table.names.index("humidity")])
    assert reduced.X[1, reduced.names.index("humidity")] == filled


def test_words_beyond_the_levels_have_no_indicator():
    codes, every = Encoding("category", ("a", "b", "c")).codes(["c", "x", None])
    assert every.levels == ("a", "b", "c", "x")
    np.testing.assert_array_equal(
        Encoding("category", ("a", "b", "c")).columns(codes),
        [[0, 0, 1], [0, 0, 0], [np.nan] * 3],
    )
    assert Encoding("category", ("a", "b")).columns(np.array([0.0, 1.0, 2.0])).ravel().tolist() == [
        0.0,
        1.0,
        0.5,
    ]


def test_a_data_frame_is_encoded_with_its_groups():
    table, groups = encode(animals())
    assert set(groups) == {"coat", "color", "size"}
    assert table["tame"].isin([0, 1]).all()
    assert (table[groups["color"]].sum(axis=1) == 1).all()
    sieve = JASFS(3, n_features_to_select=3, groups=groups, random_state=0).fit(table)
    chosen = {"weight", *groups["coat"], *groups["size"]}
    assert set(table.columns[sieve.support_]) == chosen
    with pytest.raises(ValueError, match=r"too many different words .* 'name' \(90\)"):
        encode(animals().assign(name=[f"n{i}" for i in range(90)]))


def test_a_category_is_one_feature_in_files_and_model(path, tmp_path):
    run = select_features(read(path, encode=True), **FAST)
    assert run.selected == ["weight", "coat", "size"]
    assert list(run.features["feature"]) == list(animals().columns)
    assert run.prepared.X.shape[1] == 4 + 3 + 4 + 1 + 3
    files = save_run(run, tmp_path / "out", source=path)
    reduced = pd.read_csv(files["selected"])
    pd.testing.assert_frame_equal(reduced, animals()[["weight", "coat", "size"]])
    summary = json.loads(files["summary"].read_text(encoding="utf-8"))
    assert summary["table"]["features"] == 8
    assert set(summary["selected"]) == {"weight", "coat", "size"}
    found = summary["distribution"]
    coat = found["feature"].index("coat")
    assert sorted(found["levels"][coat]) == ["feathers", "fur", "scales"]
    for k, name in enumerate(summary["clusters"]["names"]):
        words = animals()["coat"][run.labels == int(name)].value_counts()
        own = dict(zip(found["levels"][coat], found["counts"][coat][k], strict=True))
        assert {word: count for word, count in own.items() if count} == words.to_dict()
        assert found["said"][coat][k] == f"{words.max() / words.sum():.0%} {words.idxmax()}"
    sides = dict(zip(summary["features"]["name"], summary["features"]["side"], strict=True))
    assert sides["coat"].split()[0] in ("often", "seldom")
    assert sides["tame"] in ("often yes", "often no")
    assert sides["weight"] in ("high", "low")
    assert "coat" in files["report"].read_text(encoding="utf-8")
    # other rows, with a word that is new
    new = animals(20, seed=1)
    new.loc[2, "coat"] = "chitin"
    new.drop(columns="color").to_csv(tmp_path / "new.csv", index=False)
    model = load_model(files["model"])
    found, labels, notes = apply_model(model, tmp_path / "new.csv", predict=True)
    assert any("'chitin'" in note and "'coat'" in note for note in notes)
    write_table(tmp_path / "reduced.csv", found)
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "reduced.csv"), new[["weight", "coat", "size"]]
    )
    np.testing.assert_array_equal(model.predict(new), labels)
    np.testing.assert_array_equal(model.predict(animals())[:5], run.labels[:5])


def test_an_order_is_one_column_and_its_words_must_be_complete(path):
    table = read(path, encode={"size": ["small", "mid", "large"]})
    codes = table.X[:, table.names.index("size")]
    expected = animals()["size"].map({"small": 0, "mid": 1, "large": 2})
    np.testing.assert_array_equal(codes, expected)
    with pytest.raises(ValueError, match="'size' has words that its order lacks: 'large'"):
        read(path, encode={"size": ["small", "mid"]})
    with pytest.raises(ValueError, match="sise"):
        read(path, encode={"sise": ["small", "mid"]})


def test_columns_of_too_many_words_are_named(path, tmp_path):
    named = animals().assign(name=[f"n{i}" for i in range(90)])
    named.to_csv(tmp_path / "named.csv", index=False)
    with pytest.raises(ValueError, match=r"too many different words to be encoded: 'name'"):
        read(tmp_path / "named.csv", encode=True)
    assert read(tmp_path / "named.csv", encode=True, drop_text=True).dropped == ("name",)


@pytest.mark.parametrize("how", ["median", "nearest", "category"])
def test_missing_words_and_numbers_are_filled(how, tmp_path):
    frame = animals()
    frame.loc[[3, 5, 8], "coat"] = None
    frame.loc[[4, 9], "weight"] = np.nan
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    table = read(tmp_path / "gaps.csv", encode=True)
    with pytest.raises(ValueError, match="5 missing values, in 2 columns"):
        prepare_table(table)
    ready = prepare_table(table, impute=how)
    assert np.isfinite(ready.X).all()
    assert ready.n_filled == 5
    coats = ready.table.encodings["coat"]
    words = np.array(coats.words(ready.table.X[:, ready.table.names.index("coat")]))[[3, 5, 8]]
    if how == "category":
        assert "coat = missing" in ready.columns
        assert (words == "").all()
    elif how == "median":
        assert set(words) == {frame["coat"].mode()[0]}
    else:  # neighbours have the coat of the group
        assert (words == animals()["coat"][[3, 5, 8]]).sum() >= 2
    model = select_features(table, **FAST, impute=how).model
    assert len(model.predict(frame)) == 90  # frames with gaps, too


@pytest.mark.parametrize("how", ["median", "nearest"])
def test_new_rows_of_other_codes_are_filled_with_the_right_word(how, path, tmp_path):
    """A table that was read on its own numbers its words by their counts in it."""
    model = select_features(read(path, encode=True), **FAST, impute=how).model
    save_model(model, tmp_path / "model.skops")
    model = load_model(tmp_path / "model.skops")
    new = animals(60, seed=2)
    new = new[new["coat"] != animals()["coat"].mode()[0]].reset_index(drop=True)
    gap = int(np.flatnonzero(new["size"] == "small")[0])
    expected = "fur" if how == "nearest" else animals()["coat"].mode()[0]
    new.loc[gap, "coat"] = None
    new.to_csv(tmp_path / "new.csv", index=False)
    table = read(tmp_path / "new.csv", encode=True)
    assert table.encodings["coat"].levels[0] != model.encodings["coat"].levels[0]
    found = model.transform(table)
    words = found.encodings["coat"].words(found.X[:, 1])
    assert words[gap] == expected
    assert words[:gap] == new["coat"][:gap].tolist()
    assert model.transform(new)["coat"].tolist() == words
    np.testing.assert_array_equal(model.predict(new), model.predict(table))


def test_inspect_proposes_no_invented_words(tmp_path):
    frame = animals()
    frame.loc[[4, 9], "weight"] = np.nan
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    assert inspect_table(read(tmp_path / "gaps.csv", encode=True))["options"][-1] == "median"
    frame.loc[[3, 5, 8], "coat"] = None
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    table = read(tmp_path / "gaps.csv", encode=True)
    assert inspect_table(table)["options"][-2:] == ["--impute", "category"]
    ready = prepare_table(table, impute="category")  # numbers get medians
    weights = ready.table.X[:, ready.table.names.index("weight")]
    assert (weights[[4, 9]] == frame["weight"].median()).all()
    assert ready.notes[-1].startswith(
        "5 missing values, in 2 columns ('coat' 3, 'weight' 2): taken"
    )


def test_the_other_way_to_fill_is_compared(tmp_path):
    frame = animals()
    frame.loc[[3, 5, 8], "coat"] = None
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    table = read(tmp_path / "gaps.csv", encode=True)
    run = select_features(table, **(FAST | {"n_subsamples": 2}), impute="median")
    said = [str(note) for note in run.notes if note.kind == "filled"]
    assert said == [
        "3 missing values, in column 'coat': filled with the column's median, column 'coat' with "
        "the most frequent word.",
        "With missing values filled from the nearest rows, the same features would be selected.",
    ]


def test_constraints_name_categories(path):
    table = read(path, encode=True)
    run = select_features(
        table, **FAST, keep=["color"], exclude=["coat"], costs={"color": 2.0, "size": 3.0}
    )
    assert run.selected == ["weight", "color", "size"]
    facts = dict(zip(run.features["feature"], run.features["price"], strict=True))
    assert (facts["color"], facts["size"], facts["weight"]) == (2.0, 3.0, 1.0)
    groups = {"look": ["coat", "size"], "rest": ["noise0", "tame"]}
    run = select_features(table, **(FAST | {"n_features": 1}), groups=groups)
    assert run.selected == ["coat", "size"]


def test_methods_are_compared_by_features(path):
    table = read(path, encode=True)
    found = compare_methods(table, ["jasfs", "laplacianscore", "mcfs"], **FAST)
    assert found["n_features"] == 8
    assert all(row["n_features"] == 3 for row in found["methods"])
    assert found["methods"][0]["selected"] == "weight;coat;size"


def test_what_makes_no_sense_beside_words_is_refused(path, tmp_path):
    table = read(path, encode=True)
    with pytest.raises(ValueError, match="make no sense beside categories"):
        select_features(table, **FAST, center_rows=True)
    with pytest.raises(ValueError, match=r"hold no words, which 'coat' has: write .csv"):
        write_table(tmp_path / "animals.npz", table)


def test_parquet_keeps_words(path, tmp_path):
    write_table(tmp_path / "animals.parquet", read(path, encode=True))
    again = read(tmp_path / "animals.parquet", encode=True)
    np.testing.assert_array_equal(again.X, read(path, encode=True).X)


def test_standardised_columns_leave_indicators_alone(path, tmp_path):
    run = select_features(read(path, encode=True), **FAST, standardize=True)
    assert run.selected == ["weight", "coat", "size"]
    save_model(run.model, tmp_path / "model.skops")
    again = load_model(tmp_path / "model.skops")
    np.testing.assert_array_equal(again.predict(animals()), run.model.predict(animals()))


def test_batches_beside_categories(path, tmp_path):
    frame = animals().assign(plate=np.resize(["p", "q"], 90))
    frame.to_csv(tmp_path / "plates.csv", index=False)
    table = read(tmp_path / "plates.csv", encode=True, batch_column="plate")
    run = select_features(table, **FAST)
    assert set(run.selected) == {"weight", "coat", "size"}


@pytest.mark.parametrize("word", ["03/04/2024", "now", "today", "2024", "NaT", "31-31-2024"])
def test_new_dates_are_read_as_those_of_the_fit_or_refused(word):
    fitted = Encoding("date", ())  # of 2024-05-31, ...
    np.testing.assert_array_equal(fitted.codes(["3.4.2024"])[0], fitted.codes(["2024-04-03"])[0])
    with pytest.raises(ValueError, match=r"is no date|may begin with the day or the month"):
        fitted.codes([word])
