"""Stored parts of sparse tables, right and wrong."""

import numpy as np
import pytest
import scipy.sparse as sp

from featsieve.io.readers.compressed import checked_sparse, compressed_table
from featsieve.io.readers.guard import TableError

DENSE = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]])


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array])
def test_a_right_table(kind):
    matrix = kind(DENSE)
    found = compressed_table(kind, (matrix.data, matrix.indices, matrix.indptr), (2, 3))
    np.testing.assert_array_equal(found.toarray(), DENSE)
    np.testing.assert_array_equal(checked_sparse(matrix).toarray(), DENSE)
    assert checked_sparse(DENSE) is DENSE
    entries = sp.coo_array(DENSE)
    assert checked_sparse(entries) is entries


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("data", np.ones((3, 1)), "values .* are not real numbers"),
        ("data", np.array(["a", "b", "c"]), "values .* are not real numbers"),
        ("data", np.ones(2), "does not fit its parts: "),
        ("indices", np.ones(3), "indices .* are not whole numbers"),
        ("indices", np.array([1, 0, 3]), "point outside"),
        ("indices", np.array([1, 0, -1]), "point outside"),
        ("indptr", np.array([0, 1]), "does not fit its parts: "),
        ("indptr", np.array([0, 4, 3]), "lines begin outside"),
        ("indptr", np.array([1, 2, 3]), "lines begin outside"),
        ("indptr", np.array([0, 1, 9]), "lines begin outside"),
        ("indptr", np.array([[0, 1, 3]]), "starts of the lines .* not whole"),
    ],
)
def test_wrong_parts(part, value, message):
    matrix = sp.csr_array(DENSE)
    parts = {name: getattr(matrix, name) for name in ("data", "indices", "indptr")}
    parts[part] = value
    with pytest.raises(TableError, match=message):
        compressed_table(sp.csr_array, list(parts.values()), (2, 3))


@pytest.mark.parametrize("shape", [(2,), (2, 3, 4), (-2, 3), ("a", "b"), None])
def test_wrong_shapes(shape):
    matrix = sp.csr_array(DENSE)
    with pytest.raises(TableError, match="not two whole numbers"):
        compressed_table(sp.csr_array, (matrix.data, matrix.indices, matrix.indptr), shape)
