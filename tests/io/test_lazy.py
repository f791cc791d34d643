"""Tables on the disk are opened without reading them, and give the rows that were written."""

import os

import numpy as np
import pandas as pd
import pytest

from featsieve import MaxVariance
from featsieve.datasets import open_table

if not os.environ.get("FEATSIEVE_REQUIRE_DASK"):
    pytest.importorskip("dask.array")

TABLE = np.random.default_rng(0).normal(size=(103, 7)).astype(np.float32)


def write(kind, folder):
    """Write the table in one of the formats, in pieces where it has such."""
    if kind in ("npy", "fortran"):
        path = folder / "table.npy"
        np.save(path, TABLE if kind == "npy" else np.asfortranarray(TABLE))
    elif kind == "zarr":
        zarr = pytest.importorskip("zarr")
        path = folder / "table.zarr"
        stored = zarr.create_array(path, shape=TABLE.shape, chunks=(20, 3), dtype=TABLE.dtype)
        stored[:] = TABLE
    else:
        frame = pd.DataFrame(TABLE, columns=list("abcdefg"))
        frame.insert(3, "text", "x")
        if kind == "parquet":
            path = folder / "table.parquet"
            frame.set_index(np.arange(1000, 1103)).to_parquet(path, row_group_size=20)
        else:
            path = folder / "parts"
            path.mkdir()
            frame[:50].to_parquet(path / "part-0.parquet", row_group_size=20)
            frame[50:].to_parquet(path / "part-1.parquet")
    return path


@pytest.mark.parametrize("kind", ["npy", "fortran", "zarr", "parquet", "folder"])
def test_the_rows_that_were_written(kind, tmp_path):
    path = write(kind, tmp_path)
    X = open_table(path, rows_per_chunk=45)
    assert X.shape == TABLE.shape
    assert X.dtype == TABLE.dtype
    assert X.numblocks[1] == 1
    cuts = {"zarr": (40, 40, 23), "parquet": (40, 40, 23), "folder": (40, 10, 53)}
    assert X.chunks[0] == cuts.get(kind, (45, 45, 13))
    np.testing.assert_array_equal(X.compute(scheduler="sync"), TABLE)
    selector = MaxVariance(n_features_to_select=3).fit(X)
    np.testing.assert_array_equal(
        selector.support_, MaxVariance(n_features_to_select=3).fit(TABLE).support_
    )
    assert open_table(path).numblocks == (1, 1)  # 64 MiB hold all of it


def test_names_of_parquet_columns(tmp_path):
    X, names = open_table(write("folder", tmp_path), with_names=True)
    assert names.tolist() == list("abcdefg")
    assert X.shape[1] == 7
    assert open_table(write("npy", tmp_path), with_names=True)[1] is None


def test_nothing_is_read_when_a_table_is_opened(tmp_path):
    path = tmp_path / "large.npy"
    with open(path, "wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (10**8, 10**3)}
        np.lib.format.write_array_header_2_0(file, header)
        file.truncate(file.tell() + 4 * 10**11)  # a hole of 400 GB
    X = open_table(path)
    assert X.shape == (10**8, 10**3)
    assert X.nbytes == 4 * 10**11


def test_a_file_that_changes_is_another_table(tmp_path):
    path = write("npy", tmp_path)
    first = open_table(path).name
    assert open_table(path).name == first
    np.save(path, 2.0 * TABLE)
    os.utime(path, ns=(1, 1))
    assert open_table(path).name != first


def test_files_that_are_no_tables_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        open_table(tmp_path / "nothing.npy")
    np.save(tmp_path / "cube.npy", np.zeros((2, 2, 2)))
    with pytest.raises(ValueError, match="two dimensions"):
        open_table(tmp_path / "cube.npy")
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"read_table reads other files"):
        open_table(tmp_path / "table.csv")
    with pytest.raises(ValueError, match="rows_per_chunk must be at least 1"):
        open_table(write("npy", tmp_path), rows_per_chunk=0)
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(tmp_path / "group.zarr", mode="w")
    group.create_array("counts", shape=(2, 2), dtype="f4")
    with pytest.raises(ValueError, match=r"group of arrays \(counts\)"):
        open_table(tmp_path / "group.zarr")


def test_rows_that_are_gone_when_they_are_read(tmp_path):
    path = write("zarr", tmp_path)
    X = open_table(path, rows_per_chunk=20)
    pytest.importorskip("zarr").open_array(path, mode="r+").resize((50, 7))
    with pytest.raises(ValueError, match=r"table\.zarr .*rows 40 to 60 are not there: it was"):
        X[:60].compute(scheduler="sync")
