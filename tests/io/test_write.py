"""What is written is read back exactly, whatever the format."""

import os
import sys
from inspect import signature

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.io import loadmat

from featsieve.datasets import Dataset, read_table, write_table
from featsieve.io.dataset import encode_classes
from featsieve.io.formats.common import label_values
from featsieve.io.table import check_output, check_writer
from tests.io.tables import FEATURES, RNG, SAMPLES, WRITTEN, make_table

TEXT = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
# What files call the classes and the samples: those of variables, by fixed names.
CALLED = {".mat": ("Y", "sample_names"), ".npz": ("y", "sample_names")}


def read_again(path, ending):
    label, samples = CALLED.get(ending, ("kind", "who"))
    return read_table(path, label_column=label, id_column=samples)


def assert_same(found, table, *, ending):
    """Compare all that a file of that format can hold."""
    X = found.X
    if sp.issparse(table.X) and ending not in (*TEXT, ".parquet"):
        assert isinstance(X, sp.csr_array)
        assert X.nnz == table.X.nnz
    expected = table.X.toarray() if sp.issparse(table.X) else table.X
    X = X.toarray() if sp.issparse(X) else X
    if ending not in TEXT:
        assert X.dtype == expected.dtype
    np.testing.assert_array_equal(X, expected)
    assert found.names == table.names
    assert found.sample_names == table.sample_names
    np.testing.assert_array_equal(found.y, table.y)
    assert found.class_names == table.class_names
    called = CALLED.get(ending, (table.label_name, table.id_name))
    assert (found.label_name, found.id_name) == called


@pytest.mark.parametrize("ending", WRITTEN)
@pytest.mark.parametrize(("dtype", "sparse"), [(np.float64, False), (np.float32, True)])
def test_a_table_comes_back(tmp_path, ending, dtype, sparse):
    table = make_table(dtype, sparse=sparse)
    path = tmp_path / f"new/toy{ending}"
    write_table(str(path), table)
    assert os.listdir(path.parent) == [path.name]
    found = read_again(path, ending)
    assert_same(found, table, ending=ending)
    assert found.name == "toy"


@pytest.mark.parametrize("ending", WRITTEN)
def test_what_has_no_names_comes_back(tmp_path, ending):
    table = Dataset("toy", RNG.standard_normal((7, 5)))
    write_table(tmp_path / f"toy{ending}", table)
    found = read_table(tmp_path / f"toy{ending}")
    np.testing.assert_array_equal(found.X, table.X)
    assert found.names == table.names == ["x0", "x1", "x2", "x3", "x4"]
    assert found.y is None
    if ending != ".h5ad":  # which always names its samples
        assert found.sample_names is None


@pytest.mark.parametrize("ending", WRITTEN)
@pytest.mark.parametrize(
    "classes", [["9", "10", "11"], ["-0.5", "0.25", "10.0"], ["False", "True"]]
)
def test_classes_keep_their_numbers(tmp_path, ending, classes):
    table = make_table(class_names=classes, y=np.array([0, 1, 1, 1, 0, 1, 0]) * (len(classes) - 1))
    classes = [classes[0], classes[-1]]  # those that there are
    write_table(tmp_path / f"toy{ending}", table)
    found = read_again(tmp_path / f"toy{ending}", ending)
    np.testing.assert_array_equal(found.y, np.minimum(table.y, 1))
    assert [float(name) if name[-1].isdigit() else name for name in found.class_names] == [
        float(name) if name[-1].isdigit() else name for name in classes
    ]


@pytest.mark.parametrize("ending", WRITTEN)
def test_classes_without_names(tmp_path, ending):
    table = make_table(class_names=None, label_name=None, sample_names=None, id_name=None)
    write_table(tmp_path / f"toy{ending}", table)
    usual = {".mat": "Y", ".npz": "y"}.get(ending, "label")
    found = read_table(tmp_path / f"toy{ending}", label_column=usual)
    np.testing.assert_array_equal(found.y, table.y)
    assert found.feature_names == FEATURES


@pytest.mark.parametrize("ending", WRITTEN)
def test_names_that_are_taken(tmp_path, ending):
    """A column of classes called like a feature, or like the table itself, gets another name."""
    for name in ("age", "X", "feature_names", "data", "_index"):
        table = make_table(label_name=name, id_name=name)
        write_table(tmp_path / f"toy{ending}", table)
        found = read_table(tmp_path / f"toy{ending}", columns=FEATURES)
        np.testing.assert_array_equal(found.X, table.X)
        assert found.feature_names == FEATURES


@pytest.mark.parametrize("ending", WRITTEN)
def test_what_cannot_be_written_leaves_the_old_file(tmp_path, ending):
    path = tmp_path / f"toy{ending}"
    write_table(path, make_table())
    before = path.read_bytes()
    broken = make_table(y=np.full(7, 3))  # a class that has no name
    with pytest.raises(IndexError):
        write_table(path, broken)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def test_missing_libraries_are_told_before(monkeypatch):
    for name in ("pyarrow", "anndata"):
        monkeypatch.setitem(sys.modules, name, None)
    check_writer("t.csv")
    with pytest.raises(ImportError, match=r"\(or anndata alone\); or ask a friend\.$"):
        check_writer("t.h5ad", instead="ask a friend")
    fix = r"needs pyarrow: python -m pip install 'featsieve\[data\]' \(or pyarrow alone\)\.$"
    with pytest.raises(ImportError, match=fix) as told:
        check_writer("t.parquet")
    assert isinstance(told.value.__cause__, ImportError)


def test_outputs_are_checked_before(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    source = tmp_path / "t.csv"
    for path, message in (
        (source, "would be written over"),
        (tmp_path / "x.doc", "does not say how to write it"),
        (tmp_path / "folder.csv", "is a folder"),
    ):
        with pytest.raises(ValueError, match=message):
            check_output(path, others=[source])
    check_output(tmp_path / "x.parquet", others=[source])
    check_output(tmp_path / "c.CSV", others=[source], text=True)
    with pytest.raises(ValueError, match=r"would hold comma-separated text: .* end in \.csv"):
        check_output(tmp_path / "x.parquet", others=[source], text=True)


def test_a_sparse_table_is_what_scipy_reads(tmp_path):
    table = make_table(sparse=True)
    write_table(tmp_path / "toy.npz", table)
    np.testing.assert_array_equal(sp.load_npz(tmp_path / "toy.npz").toarray(), table.X.toarray())


def test_nothing_is_pickled(tmp_path):
    table = make_table()
    write_table(tmp_path / "toy.npz", table)
    with np.load(tmp_path / "toy.npz", allow_pickle=False) as archive:
        assert set(archive) == {"X", "feature_names", "y", "sample_names"}
        np.testing.assert_array_equal(archive["X"], table.X)
        assert archive["feature_names"].tolist() == FEATURES
        assert archive["sample_names"].tolist() == SAMPLES
        assert archive["y"].tolist() == [table.class_names[k] for k in table.y]


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
    assert words(stored["sample_names"]) == SAMPLES
    assert stored["Y"].shape == (7, 1)
    assert words(stored["Y"]) == [table.class_names[k] for k in table.y]


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
    assert list(frame.columns)[:6] == [*FEATURES, "kind"]
    np.testing.assert_array_equal(frame[FEATURES].to_numpy(), table.X)


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
