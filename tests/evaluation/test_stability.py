"""Stability of selections: against hand-computed numbers, Kuncheva's index and simulations."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from featsieve.evaluation.stability import Stability, selection_stability

selections = st.tuples(st.integers(2, 8), st.integers(2, 12)).flatmap(
    lambda shape: arrays(bool, shape)
)


def population_stability(p):
    """Return the stability of selections that hold feature f with probability p_f."""
    return 1.0 - np.mean(p * (1.0 - p)) / (p.mean() * (1.0 - p.mean()))


def weighted_stability(supports, weights):
    """Return the stability (without its factor M/(M - 1)) of rows that count by their weights."""
    return population_stability(weights @ supports / weights.sum())


def test_three_selections_computed_by_hand():
    # p = (1, 2/3, 1/3, 0), s² = 3/2 (0, 2/9, 2/9, 0), their mean 1/6; k̄/d = 1/2: 1 - (1/6)/(1/4).
    stability = selection_stability([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0]])
    assert stability.value == pytest.approx(1.0 / 3.0)
    # All k_i are equal, so φ_i is mean_f(x_if p_f)/(1/4) = 5/3, 5/3, 4/3 up to a constant, and
    # Σ(φ_i - mean)² = 2/27: the variance is 4/9 times that.
    assert stability.standard_error == pytest.approx(np.sqrt(8.0 / 243.0))
    reach = 1.959963984540054 * np.sqrt(8.0 / 243.0)
    assert stability.interval == pytest.approx((1.0 / 3.0 - reach, 1.0 / 3.0 + reach))
    assert stability.n_selections == 3


def test_equal_selections_have_stability_one():
    support = np.array([True, False, True, False, False])
    assert selection_stability(np.tile(support, (5, 1))) == Stability(1.0, (1.0, 1.0), 0.0, 5)


@pytest.mark.parametrize("everything", [True, False])
def test_nothing_is_chosen_where_all_or_no_features_are(everything):
    stability = selection_stability(np.full((4, 3), everything))
    assert np.isnan([stability.value, *stability.interval, stability.standard_error]).all()
    assert stability.n_selections == 4


def test_equal_sizes_give_the_mean_kuncheva_index_of_all_pairs():
    rng = np.random.default_rng(0)
    for M, d, k in ((2, 10, 3), (7, 30, 12), (12, 25, 1)):
        supports = np.argsort(rng.random((M, d)) + np.linspace(0.0, 0.7, d), axis=1) < k
        pairs = [
            (np.sum(a & b) - k * k / d) / (k - k * k / d) for a, b in combinations(supports, 2)
        ]
        assert selection_stability(supports).value == pytest.approx(np.mean(pairs))


@given(selections, st.randoms(use_true_random=False))
def test_order_of_features_and_of_selections_does_not_matter(supports, random):
    if supports.all() or not supports.any():
        return
    rows, columns = list(range(supports.shape[0])), list(range(supports.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    expected = selection_stability(supports)
    permuted = selection_stability(supports[rows][:, columns])
    assert permuted.value == pytest.approx(expected.value, abs=1e-12)
    assert permuted.standard_error == pytest.approx(expected.standard_error, abs=1e-12)


@given(selections)
def test_bounds(supports):
    if supports.all() or not supports.any():
        return
    stability = selection_stability(supports)
    low, high = stability.interval
    assert -1.0 / (len(supports) - 1) - 1e-12 <= stability.value <= 1.0
    assert low <= stability.value <= high <= 1.0
    wider = selection_stability(supports, confidence=0.99).interval
    assert wider[0] <= low
    assert wider[1] >= high


def test_standard_error_is_that_of_the_derivative_by_the_rows():
    # An independent route: the variance of a mean's smooth function is M^-2 Σ (dΦ/dw_i)² for
    # weights w that sum to M, here by central differences.
    rng = np.random.default_rng(1)
    supports = rng.random((400, 20)) < rng.beta(0.5, 0.7, size=20)
    weights, step, slopes = np.ones(400), 1e-5, []
    for i in range(400):
        change = np.zeros(400)
        change[i] = step
        ahead = weighted_stability(supports, weights + change)
        back = weighted_stability(supports, weights - change)
        slopes.append((ahead - back) / (2.0 * step))
    # The factor M/(M - 1) of the estimator moves Φ, and with it φ_i, by about 1/M.
    error = selection_stability(supports).standard_error
    assert error == pytest.approx(np.linalg.norm(slopes), rel=0.01)


@pytest.mark.parametrize("sizes", [(2, 2, 2), (1, 2, 3)])
def test_random_selections_have_stability_zero_on_average(sizes):
    # The exact mean over all selections of these sizes from five features.
    subsets = [combinations(range(5), size) for size in sizes]
    masks = [[np.isin(np.arange(5), chosen) for chosen in of_size] for of_size in subsets]
    values = [selection_stability(np.array(rows)).value for rows in product(*masks)]
    # 0 for equal sizes. With q_i = k_i/d, mean_f(s_f²) is on average
    # mean(q_i (1 - q_i)) + var(q) M/(M - 1) = q̄ (1 - q̄) + var(q)/(M - 1): a bias of order 1/M.
    q = np.array(sizes) / 5
    bias = -np.var(q) / (2 * q.mean() * (1.0 - q.mean()))
    assert np.mean(values) == pytest.approx(bias, abs=1e-12)


def test_interval_covers_the_true_stability_as_often_as_it_says():
    rng = np.random.default_rng(3)
    p = rng.beta(0.3, 0.6, size=60)
    found = [selection_stability(rng.random((60, 60)) < p) for _ in range(600)]
    low, high = np.transpose([stability.interval for stability in found])
    truth = population_stability(p)
    assert 0.91 < np.mean((low <= truth) & (truth <= high)) < 0.98
    errors = [stability.standard_error for stability in found]
    assert np.mean(errors) == pytest.approx(np.std([s.value for s in found]), rel=0.1)


def test_what_is_no_table_of_selections_is_refused():
    with pytest.raises(ValueError, match="a row for every selection"):
        selection_stability(np.ones(4, dtype=bool))
    with pytest.raises(ValueError, match=r"at least 2, and a column .* of shape \(1, 5\)"):
        selection_stability(np.ones((1, 5), dtype=bool))
    for wrong in ([[0, 2], [1, 3]], [["a", "b"], ["a", "c"]]):
        with pytest.raises(ValueError, match="True and False"):
            selection_stability(wrong)
    with pytest.raises(ValueError, match="confidence must be"):
        selection_stability(np.eye(3), confidence=1.0)
