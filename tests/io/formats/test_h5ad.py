"""AnnData files as anndata writes them, and files that do harm."""

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import anndata
from featsieve.datasets import Dataset, load_dataset, read_table, write_table
from featsieve.io.formats.h5ad import look_through, open_hdf5
from featsieve.io.guard import TableError

RNG = np.random.default_rng(0)
X = np.where(RNG.random((6, 4)) < 0.5, RNG.random((6, 4)), 0.0).astype(np.float32)
GENES = ["CD4", "CD8A", "MS4A1", "größe"]
CODES = np.array([1, 0, 2, 2, 0, 1])


def write(path, matrix=X, *, index=None, genes=GENES):
    """Write table, genes, and several kinds of columns of obs."""
    obs = pd.DataFrame(
        {
            "number": CODES - 3,
            "words": np.array(list("abc"))[CODES],
            "categorical": pd.Categorical(np.array(["B", "NK", "T"])[CODES]),
            "gaps": pd.Categorical([None if k == 2 else "BN"[k] for k in CODES]),
            "nullable": pd.array(CODES, dtype="Int64"),
            "masked": pd.array([None if k == 1 else k for k in CODES], dtype="Int64"),
        },
        index=pd.Index([f"cell {i}" for i in range(6)], name=index),
    )
    var = pd.DataFrame({"good": [True, False, True, True]}, index=genes)
    anndata.AnnData(matrix, obs=obs, var=var).write_h5ad(path)
    return path


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, sp.csc_array])
def test_table_and_genes(tmp_path, layout):
    table = read_table(write(tmp_path / "toy.h5ad", layout(X)))
    assert table.name == "toy"
    assert table.feature_names == GENES
    assert table.y is None
    assert table.X.dtype == np.float32
    if layout is np.asarray:
        np.testing.assert_array_equal(table.X, X)
    else:
        assert isinstance(table.X, sp.csr_array)
        np.testing.assert_array_equal(table.X.toarray(), X)


@pytest.mark.parametrize("column", ["number", "words", "categorical", "nullable"])
def test_labels_of_every_kind(tmp_path, column):
    table = read_table(write(tmp_path / "toy.h5ad"), label_column=column)
    np.testing.assert_array_equal(table.y, CODES)


def test_names_of_cells(tmp_path):
    path = write(tmp_path / "toy.h5ad")
    table = read_table(path)
    assert table.sample_names == [f"cell {i}" for i in range(6)]
    assert table.id_name is None
    table = read_table(path, id_column="categorical", label_column="words")
    assert table.sample_names == [["B", "NK", "T"][code] for code in CODES]
    assert table.id_name == "categorical"
    assert table.class_names == ["a", "b", "c"]
    assert table.label_name == "words"
    assert read_table(path, id_column="gaps").sample_names[2:4] == ["", ""]
    write(path, index="barcode")
    assert read_table(path).id_name == "barcode"
    table = read_table(path, id_column="barcode", columns=["größe", "CD8A"])
    assert table.sample_names == [f"cell {i}" for i in range(6)]
    assert table.flags["good"].tolist() == [True, False]


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, sp.csc_array])
def test_some_genes(tmp_path, layout):
    path = write(tmp_path / "toy.h5ad", layout(X))
    table = read_table(path, columns=["größe", "CD4"], label_column="number")
    values = table.X.toarray() if sp.issparse(table.X) else table.X
    np.testing.assert_array_equal(values, X[:, [3, 0]])
    assert table.feature_names == ["größe", "CD4"]
    table = read_table(path, drop=["CD8A"])
    assert table.feature_names == ["CD4", "MS4A1", "größe"]
    with pytest.raises(
        ValueError, match=r"toy\.h5ad: there is no feature 'cd4' \(did you mean 'CD4'"
    ):
        read_table(path, columns=["cd4"])


@pytest.mark.filterwarnings("ignore:Variable names are not unique")
def test_genes_of_the_same_name(tmp_path):
    path = write(tmp_path / "toy.h5ad", genes=["CD4", "CD4", "MS4A1", "größe"])
    with pytest.raises(ValueError, match=r"same name: 'CD4'; .*adata\.var_names_make_unique\(\)"):
        read_table(path)


@pytest.mark.parametrize("column", ["gaps", "masked"])
def test_missing_labels(tmp_path, column):
    path = write(tmp_path / "toy.h5ad")
    table = read_table(path, label_column=column)
    assert (table.y == -1).sum() == 2
    assert table.complete_y is None
    with pytest.raises(ValueError, match="2 of 6 labels are missing"):
        load_dataset(f"{path}#{column}")  # a benchmark needs all of them


def test_the_layout_before_0_7(tmp_path):
    path = tmp_path / "toy.h5ad"
    with h5py.File(path, "w") as file:
        file["X"] = X
        file["var"] = np.array([(b"CD4",)] * 4, dtype=[("index", "S4")])
    with pytest.raises(ValueError, match="no obs or no var: write it with anndata"):
        read_table(path)


def test_codes_without_a_category(tmp_path):
    path = write(tmp_path / "toy.h5ad")
    with h5py.File(path, "r+") as file:
        file["obs/categorical/codes"][0] = 3
    with pytest.raises(ValueError, match=r"toy\.h5ad .*damaged"):
        read_table(path, label_column="categorical")


# Parts of HDF5 files ----------------------------------------------------------------------------


def test_parts_in_other_files(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(3)
        file["g/inner"] = np.arange(4)
        file["inside"] = h5py.SoftLink("/g/inner")
        file["nowhere"] = h5py.SoftLink("/gone")
    with open_hdf5(path, "A test") as file:
        assert file["inside"][()].tolist() == [0, 1, 2, 3]
    with h5py.File(path, "a") as file:
        file["g/out"] = h5py.ExternalLink("other.h5", "x")
        file["behind"] = h5py.SoftLink("/g/out")
    with (
        pytest.raises(TableError, match="its part 'g/out' lies in another file"),
        open_hdf5(path, "A test"),
    ):
        pytest.fail("refused before")


def test_a_whole_file_is_looked_through(tmp_path):
    path = tmp_path / "b.h5"
    with h5py.File(path, "w") as file:
        group = file.create_group("g/g/g")
        group["again"] = file["g"]  # a circle
        file["x"], file["number"], file["none"] = np.arange(3), 1.0, h5py.Empty("f8")
    look_through(path)
    layout = h5py.VirtualLayout(shape=(4,), dtype="f8")
    layout[:] = h5py.VirtualSource("other.h5", "X", shape=(4,))
    with h5py.File(path, "a") as file:
        file["g/g"].create_virtual_dataset("elsewhere", layout)
    with pytest.raises(TableError, match="lies in another file"):
        look_through(path)


def test_links_are_not_copied_into_a_reduced_file(tmp_path):
    source = tmp_path / "source.h5ad"
    write_table(source, Dataset("toy", np.eye(4)))
    table = read_table(source)
    write_table(tmp_path / "good.h5ad", table, like=source)
    with h5py.File(source, "r+") as file:
        file["uns/secret"] = h5py.ExternalLink("good.h5ad", "X")
    with pytest.raises(
        ValueError, match=r"source\.h5ad cannot be read: its part 'uns/secret' lies in"
    ):
        write_table(tmp_path / "bad.h5ad", table, like=source)
    assert not (tmp_path / "bad.h5ad").exists()
