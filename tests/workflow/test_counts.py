"""How many clusters and features."""

import numpy as np
import pytest

from featsieve.workflow.counts import check_counts

SHAPE = (30, 12)


def test_what_can_be_meant():
    assert check_counts("auto", "auto", SHAPE) == ("auto", "auto")
    assert check_counts(2, 12, SHAPE) == (2, 12)
    assert check_counts(np.int64(30), 0.25, SHAPE) == (30, 3)
    assert check_counts(2, 1, SHAPE)[1] == 1
    assert check_counts(2, 1.0, SHAPE)[1] == 12


@pytest.mark.parametrize("wrong", [1, 31, -2, 2.5, True, None, "many"])
def test_clusters_that_cannot_be(wrong):
    with pytest.raises(ValueError, match=r"clusters must be 'auto' or from 2 to 30 .*; got "):
        check_counts(wrong, 3, SHAPE)


@pytest.mark.parametrize("wrong", [0, 13, -1, 1.5, 0.0, True, None, "many", np.nan])
def test_features_that_cannot_be(wrong):
    with pytest.raises(ValueError, match=r"a count from 1 to 12, a fraction .*; got "):
        check_counts(3, wrong, SHAPE)
