"""Both forms of the reweighted ridge regression against the normal equations and a group lasso."""

import array_api_strict
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import MultiTaskLasso

from featsieve.arrays import as_operator
from featsieve.solvers import reweighted_ridge
from featsieve.solvers.reweighted_ridge import ReweightedRidge, largest_penalty
from featsieve.terms.norms import inverse_weights, smoothed_norm

FORMS = ("gram", "sample")


def textbook(Z, T, rho, *, inverse, p=None):
    """Return (Z'PZ + rho D)^(-1) Z'PT, D = diag(1/inverse)."""
    ZP = Z.T if p is None else Z.T * p
    return np.linalg.solve(ZP @ Z + rho * np.diag(1.0 / inverse), ZP @ T)


@st.composite
def problems(draw):
    """Return (X, T, rho, inverse weights of rows, weights of samples or None)."""
    n, d, c = (draw(st.integers(low, high)) for low, high in ((2, 15), (1, 20), (1, 4)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((n, d)) + rng.integers(-2, 3, d)
    rho = 10.0 ** draw(st.integers(-1, 4))
    p = rng.uniform(0.2, 3.0, n) if draw(st.booleans()) else None
    return X, rng.standard_normal((n, c)), rho, 10.0 ** rng.uniform(-3, 1, d), p


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40)
@given(
    problem=problems(),
    scale=st.sampled_from(["std", "none"]),
    center=st.booleans(),
    sparse=st.booleans(),
)
def test_both_forms_solve_the_normal_equations(form, problem, scale, center, sparse):
    X, T, rho, inverse, p = problem
    A = as_operator(sp.csr_array(X) if sparse else X, scale=scale, center=center)
    Z = A.rows(0, len(X))
    W, fitted = ReweightedRidge(A, form).solve(T, rho, inverse=inverse, sample_weights=p)
    expected = textbook(Z, T, rho, inverse=inverse, p=p)
    size = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(W, expected, rtol=0, atol=1e-9 * size)
    np.testing.assert_allclose(fitted, Z @ W, rtol=0, atol=1e-9 * size)


@pytest.mark.parametrize("form", FORMS)
def test_a_row_without_inverse_weight_is_zero_and_does_not_matter(form):
    rng = np.random.default_rng(1)
    X, T = rng.standard_normal((15, 8)), rng.standard_normal((15, 2))
    inverse = rng.uniform(0.5, 1.0, 8)
    inverse[[2, 5]] = 0.0
    W, fitted = ReweightedRidge(as_operator(X), form).solve(T, 0.5, inverse=inverse)
    np.testing.assert_array_equal(W[[2, 5]], 0.0)
    keep = inverse > 0.0
    Z = X[:, keep] - X[:, keep].mean(axis=0)
    expected = textbook(Z, T, 0.5, inverse=inverse[keep])
    np.testing.assert_allclose(W[keep], expected, atol=1e-12)
    np.testing.assert_allclose(fitted, Z @ expected, atol=1e-12)


@pytest.mark.parametrize(
    ("shape", "weighted", "form"),
    [((18, 7), True, "auto"), ((7, 18), False, "auto"), ((7, 18), True, "implicit")],
)
def test_strict_arrays_give_the_numbers_of_numpy(shape, weighted, form):
    rng = np.random.default_rng(5)
    n, d = shape
    X, T, inverse, p = rng.random(shape), rng.random((n, 2)), rng.random(d), 0.1 + rng.random(n)
    expected = ReweightedRidge(as_operator(X), form).solve(
        T, 0.3, inverse=inverse, sample_weights=p if weighted else None
    )
    strict = [array_api_strict.asarray(array) for array in (X, T, inverse, p)]
    got = ReweightedRidge(as_operator(strict[0]), form).solve(
        strict[1], 0.3, inverse=strict[2], sample_weights=strict[3] if weighted else None
    )
    for ours, theirs in zip(got, expected, strict=True):
        assert isinstance(ours, type(strict[0]))
        np.testing.assert_allclose(np.asarray(ours), theirs, atol=1e-12)
    largest = largest_penalty(as_operator(strict[0]), strict[1])
    assert largest == pytest.approx(largest_penalty(as_operator(X), T), rel=1e-12)


@pytest.mark.parametrize("shape", [(12, 12), (11, 12), (60, 50)])
def test_the_smaller_matrix_is_formed_or_none(shape, monkeypatch):
    monkeypatch.setattr(reweighted_ridge, "LARGEST_FORMED", 40)
    A = as_operator(np.random.default_rng(6).standard_normal(shape))
    called = []
    for name in ("_gram_form", "_sample_form", "_implicit_form"):
        real = getattr(ReweightedRidge, name)
        monkeypatch.setattr(
            ReweightedRidge, name, lambda *call, n=name, f=real: called.append(n) or f(*call)
        )
    for rho in (1.0, 0.0):
        ReweightedRidge(A).solve(np.ones((shape[0], 1)), rho, inverse=np.ones(shape[1]))
    # Where nothing is penalised the system may be singular: it is formed.
    expected = {12: "_gram_form", 11: "_sample_form", 60: "_implicit_form"}[shape[0]]
    assert called == [expected, "_sample_form" if shape[0] == 11 else "_gram_form"]


@settings(max_examples=20, deadline=None)
@given(problem=problems(), sparse=st.booleans(), leading=st.sampled_from([1, 10, 300]))
def test_conjugate_gradients_solve_the_normal_equations(problem, sparse, leading):
    X, T, rho, inverse, p = problem
    A = as_operator(sp.csr_array(X) if sparse else X, scale="std")
    solver = ReweightedRidge(A, "implicit")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reweighted_ridge, "N_LEADING", leading)
        patch.setattr(reweighted_ridge, "TOLERANCE", 1e-10)
        patch.setattr(reweighted_ridge, "MOST_STEPS", 500)
        W, fitted = solver.solve(T, rho, inverse=inverse, sample_weights=p)
        again, _ = solver.solve(T, rho, inverse=inverse, sample_weights=p)
    expected = textbook(A.rows(0, len(X)), T, rho, inverse=inverse, p=p)
    size = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(W, expected, atol=1e-6 * size)
    np.testing.assert_allclose(fitted, A.matmul(W), atol=1e-9 * size)
    np.testing.assert_allclose(again, W, atol=1e-6 * size)  # it begins where the last one ended


