import numpy as np
import pytest
from scipy.stats import ttest_1samp

from featsieve.evaluation.intervals import mean_interval


@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_interval_of_one_seed_is_students(level):
    runs = np.random.default_rng(1).random(10)
    expected = pytest.approx(tuple(ttest_1samp(runs, 0.0).confidence_interval(level)))
    assert mean_interval(runs, level=level) == expected
    assert mean_interval([runs], level=level) == expected
    # one run per seed: the same over the other axis
    assert mean_interval(runs[:, None], level=level) == expected


def test_interval_of_crossed_seeds_covers_the_mean():
    rng = np.random.default_rng(2)
    covered = []
    for _ in range(1000):
        runs = (
            0.03 * rng.standard_normal((5, 1))
            + 0.02 * rng.standard_normal((1, 10))
            + 0.02 * rng.standard_normal((5, 10))
        )
        low, high = mean_interval(runs)
        covered.append(low <= 0.0 <= high)
    # nominal 0.95; the standard error of 1000 trials is 0.007
    assert 0.93 <= np.mean(covered) <= 0.99


def test_no_interval_from_a_single_run():
    assert np.isnan(mean_interval([[0.5]])).all()
    assert mean_interval([[0.5, 0.5]]) == (0.5, 0.5)
