"""Tables on the disk are looked through by a child, and give the rows that were written."""

import json
import os

import numpy as np
import pandas as pd
import pytest

from featsieve import MaxVariance
from featsieve.datasets import open_table
from featsieve.io import child, lazy

if not os.environ.get("FEATSIEVE_REQUIRE_DASK"):
    pytest.importorskip("dask.array")

TABLE = np.random.default_rng(0).normal(size=(103, 7)).astype(np.float32)


def write(kind, folder):
    """Write the table in one of the formats, in pieces where it has such."""
    path = folder / f"table.{kind}"
    if kind == "npy":
        np.save(path, np.asfortranarray(TABLE))
    elif kind == "zarr":
        zarr = pytest.importorskip("zarr")
        stored = zarr.create_array(path, shape=TABLE.shape, chunks=(20, 3), dtype=TABLE.dtype)
        stored[:] = TABLE
    else:
        frame = pd.DataFrame(TABLE, columns=list("abcdefg"))
        frame.insert(3, "text", "x")
        if kind == "parquet":
            frame.set_index(np.arange(1000, 1103)).to_parquet(path, row_group_size=40)
        else:
            path.mkdir()
            frame[:50].to_parquet(path / "part-0.parquet", row_group_size=40)
            frame[50:].to_parquet(path / "part-1.parquet")
    return path


CHUNKS = {
    "npy": (45, 45, 13),
    "zarr": (40, 40, 23),  # whole chunks of the file
    "parquet": (40, 40, 23),
    "parts": (40, 10, 53),
}


@pytest.mark.parametrize("kind", CHUNKS)
def test_the_rows_that_were_written(kind, tmp_path, monkeypatch):
    path = write(kind, tmp_path)
    monkeypatch.setattr(lazy, "CHUNK_BYTES", 45 * 7 * 4)
    X, names = open_table(path, with_names=True)
    assert X.dtype == TABLE.dtype
    assert X.chunks == (CHUNKS[kind], (7,))
    np.testing.assert_array_equal(X.compute(scheduler="sync"), TABLE)
    assert names is None if kind in ("npy", "zarr") else names.tolist() == list("abcdefg")
    selector = MaxVariance(n_features_to_select=3)
    np.testing.assert_array_equal(selector.fit(X).support_, selector.fit(TABLE).support_)
    monkeypatch.setattr(child, "isolated", True)
    np.testing.assert_array_equal(open_table(path)[40:].compute(scheduler="sync"), TABLE[40:])


def test_the_child_looks_before_the_file_is_opened(tmp_path, monkeypatch):
    path = write("zarr", tmp_path)
    monkeypatch.setattr(child, "isolated", True)
    monkeypatch.setattr(lazy, "look_through", None)  # here, but not in the child
    assert open_table(path).shape == TABLE.shape
    monkeypatch.setenv("FEATSIEVE_MAX_MEMORY", "1K")
    with pytest.raises(ValueError, match=r"a chunk of 103 rows would take.*save it in smaller"):
        open_table(path)


def test_little_is_read_when_a_table_is_opened(tmp_path):
    path = tmp_path / "large.npy"
    with open(path, "wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (10**8, 10**3)}
        np.lib.format.write_array_header_2_0(file, header)
        file.truncate(file.tell() + 4 * 10**11)  # a hole of 400 GB
    assert open_table(path).nbytes == 4 * 10**11


def test_a_file_that_changes_is_another_table(tmp_path):
    path = write("npy", tmp_path)
    first = open_table(path).name
    assert open_table(path).name == first
    np.save(path, 2.0 * TABLE.astype(np.float32))
    os.utime(path, ns=(1, 1))
    assert open_table(path).name != first


@pytest.mark.parametrize(
    ("codec", "says"), [("base64", "packed with 'base64'"), ("pickle", "pickle")]
)
def test_codecs_of_zarr_that_are_not_in_the_list(codec, says, tmp_path):
    path = tmp_path / "table.zarr"
    zarr = pytest.importorskip("zarr")
    zarr.create_array(path, shape=(2, 2), dtype="f8", zarr_format=2, compressors=None)[:] = 1.0
    assert open_table(path).sum().compute(scheduler="sync") == 4.0
    about = json.loads((path / ".zarray").read_text()) | {"compressor": {"id": codec}}
    (path / ".zarray").write_text(json.dumps(about))
    with pytest.raises(ValueError, match=says):
        open_table(path)


def test_files_that_are_no_tables_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        open_table(tmp_path / "nothing.npy")
    for shape in ((2, 2, 2), (0, 3)):
        np.save(tmp_path / "cube.npy", np.zeros(shape))
        with pytest.raises(ValueError, match=r"cube\.npy cannot be read.*two dimensions"):
            open_table(tmp_path / "cube.npy")
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"read_table reads others"):
        open_table(tmp_path / "table.csv")
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(tmp_path / "group.zarr", mode="w")
    group.create_array("counts", shape=(2, 2), dtype="f4")
    with pytest.raises(ValueError, match=r"group\.zarr cannot be read.*group"):
        open_table(tmp_path / "group.zarr")
    assert open_table(tmp_path / "group.zarr" / "counts").shape == (2, 2)


def test_rows_that_are_gone_when_they_are_read(tmp_path, monkeypatch):
    path = write("zarr", tmp_path)
    monkeypatch.setattr(lazy, "CHUNK_BYTES", 20 * 7 * 4)
    X = open_table(path)
    pytest.importorskip("zarr").open_array(path, mode="r+").resize((50, 7))
    with pytest.raises(ValueError, match=r"table\.zarr .*rows 40 to 60 are not there: it was"):
        X[:60].compute(scheduler="sync")


def test_gaps_and_kinds_of_parquet_columns(tmp_path):
    columns = {"a": pd.array([1, None, 3], dtype="Int64"), "b": pd.array([True, None, False])}
    pd.DataFrame({**columns, "c": np.float32([4, 5, 6])}).to_parquet(tmp_path / "gaps.parquet")
    X = open_table(tmp_path / "gaps.parquet")
    assert X.dtype == np.float64
    np.testing.assert_array_equal(
        X.compute(scheduler="sync"), [[1, 1, 4], [np.nan, np.nan, 5], [3, 0, 6]]
    )


def test_folders_of_parquet_files(tmp_path):
    folder = tmp_path / ".hidden" / "results"  # what is above the folder does not count
    frame = pd.DataFrame(np.arange(12.0).reshape(4, 3), columns=list("abc"))
    for place in ("a.parquet", "more/a.parquet", ".tmp/a.parquet", "more/.tmp/x/a.parquet", ".new"):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        frame.to_parquet(folder / place)
    assert open_table(folder).shape == (8, 3)
    frame[["b", "a", "c"]].to_parquet(folder / "z.parquet")
    with pytest.raises(ValueError, match=r"z\.parquet has other columns of numbers"):
        open_table(folder)
    (folder / "more" / "a.parquet").unlink()
    pd.DataFrame({"a": ["x"]}).to_parquet(tmp_path / "text.parquet")
    for place in (folder / "more", tmp_path / "text.parquet"):
        with pytest.raises(ValueError, match=r"no \.parquet file with columns that hold numbers"):
            open_table(place)
