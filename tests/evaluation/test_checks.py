import numpy as np
import pytest

from featsieve.evaluation.checks import as_classes


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
