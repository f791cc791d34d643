"""Iterative hard thresholding: the authors' runs, the schedule, what a fixed point satisfies."""

from pathlib import Path

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import DenseOperator
from featsieve.solvers import HomotopyIHT, RowSparseRegression, Status, run
from featsieve.solvers.homotopy_iht import ConvergedIHT
from featsieve.terms import GramLeastSquares, LeastSquares, normalised_indicator

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
@pytest.mark.parametrize("refined", [False, True])
@pytest.mark.parametrize("name", ["wide", "tall", "pixel"])
def test_the_authors_programs_are_reproduced(name, refined, case):
    stored, X, Y = reference(name)
    Z = X - X.mean(axis=0)
    if refined:
        Z /= np.linalg.norm(Z, axis=1)[:, None]
    run_name = f"amhiht_refined{case}" if refined else f"amhiht{case}"
    solver = HomotopyIHT(refined=refined)
    lam = float(stored[f"{run_name}_lambda"])
    problem = RowSparseRegression(DenseOperator(Z, center=False), Y, sparsity=lam)
    solution = run(solver, problem, max_iter=100)
    coef, objective = stored[f"{run_name}_coef"], stored[f"{run_name}_objective"]
    np.testing.assert_allclose(solver.coefficients(solution), coef, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(solver.coefficients(solution).any(axis=1), coef.any(axis=1))
    np.testing.assert_allclose(solution.objective, objective, rtol=0, atol=1e-10)


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
@pytest.mark.parametrize("options", [{"sparsity": 0.03}, {"sparsity": 2.0}, {"n_features": 3}])
def test_converged_iht_satisfies_the_stationarity_conditions(n, d, form, ridge, options):
    X, Y = draw(1, n, d)
    Z = X - X.mean(axis=0)
    solver = ConvergedIHT()
    problem = RowSparseRegression(DenseOperator(X), Y, ridge=ridge, **options)
    solution = run(solver, problem, max_iter=20_000)
    assert solution.status is Status.STATIONARY
    assert type(solution.state.datafit) is form
    W = solution.state.W
    inside = W.any(axis=1)
    curvature = np.linalg.norm(Z, 2) ** 2 + ridge + solver.decrease
    C = Z.T @ (Y - Z @ W) - ridge * W
    # W is ridge regression on S; kept rows are long enough; no row off S is worth its price.
    assert np.linalg.norm(C[inside]) <= 1e-6 * curvature * np.linalg.norm(W)
    if problem.n_features is not None:
        assert 0 < np.count_nonzero(inside) <= problem.n_features
        shortest = np.linalg.norm(W[inside], axis=1).min()
        assert np.linalg.norm(C[~inside], axis=1).max() <= curvature * shortest * (1 + 1e-6)
    else:
        lam = problem.sparsity
        assert np.all(np.sum(W[inside] ** 2, axis=1) >= 2.0 * lam / curvature * (1 - 1e-6))
        assert np.all(np.sum(C[~inside] ** 2, axis=1) <= 2.0 * lam * curvature * (1 + 1e-6))


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
def test_strict_arrays_give_the_same_result(solver, options):
    X, Y = draw(3, 12, 20)
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
