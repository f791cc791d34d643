"""Named columns: features, one column of labels, no text."""

import numpy as np
import pandas as pd
import pytest

from featsieve.datasets.readers.frame import frame_content, shorten

FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4], "c": [True, False], "kind": ["x", "y"]})


def test_features_labels_and_names():
    content = frame_content(FRAME, "kind")
    np.testing.assert_array_equal(content.X, [[1.0, 3.0, 1.0], [2.0, 4.0, 0.0]])
    assert content.X.dtype == np.float64
    assert content.labels.tolist() == ["x", "y"]
    assert content.feature_names == ["a", "b", "c"]
    assert list(FRAME.columns) == ["a", "b", "c", "kind"]  # left as it is


def test_columns_without_a_header_are_numbered():
    content = frame_content(pd.DataFrame([[1.0, 7.0], [2.0, 8.0]]), "1", named=False)
    assert content.feature_names is None
    assert content.labels.tolist() == [7.0, 8.0]


@pytest.mark.parametrize("dtype", ["Int64", "Float64"])
def test_missing_numbers_are_nan(dtype):
    frame = pd.DataFrame({"a": pd.array([1, None, 3], dtype=dtype)})
    np.testing.assert_array_equal(frame_content(frame, None).X, [[1.0], [np.nan], [3.0]])


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
    found = frame_content(pd.DataFrame({"a": [1.0, 2.0, 3.0], "kind": labels}), "kind").labels
    assert found[0] in ("x", 1)
    assert found[1] is found[2] is None


@pytest.mark.parametrize(
    ("frame", "column", "message"),
    [
        (FRAME, "type", r"no column 'type'; columns are: 'a', 'b', 'c', 'kind'"),
        (FRAME, None, r"not numbers: 'kind'; .*label_column \(labels in a plan\)"),
        (pd.DataFrame({"a": [1 + 2j]}), None, "not numbers: 'a'"),
        (FRAME.iloc[:0], "kind", "empty: 0 rows, 3 columns"),
        (FRAME[["kind"]], "kind", "empty: 2 rows, 0 columns"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), None, "the same name: 'a'"),
        (pd.DataFrame([[1, 2]], columns=[1, "1"]), None, "the same name: '1'"),
    ],
)
def test_what_is_wrong_is_named(frame, column, message):
    with pytest.raises(ValueError, match=message):
        frame_content(frame, column)


def test_errors_list_a_few_names():
    assert shorten(["a", "b"]) == "'a', 'b'"
    assert shorten(list("abcdefghij")).endswith("'h' and 2 more")