# Iterated: l2,1-regularised least squares --------------------------------------------------------


def reweight(A, T, rho, *, form, n_iter):
    """Return W of every iteration of reweighting."""
    inverse, path = np.ones(A.shape[1]), []
    for _ in range(n_iter):
        W, _ = ReweightedRidge(A, form).solve(T, rho, inverse=inverse)
        inverse = inverse_weights(W)
        path.append(W)
    return path


@pytest.mark.parametrize("shape", [(40, 15), (20, 30)])
@pytest.mark.parametrize("form", FORMS)
def test_reweighting_reaches_the_group_lasso(form, shape):
    rng = np.random.default_rng(7)
    A = as_operator(rng.standard_normal(shape), scale="std")
    T = rng.standard_normal((shape[0], 3))
    T -= T.mean(axis=0)
    rho = 0.7 * largest_penalty(A, T)
    W = reweight(A, T, rho, form=form, n_iter=2000)[-1]
    lasso = MultiTaskLasso(rho / (2 * shape[0]), fit_intercept=False, tol=1e-12, max_iter=100_000)
    expected = lasso.fit(A.rows(0, shape[0]), T).coef_.T
    np.testing.assert_allclose(W, expected, atol=2e-6)
    assert 0 < np.count_nonzero(expected.any(axis=1)) < shape[1]  # some rows in, some out


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=25)
@given(
    shape=st.tuples(st.integers(3, 20), st.integers(1, 30)),
    exponent=st.integers(-3, 3),
    seed=st.integers(0, 999),
)
def test_reweighting_never_raises_the_smoothed_objective(form, shape, exponent, seed):
    rng = np.random.default_rng(seed)
    A = as_operator(rng.standard_normal(shape), scale="std")
    Z, T, rho = A.rows(0, shape[0]), rng.standard_normal((shape[0], 2)), 10.0**exponent
    values = [
        np.sum((Z @ W - T) ** 2) + rho * smoothed_norm(W)
        for W in reweight(A, T, rho, form=form, n_iter=15)
    ]
    assert np.all(np.diff(values) <= 1e-10 * values[0])


