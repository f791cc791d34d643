"""The label step that keeps the length of columns, against a general solver."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from featsieve.solvers.fixed_length_labels import fixed_length_step
from featsieve.terms import normalised_indicator


def bound(G, a, b, u):
    """Return the upper bound that the step minimises, for every column."""
    live = G > 0.0
    logarithm = np.log(np.where(live, u, 1.0))
    return (G * (b * u**2 - 2.0 * a * logarithm)).sum(axis=0)


@st.composite
def steps(draw):
    """Return (G, a, b) with columns that overlap or not."""
    n, c = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    G = rng.random((n, c)) * (rng.random((n, c)) < draw(st.sampled_from([0.4, 1.0])))
    G *= 10.0 ** draw(st.integers(-3, 3))
    spread = draw(st.sampled_from([0.1, 1.0, 4.0]))
    return G, np.exp(spread * rng.standard_normal((n, c))), np.exp(spread * rng.random((n, c)))


@settings(max_examples=100)
@given(case=steps())
def test_the_bound_never_rises_and_columns_keep_their_length(case):
    G, a, b = case
    before = G.copy()
    with np.errstate(all="raise", under="ignore"):
        new = fixed_length_step(G, a, b)
    np.testing.assert_array_equal(G, before)
    assert new.min() >= 0.0
    np.testing.assert_array_equal(new == 0.0, G == 0.0)
    np.testing.assert_allclose((new**2).sum(axis=0), (G**2).sum(axis=0), rtol=1e-12)
    u = new / np.where(G > 0.0, G, 1.0)
    old_value, new_value = bound(G, a, b, np.where(G > 0.0, 1.0, 0.0)), bound(G, a, b, u)
    assert np.all(new_value <= old_value + 1e-9 * np.abs(old_value))


@settings(max_examples=100)
@given(case=steps())
def test_it_is_stationary_among_columns_of_that_length(case):
    # b u - a/u + lam g u = 0 with one lam for the column.
    G, a, b = case
    new = fixed_length_step(G, a, b)
    for column in range(G.shape[1]):
        live = G[:, column] > 0.0
        if not live.any():
            continue
        g, u = G[live, column], new[live, column] / G[live, column]
        lam = (a[live, column] / u**2 - b[live, column]) / g
        scale = np.max((a[live, column] / u**2 + b[live, column]) / g)
        np.testing.assert_allclose(lam, lam[0], atol=1e-7 * scale)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_best_of_its_length(seed):
    rng = np.random.default_rng(seed)
    G, a, b = rng.uniform(0.5, 2.0, (3, 5, 1))
    oracle = minimize(
        lambda u: float(bound(G, a, b, u[:, None])[0]),
        np.ones(5),
        method="SLSQP",
        bounds=[(1e-3, None)] * 5,
        constraints={"type": "eq", "fun": lambda u: np.sum((G[:, 0] * u) ** 2) - np.sum(G**2)},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(fixed_length_step(G, a, b)[:, 0] / G[:, 0], oracle.x, atol=1e-5)


def test_balanced_labels_stay():
    G = normalised_indicator(np.array([0, 0, 1, 1, 1]), 2)
    np.testing.assert_allclose(fixed_length_step(G, np.ones((5, 2)), np.ones((5, 2))), G)
    # a common factor is what the length of a column does not allow to change
    np.testing.assert_allclose(fixed_length_step(G, 3.0 + 0 * G, np.ones((5, 2))), G)


def test_columns_without_anything_to_trade_stay():
    G = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    a, b = np.full((2, 3), 2.0), np.ones((2, 3))
    a[:, 2] = 0.0  # nothing attracts: the column would vanish
    np.testing.assert_allclose(fixed_length_step(G, a, b), G)


def test_where_nothing_repels_the_length_still_decides():
    G = np.array([[1.0], [1.0]])
    new = fixed_length_step(G, np.array([[3.0], [1.0]]), np.zeros((2, 1)))
    np.testing.assert_allclose(new**2, [[1.5], [0.5]])


@pytest.mark.parametrize("seed", range(10))
def test_entries_that_nothing_attracts_vanish_and_the_others_share_one_multiplier(seed):
    rng = np.random.default_rng(seed)
    G, a, b = rng.uniform(0.5, 2.0, (3, 6, 2))
    a[:2] = 0.0
    G[0], b[0] = 100.0, 0.01  # such an entry would allow any multiplier below zero only
    new = fixed_length_step(G, a, b)
    np.testing.assert_array_equal(new[:2], 0.0)
    np.testing.assert_allclose((new**2).sum(axis=0), (G**2).sum(axis=0), rtol=1e-12)
    g, u = G[2:], new[2:] / G[2:]
    lam = (a[2:] / u**2 - b[2:]) / g
    np.testing.assert_allclose(lam, lam[:1] + 0 * lam, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("tiny", [1e-210, 1e-300, 1e-320])
def test_entries_below_the_smallest_share_are_zero(tiny):
    G = np.array([[1.0], [2.0], [tiny]])
    new = fixed_length_step(G, np.array([[1.0], [2.0], [5.0]]), np.ones((3, 1)))
    assert new[2, 0] == 0.0
    expected = fixed_length_step(G[:2], np.array([[1.0], [2.0]]), np.ones((2, 1)))
    np.testing.assert_allclose(new[:2], expected, rtol=1e-12)


def test_an_attraction_that_rounding_swallows_leaves_a_column_as_it_is():
    # b + lam g = 0 to the last digit, while the second column still looks for its multiplier
    G = np.array([[1.0, 1.0], [1.0, 2.0]])
    a, b = np.array([[1e-20, 3.0], [1e-20, 1.0]]), np.ones((2, 2))
    new = fixed_length_step(G, a, b)
    np.testing.assert_allclose(new[:, 0], G[:, 0])
    np.testing.assert_allclose(new[:, 1], fixed_length_step(G[:, 1:], a[:, 1:], b[:, 1:])[:, 0])


def test_a_column_whose_length_underflows_stays():
    G = 1e-170 * np.array([[1.0], [2.0]])
    np.testing.assert_array_equal(
        fixed_length_step(G, np.array([[3.0], [1.0]]), np.ones((2, 1))), G
    )
