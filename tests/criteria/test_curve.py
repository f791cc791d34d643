"""Curves of a criterion: every choice against a plain loop."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from featsieve import defaults
from featsieve.criteria.curve import check_sizes, default_sizes, judge
from featsieve.tuning import Criterion, CriterionCurve, LabelAgreement


@st.composite
def curves(draw):
    n = draw(st.integers(1, 12))
    step = st.integers(-20, 20).map(lambda k: k / 20)  # ties are common
    lists = {"min_size": n, "max_size": n}
    return CriterionCurve(
        "agreement",
        np.array(sorted(draw(st.sets(st.integers(1, 400), **lists)))),
        np.array(draw(st.lists(st.one_of(step, st.floats(-1, 1)), **lists))),
        np.array(draw(st.lists(st.sampled_from([0.0, 0.01, 0.1]), **lists))),
        tolerance=draw(st.sampled_from([0.0, 0.01, 0.3])),
    )


def plain(curve):
    """Return (best, nearly equal, chosen, range) by loops over Python numbers."""
    sizes, values, errors = (a.tolist() for a in (curve.sizes, curve.values, curve.errors))
    top = 0
    for i, value in enumerate(values):
        if value > values[top]:
            top = i
    nearly = []
    for value, error in zip(values, errors, strict=True):
        noise = 2.0 * math.hypot(error, errors[top])
        nearly.append(value >= values[top] - max(noise, curve.tolerance))
    at = 0
    margin = max(curve.tolerance, curve.errors[top]) if curve.tolerance else 0.0
    while values[at] < values[top] - margin:
        at += 1
    low = high = at
    while low - 1 >= 0 and nearly[low - 1]:
        low -= 1
    while high + 1 < len(sizes) and nearly[high + 1]:
        high += 1
    return sizes[top], nearly, sizes[at], (sizes[low], sizes[high])


@given(curve=curves())
def test_choices_are_those_of_plain_loops(curve):
    best, nearly, chosen, around = plain(curve)
    assert curve.best == best
    assert curve.nearly_equal.tolist() == nearly
    assert curve.chosen == chosen
    assert curve.equivalent_range == around
    table = curve.table()
    assert list(table) == ["n_features", "agreement", "standard_error", "nearly_equal", "chosen"]
    assert table["n_features"][table["chosen"]].tolist() == [chosen]


@pytest.mark.parametrize(
    ("d", "expected"),
    [
        (1, [1]),
        (7, [1, 2, 3, 4, 5, 6, 7]),
        (50, [*range(1, 11), 20, 30, 50]),
        (51, [5, 10, 20, 30, 50, 51]),
        (400, list(defaults.PATH_SIZES)),
        (401, list(defaults.PATH_SIZES)),
    ],
)
def test_sizes_that_are_looked_at(d, expected):
    assert default_sizes(d).tolist() == expected
    assert check_sizes(None, d).tolist() == expected


def test_sizes_of_the_user_are_sorted_and_counted_once():
    assert check_sizes([9, 3, 3, 10], 10).tolist() == [3, 9, 10]
    assert check_sizes((k for k in (2, 1)), 10).tolist() == [1, 2]
    for wrong in ([], [3, 11]):
        with pytest.raises(ValueError, match="between 1 and 10"):
            check_sizes(wrong, 10)
    with pytest.raises(ValueError, match="integer of at least 1"):
        check_sizes([0, 3], 10)
    with pytest.raises(TypeError, match="integer of at least 1"):
        check_sizes([2.0], 10)


class SumOfIndices(Criterion):
    """Values 0 and twice the sum of the indices: mean and standard error are that sum."""

    name = "sum"

    def _prepare(self, X, labels, random_state):
        return lambda support: np.array([0.0, 2.0 * support.sum()])


def test_the_supports_are_the_first_features_of_the_order():
    order, sizes = np.array([3, 0, 2, 1]), np.array([1, 2, 4])
    curve = judge(SumOfIndices(tolerance=0.25), np.eye(4), np.arange(4), order=order, sizes=sizes)
    assert (curve.criterion, curve.tolerance, curve.chosen) == ("sum", 0.25, 1)
    assert curve.margin == pytest.approx(6.0)  # the standard error of the best
    np.testing.assert_array_equal(curve.sizes, sizes)
    np.testing.assert_allclose(curve.values, [3.0, 3.0, 6.0])
    np.testing.assert_allclose(curve.errors, [3.0, 3.0, 6.0])  # sqrt(2) sum / sqrt(2)


def test_values_and_errors_are_those_of_the_runs(small_planted):
    X, labels = small_planted.X, small_planted.labels
    order = np.argsort(~small_planted.informative, kind="stable")
    criterion = LabelAgreement(n_runs=6)
    curve = judge(criterion, X, labels, order=order, sizes=np.array([2, 8]))
    for k, value, error in zip((2, 8), curve.values, curve.errors, strict=True):
        runs = criterion.prepare(X, labels)(order[:k])
        assert value == pytest.approx(runs.mean())
        assert error == pytest.approx(pd.Series(runs).sem())
