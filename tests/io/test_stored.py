"""Parquet files that stay on the disk; see test_open for what holds of all formats."""

import os

import numpy as np
import pandas as pd
import pytest

from featsieve.datasets import open_table

if not os.environ.get("FEATSIEVE_REQUIRE_DASK"):
    pytest.importorskip("dask.array")


def test_integers_stay_integers_and_gaps_are_told(tmp_path):
    frame = pd.DataFrame({"a": [1, 2, 3], "b": np.array([4, 5, 6], dtype=np.uint8)})
    frame.to_parquet(tmp_path / "whole.parquet")
    assert open_table(tmp_path / "whole.parquet").dtype == np.int64
    gaps = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [4, 5, 6]})
    gaps.to_parquet(tmp_path / "gaps.parquet")
    with pytest.raises(ValueError, match=r"Column 'a' of gaps\.parquet has missing entries"):
        open_table(tmp_path / "gaps.parquet").compute(scheduler="sync")


def test_files_that_are_no_tables_are_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match=r"without any \.parquet"):
        open_table(tmp_path / "empty")
    pd.DataFrame({"a": ["x"]}).to_parquet(tmp_path / "text.parquet")
    with pytest.raises(ValueError, match="no column that holds numbers"):
        open_table(tmp_path / "text.parquet")
    folder = tmp_path / "mixed"
    folder.mkdir()
    pd.DataFrame({"a": [1.0]}).to_parquet(folder / "0.parquet")
    pd.DataFrame({"b": [1.0]}).to_parquet(folder / "1.parquet")
    with pytest.raises(ValueError, match="other columns of numbers"):
        open_table(folder)


def test_hidden_files_are_no_part_of_a_folder(tmp_path):
    folder = tmp_path / ".hidden" / "results"  # what is above the folder does not count
    frame = pd.DataFrame(np.arange(12.0).reshape(4, 3), columns=list("abc"))
    for place in ("selected.parquet", "more/selected.parquet"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        frame.to_parquet(folder / place)
    for place in (".results.tmp/selected.parquet", "more/.tmp/x/a.parquet", ".new.parquet"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        frame.to_parquet(folder / place)
    assert open_table(folder).shape == (8, 3)
    (folder / "more" / "selected.parquet").unlink()
    with pytest.raises(ValueError, match=r"without any \.parquet"):
        open_table(folder / "more")