@pytest.mark.parametrize("shape", [(25, 10), (10, 25)])
def test_from_the_largest_penalty_on_the_best_weights_are_zero(shape):
    rng = np.random.default_rng(8)
    A, T = as_operator(rng.standard_normal(shape)), rng.standard_normal((shape[0], 2))
    Z, largest = A.rows(0, shape[0]), largest_penalty(A, T)
    assert largest == pytest.approx(2.0 * np.linalg.norm(Z.T @ T, axis=1).max(), rel=1e-12)
    n_rows = []
    for factor in (1.001, 0.98):
        lasso = MultiTaskLasso(factor * largest / (2 * shape[0]), fit_intercept=False, tol=1e-10)
        n_rows.append(np.count_nonzero(lasso.fit(Z, T).coef_.any(axis=0)))
    assert n_rows == [0, 1]


@pytest.mark.parametrize(
    ("rho", "dtype", "digits"),
    [(1e-6, np.float64, 1e-10), (1e-12, np.float64, 1e-10), (1e-4, np.float32, 1e-5)],
)
@pytest.mark.parametrize("shape", [(40, 20), (20, 40)])
def test_a_small_penalty_costs_no_digits(shape, rho, dtype, digits):
    rng = np.random.default_rng(10)
    X = rng.standard_normal(shape).astype(dtype)
    A, T = as_operator(X, scale="std"), rng.random((shape[0], 3))
    Z = A.rows(0, shape[0])
    U, s, Vt = np.linalg.svd(Z, full_matrices=False)
    keep = s > 1e-6 * s[0]
    expected = (Vt[keep].T * (s[keep] / (s[keep] ** 2 + rho))) @ (U[:, keep].T @ T)
    W, fitted = ReweightedRidge(A).solve(T, rho, inverse=np.ones(shape[1]))
    np.testing.assert_allclose(W, expected, rtol=0, atol=digits)
    np.testing.assert_allclose(fitted, Z @ W, rtol=0, atol=digits)


@pytest.mark.parametrize("rho", [1.0, 1e-9])
@pytest.mark.parametrize("form", ["gram", "sample"])
def test_a_sample_of_zero_weight_is_predicted_by_the_others(form, rho):
    rng = np.random.default_rng(14)
    X, T, p = rng.standard_normal((8, 12)), rng.random((8, 2)), np.ones(8)
    p[2] = 0.0
    A = as_operator(X)
    Z, rest = A.rows(0, 8), p > 0.0
    W, fitted = ReweightedRidge(A, form).solve(T, rho, inverse=np.ones(12), sample_weights=p)
    U, s, Vt = np.linalg.svd(Z[rest], full_matrices=False)
    expected = (Vt.T * (s / (s**2 + rho))) @ (U.T @ T[rest])
    np.testing.assert_allclose(W, expected, atol=1e-5)
    np.testing.assert_allclose(fitted, Z @ W, atol=1e-9)


def test_a_small_penalty_costs_no_digits_where_a_sample_is_the_mean():
    # The smallest entry of the matrix is zero: only the largest says what is small.
    rng = np.random.default_rng(2)
    X = rng.standard_normal((15, 40))
    X -= X.mean(axis=0)
    X = np.concatenate([X, np.zeros((3, 40))])
    T = 1e4 + rng.standard_normal((18, 2))
    inverse, rho = np.full(40, 50.0), 1e-7
    W, _ = ReweightedRidge(as_operator(X), "sample").solve(T, rho, inverse=inverse)
    U, s, V = np.linalg.svd(X, full_matrices=False)
    live = s > 1e-10 * s[0]
    expected = (V[live].T * (s / (s**2 + rho / 50.0))[live]) @ (U[:, live].T @ T)
    np.testing.assert_allclose(W, expected, atol=1e-8 * np.abs(expected).max())
