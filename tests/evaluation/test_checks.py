import numpy as np
import pytest

from featsieve.evaluation.checks import as_classes, check_probability


@pytest.mark.parametrize(
    "values",
    [
        [3, 9, 3],
        [0.0, 2.0, 0.0],
        ["a", "b", "a"],
        [False, True, False],
        np.array(["x", "y", "x"], object),
    ],
)
def test_classes_become_integers_in_sorted_order(values):
    assert as_classes("y", values).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "one class for every sample"),
        ([[0], [1]], "ravel"),
        ([0, 1], "2 values for 3 samples"),
        ([0.0, 1.0, np.nan], "missing values"),
        (np.array(["a", None, "b"], object), "leave out samples without a class"),
    ],
)
def test_what_is_not_a_list_of_classes_is_refused(values, message):
    with pytest.raises(ValueError, match=message):
        as_classes("y", values, n_samples=3)


@pytest.mark.parametrize("value", [0.0, 1.0, np.nan])
def test_a_probability_is_between_0_and_1(value):
    with pytest.raises(ValueError, match="level must be"):
        check_probability("level", value)
