"""The random control."""

import numpy as np
import pytest
import scipy.sparse as sp

from featsieve import RandomSelector

X = np.random.default_rng(0).standard_normal((20, 40))


def test_same_seed_same_subset_other_seed_other_subset():
    first, again, other = (RandomSelector(10, random_state=seed).fit(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.ranking_, again.ranking_)
    assert not np.array_equal(first.support_, other.support_)
    assert first.support_.sum() == 10


def test_scores_are_random_numbers_in_the_unit_interval():
    scores = RandomSelector(1, random_state=0).fit(sp.eye_array(3000, format="csr")).scores_
    assert scores.min() > 0.0
    assert scores.max() <= 1.0
    assert abs(scores.mean() - 0.5) < 0.03
    assert len(np.unique(scores)) == 3000


def test_every_feature_is_selected_equally_often():
    counts = sum(RandomSelector(10, random_state=s).fit(X).support_.astype(int) for s in range(400))
    # binomial, 400 draws of probability 1/4: mean 100, deviation 8.7
    assert counts.min() > 60
    assert counts.max() < 140


def test_columns_that_do_not_vary_come_last_with_score_zero():
    constant = X.copy()
    constant[:, [0, 7, 39]] = 4.0
    model = RandomSelector(37, random_state=3).fit(constant)
    np.testing.assert_array_equal(model.scores_[[0, 7, 39]], 0.0)
    np.testing.assert_array_equal(np.flatnonzero(~model.support_), [0, 7, 39])
    # the other columns keep the numbers they would have had
    other = RandomSelector(37, random_state=3).fit(X)
    varying = model.scores_ > 0.0
    np.testing.assert_array_equal(model.scores_[varying], other.scores_[varying])


def test_a_smaller_selection_is_part_of_a_larger_one():
    few, many = (RandomSelector(k, random_state=4).fit(X).support_ for k in (5, 15))
    assert np.all(many[few])


def test_sparse_and_dense_tables_give_the_same():
    dense = X * (np.abs(X) > 1.0)
    a, b = (RandomSelector(8, random_state=5).fit(table) for table in (dense, sp.csr_array(dense)))
    np.testing.assert_array_equal(a.scores_, b.scores_)


def test_refuses_a_constant_table():
    with pytest.raises(ValueError, match="constant"):
        RandomSelector(1).fit(np.ones((5, 3)))
