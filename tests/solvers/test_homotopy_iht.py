"""Iterative hard thresholding: the authors' runs, the schedule, what a fixed point satisfies."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import DenseOperator
from featsieve.solvers import HomotopyIHT, RowSparseRegression, Status, run
from featsieve.solvers.homotopy_iht import ConvergedIHT, thresholded_step
from featsieve.terms import GramLeastSquares, LeastSquares, RowSparsityPenalty, normalised_indicator

fast = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 10**6)
REFERENCE = Path(__file__).parents[1] / "reference"


def reference(name):
    """The stored outputs, X and Y = HF for the normalised indicator F of the stored labels."""
    stored = np.load(REFERENCE / f"{name}.npz")
    F = normalised_indicator(stored["labels"], int(stored["labels"].max()) + 1)
    return stored, stored["X"].astype(float), F - F.mean(axis=0)


def draw(seed, n, d, c=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 1.0
    Y = X[:, :c] + rng.standard_normal((n, c))
    return X, Y - Y.mean(axis=0)


def orthonormal(seed, n, d):
    """Orthonormal columns of mean zero."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    return np.linalg.qr(X - X.mean(axis=0))[0]


def phi(Z, Y, W, *, lam, ridge=0.0):
    """1/2 ||ZW - Y||^2 + mu/2 ||W||^2 + lam ||W||_{2,0}."""
    fit = 0.5 * np.sum((Z @ W - Y) ** 2) + 0.5 * ridge * np.sum(W**2)
    return fit + lam * np.count_nonzero(W.any(axis=1))


@pytest.mark.parametrize("case", range(1, 6))
@pytest.mark.parametrize("name", ["wide", "tall", "pixel"])
def test_authors_amhiht_is_reproduced(name, case):
    stored, X, Y = reference(name)
    solver = HomotopyIHT()
    lam = float(stored[f"amhiht{case}_lambda"])
    solution = run(solver, RowSparseRegression(DenseOperator(X), Y, sparsity=lam), max_iter=100)
    coef = stored[f"amhiht{case}_coef"]
    np.testing.assert_allclose(solver.coefficients(solution), coef, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(solution.state.W.any(axis=1), coef.any(axis=1))
    np.testing.assert_allclose(
        solution.objective, stored[f"amhiht{case}_objective"], rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("case", range(1, 6))
@pytest.mark.parametrize("name", ["wide", "tall", "pixel"])
def test_authors_refined_amhiht_is_reproduced(name, case):
    stored, X, Y = reference(name)
    Z = X - X.mean(axis=0)
    Z /= np.linalg.norm(Z, axis=1)[:, None]
    solver = HomotopyIHT(refined=True)
    lam = float(stored[f"amhiht_refined{case}_lambda"])
    problem = RowSparseRegression(DenseOperator(Z, center=False), Y, sparsity=lam)
    solution = run(solver, problem, max_iter=100)
    coef = stored[f"amhiht_refined{case}_coef"]
    np.testing.assert_allclose(solver.coefficients(solution), coef, rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        solution.objective, stored[f"amhiht_refined{case}_objective"], rtol=0, atol=1e-10
    )


@pytest.mark.parametrize(
    ("lam", "n_stages"),
    [(1e-4, 10), (1e-3, 7), (1e-2, 5), (0.1, 2), (0.39, 1), (0.41, 0), (2.0, 0)],
)
def test_one_step_per_stage_and_the_last_stage_is_the_target(lam, n_stages):
    X, Y = draw(0, 10, 6)
    solution = run(
        HomotopyIHT(), RowSparseRegression(DenseOperator(X), Y, sparsity=lam), max_iter=100
    )
    assert (solution.n_iter, solution.status) == (n_stages, Status.CONVERGED)
    falling = [0.4**i for i in range(1, n_stages)]
    assert HomotopyIHT().penalties(lam) == pytest.approx(falling + [lam] * min(n_stages, 1))


@given(st.floats(1e-8, 0.99), st.sampled_from([0.2, 0.4, 0.7]))
def test_penalties_fall_by_the_factor_and_end_at_the_target(lam, factor):
    penalties = HomotopyIHT(factor=factor).penalties(lam)
    assert len(penalties) == int(np.log(1 / lam) / np.log(1 / factor))
    assert all(a > b for a, b in pairwise(penalties))
    assert penalties[-1:] == [lam] * bool(penalties)


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 2.0])
@fast
@given(seeds, st.integers(3, 15), st.integers(2, 25))
def test_every_step_lowers_the_objective_at_its_penalty_by_the_promised_amount(
    ridge, warm, seed, n, d
):
    X, Y = draw(seed, n, d)
    Z = X - X.mean(axis=0)
    operator = DenseOperator(X)
    problem = RowSparseRegression(operator, Y, ridge=ridge, sparsity=1e-3)
    start = np.random.default_rng(seed).standard_normal((d, 2))
    solver = HomotopyIHT(warm_start=(start, operator.matmul(start)) if warm else None)
    state = solver.init(problem)
    for lam in solver.penalties(1e-3):
        new = solver.step(problem, state)
        assert new.penalty == lam
        before = phi(Z, Y, state.W, lam=lam, ridge=ridge)
        after = phi(Z, Y, new.W, lam=lam, ridge=ridge)
        promised = 0.5 * solver.decrease * np.sum((new.W - state.W) ** 2)
        assert before - after >= promised - 1e-11 * (1.0 + before)
        assert solver.objective(problem, new) == pytest.approx(after, rel=1e-10, abs=1e-12)
        assert new.step_size <= state.step_size
        state = new


