"""The small table: a dict of columns that prints, sorts, and goes everywhere."""

import copy
import csv
import operator

import numpy as np
import pandas as pd
import polars as pl
import pytest

from featsieve.tables import Table

NAN = float("nan")


@pytest.fixture
def table():
    return Table(
        {
            "feature": ["b", "a, or c", 'the "d"', ""],
            "index": np.arange(4),
            "score": [0.1, NAN, 1.0 / 3.0, -np.inf],
            "selected": [True, False, True, False],
        }
    )


def test_it_prints_as_a_table(table, monkeypatch):
    assert repr(table) == str(pd.DataFrame(dict(table)))
    monkeypatch.setattr("featsieve.tables.find_spec", lambda name: None)
    assert repr(table).startswith("{'feature': array(['b'")


def test_columns_must_fit(table):
    with pytest.raises(ValueError, match=r"same length.*'a': 2, 'b': 3"):
        Table({"a": [1, 2], "b": [1, 2, 3]})
    with pytest.raises(ValueError, match="one dimension"):
        Table({"a": 3.0})
    with pytest.raises(ValueError, match="one dimension"):
        table["square"] = np.eye(4)
    with pytest.raises(ValueError, match="same length"):
        table["short"] = [1]
    with pytest.raises(KeyError, match="no column 'scores', only 'feature', 'index'"):
        table["scores"]
    table["double"] = [0, 2, 4, 6]
    assert table.rows(table["double"] > 2)["index"].tolist() == [2, 3]
    Table({"only": [1, 2]})["only"] = [1, 2, 3]  # the only column may get another length


def test_rows_by_mask_slice_and_index(table):
    assert table.rows(table["selected"])["index"].tolist() == [0, 2]
    assert table.rows([True, False, False, True])["index"].tolist() == [0, 3]
    assert table.rows(pd.Series(table["selected"]))["index"].tolist() == [0, 2]
    assert table.rows(slice(1, 3))["index"].tolist() == [1, 2]
    assert table.head(3)["index"].tolist() == [0, 1, 2]
    assert table.rows([3, 0, 0])["index"].tolist() == [3, 0, 0]
    assert list(table.select("score", "feature")) == ["score", "feature"]
    for nothing in (slice(0), np.zeros(4, dtype=bool)):
        empty = table.rows(nothing)
        assert isinstance(empty, Table)
        assert (list(empty), empty.n_rows) == (list(table), 0)
    for wrong in ([True, False], [4]):
        with pytest.raises(IndexError):
            table.rows(wrong)


def test_equality_looks_at_the_values(table):
    assert table == Table(dict(table))
    assert table == dict(table)
    assert table != table.rows(slice(3))
    assert table != table.select("index", "score")
    other = copy.deepcopy(table)
    assert not operator.ne(table, other)
    other["score"][0] = 0.2
    assert table != other
    assert table != "table"


def test_data_frames_take_it(table):
    frame = pd.DataFrame(table)
    assert list(frame.columns) == list(table)
    pd.testing.assert_frame_equal(frame, table.to_pandas())
    for name, values in table.items():
        np.testing.assert_array_equal(frame[name].to_numpy(), values)
    of_polars = pl.DataFrame(table)
    assert of_polars.schema == {
        "feature": pl.String, "index": pl.Int64, "score": pl.Float64, "selected": pl.Boolean,
    }  # fmt: skip
    for name, values in table.items():
        np.testing.assert_array_equal(of_polars[name].to_numpy(), values)


def test_csv_comes_back_with_all_digits(table, tmp_path):
    path = tmp_path / "table.csv"
    table["feature"] = ["µ, ü", 'the "d"', "two\nlines", " blank"]
    table.to_csv(path)
    with open(path, encoding="utf-8", newline="") as file:
        cells = list(csv.reader(file))
    assert cells[0] == list(table)
    assert [row[0] for row in cells[1:]] == table["feature"].tolist()
    assert cells[2][2] == ""  # NaN
    assert [float(row[2] or NAN) for row in cells[1:]][2] == 1.0 / 3.0
    assert list(pd.read_csv(path)["feature"]) == table["feature"].tolist()
    assert pl.read_csv(path)["score"].to_list() == [0.1, None, 1.0 / 3.0, -np.inf]
