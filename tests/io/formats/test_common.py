"""Features of a matrix, chosen by name."""

import numpy as np
import pytest
import scipy.sparse as sp

from featsieve.io.formats import Request
from featsieve.io.formats.common import pick_features
from featsieve.io.guard import ColumnError

X = np.arange(12.0).reshape(3, 4)
NAMES = list("abcd")


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, sp.coo_array])
def test_features_of_any_layout(layout):
    some, names = pick_features(layout(X), NAMES, Request(columns=("d", "a")))
    np.testing.assert_array_equal(some.toarray() if sp.issparse(some) else some, X[:, [3, 0]])
    assert names == ["d", "a"]
    with pytest.raises(ColumnError, match="no feature 'e'; features are: 'a', 'b', 'c', 'd'"):
        pick_features(layout(X), NAMES, Request(columns=("e",)))


def test_features_without_names():
    assert pick_features(X, None, Request(drop=("x0",)))[1] == ["x1", "x2", "x3"]
    assert pick_features(X, None, Request(drop=("x3",)))[1] is None
