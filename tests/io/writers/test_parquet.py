"""Parquet as other libraries read it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from featsieve.datasets import read_table, write_table
from tests.io.writers.tables import FEATURES, SAMPLES, make_table


@pytest.mark.parametrize("reader", [pd.read_parquet, pl.read_parquet])
def test_parquet_is_what_others_read(tmp_path, reader):
    table = make_table(np.float32)
    path = tmp_path / "toy.parquet"
    write_table(path, table)
    frame = reader(path)
    if reader is pd.read_parquet:
        assert frame.index.tolist() == SAMPLES
        assert frame.index.name == "who"
        assert set(frame.dtypes[:-1]) == {np.dtype(np.float32)}
    else:
        assert frame["who"].to_list() == SAMPLES
    columns = list(frame.columns)
    assert columns[-6:] == [*FEATURES, "kind"]
    np.testing.assert_array_equal(frame[FEATURES].to_numpy(), table.X)


def test_a_named_index_and_an_unnamed_one_in_parquet(tmp_path):
    path = tmp_path / "toy.parquet"
    write_table(path, make_table())
    assert read_table(path, label_column="kind").sample_names == SAMPLES  # without being asked
    write_table(path, make_table(id_name=None))
    frame = pd.read_parquet(path)
    assert frame.index.tolist() == SAMPLES
    assert frame.index.name is None
