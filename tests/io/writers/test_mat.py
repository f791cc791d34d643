"""MATLAB files as SciPy reads them."""

from inspect import signature

import numpy as np
import pytest
from scipy.io import loadmat

from featsieve.datasets import Dataset, read_table, write_table
from tests.io.writers.tables import FEATURES, SAMPLES, make_table


def words(cells):
    return ["".join(map(str, cell)) for cell in cells.ravel()]


@pytest.mark.parametrize("sparse", [False, True])
def test_variables(tmp_path, sparse):
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


@pytest.mark.parametrize("name", ["cell type", "_kind", "2nd", "größe", "x" * 70])
def test_names_that_matlab_cannot_give(tmp_path, name):
    table = make_table(label_name=name, id_name=name)
    write_table(tmp_path / "toy.mat", table)
    found = read_table(tmp_path / "toy.mat")  # under their usual names
    np.testing.assert_array_equal(found.y, table.y)
    assert found.class_names == table.class_names
    assert found.sample_names == SAMPLES


def test_tables_that_are_too_large(tmp_path):
    class Huge(np.ndarray):
        nbytes = 2**32

    table = Dataset("toy", np.ones((2, 2)).view(Huge))
    with pytest.raises(ValueError, match=r"less than 4 GiB: write \.npz or \.h5ad"):
        write_table(tmp_path / "toy.mat", table)
