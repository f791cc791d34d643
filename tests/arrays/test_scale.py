"""Columns of one variable share a scale, a half and a permutation."""

import numpy as np
import pytest

from featsieve.arrays import as_operator
from featsieve.arrays.namespace import to_numpy
from featsieve.arrays.scale import ColumnScale
from featsieve.hypotheses.tables import dense_columns, normal_scores, permuted

VARIABLES = np.array([0, 1, 2, 2, 2, 3, 3, 4])


@pytest.fixture
def table():
    """Three numbers, a category of three levels and one of two, a number."""
    rng = np.random.default_rng(0)
    three, two = np.eye(3)[rng.integers(3, size=30)], np.eye(2)[rng.integers(2, size=30)]
    numbers = 10.0 * rng.standard_normal((30, 3))
    return np.hstack([numbers[:, :2], three, two, numbers[:, 2:]])


@pytest.mark.parametrize("rule", ["unit", "std"])
def test_a_variable_has_the_norm_of_one_column_whatever_its_number_of_columns(table, rule):
    operator = as_operator(table, scale=ColumnScale(rule, VARIABLES))
    norms = np.bincount(VARIABLES, weights=to_numpy(operator.column_norms()))
    np.testing.assert_allclose(norms, 1.0 if rule == "unit" else len(table))
    # inside of a variable the columns keep their proportions: rare levels do not weigh more
    deviation = table[:, 2:5].std(axis=0)
    scaled = to_numpy(operator.columns(operator.place(np.arange(2, 5)))).std(axis=0)
    np.testing.assert_allclose(scaled / deviation, np.full(3, scaled[0] / deviation[0]))


def test_two_indicators_count_as_the_one_column_that_says_the_same(table):
    both = as_operator(table[:, 5:7], scale=ColumnScale("unit", np.array([0, 0]))).sample_gram()
    np.testing.assert_allclose(both, as_operator(table[:, 5:6], scale="unit").sample_gram())


def test_dense_columns_and_ranks_share_scales_too(table):
    for X in (table, normal_scores(table)):
        Z, _, kept = dense_columns(X, VARIABLES)
        total = np.bincount(VARIABLES[kept], weights=np.sum(Z**2, axis=0))
        np.testing.assert_allclose(total, len(table), rtol=1e-5)


def test_no_variable_is_in_both_halves():
    scale, rng = ColumnScale("unit", VARIABLES), np.random.default_rng(0)
    for _ in range(20):
        one, other = scale.halves(np.arange(8), rng, 4)
        assert sorted([*one, *other]) == list(range(8))
        assert not set(VARIABLES[one]) & set(VARIABLES[other])


def test_columns_of_a_variable_are_permuted_together(table):
    shuffled = permuted(table, np.random.default_rng(0), VARIABLES)
    np.testing.assert_array_equal(np.sort(shuffled, axis=0), np.sort(table, axis=0))
    np.testing.assert_array_equal(shuffled[:, 2:5].sum(axis=1), 1.0)
    np.testing.assert_array_equal(shuffled[:, 5:7].sum(axis=1), 1.0)
    assert not np.array_equal(shuffled, table)
