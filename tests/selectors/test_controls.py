"""The controls."""

import numpy as np
import pytest
import scipy.sparse as sp

from featsieve import MaxVariance, RandomSelector

TABLE = np.random.default_rng(0).standard_normal((20, 40))


def test_scores_are_variances_and_the_largest_are_selected():
    X = np.random.default_rng(0).standard_normal((30, 6)) * [3.0, 1.0, 5.0, 0.1, 2.0, 4.0]
    model = MaxVariance(3).fit(X)
    np.testing.assert_allclose(model.scores_, X.var(axis=0), rtol=1e-12)
    np.testing.assert_array_equal(model.get_support(indices=True), [0, 2, 5])
    np.testing.assert_array_equal(model.transform(X), X[:, [0, 2, 5]])


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e9])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_large_means_cost_no_digits(offset, kind):
    deviations = np.random.default_rng(1).integers(-50, 50, (40, 5)).astype(float)
    model = MaxVariance(2).fit(kind(deviations + offset))  # whole numbers: exact in the table
    np.testing.assert_allclose(model.scores_, deviations.var(axis=0), rtol=1e-9)


def test_sparse_table_with_empty_and_constant_columns():
    X = sp.random_array((50, 8), density=0.2, random_state=np.random.default_rng(2)).tolil()
    X[:, 3] = 7.0
    X[:, 5] = 0.0
    dense = X.toarray()
    model = MaxVariance(4).fit(X.tocsr())
    np.testing.assert_allclose(model.scores_, dense.var(axis=0), rtol=1e-10, atol=1e-30)
    np.testing.assert_array_equal(model.scores_[[3, 5]], 0.0)
    np.testing.assert_array_equal(model.ranking_[[3, 5]], [7, 8])


def test_constant_column_far_from_zero_scores_exactly_zero():
    X = np.random.default_rng(3).standard_normal((20, 3)) * 1e-8
    X[:, 1] = 0.1 + 0.2  # not a whole number: the mean is rounded
    assert MaxVariance(1).fit(X).scores_[1] == 0.0


def test_scores_are_random_numbers_in_the_unit_interval():
    scores = RandomSelector(1, random_state=0).fit(sp.eye_array(3000, format="csr")).scores_
    assert scores.min() > 0.0
    assert scores.max() <= 1.0
    assert abs(scores.mean() - 0.5) < 0.03
    assert len(np.unique(scores)) == 3000


def test_every_feature_is_selected_equally_often():
    counts = sum(
        RandomSelector(10, random_state=s).fit(TABLE).support_.astype(int) for s in range(100)
    )
    # binomial, 100 draws of probability 1/4: mean 25, deviation 4.3
    assert counts.min() > 8
    assert counts.max() < 42


def test_a_smaller_selection_is_part_of_a_larger_one():
    few, many = (RandomSelector(k, random_state=4).fit(TABLE).support_ for k in (5, 15))
    assert np.all(many[few])
