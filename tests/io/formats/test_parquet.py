"""Parquet tables as pandas, polars and pyarrow write them."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from featsieve.datasets import read_table

RNG = np.random.default_rng(0)
COLUMNS = {"age": RNG.standard_normal(6), "height": RNG.integers(0, 9, 6)}
KIND = list("baabca")
CODES = np.array([1, 0, 0, 1, 2, 0])
X = np.column_stack(list(COLUMNS.values()))

WRITERS = {
    "pandas": lambda columns, path: pd.DataFrame(columns).to_parquet(path),
    "pandas index": lambda columns, path: pd.DataFrame(
        columns, index=[f"row {i}" for i in range(6)]
    ).to_parquet(path),
    "pandas categories": lambda columns, path: (
        pd.DataFrame(columns).astype({"kind": "category"}).to_parquet(path)
    ),
    "polars": lambda columns, path: pl.DataFrame(columns).write_parquet(path),
    "pyarrow": lambda columns, path: pq.write_table(pa.table(columns), path),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_table_comes_back(tmp_path, writer):
    path = tmp_path / "toy.parquet"
    WRITERS[writer](COLUMNS | {"kind": KIND}, path)
    table = read_table(path, label_column="kind")
    assert table.feature_names == ["age", "height"]
    assert table.X.dtype == np.float64
    np.testing.assert_array_equal(table.X, X)
    np.testing.assert_array_equal(table.y, CODES)


def test_gaps_in_whole_numbers_are_nan(tmp_path):
    path = tmp_path / "toy.parquet"
    pq.write_table(pa.table({"a": [1, None, 3], "b": [True, False, None]}), path)
    expected = [[1, 1], [np.nan, 0], [3, np.nan]]
    np.testing.assert_array_equal(read_table(path).X, expected)
    pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64")}).to_parquet(path)
    np.testing.assert_array_equal(read_table(path).X, [[1], [np.nan], [3]])


@pytest.mark.parametrize(
    ("index", "names", "id_name"),
    [
        (None, None, None),
        (pd.RangeIndex(6), None, None),
        (pd.Index(list("fedcba")), list("fedcba"), None),
        (pd.Index(list("fedcba"), name="who"), list("fedcba"), "who"),
        (pd.Index([5, 3, 9, 1, 2, 8]), ["5", "3", "9", "1", "2", "8"], None),
        (
            pd.MultiIndex.from_product([["a", "b"], [1, 2, 3]], names=["place", "day"]),
            ["a/1", "a/2", "a/3", "b/1", "b/2", "b/3"],
            None,
        ),
    ],
)
def test_an_index_of_pandas_names_the_samples(tmp_path, index, names, id_name):
    path = tmp_path / "toy.parquet"
    pd.DataFrame(COLUMNS, index=index).to_parquet(path)
    for columns in (None, ["height", "age"]):
        table = read_table(path, columns=columns)
        assert table.sample_names == names
        assert table.id_name == id_name
        np.testing.assert_array_equal(table.X, X if columns is None else X[:, ::-1])
    assert read_table(path, columns=["height"]).feature_names == ["height"]


def test_an_index_can_be_asked_for(tmp_path):
    path = tmp_path / "toy.parquet"
    pd.DataFrame(COLUMNS | {"other": list("uvwxyz")}, index=pd.Index(KIND, name="kind")).to_parquet(
        path
    )
    table = read_table(path, id_column="other", label_column="kind")
    assert table.sample_names == list("uvwxyz")
    np.testing.assert_array_equal(table.y, CODES)
    table = read_table(path, id_column="kind", drop=["other"])
    assert table.sample_names == KIND
    assert table.feature_names == ["age", "height"]


def test_only_the_columns_that_are_asked_for_are_read(tmp_path):
    path = tmp_path / "toy.parquet"
    pq.write_table(
        pa.table({"a": [1.5, 2.5], "b.c": [1, 2], "text": ["x", "y"], "b": [5, 6]}), path
    )
    table = read_table(path, columns=["b", "b.c", "a"])
    np.testing.assert_array_equal(table.X, [[5, 1, 1.5], [6, 2, 2.5]])
    with pytest.raises(ValueError, match=r"toy\.parquet: there is no column 'B'"):
        read_table(path, columns=["B"])


def test_columns_of_lists_are_text(tmp_path):
    path = tmp_path / "toy.parquet"
    pq.write_table(pa.table({"a": [1, 2], "b": [[1], [2, 3]], "self": ["<1", "2"]}), path)
    table = read_table(path, drop_text=True, repair=True)
    assert (table.names, table.dropped) == (["a", "self"], ("b",))
    np.testing.assert_array_equal(table.X, [[1, 1], [2, 2]])


@pytest.mark.parametrize("kind", ["float32", "float64", "Float32"])
def test_repair_of_infinite_numbers_keeps_their_width(tmp_path, kind):
    frame = pd.DataFrame({"a": [1.5, np.inf, -np.inf], "b": [0.1, 0.2, None]}).astype(kind)
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", repair=True)
    assert table.X.dtype == kind.lower()
    np.testing.assert_array_equal(np.isnan(table.X), [[0, 0], [1, 0], [1, 1]])
    assert table.X[0, 1] == table.X.dtype.type(0.1)
    changes = table.origin.changes
    assert (changes["row"], changes["was"]) == ([2, 3], ["inf", "-inf"])
    assert table.origin.repaired == {"a": "numbers except in 2 cells ('inf', '-inf')"}
