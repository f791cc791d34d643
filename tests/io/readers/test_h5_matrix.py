"""Columns of stored matrices, a block of rows at a time."""

import h5py
import numpy as np
import pytest
import scipy.sparse as sp

from featsieve.io.readers import h5_matrix
from featsieve.io.readers.h5_matrix import read_matrix

RNG = np.random.default_rng(0)
X = np.where(RNG.random((23, 11)) < 0.3, RNG.random((23, 11)), 0.0).astype(np.float32)
X[5:9] = 0.0  # rows without anything
X[:, 4] = 0.0


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


@pytest.mark.parametrize("block", [1, 3, 20, 2**23])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("columns", [[7], [10, 0, 4], list(range(11)), [4]])
def test_columns(tmp_path, monkeypatch, block, layout, columns):
    monkeypatch.setattr(h5_matrix, "BLOCK", block)
    path = store(tmp_path / "toy.h5", layout(X))
    with h5py.File(path) as file:
        found = read_matrix(h5py, file["X"], columns=np.array(columns))
        whole = read_matrix(h5py, file["X"])
    assert found.dtype == np.float32
    assert sp.issparse(found) == (layout is not np.asarray)
    dense = found.toarray() if sp.issparse(found) else found
    np.testing.assert_array_equal(dense, X[:, columns])
    np.testing.assert_array_equal(whole.toarray() if sp.issparse(whole) else whole, X)


def test_broken_rows_are_found_in_any_block(tmp_path, monkeypatch):
    monkeypatch.setattr(h5_matrix, "BLOCK", 5)
    path = store(tmp_path / "toy.h5", sp.csr_array(X))
    with h5py.File(path, "r+") as file:
        file["X/indices"][-1] = 99
    with h5py.File(path) as file, pytest.raises(ValueError, match="indices"):
        read_matrix(h5py, file["X"], columns=np.array([0]))
