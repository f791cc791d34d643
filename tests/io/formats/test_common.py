"""What a request asks of a data frame or of a matrix."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from featsieve.io.formats import Request
from featsieve.io.formats.common import as_text, frame_dataset, matrix_dataset

FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4], "c": [True, False], "kind": ["x", "y"]})


def test_features_labels_and_names():
    table = frame_dataset(FRAME, Request(label_column="kind"))
    np.testing.assert_array_equal(table.X, [[1.0, 3.0, 1.0], [2.0, 4.0, 0.0]])
    assert table.X.dtype == np.float64
    assert (table.y.tolist(), table.class_names) == ([0, 1], ["x", "y"])
    assert table.feature_names == ["a", "b", "c"]
    assert (table.label_name, table.id_name, table.sample_names) == ("kind", None, None)
    assert list(FRAME.columns) == ["a", "b", "c", "kind"]  # left as it is


def test_columns_without_a_header_are_called_by_their_places():
    frame = pd.DataFrame([[1.0, 7.0], [2.0, 8.0]], columns=["x0", "x1"])
    table = frame_dataset(frame, Request(label_column="x1"), named=False)
    assert table.feature_names is None
    assert table.class_names == ["7", "8"]
    table = frame_dataset(frame, Request(label_column="x0"), named=False)
    assert table.feature_names == ["x1"]  # or it would be taken for x0


@pytest.mark.parametrize(
    ("column", "names"),
    [
        (["b", "a"], ["b", "a"]),
        ([7, 8], ["7", "8"]),
        ([1.5, np.nan], ["1.5", ""]),
        (pd.to_datetime(["2020-01-02", None]), ["2020-01-02 00:00:00", ""]),
        (pd.array([1, None], dtype="Int64"), ["1", ""]),
        (pd.Categorical(["b", None]), ["b", ""]),
    ],
)
def test_names_of_samples_are_text(column, names):
    frame = pd.DataFrame({"a": [1.0, 2.0], "who": column})
    table = frame_dataset(frame, Request(id_column="who"))
    assert table.sample_names == as_text(frame["who"]) == names
    assert table.id_name == "who"
    assert table.feature_names == ["a"]


def test_columns_are_left_out():
    table = frame_dataset(FRAME, Request(drop=("b",), drop_text=True))
    assert table.feature_names == ["a", "c"]
    assert table.dropped == ("b", "kind")


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        (["float32", "float32"], np.float32),
        (["float32", "int8"], np.float64),
    ],
)
def test_single_precision_stays(dtypes, expected):
    frame = pd.DataFrame({f"c{j}": pd.array([1, 2], dtype=kind) for j, kind in enumerate(dtypes)})
    assert frame_dataset(frame, Request()).X.dtype == expected


@pytest.mark.parametrize("dtype", ["Int64", "Float64"])
def test_missing_numbers_are_nan(dtype):
    frame = pd.DataFrame({"a": pd.array([1, None, 3], dtype=dtype)})
    np.testing.assert_array_equal(frame_dataset(frame, Request()).X, [[1.0], [np.nan], [3.0]])


@pytest.mark.parametrize(
    "labels",
    [
        ["x", None, np.nan],
        pd.array([1, None, None], dtype="Int64"),
        pd.Categorical(["x", None, None]),
        [1.0, np.nan, np.nan],
    ],
)
def test_missing_labels_are_no_class(labels):
    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "kind": labels})
    assert frame_dataset(frame, Request(label_column="kind")).y.tolist() == [0, -1, -1]


@pytest.mark.parametrize(
    ("frame", "column", "message"),
    [
        (FRAME, "type", r"no column 'type'; columns are: 'a', 'b', 'c', 'kind'"),
        (
            FRAME,
            None,
            r"not numbers: 'kind'; name the classes with --label-column, .*FILE#COLUMN",
        ),
        (pd.DataFrame({"a": [1 + 2j]}), None, "not numbers: 'a'"),
        (FRAME.iloc[:0], "kind", "empty: 0 rows, 3 columns"),
        (FRAME[["kind"]], "kind", "empty: 2 rows, 0 columns"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), None, "the same name: '1'"),
    ],
)
def test_what_is_wrong_is_named(frame, column, message):
    with pytest.raises(ValueError, match=message):
        frame_dataset(frame, Request(label_column=column))


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (Request(id_column="Kind"), r"no column 'Kind' \(did you mean 'kind'\?\)"),
        (Request(drop=("a", "d")), "no column 'd'; columns are: 'a', 'b', 'c', 'kind'"),
        (Request(columns=("d", "e", "a")), "there is no column 'd', 'e'; columns are"),
        (Request(columns=("a", "kind")), r"not numbers: 'kind'; turn them into numbers \(repair"),
        (Request(label_column="kind", drop=("kind",)), "'kind' cannot be named as label_column"),
        (Request(id_column="a", columns=("a",)), "'a' cannot be named as label_column, id_col"),
        (Request(drop=("a", "b", "c"), drop_text=True), "no column holds numbers: 'kind'"),
    ],
)
def test_requests_that_cannot_be_met(request_, message):
    with pytest.raises(ValueError, match=message):
        frame_dataset(FRAME, request_)


def test_a_few_odd_cells_are_shown():
    frame = pd.DataFrame({"age": ["1", "2", "?", "3"], "size": ["1,5", "2,5", "3,5", "4,5"]})
    odd = (
        r"'age' has numbers except in 1 cell \('\?'\); "
        r"'size' has numbers written as text \('1,5', '2,5'\); --repair turns"
    )
    for request in (Request(), Request(drop_text=True)):  # numbers are not dropped as text
        with pytest.raises(ValueError, match=rf"^{odd}.*\(in Python repair=True\)$"):
            frame_dataset(frame, request)
    with pytest.raises(ValueError, match=rf"not numbers: 'town'; {odd}.*; name the classes with"):
        frame_dataset(frame.assign(town="x"), Request())


# A matrix ----------------------------------------------------------------------------------------

X = np.arange(12.0).reshape(3, 4)
NAMES = list("abcd")


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array, sp.coo_array])
def test_features_of_any_layout(layout):
    table = matrix_dataset(layout(X), Request(columns=("d", "a")), features=NAMES)
    some = table.X.toarray() if sp.issparse(table.X) else table.X
    np.testing.assert_array_equal(some, X[:, [3, 0]])
    assert table.feature_names == ["d", "a"]
    with pytest.raises(ValueError, match="no feature 'e'; features are: 'a', 'b', 'c', 'd'"):
        matrix_dataset(layout(X), Request(columns=("e",)), features=NAMES)


def test_features_without_names():
    rest = matrix_dataset(X, Request(drop=("x0",)), features=None)
    assert rest.feature_names == ["x1", "x2", "x3"]
    assert matrix_dataset(X, Request(drop=("x3",)), features=None).feature_names is None
