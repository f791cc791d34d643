"""NumPy archives, dense and sparse; nothing is unpickled."""

import numpy as np
import pytest
import scipy.sparse as sp

from featsieve.datasets import read_table

RNG = np.random.default_rng(0)
X = np.where(RNG.random((9, 5)) < 0.5, RNG.integers(1, 9, (9, 5)), 0)
Y = np.array([3, 1, 1, 2, 3, 2, 1, 2, 3])


def test_compressed_rows_with_labels(tmp_path):
    path = tmp_path / "toy.npz"
    rows = sp.csr_array(X.astype(np.int16))
    np.savez_compressed(
        path, data=rows.data, indices=rows.indices, indptr=rows.indptr, shape=rows.shape, y=Y
    )
    table = read_table(path)
    assert isinstance(table.X, sp.csr_array)
    assert table.X.dtype == np.float64
    np.testing.assert_array_equal(table.X.toarray(), X)
    np.testing.assert_array_equal(table.y, Y - 1)


@pytest.mark.parametrize("layout", [sp.csr_array, sp.csc_matrix])
def test_what_scipy_saves(tmp_path, layout):
    path = tmp_path / "toy.npz"
    sp.save_npz(path, layout(X))
    table = read_table(path)
    assert isinstance(table.X, sp.csr_array)
    np.testing.assert_array_equal(table.X.toarray(), X)
    assert table.y is None


def test_named_features_and_labels(tmp_path):
    path = tmp_path / "toy.npz"
    names = [f"gene {j}" for j in range(5)]
    np.savez(path, X=X, kind=np.array(list("bacbabcba")), feature_names=np.array(names))
    table = read_table(path, label_column="kind")
    assert table.feature_names == names
    np.testing.assert_array_equal(table.y, [1, 0, 2, 1, 0, 1, 2, 1, 0])
    np.savez(path, X=X, feature_names=np.array(names[1:]))
    with pytest.raises(ValueError, match="4 feature names for 5 features"):
        read_table(path)


def test_names_of_samples(tmp_path):
    path = tmp_path / "toy.npz"
    names = [f"cell {i}" for i in range(9)]
    np.savez(path, X=X, sample_names=np.array(names), number=np.arange(9))
    assert read_table(path).sample_names == names
    assert read_table(path).id_name is None
    table = read_table(path, id_column="number")
    assert table.sample_names == [str(i) for i in range(9)]
    assert table.id_name == "number"
    with pytest.raises(ValueError, match=r"toy\.npz: there is no variable 'numbers' \(did you"):
        read_table(path, id_column="numbers")
    np.savez(path, X=X, sample_names=np.array(names[1:]))
    with pytest.raises(ValueError, match="8 names of samples for 9 samples"):
        read_table(path)


class Bomb:
    """Leaves a mark when it is unpickled."""

    def __reduce__(self):
        return (open, ("unpickled", "w"))


@pytest.mark.parametrize("name", ["X", "y", "data"])
def test_nothing_is_unpickled(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    rows = sp.csr_array(X)
    content = {"X": X, "y": Y}
    if name == "data":
        content = {"indices": rows.indices, "indptr": rows.indptr, "shape": rows.shape}
    content[name] = np.array([Bomb()], dtype=object)
    np.savez("toy.npz", allow_pickle=True, **content)
    with pytest.raises(ValueError, match=r"toy\.npz .*an array holds Python objects"):
        read_table("toy.npz")
    assert not (tmp_path / "unpickled").exists()


def test_a_single_array(tmp_path):
    np.save(tmp_path / "toy.npy", X)
    path = (tmp_path / "toy.npy").rename(tmp_path / "toy.npz")
    with pytest.raises(ValueError, match=r"not an archive of NumPy.* numpy\.savez"):
        read_table(path)
