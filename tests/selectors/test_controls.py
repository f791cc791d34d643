"""The controls."""

import numpy as np
import pytest
import scipy.sparse as sp

from featsieve import MaxVariance, RandomSelector


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


def test_scores_are_random_numbers_in_the_unit_interval():
    scores = RandomSelector(1, random_state=0).fit(sp.eye_array(3000, format="csr")).scores_
    assert scores.min() > 0.0
    assert scores.max() <= 1.0
    assert abs(scores.mean() - 0.5) < 0.03
    assert len(np.unique(scores)) == 3000
