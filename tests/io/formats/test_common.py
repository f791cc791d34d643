"""What a request asks of a data frame or of a matrix."""

import numpy as np
import pandas as pd
import pytest

from featsieve.io.formats import Request
from featsieve.io.formats.common import as_text, frame_dataset

FRAME = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4], "c": [True, False], "kind": ["x", "y"]})


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
