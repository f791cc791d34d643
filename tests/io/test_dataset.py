"""Tables and labels of any kind become what selectors and metrics take."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import LabelEncoder

from featsieve.io.dataset import (
    compressed_table,
    encode_classes,
    make_dataset,
)
from featsieve.io.guard import TableError


@pytest.mark.parametrize(
    "labels",
    [
        [3, 1, 1, 2],
        [-1, 1, 1, -1],
        [0.5, -2.5, 0.5, 10],
        ["b", "a", "c", "a"],
        [True, False, True, True],
        np.array([10, 9, 100, 9], dtype=object),
    ],
)
def test_classes_are_those_of_scikit_learn(labels):
    expected = LabelEncoder().fit_transform(np.asarray(labels).tolist())
    for shape in (-1, (-1, 1), (1, -1)):
        np.testing.assert_array_equal(encode_classes(np.reshape(labels, shape))[0], expected)


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ([3, 1, 10], ["1", "3", "10"]),
        ([3.0, 1.0, 10.0], ["1", "3", "10"]),
        ([0.5, 1.0, 10.0], ["0.5", "1.0", "10.0"]),
        ([1e300, 1.0, 2.0], ["1.0", "2.0", "1e+300"]),
        (["b", "a", "10"], ["10", "a", "b"]),
        ([True, False, True], ["False", "True"]),
        (np.array([2, "a", 2], dtype=object), ["2", "a"]),
    ],
)
def test_classes_have_names(labels, names):
    codes, found = encode_classes(labels)
    assert found == names
    assert len(codes) == 3


@pytest.mark.parametrize(
    ("labels", "codes"),
    [
        (sp.csc_array([[0], [5], [0]]), [0, 1, 0]),
        ([1.0, np.nan, np.nan], [0, -1, -1]),
        (np.array(["a", None, np.nan], object), [0, -1, -1]),
    ],
)
def test_sparse_labels_and_missing_ones(labels, codes):
    assert encode_classes(labels)[0].tolist() == codes


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"labels": [1, 2, 3]}, "3 labels for 2 samples: one each is needed"),
        ({"labels": np.eye(2)}, r"one label per sample; they have shape \(2, 2\)"),
        ({"feature_names": ["a", "b"]}, "2 feature names for 3 features"),
        ({"feature_names": ["a", "b", "a"]}, "the same name: 'a'"),
        ({"sample_names": ["s"]}, "1 names of samples for 2 samples"),
    ],
)
def test_parts_that_do_not_fit(fields, message):
    with pytest.raises(ValueError, match=message):
        make_dataset(np.ones((2, 3)), **fields)


DENSE = np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]])


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("data", np.ones(2)),
        ("indices", np.array(["a", "b", "c"])),
        ("indices", np.array([1, 0, 3])),
        ("indices", np.array([1, 0, -1])),
        ("indptr", np.array([0, 4, 3])),
        ("indptr", np.array([0, 1, 9])),
        *(("shape", shape) for shape in [(2, 3, 4), (-2, 3), ("a", "b"), (10**12, 3)]),
    ],
)
def test_wrong_parts(part, value):
    matrix = sp.csr_array(DENSE)
    parts = {name: getattr(matrix, name) for name in ("data", "indices", "indptr", "shape")}
    *values, shape = (parts | {part: value}).values()
    with pytest.raises(TableError, match=r"its sparse table is damaged \(.+\): get it or save it"):
        compressed_table(sp.csr_array, values, shape)
