"""Differences to a reference against plain arithmetic and scipy's bootstrap."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import bootstrap

from featsieve.evaluation import compare_with_reference

NAMES = ["all", "A", "B", "top"]


@pytest.fixture
def scores():
    rng = np.random.default_rng(3)
    base = rng.uniform(0.3, 0.7, size=(20, 1))
    return pd.DataFrame(
        base + rng.normal([0.0, 0.05, -0.02, 0.2], [1e-9, 0.05, 0.05, 0.03], (20, 4)), columns=NAMES
    )


def test_means_and_records_are_those_of_the_pairs(scores):
    found = compare_with_reference(scores, "all", ceiling="top")
    assert list(found) == ["A", "B", "top"]
    gains = scores.sub(scores["all"], axis=0)
    for name, own in found.items():
        assert own.points[0] == pytest.approx(gains[name].mean())
        assert (own.wins, own.losses) == ((gains[name] > 0.01).sum(), (gains[name] < -0.01).sum())
        assert own.wins + own.ties + own.losses == own.n_datasets == 20
        assert own.closed[0] == pytest.approx(gains[name].mean() / gains["top"].mean())
    assert found["top"].closed == pytest.approx((1.0, 1.0, 1.0))


def test_intervals_are_those_of_scipy(scores):
    found = compare_with_reference(scores, "all", ceiling="top")
    a, top = scores["A"] - scores["all"], scores["top"] - scores["all"]

    def scipy_interval(data, statistic, **how):
        draws = {"n_resamples": 10_000, "random_state": np.random.default_rng(0)}
        return bootstrap(data, statistic, method="percentile", **draws, **how).confidence_interval

    def ratio(x, y, axis):
        return x.mean(axis) / y.mean(axis)

    np.testing.assert_allclose(found["A"].points[1:], scipy_interval((a,), np.mean))
    own = scipy_interval((a, top), ratio, paired=True, vectorized=True)
    np.testing.assert_allclose(found["A"].closed[1:], own)


def test_intervals_over_families_draw_whole_ones(scores):
    families = ["genes"] * 12 + ["faces"] * 5 + ["text"] * 3
    own, alone = (
        compare_with_reference(scores, "all", ceiling="top", families=which)["A"]
        for which in (families, None)
    )
    gain = (scores["A"] - scores["all"]).to_numpy()
    parts = [gain[:12], gain[12:17], gain[17:]]
    possible = [
        np.concatenate([parts[i] for i in (a, b, c)]).mean()
        for a in range(3)
        for b in range(3)
        for c in range(3)
    ]
    assert own.points[0] == pytest.approx(alone.points[0])
    # 27 draws, each as likely: the 95 % interval ends at the outermost of them
    assert own.points[1:] == pytest.approx((min(possible), max(possible)))
    assert own.closed[1] < own.closed[0] < own.closed[2]
    # copies of a set tell nothing new over families, and narrow the interval over sets
    twice = pd.concat([scores] * 4)
    names = list(range(20)) * 4
    for which, expected in ((names, alone), (None, None)):
        found = compare_with_reference(twice, "all", families=which)["A"].points
        if expected is not None:
            assert found == pytest.approx(expected.points)
        else:
            assert found[2] - found[1] < 0.6 * (alone.points[2] - alone.points[1])


def test_a_failure_is_a_loss_and_what_was_not_tried_is_no_pair(scores):
    table = scores.to_numpy().copy()
    table[0, 1], table[1, 1], table[2, [0, 1]] = -np.inf, np.nan, -np.inf
    own = compare_with_reference(table, "all", names=NAMES)["A"]
    assert own.n_datasets == 17
    assert own.points[0] == pytest.approx((table[3:, 1] - table[3:, 0]).mean())
    assert own.wins + own.ties + own.losses == 18
    assert np.isnan(own.closed).all()


def test_exactly_one_point_is_a_tie_in_spite_of_rounding():
    found = compare_with_reference([[0.55, 0.56], [0.56, 0.55]], "a", names=["a", "b"])["b"]
    assert (found.wins, found.ties, found.losses) == (0, 2, 0)


def test_without_a_gap_nothing_is_closed(scores):
    found = compare_with_reference(scores, "all", ceiling="B")  # not above all features
    assert all(np.isnan(own.closed).all() for own in found.values())


def test_an_unknown_method_is_told(scores):
    with pytest.raises(ValueError, match="'every' must be one of the methods: all, A, B, top"):
        compare_with_reference(scores, "every")
    with pytest.raises(ValueError, match="'oracle' must be one of"):
        compare_with_reference(scores, "all", ceiling="oracle")
