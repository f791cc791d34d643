"""What a caller wants of a file."""

import numpy as np
import pytest

from featsieve.io.formats import Request


def test_names_in_any_container():
    request = Request.checked(drop=["a", "b", "a"], label_column="c")
    assert request.drop == ("a", "b")
    assert request.roles == ("c",)
    assert Request.checked(drop="age").drop == ("age",)
    assert Request.checked(columns=np.array(["a", "b"])).columns == ("a", "b")


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"label_column": 3}, TypeError, "label_column must be the name of a column; got 3"),
        ({"drop": [1]}, TypeError, "every one of drop must be the name of a column; got 1"),
        ({"drop": 1}, TypeError, "drop must list names of columns; got 1"),
        ({"columns": []}, ValueError, "columns is empty"),
        ({"columns": ["a", "b", "a"]}, ValueError, "columns lists 'a' twice"),
        ({"columns": ["a"], "drop": ["b"]}, ValueError, "leave drop away"),
        ({"label_column": "a", "id_column": "a"}, ValueError, "'a' cannot hold the classes"),
    ],
)
def test_contradictions(asked, error, message):
    with pytest.raises(error, match=message):
        Request.checked(**asked)


def test_columns_without_names_have_their_places():
    request = Request(label_column="3", id_column="x1", drop=("0", "age"), columns=("2", "9"))
    assert request.for_places(5) == Request(
        label_column="x3", id_column="x1", drop=("x0", "age"), columns=("x2", "9")
    )
