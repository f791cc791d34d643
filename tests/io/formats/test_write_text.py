"""Text as other programs read it."""

import gzip

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from featsieve.datasets import Dataset, read_table, write_table
from featsieve.io.dataset import subset
from featsieve.io.formats import text
from featsieve.io.formats.text import exact_numbers
from tests.io.formats.tables import FEATURES, RNG, SAMPLES, make_table


def test_text_is_what_pandas_reads(tmp_path):
    table = make_table()
    for ending, separator in ((".csv", ","), (".tsv.gz", "\t")):
        path = tmp_path / f"toy{ending}"
        write_table(path, table)
        frame = pd.read_csv(path, sep=separator, dtype={"who": str}, na_filter=False)
        assert list(frame.columns) == ["who", *FEATURES, "kind"]
        assert frame["who"].tolist() == SAMPLES
        assert frame["kind"].tolist() == [table.class_names[k] for k in table.y]
        assert frame['a "b"'].dtype == np.int64  # whole numbers look like it
        assert frame["größe, cm"][2] == ""  # and missing ones like nothing


def test_compressed_files_are_the_same_every_time(tmp_path):
    table = make_table()
    for name in ("a.csv.gz", "b.csv.gz"):
        write_table(tmp_path / name, table)
    first, second = ((tmp_path / name).read_bytes() for name in ("a.csv.gz", "b.csv.gz"))
    assert first == second
    assert gzip.decompress(first).startswith(b"who,age,")


@pytest.mark.parametrize(("separator", "decimal"), [(";", ","), (";", "."), ("\t", ".")])
def test_text_like_the_file_it_came_from(tmp_path, separator, decimal):
    source, path = tmp_path / "european.csv", tmp_path / "selected.csv"
    frame = pd.DataFrame(RNG.standard_normal((4, 3)), columns=list("abc"))
    frame.to_csv(source, sep=separator, decimal=decimal, index=False)
    table = subset(read_table(source), [2, 0])
    write_table(path, table, like=source)
    again = pd.read_csv(path, sep=separator, decimal=decimal, **exact_numbers(pd.__version__))
    pd.testing.assert_frame_equal(again, frame[["c", "a"]], check_exact=True)
    np.testing.assert_array_equal(read_table(path).X, table.X)


@pytest.mark.parametrize("sparse", [False, True])
def test_tables_are_written_in_blocks_of_rows(tmp_path, monkeypatch, sparse):
    monkeypatch.setattr(text, "BLOCK", 11)
    X = RNG.integers(-3, 3, (20, 4)) * 1.0
    X[17, 2] = 0.5  # far down: the whole column has decimal points
    X[3, 1] = np.nan
    path = tmp_path / "toy.csv"
    write_table(path, Dataset("toy", sp.csr_array(X) if sparse else X))
    frame = pd.read_csv(path, dtype=str, na_filter=False)
    assert all("." in cell for cell in frame["x2"])
    assert not any("." in cell for cell in frame["x1"])
    np.testing.assert_array_equal(read_table(path).X, X)


@pytest.mark.parametrize("value", [2.0**53, -(2.0**53), 2.0**53 + 2, 1e22, 1e300, np.inf, -0.0])
def test_large_numbers(tmp_path, value):
    path = tmp_path / "toy.csv"
    write_table(path, Dataset("toy", np.array([[value], [1.0]])))
    np.testing.assert_array_equal(read_table(path).X, [[value], [1.0]])
    assert len(path.read_text()) < 30
