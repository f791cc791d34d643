"""The multiplicative label step: it never raises J, and rests only where J is stationary."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from featsieve.solvers.nonnegative_labels import (
    FROZEN,
    SOFTENING,
    first_label_matrix,
    label_of_row,
    majorised_step,
    orthogonality_gap,
    unit_columns,
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


def half_gradient(F, A, B, g):
    """Return b + q - a of the split, as the module's docstring defines them."""
    attraction, repulsion = split(F, A, B)
    return repulsion + g * F @ (F.T @ F) - (attraction + g * F)


def problem(seed, *, exponents=(-2, 9)):
    """Return (F, A, B, g) of a random small problem: any signs in A and B, zeros in F."""
    rng = np.random.default_rng(seed)
    n, c = rng.integers(1, 8), rng.integers(1, 4)
    A = rng.standard_normal((n, n)) * 10.0 ** rng.integers(-2, 3)
    B = rng.standard_normal((n, c)) * 10.0 ** rng.integers(-2, 3)
    F = rng.random((n, c)) * 10.0 ** rng.integers(-3, 2)
    F[rng.random((n, c)) < 0.2] = 0.0
    return F, 0.5 * (A + A.T), B, 10.0 ** rng.integers(*exponents)


def run(F, A, B, g, n_steps):
    for _ in range(n_steps):
        F = majorised_step(F, *split(F, A, B), g)
    return F


@pytest.mark.parametrize("block", range(4))
def test_no_step_raises_the_objective_in_thousands_of_random_problems(block):
    falls = 0
    for seed in range(1000 * block, 1000 * (block + 1)):
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


@pytest.mark.parametrize("seed", range(5))
def test_the_published_exponent_of_one_would_raise_it(seed):
    # The same problems tell the rules apart: F * a/(b + q) fails in a good share of them.
    rises = 0
    for number in range(200 * seed, 200 * (seed + 1)):
        F, A, B, g = problem(number)
        attraction, repulsion = split(F, A, B)
        below = repulsion + g * F @ (F.T @ F)
        following = F * (attraction + g * F) / np.where(below > 0.0, below, 1.0)
        rises += value(following, A, B, g) > value(F, A, B, g) * (1 + 1e-9) + 1e-9
    assert rises > 20


@settings(max_examples=60)
@given(seed=st.integers(0, 99_999))
def test_the_split_is_half_the_gradient(seed):
    F, A, B, g = problem(seed, exponents=(-2, 3))
    direction = np.random.default_rng(seed).standard_normal(F.shape)
    step = 1e-5 * max(1.0, np.abs(F).max())
    up, down = (value(F + s * step * direction, A, B, g) for s in (1.0, -1.0))
    slope = (up - down) / (2.0 * step)
    expected = 2.0 * np.sum(half_gradient(F, A, B, g) * direction)
    # Error of central differences: step^2 times the third derivative, and rounding over the step.
    cubic = 50.0 * g * (1.0 + np.abs(F).max()) * np.abs(direction).sum() ** 3
    rounding = 1e-14 * (abs(up) + abs(down) + g * np.sum(F**2) ** 2) / step
    assert abs(slope - expected) <= step**2 * cubic + rounding + 1e-12 * abs(expected)


@settings(max_examples=60)
@given(seed=st.integers(0, 99_999))
def test_the_step_is_stationary_for_the_upper_bound(seed):
    # b u^2 + q u^4 = a for the factor u of every positive entry.
    F, A, B, g = problem(seed)
    attraction, repulsion = split(F, A, B)
    positive = F > 0.0
    u = np.divide(majorised_step(F, attraction, repulsion, g), F, where=positive, out=F.copy())
    a, b, q = attraction + g * F, repulsion, g * F @ (F.T @ F)
    balance = b * u**2 + q * u**4
    np.testing.assert_allclose(balance[positive], a[positive], rtol=1e-10)


