"""Features of a matrix, chosen by name."""

import numpy as np
import pytest
import scipy.sparse as sp

from featsieve.io.dataset import Content, build_dataset
from featsieve.io.guard import ColumnError, TableError
from featsieve.io.readers.matrix import chosen_columns, pick_features
from featsieve.io.request import Request

X = np.arange(12.0).reshape(3, 4)
NAMES = list("abcd")


def test_places():
    assert chosen_columns(NAMES, Request()) is None
    assert chosen_columns(NAMES, Request(columns=("d", "a"))).tolist() == [3, 0]
    assert chosen_columns(NAMES, Request(drop=("c", "a"))).tolist() == [1, 3]
    with pytest.raises(ColumnError, match="no feature 'e'; features are: 'a', 'b', 'c', 'd'"):
        chosen_columns(NAMES, Request(columns=("e",)))


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, sp.csc_matrix, sp.coo_array])
def test_features_of_any_layout(layout):
    content = pick_features(Content(layout(X), feature_names=NAMES), Request(columns=("d", "a")))
    values = content.X.toarray() if sp.issparse(content.X) else content.X
    np.testing.assert_array_equal(values, X[:, [3, 0]])
    assert content.feature_names == ["d", "a"]


def test_what_is_not_asked_for_is_left_as_it_is():
    content = Content(X)
    assert pick_features(content, Request(drop_text=True)) is content


def test_features_without_names():
    content = pick_features(Content(X), Request(drop=("x0",)))
    assert content.feature_names == ["x1", "x2", "x3"]
    assert content.dropped == ("x0",)
    assert pick_features(Content(X), Request(drop=("x3",))).feature_names is None


def test_names_that_do_not_fit_are_told_by_the_caller():
    content = Content(X, feature_names=list("abc"))
    assert pick_features(content, Request(columns=("a",))) is content
    with pytest.raises(TableError, match="3 feature names for 4 features"):
        build_dataset("toy", content)
