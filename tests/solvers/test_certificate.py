"""Lower bounds and fixed features, against exhaustive search."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from featsieve.arrays import DenseOperator
from featsieve.solvers import RowSparseRegression, certify
from featsieve.solvers.certificate import column_relaxation, sample_relaxation

fast = settings(max_examples=20, deadline=None)
seeds = st.integers(0, 10**6)
ridges = st.sampled_from([0.01, 1.0, 30.0])
D = 7
SUPPORTS = [np.array(S, dtype=int) for k in range(D + 1) for S in combinations(range(D), k)]


def draw(seed, d=D, n=10, c=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.7 * rng.standard_normal((n, 1))
    Y = X[:, :2] @ rng.standard_normal((2, c)) + rng.standard_normal((n, c))
    return X, Y - Y.mean(axis=0)


def regression(seed, **options):
    X, Y = draw(seed)
    return RowSparseRegression(DenseOperator(X), Y, **options)


@fast
@given(seeds, ridges, st.floats(0.0, 3.0), st.sampled_from([None, 1, 3, D]), st.data())
def test_no_support_is_below_the_bound(seed, ridge, lam, k, data):
    problem = regression(seed, ridge=ridge, sparsity=lam, n_features=k)
    allowed = [S for S in SUPPORTS if k is None or len(S) <= k]
    support = data.draw(st.sampled_from(allowed))
    certificate = certify(problem, support)
    assert certificate.lower_bound <= min(problem.value(S) for S in allowed) + 1e-9
    assert certificate.value == pytest.approx(problem.value(support), rel=1e-12)
    gap = (certificate.value - certificate.lower_bound) / certificate.value
    assert certificate.gap == pytest.approx(gap, rel=1e-12)


def test_with_enough_ridge_the_best_support_is_nearly_certified():
    for seed in range(10):
        problem = regression(seed, ridge=10.0, sparsity=0.3)
        assert certify(problem, min(SUPPORTS, key=problem.value)).gap < 0.05


@pytest.mark.parametrize(("ridge", "limit"), [(1.0, None), (10.0, 1), (10.0, 4)])
def test_the_bound_is_the_minimum_of_the_convex_relaxation(ridge, limit):
    # A general solver on the dense formula: min h(s) + lam sum(s), 0 <= s <= 1, sum(s) <= k.
    X, Y = draw(1)
    Z, lam = X - X.mean(axis=0), 0.3

    def value(s):
        T = np.linalg.solve(np.eye(len(Z)) + (Z * s) @ Z.T / ridge, Y)
        slope = -np.sum((Z.T @ T) ** 2, axis=1) / (2.0 * ridge)
        return 0.5 * np.sum(Y * T) + lam * s.sum(), slope + lam

    room = {"type": "ineq", "fun": lambda s: limit - s.sum(), "jac": lambda s: -np.ones(D)}
    oracle = minimize(
        value,
        np.full(D, 0.1),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * D,
        constraints=() if limit is None else room,
        options={"ftol": 1e-12, "maxiter": 500},
    )
    problem = RowSparseRegression(DenseOperator(X), Y, ridge=ridge, sparsity=lam, n_features=limit)
    found = certify(problem, np.array([0]), max_iter=2000)
    assert found.lower_bound == pytest.approx(oracle.fun, rel=1e-6)
    assert found.lower_bound <= oracle.fun + 1e-9


def test_a_problem_without_ridge_and_a_support_beyond_the_limit_are_refused():
    with pytest.raises(ValueError, match="ridge > 0"):
        certify(regression(0, sparsity=0.1), np.array([0]))
    with pytest.raises(ValueError, match="has 5 features, but the problem allows 2"):
        certify(regression(0, ridge=1.0, n_features=2), np.arange(5))


@pytest.mark.parametrize("ridge", [0.01, 30.0])
def test_the_form_through_columns_is_the_form_through_samples(ridge):
    X, Y = draw(3, d=12, n=50, c=3)
    problem = RowSparseRegression(DenseOperator(X), Y, ridge=ridge, sparsity=0.1)
    tall, wide = column_relaxation(problem), sample_relaxation(problem)
    rng = np.random.default_rng(0)
    few = np.where(np.arange(12) < 2, rng.random(12), 0.0)
    for s in (np.zeros(12), np.ones(12), few, np.clip(rng.normal(size=12), 0.0, 1.0)):
        (h, slope), (same_h, same_slope) = tall(s), wide(s)
        assert h == pytest.approx(same_h, rel=1e-8)
        np.testing.assert_allclose(slope, same_slope, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("unit", "n_features"), [(2.0**-60, None), (2.0**60, 3)])
def test_the_certificate_does_not_depend_on_the_unit_of_the_target(unit, n_features):
    X, Y = draw(4)
    plain, other = (
        certify(
            RowSparseRegression(
                DenseOperator(X), u * Y, ridge=1.0, sparsity=0.5 * u**2, n_features=n_features
            ),
            np.array([0, 3]),
            max_iter=25,
        )
        for u in (1.0, unit)
    )
    assert 0.0 < plain.gap < 1.0
    assert other.gap == pytest.approx(plain.gap, rel=1e-9)
    assert other.lower_bound == pytest.approx(unit**2 * plain.lower_bound, rel=1e-9)
