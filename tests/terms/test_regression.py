"""The regression term: its value by definition, its gradient by finite differences."""

import array_api_strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import as_operator
from featsieve.terms import GramLeastSquares, LeastSquares

FORMS = (LeastSquares, GramLeastSquares)


@st.composite
def problems(draw):
    """Return (X, Y, W, ridge) of any small shape."""
    n, d, c = (draw(st.integers(low, 12)) for low in (2, 1, 1))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X, Y, W = (rng.standard_normal(shape) for shape in ((n, d), (n, c), (d, c)))
    return X, Y, W, draw(st.sampled_from([0.0, 0.5, 10.0]))


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=20, deadline=None)
@given(problem=problems())
def test_value_is_the_definition(form, problem):
    X, Y, W, ridge = problem
    term = form(as_operator(X), Y, ridge=ridge)
    residual = (X - X.mean(axis=0)) @ W - Y
    expected = 0.5 * np.sum(residual**2) + 0.5 * ridge * np.sum(W**2)
    assert term.value(W, term.image(W)) == pytest.approx(expected, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=20, deadline=None)
@given(problem=problems())
def test_gradient_is_the_finite_difference_of_the_value(form, problem):
    X, Y, W, ridge = problem
    term = form(as_operator(X, scale="unit"), Y, ridge=ridge)
    numeric, step = np.empty_like(W), 1e-4
    for index in np.ndindex(W.shape):
        ahead, behind = W.copy(), W.copy()
        ahead[index] += step
        behind[index] -= step
        rise = term.value(ahead, term.image(ahead)) - term.value(behind, term.image(behind))
        numeric[index] = rise / (2 * step)  # exact for a quadratic, up to rounding
    np.testing.assert_allclose(term.gradient(W, term.image(W)), numeric, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_live", [0, 1, 3, 16])
def test_naming_the_live_rows_does_not_change_the_image(form, n_live):
    rng = np.random.default_rng(3)
    X, W = rng.standard_normal((10, 16)) + 5.0, np.zeros((16, 2))
    live = np.sort(rng.permutation(16)[:n_live])
    W[live] = rng.standard_normal((n_live, 2))
    term = form(as_operator(X, scale="unit"), X[:, :2])
    np.testing.assert_allclose(term.image(W, live=live), term.image(W), rtol=0, atol=1e-13)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ridge", [0.0, 3.0])
def test_strict_arrays_give_the_numbers_of_numpy(form, ridge):
    rng = np.random.default_rng(2)
    X, Y, W = (rng.standard_normal(shape) for shape in ((9, 7), (9, 2), (7, 2)))
    term = form(as_operator(X), Y, ridge=ridge)
    value, gradient = term.value(W, term.image(W)), term.gradient(W, term.image(W))
    X, Y, W = (array_api_strict.asarray(array) for array in (X, Y, W))
    term = form(as_operator(X), Y, ridge=ridge)
    assert term.value(W, term.image(W)) == pytest.approx(value, rel=1e-12)
    strict = term.gradient(W, term.image(W))
    assert isinstance(strict, type(W))
    np.testing.assert_allclose(np.asarray(strict), gradient, rtol=1e-12, atol=1e-12)