@fast
@given(seeds, st.floats(0.05, 3.0))
def test_one_unit_step_from_zero_is_the_closed_form_for_orthonormal_columns(seed, lam):
    Z = orthonormal(seed, 12, 7)
    Y = 3.0 * draw(seed, 12, 7)[1]
    problem = RowSparseRegression(DenseOperator(Z), Y)
    state = replace(HomotopyIHT().init(problem), step_size=1.0)
    W = thresholded_step(state, RowSparsityPenalty(lam), decrease=0.0, max_trials=1).W
    B = Z.T @ Y
    worth_it = np.sum(B**2, axis=1) > 2.0 * lam
    np.testing.assert_allclose(W, np.where(worth_it[:, None], B, 0.0), atol=1e-12)


@fast
@given(seeds, st.lists(st.booleans(), min_size=7, max_size=7))
def test_converged_iht_finds_the_closed_form_for_orthonormal_columns(seed, large):
    # Rows of squared length 4 or 0.1 against 2 lam = 1: clear of what the step size leaves open.
    Z = orthonormal(seed, 12, 7)
    B = np.random.default_rng(seed).standard_normal((7, 2))
    B *= np.where(large, 2.0, np.sqrt(0.1))[:, None] / np.linalg.norm(B, axis=1)[:, None]
    problem = RowSparseRegression(DenseOperator(Z), Z @ B, sparsity=0.5)
    W = run(ConvergedIHT(), problem, max_iter=1000).state.W
    np.testing.assert_allclose(W, np.where(np.array(large)[:, None], B, 0.0), atol=1e-5)


@pytest.mark.parametrize("ridge", [0.0, 3.0])
@pytest.mark.parametrize(
    ("n", "d", "form"), [(12, 20, LeastSquares), (30, 10, LeastSquares), (80, 12, GramLeastSquares)]
)
@pytest.mark.parametrize("lam", [0.03, 0.3, 2.0])
@pytest.mark.parametrize("seed", range(3))
def test_converged_iht_satisfies_the_stationarity_conditions(n, d, form, ridge, seed, lam):
    X, Y = draw(seed, n, d)
    Z = X - X.mean(axis=0)
    solver = ConvergedIHT()
    problem = RowSparseRegression(DenseOperator(X), Y, ridge=ridge, sparsity=lam)
    solution = run(solver, problem, max_iter=20_000)
    assert solution.status is Status.STATIONARY
    assert type(solution.state.datafit) is form
    W = solution.state.W
    inside = W.any(axis=1)
    curvature = np.linalg.norm(Z, 2) ** 2 + ridge + solver.decrease
    C = Z.T @ (Y - Z @ W) - ridge * W
    # W is ridge regression on S; kept rows are long enough; no row off S is worth its price.
    assert np.linalg.norm(C[inside]) <= 1e-6 * curvature * np.linalg.norm(W)
    assert np.all(np.sum(W[inside] ** 2, axis=1) >= 2.0 * lam / curvature * (1 - 1e-6))
    assert np.all(np.sum(C[~inside] ** 2, axis=1) <= 2.0 * lam * curvature * (1 + 1e-6))


