"""Multiplicative label steps: none raises J or its bound; the best step of a fixed length."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, nnls

from featsieve.defaults import FROZEN_LABELS, LABEL_SOFTENING
from featsieve.solvers.nonnegative_labels import (
    first_label_matrix,
    fixed_length_step,
    label_of_row,
    majorised_step,
)
from featsieve.terms import normalised_indicator


def value(F, A, B, g):
    """Return J(F) = tr(F'AF) - 2 tr(F'B) + (g/2) ||F'F - I||^2."""
    gap = F.T @ F - np.eye(F.shape[1])
    return np.trace(F.T @ A @ F) - 2.0 * np.trace(F.T @ B) + 0.5 * g * np.sum(gap**2)


def split(F, A, B):
    """Return attraction A^- F + B^+ and repulsion A^+ F + B^-."""
    attraction = np.maximum(-A, 0.0) @ F + np.maximum(B, 0.0)
    repulsion = np.maximum(A, 0.0) @ F + np.maximum(-B, 0.0)
    return attraction, repulsion


def problem(seed):
    """Return (F, A, B, g) of a random small problem: any signs in A and B, zeros in F."""
    rng = np.random.default_rng(seed)
    n, c = rng.integers(1, 8), rng.integers(1, 4)
    A = rng.standard_normal((n, n)) * 10.0 ** rng.integers(-2, 3)
    B = rng.standard_normal((n, c)) * 10.0 ** rng.integers(-2, 3)
    F = rng.random((n, c)) * 10.0 ** rng.integers(-3, 2)
    F[rng.random((n, c)) < 0.2] = 0.0
    return F, 0.5 * (A + A.T), B, 10.0 ** rng.integers(-2, 9)


def run(F, A, B, g, n_steps):
    for _ in range(n_steps):
        F = majorised_step(F, *split(F, A, B), g)
    return F


def test_no_step_raises_the_objective_in_a_thousand_random_problems():
    falls = 0
    for seed in range(1000):
        F, A, B, g = problem(seed)
        before = value(F, A, B, g)
        for _ in range(3):
            F = majorised_step(F, *split(F, A, B), g)
            after = value(F, A, B, g)
            size = np.abs(A).sum() * np.max(F) ** 2 + g * (1.0 + np.sum(F**2)) + abs(before)
            assert np.isfinite(F).all()
            assert F.min() >= 0.0
            assert after <= before + 1e-12 * size
            falls += after < before - 1e-9 * size
            before = after
    assert falls > 1000  # the steps do something


def test_without_the_penalty_it_finds_the_nonnegative_least_squares_answer():
    rng = np.random.default_rng(0)
    M, T = rng.standard_normal((12, 5)), rng.standard_normal((12, 2))
    F = run(np.ones((5, 2)), M.T @ M, M.T @ T, 0.0, 8000)
    expected = np.column_stack([nnls(M, t)[0] for t in T.T])
    np.testing.assert_allclose(F, expected, atol=1e-4)


@pytest.mark.parametrize("g", [1e100, 1e160])
def test_however_huge_the_penalty_is_the_labels_survive(g):
    F = normalised_indicator(np.array([0, 0, 1, 1, 1, 2]), 3)
    np.testing.assert_allclose(majorised_step(F, 0.1 * F, 0.2 * F, g), F, rtol=1e-12)


# The start, and what is read off ------------------------------------------------------------------


def test_a_start_that_can_move_is_positive_everywhere_and_a_frozen_one_is_the_indicator():
    labels = np.array([1, 0, 2, 2, 0, 1, 1])
    base = normalised_indicator(labels, 3)
    frozen = first_label_matrix(labels, 3, orthogonality=np.nextafter(FROZEN_LABELS, np.inf))
    np.testing.assert_array_equal(frozen, base)
    F = first_label_matrix(labels, 3, orthogonality=FROZEN_LABELS)
    height = np.array([2.0, 3.0, 2.0]) ** -0.5
    np.testing.assert_allclose(F - base, LABEL_SOFTENING * np.tile(height, (7, 1)), rtol=1e-14)


def test_the_label_of_a_row_is_its_largest_entry_or_that_of_the_fit_where_it_has_vanished():
    F = np.array([[0.1, 0.3, 0.2], [0.5, 0.5, 0.0], [0.0, 0.0, 1e-300], [0.0, 0.0, 0.0]])
    fitted = np.array([[9.0, 0.0, 0.0], [0.0, 9.0, 0.0], [9.0, 0.0, 0.0], [-0.3, -0.1, -0.2]])
    np.testing.assert_array_equal(label_of_row(F, fitted), [1, 0, 2, 1])


@pytest.mark.parametrize("unit", [1e-200, 1e200])
def test_a_step_does_not_depend_on_the_unit_of_the_objective(unit):
    rng = np.random.default_rng(0)
    F, a, b = rng.random((3, 6, 2))
    plain, other = (majorised_step(F, u * a, u * b, u * 3.0) for u in (1.0, unit))
    np.testing.assert_allclose(other, plain, rtol=1e-12)


def test_zeros_stay_zero_where_hardly_anything_repels_and_nothing_is_divided_by_zero():
    F = np.array([[0.0, 1.0], [1.0, 0.0]])
    new = majorised_step(F, np.ones((2, 2)), np.where(F > 0.0, 1.0, 1e-310), 0.0)
    np.testing.assert_array_equal(new == 0.0, F == 0.0)
    assert np.isfinite(new).all()
    assert np.isfinite(majorised_step(F, np.ones((2, 2)), np.zeros((2, 2)), 0.0)).all()


# Steps that keep the length of columns ------------------------------------------------------------


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


@settings(max_examples=50)
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


def test_columns_without_anything_to_trade_stay():
    G = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0]])
    a, b = np.full((2, 3), 2.0), np.ones((2, 3))
    a[:, 2] = 0.0  # nothing attracts: the column would vanish
    np.testing.assert_allclose(fixed_length_step(G, a, b), G)


@pytest.mark.parametrize("seed", range(3))
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


@pytest.mark.parametrize("tiny", [1e-210, 1e-320])
def test_entries_below_the_smallest_share_are_zero(tiny):
    G = np.array([[1.0], [2.0], [tiny]])
    new = fixed_length_step(G, np.array([[1.0], [2.0], [5.0]]), np.ones((3, 1)))
    assert new[2, 0] == 0.0
    expected = fixed_length_step(G[:2], np.array([[1.0], [2.0]]), np.ones((2, 1)))
    np.testing.assert_allclose(new[:2], expected, rtol=1e-12)


def test_a_column_whose_length_underflows_stays():
    G = 1e-170 * np.array([[1.0], [2.0]])
    np.testing.assert_array_equal(
        fixed_length_step(G, np.array([[3.0], [1.0]]), np.ones((2, 1))), G
    )