@settings(max_examples=40)
@given(seed=st.integers(0, 99_999))
def test_zeros_stay_zero_and_arguments_stay_as_they_were(seed):
    F, A, B, g = problem(seed)
    args = (F, *split(F, A, B))
    for array in args:
        array.flags.writeable = False
    following = majorised_step(*args, g)
    np.testing.assert_array_equal(following[F == 0.0], 0.0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("g", [0.0, 1.0, 30.0])
def test_where_the_steps_end_the_objective_is_stationary(g, seed):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((6, 6))
    A, B = A @ A.T / 6 + 0.1 * np.eye(6), rng.standard_normal((6, 2))
    F = run(rng.uniform(0.1, 1.0, (6, 2)), A, B, g, 4000)
    gradient = half_gradient(F, A, B, g)
    # First-order conditions of F >= 0: no slope inside, none that leads inside at the border.
    np.testing.assert_allclose(F * gradient, 0.0, atol=1e-6)
    assert gradient.min() >= -1e-4


@pytest.mark.parametrize("seed", range(2))
def test_without_the_penalty_it_finds_the_nonnegative_least_squares_answer(seed):
    rng = np.random.default_rng(seed)
    M, T = rng.standard_normal((12, 5)), rng.standard_normal((12, 2))
    F = run(np.ones((5, 2)), M.T @ M, M.T @ T, 0.0, 8000)
    expected = np.column_stack([nnls(M, t)[0] for t in T.T])
    np.testing.assert_allclose(F, expected, atol=1e-4)


def test_a_feasible_indicator_is_a_fixed_point_of_the_penalty_alone():
    F = normalised_indicator(np.array([0, 0, 1, 1, 1, 2]), 3)
    nothing = np.zeros_like(F)
    np.testing.assert_allclose(majorised_step(F, nothing, nothing, 5.0), F, rtol=1e-15)


def test_a_huge_penalty_freezes_the_labels():
    F = normalised_indicator(np.array([0, 0, 1, 1, 1, 2]), 3)
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((6, 6)), rng.standard_normal((6, 3))
    moved = run(F, A + A.T, B, 1e8, 100)
    np.testing.assert_allclose(moved, F, atol=1e-6)
    assert np.abs(run(F, A + A.T, B, 1.0, 100) - F).max() > 0.05


@pytest.mark.parametrize("g", [1e100, 1e160])
def test_however_huge_the_penalty_is_the_labels_survive(g):
    F = normalised_indicator(np.array([0, 0, 1, 1, 1, 2]), 3)
    np.testing.assert_allclose(majorised_step(F, 0.1 * F, 0.2 * F, g), F, rtol=1e-12)


# The start, and what is read off ------------------------------------------------------------------


def test_a_frozen_start_is_the_normalised_indicator():
    labels = np.array([1, 0, 2, 2, 0, 1, 1])
    for g in (np.nextafter(FROZEN, np.inf), 1e8):
        F = first_label_matrix(labels, 3, orthogonality=g)
        np.testing.assert_array_equal(F, normalised_indicator(labels, 3))


@pytest.mark.parametrize("g", [0.0, 10.0, FROZEN])
def test_a_start_that_can_move_is_positive_everywhere(g):
    labels = np.array([1, 0, 2, 2, 0, 1, 1])
    F, base = first_label_matrix(labels, 3, orthogonality=g), normalised_indicator(labels, 3)
    assert F.min() > 0.0
    height = np.array([2.0, 3.0, 2.0]) ** -0.5
    np.testing.assert_allclose(F - base, SOFTENING * np.tile(height, (7, 1)), rtol=1e-14)
    np.testing.assert_array_equal(F.argmax(axis=1), labels)


@settings(max_examples=30)
@given(n=st.integers(1, 9), c=st.integers(1, 5), seed=st.integers(0, 999))
def test_orthogonality_gap_is_the_squared_distance_to_the_identity(n, c, seed):
    F = np.random.default_rng(seed).random((n, c))
    expected = np.linalg.norm(F.T @ F - np.eye(c)) ** 2
    assert orthogonality_gap(F) == pytest.approx(expected, rel=1e-12)


def test_the_gap_of_feasible_labels_is_zero():
    F = normalised_indicator(np.array([0, 1, 0, 2]), 3)
    assert orthogonality_gap(F) == pytest.approx(0.0, abs=1e-30)


def test_unit_columns_have_unit_length_and_zero_ones_stay_zero():
    F = np.array([[3.0, 0.0, -1e-9], [4.0, 0.0, 0.0]])
    np.testing.assert_allclose(unit_columns(F), [[0.6, 0.0, -1.0], [0.8, 0.0, 0.0]], rtol=1e-15)


def test_the_label_of_a_row_is_its_largest_entry_the_lower_index_among_equals():
    F = np.array([[0.1, 0.3, 0.2], [0.5, 0.5, 0.0], [0.0, 0.0, 1e-300]])
    np.testing.assert_array_equal(label_of_row(F, np.zeros((3, 3))), [1, 0, 2])


def test_a_row_that_has_vanished_takes_the_label_of_the_fit():
    F = np.array([[0.0, 0.0], [0.2, 0.1], [0.0, 0.0]])
    fitted = np.array([[-0.3, -0.1], [0.0, 9.0], [0.4, 0.2]])
    np.testing.assert_array_equal(label_of_row(F, fitted), [1, 0, 0])


def test_the_first_labels_have_a_fifth_of_their_height_added():
    F = first_label_matrix(np.array([0, 0, 0, 0, 1]), 2, orthogonality=1.0)
    np.testing.assert_allclose(F[:, 0], [0.6, 0.6, 0.6, 0.6, 0.1])
    np.testing.assert_allclose(F[:, 1], [0.2, 0.2, 0.2, 0.2, 1.2])


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
