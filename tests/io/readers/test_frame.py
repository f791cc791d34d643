"""Named columns: features, one column of labels, no text."""

import numpy as np
import pandas as pd
import pytest

from featsieve.io.readers.frame import as_text, frame_content
from featsieve.io.request import Request

FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4], "c": [True, False], "kind": ["x", "y"]})


def test_features_labels_and_names():
    content = frame_content(FRAME, Request(label_column="kind"))
    np.testing.assert_array_equal(content.X, [[1.0, 3.0, 1.0], [2.0, 4.0, 0.0]])
    assert content.X.dtype == np.float64
    assert content.labels.tolist() == ["x", "y"]
    assert content.feature_names == ["a", "b", "c"]
    assert (content.label_name, content.id_name, content.sample_names) == ("kind", None, None)
    assert list(FRAME.columns) == ["a", "b", "c", "kind"]  # left as it is


def test_columns_without_a_header_are_called_by_their_places():
    frame = pd.DataFrame([[1.0, 7.0], [2.0, 8.0]], columns=["x0", "x1"])
    content = frame_content(frame, Request(label_column="x1"), named=False)
    assert content.feature_names is None
    assert content.labels.tolist() == [7.0, 8.0]
    content = frame_content(frame, Request(label_column="x0"), named=False)
    assert content.feature_names == ["x1"]  # or it would be taken for x0


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
    content = frame_content(frame, Request(id_column="who"))
    assert content.sample_names == as_text(frame["who"]) == names
    assert content.id_name == "who"
    assert content.feature_names == ["a"]


def test_only_some_columns_in_a_given_order():
    content = frame_content(FRAME, Request(columns=("c", "a"), label_column="kind"))
    assert content.feature_names == ["c", "a"]
    np.testing.assert_array_equal(content.X, [[1.0, 1.0], [0.0, 2.0]])
    assert content.dropped == ()


def test_columns_are_left_out():
    content = frame_content(FRAME, Request(drop=("b",), drop_text=True))
    assert content.feature_names == ["a", "c"]
    assert content.dropped == ("b", "kind")


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        (["float32", "float32"], np.float32),
        (["Float32", "float32"], np.float32),
        (["float32", "int8"], np.float64),
        (["float16", "float16"], np.float64),
        (["float32", "float64"], np.float64),
    ],
)
def test_single_precision_stays(dtypes, expected):
    frame = pd.DataFrame({f"c{j}": pd.array([1, 2], dtype=kind) for j, kind in enumerate(dtypes)})
    assert frame_content(frame).X.dtype == expected


@pytest.mark.parametrize("dtype", ["Int64", "Float64"])
def test_missing_numbers_are_nan(dtype):
    frame = pd.DataFrame({"a": pd.array([1, None, 3], dtype=dtype)})
    np.testing.assert_array_equal(frame_content(frame).X, [[1.0], [np.nan], [3.0]])


@pytest.mark.parametrize(
    "labels",
    [
        ["x", None, np.nan],
        pd.array([1, None, None], dtype="Int64"),
        pd.Categorical(["x", None, None]),
        [1.0, np.nan, np.nan],
    ],
)
def test_missing_labels_are_none(labels):
    found = frame_content(
        pd.DataFrame({"a": [1.0, 2.0, 3.0], "kind": labels}), Request(label_column="kind")
    ).labels
    assert found[0] in ("x", 1)
    assert found[1] is found[2] is None


@pytest.mark.parametrize(
    ("frame", "column", "message"),
    [
        (FRAME, "type", r"no column 'type'; columns are: 'a', 'b', 'c', 'kind'"),
        (
            FRAME,
            None,
            r"not numbers: 'kind'; name the classes with --label-column, .*labels in a plan",
        ),
        (pd.DataFrame({"a": [1 + 2j]}), None, "not numbers: 'a'"),
        (FRAME.iloc[:0], "kind", "empty: 0 rows, 3 columns"),
        (FRAME[["kind"]], "kind", "empty: 2 rows, 0 columns"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), None, "the same name: 'a'"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), None, "the same name: '1'"),
    ],
)
def test_what_is_wrong_is_named(frame, column, message):
    with pytest.raises(ValueError, match=message):
        frame_content(frame, Request(label_column=column))


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        (Request(id_column="Kind"), r"no column 'Kind' \(did you mean 'kind'\?\)"),
        (Request(drop=("a", "d")), "no column 'd'; columns are: 'a', 'b', 'c', 'kind'"),
        (Request(columns=("d", "e", "a")), "2 of 3 columns are missing: 'd', 'e'; columns are"),
        (Request(columns=("a", "kind")), "not numbers: 'kind'; turn them into numbers$"),
        (Request(columns=("a", "kind"), drop_text=True), "not numbers: 'kind'; turn"),
        (Request(label_column="kind", drop=("kind",)), "'kind' cannot be named as label_column"),
        (Request(id_column="a", columns=("a",)), "'a' cannot be named as label_column or id_col"),
        (Request(drop=("a", "b", "c"), drop_text=True), "no column holds numbers: 'kind'"),
        (Request(drop=("a", "b", "c", "kind")), "empty: 2 rows, 0 columns"),
    ],
)
def test_requests_that_cannot_be_met(request_, message):
    with pytest.raises(ValueError, match=message):
        frame_content(FRAME, request_)


def test_a_few_odd_cells_are_shown():
    frame = pd.DataFrame({"age": ["1", "2", "?", "3"], "size": ["1,5", "2,5", "3,5", "4,5"]})
    with pytest.raises(
        ValueError,
        match=r"'age', 'size'; 'age' has numbers except in 1 cell \('\?'\); "
        r"'size' has commas for decimal points \('1,5'\); name the classes with .*--drop-text",
    ):
        frame_content(frame)


def test_roles_that_are_taken_are_not_offered():
    frame = pd.DataFrame({"a": [1.0, 2.0], "who": ["x", "y"], "kind": ["u", "v"], "c": ["p", "q"]})
    with pytest.raises(ValueError, match="'who', 'c'; name the samples with --id-column, leave"):
        frame_content(frame, Request(label_column="kind"))
    with pytest.raises(ValueError, match=r"'kind', 'c'; name the classes .*--label-column, leave"):
        frame_content(frame, Request(id_column="who"))


def test_text_that_may_name_the_rows():
    frame = pd.DataFrame(
        {
            "a": [1.0, 2.0, 3.0, 4.0],
            "who": ["p1", "p2", "p3", "p4"],
            "kind": ["x", "y", "x", "z"],
            "holed": ["q1", None, "q3", "q4"],
            "decimal": ["1,5", "2,5", "3,5", "4,5"],
            "odd": ["1.5", "2.5", "3.5", "?"],
        }
    )
    content = frame_content(frame, Request(drop_text=True))
    assert content.identifying == ("who",)
    assert frame_content(frame.iloc[:2], Request(drop_text=True)).identifying == ()
