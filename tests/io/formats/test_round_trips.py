"""Archives, MATLAB files and Parquet as other libraries read them; names and classes in all."""

from inspect import signature

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.io import loadmat

from featsieve.datasets import Dataset, read_table, write_table
from featsieve.io.dataset import encode_classes
from featsieve.io.formats.labels import label_values
from tests.io.formats.tables import FEATURES, SAMPLES, make_table


def test_a_sparse_table_is_what_scipy_reads(tmp_path):
    table = make_table(sparse=True)
    write_table(tmp_path / "toy.npz", table)
    np.testing.assert_array_equal(sp.load_npz(tmp_path / "toy.npz").toarray(), table.X.toarray())


def test_nothing_is_pickled(tmp_path):
    table = make_table()
    write_table(tmp_path / "toy.npz", table)
    with np.load(tmp_path / "toy.npz", allow_pickle=False) as archive:
        assert set(archive) == {"X", "feature_names", "kind", "who"}
        np.testing.assert_array_equal(archive["X"], table.X)
        assert archive["feature_names"].tolist() == FEATURES
        assert archive["who"].tolist() == SAMPLES
        assert archive["kind"].tolist() == [table.class_names[k] for k in table.y]


def words(cells):
    return ["".join(map(str, cell)) for cell in cells.ravel()]


@pytest.mark.parametrize("sparse", [False, True])
def test_variables_of_matlab(tmp_path, sparse):
    table = make_table(sparse=sparse)
    write_table(tmp_path / "toy.mat", table)
    kind = {"spmatrix": False} if "spmatrix" in signature(loadmat).parameters else {}
    stored = loadmat(tmp_path / "toy.mat", **kind)
    X, expected = (v.toarray() if sparse else v for v in (stored["X"], table.X))
    np.testing.assert_array_equal(X, expected)
    assert words(stored["feature_names"]) == FEATURES
    assert words(stored["who"]) == SAMPLES
    assert stored["kind"].shape == (7, 1)
    assert words(stored["kind"]) == [table.class_names[k] for k in table.y]


def test_tables_that_are_too_large(tmp_path):
    class Huge(np.ndarray):
        nbytes = 2**32

    table = Dataset("toy", np.ones((2, 2)).view(Huge))
    with pytest.raises(ValueError, match=r"less than 4 GiB: write \.npz or \.h5ad"):
        write_table(tmp_path / "toy.mat", table)


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


@pytest.mark.parametrize(
    ("classes", "kind"),
    [
        (["1", "2", "10"], "i"),
        (["-0.5", "1.0", "2.5"], "f"),
        (["10", "2", "9"], "U"),  # text: in another order than numbers
        (["01", "02", "03"], "U"),
        (["1", "2", "two"], "U"),
        (None, "i"),
    ],
)
def test_classes_are_written_as_what_they_were(classes, kind):
    table = make_table(class_names=classes)
    values = label_values(table)
    assert values.dtype.kind == kind
    codes, names = encode_classes(values)
    np.testing.assert_array_equal(codes, table.y)
    assert names == (classes or ["0", "1", "2"])
