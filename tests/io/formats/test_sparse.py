"""Stored parts of sparse tables, right and wrong."""

import numpy as np
import pytest
import scipy.sparse as sp

from featsieve.io.dataset import checked_sparse, compressed_table
from featsieve.io.guard import TableError

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
    ("part", "value"),
    [
        ("data", np.ones((3, 1))),
        ("data", np.ones(2)),
        ("indices", np.ones(3)),
        ("indices", np.array(["a", "b", "c"])),
        ("indices", np.array([1, 0, 3])),
        ("indices", np.array([1, 0, -1])),
        ("indptr", np.array([0, 1])),
        ("indptr", np.array([0, 4, 3])),
        ("indptr", np.array([1, 2, 3])),
        ("indptr", np.array([0, 1, 9])),
        ("indptr", np.array([[0, 1, 3]])),
        *(("shape", shape) for shape in [(2,), (2, 3, 4), (-2, 3), ("a", "b"), None, (10**12, 3)]),
    ],
)
def test_wrong_parts(part, value):
    matrix = sp.csr_array(DENSE)
    parts = {name: getattr(matrix, name) for name in ("data", "indices", "indptr", "shape")}
    *values, shape = (parts | {part: value}).values()
    with pytest.raises(TableError, match=r"its sparse table is damaged \(.+\): get it or save it"):
        compressed_table(sp.csr_array, values, shape)