@pytest.mark.parametrize("ridge", [0.0, 3.0])
@pytest.mark.parametrize(("n", "d"), [(12, 20), (80, 12)])
@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize("seed", range(3))
def test_converged_iht_with_a_limit_is_stationary_with_at_most_k_rows(n, d, ridge, seed, k):
    X, Y = draw(seed, n, d)
    Z = X - X.mean(axis=0)
    solver = ConvergedIHT()
    problem = RowSparseRegression(DenseOperator(X), Y, ridge=ridge, n_features=k)
    solution = run(solver, problem, max_iter=20_000)
    assert solution.status is Status.STATIONARY
    W = solution.state.W
    inside = W.any(axis=1)
    assert 0 < np.count_nonzero(inside) <= k
    curvature = np.linalg.norm(Z, 2) ** 2 + ridge + solver.decrease
    C = Z.T @ (Y - Z @ W) - ridge * W
    assert np.linalg.norm(C[inside]) <= 1e-6 * curvature * np.linalg.norm(W)
    shortest = np.linalg.norm(W[inside], axis=1).min()
    assert np.linalg.norm(C[~inside], axis=1).max() <= curvature * shortest * (1 + 1e-6)


@pytest.mark.slow
def test_converged_iht_ends_no_higher_than_the_early_stopped_method():
    for seed in range(5):
        X, Y = draw(seed, 20, 40)
        problem = RowSparseRegression(DenseOperator(X), Y, sparsity=0.05)
        early = run(HomotopyIHT(), problem, max_iter=100).objective[-1]
        assert run(ConvergedIHT(), problem, max_iter=20_000).objective[-1] < early


@pytest.mark.parametrize(
    ("solver", "options"),
    [
        (HomotopyIHT(), {"sparsity": 1e-2}),
        (HomotopyIHT(refined=True), {"sparsity": 1e-2}),
        (ConvergedIHT(), {"sparsity": 0.1, "ridge": 1.0}),
        (ConvergedIHT(), {"n_features": 3}),
    ],
    ids=["homotopy", "refined", "penalty", "limit"],
)
@pytest.mark.parametrize(("n", "d"), [(12, 20), (60, 8)])
def test_strict_arrays_give_the_same_result(n, d, solver, options):
    X, Y = draw(3, n, d)
    plain = run(solver, RowSparseRegression(DenseOperator(X), Y, **options), max_iter=200)
    problem = RowSparseRegression(DenseOperator(strict.asarray(X)), strict.asarray(Y), **options)
    other = run(solver, problem, max_iter=200)
    np.testing.assert_allclose(np.from_dlpack(other.state.W), plain.state.W, rtol=0, atol=1e-12)
    np.testing.assert_allclose(other.objective, plain.objective, rtol=1e-12)


@pytest.mark.parametrize("tol", [0.0, 1e-7])
def test_converged_iht_ends_at_once_where_no_row_pays(tol):
    X, Y = draw(4, 20, 6)
    problem = RowSparseRegression(DenseOperator(X), Y, sparsity=1e6)
    solution = run(ConvergedIHT(tol=tol), problem, max_iter=50)
    assert (solution.n_iter, solution.status) == (1, Status.STATIONARY)
    assert not solution.state.W.any()
