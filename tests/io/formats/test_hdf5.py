"""Parts of HDF5 files that lie elsewhere are refused; columns are read a block at a time."""

import h5py
import numpy as np
import pytest
import scipy.sparse as sp

from featsieve.datasets import Dataset, read_table, write_table
from featsieve.io.formats import h5ad
from featsieve.io.formats.h5ad import read_matrix
from featsieve.io.formats.hdf5 import has_part, look_through, part_of
from featsieve.io.guard import TableError

RNG = np.random.default_rng(0)
X = np.where(RNG.random((23, 11)) < 0.3, RNG.random((23, 11)), 0.0).astype(np.float32)
X[5:9] = 0.0  # rows without anything
X[:, 4] = 0.0


def test_parts(tmp_path):
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = np.arange(3)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.arange(3)
        file["g/inner"] = np.arange(4)
        file["inside"] = h5py.SoftLink("/g/inner")
        file["out"] = h5py.ExternalLink("other.h5", "x")
        file["behind"] = h5py.SoftLink("/out")
        assert has_part(file, "out")
        assert not has_part(file, "gone")
        assert not has_part(file["x"], "a")
        for name in ("g/inner", "inside"):
            assert part_of(file, name)[()].tolist() == [0, 1, 2, 3]
        for name in ("out", "behind"):
            with pytest.raises(TableError, match=f"its part '{name}' is a link to another file"):
                part_of(file, name)
        for name in ("gone", "x/deeper", "g/gone"):
            with pytest.raises(TableError, match=f"no part '{name}'"):
                part_of(file, name)


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
    with pytest.raises(TableError, match="is kept in other files"):
        look_through(path)
    look_through(path, only="x")


def test_links_are_not_copied_into_a_reduced_file(tmp_path):
    source = tmp_path / "source.h5ad"
    write_table(source, Dataset("toy", np.eye(4)))
    table = read_table(source)
    write_table(tmp_path / "good.h5ad", table, like=source)
    with h5py.File(source, "r+") as file:
        file["uns/secret"] = h5py.ExternalLink("good.h5ad", "X")
    with pytest.raises(ValueError, match=r"source\.h5ad cannot be read: its part 'uns/secret' is "):
        write_table(tmp_path / "bad.h5ad", table, like=source)
    assert not (tmp_path / "bad.h5ad").exists()


def store(path, matrix):
    with h5py.File(path, "w") as file:
        if not sp.issparse(matrix):
            file["X"] = matrix
            return path
        group = file.create_group("X")
        group.attrs.update({"encoding-type": f"{matrix.format}_matrix", "shape": matrix.shape})
        for part in ("data", "indices", "indptr"):
            group[part] = getattr(matrix, part)
    return path


@pytest.mark.parametrize("block", [20, 2**23])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("columns", [[10, 0, 4], [4]])
def test_columns(tmp_path, monkeypatch, block, layout, columns):
    monkeypatch.setattr(h5ad, "BLOCK", block)
    path = store(tmp_path / "toy.h5", layout(X))
    with h5py.File(path) as file:
        found = read_matrix(file["X"], columns=np.array(columns))
        whole = read_matrix(file["X"])
    assert found.dtype == np.float32
    assert sp.issparse(found) == (layout is not np.asarray)
    dense = found.toarray() if sp.issparse(found) else found
    np.testing.assert_array_equal(dense, X[:, columns])
    np.testing.assert_array_equal(whole.toarray() if sp.issparse(whole) else whole, X)


def test_broken_rows_are_found_in_any_block(tmp_path, monkeypatch):
    monkeypatch.setattr(h5ad, "BLOCK", 5)
    path = store(tmp_path / "toy.h5", sp.csr_array(X))
    with h5py.File(path, "r+") as file:
        file["X/indices"][-1] = 99
    with h5py.File(path) as file, pytest.raises(ValueError, match="sparse table is damaged"):
        read_matrix(file["X"], columns=np.array([0]))
