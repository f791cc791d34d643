"""Tables without clusters: every column permuted on its own, alike for all kinds of table."""

import array_api_strict
import numpy as np
import scipy.sparse as sp

from featsieve.arrays.namespace import to_numpy
from featsieve.graphs.views import permute_columns


def permuted(X):
    return permute_columns(X, np.random.RandomState(0))


def test_columns_keep_their_values_and_lose_their_rows():
    X = np.random.default_rng(0).standard_normal((30, 8))
    found = permuted(X)
    np.testing.assert_array_equal(np.sort(found, axis=0), np.sort(X, axis=0))
    assert not np.array_equal(found[:, 0].argsort(), found[:, 1].argsort())
    assert (np.abs(np.corrcoef(found.T) - np.eye(8)) < 0.7).all()


def test_all_kinds_of_table_are_permuted_alike():
    X = np.random.default_rng(0).poisson(1.0, (30, 8)).astype(float)
    expected = permuted(X)
    for kind in (sp.csr_array, sp.csc_array, sp.csr_matrix):
        before = kind(X)
        np.testing.assert_array_equal(permuted(before).toarray(), expected)
        np.testing.assert_array_equal(before.toarray(), X)  # the caller's table is as it was
    device = array_api_strict.Device("device1")
    there = permuted(array_api_strict.asarray(X, device=device))
    assert there.device == device
    np.testing.assert_array_equal(to_numpy(there), expected)
