"""Iterative hard thresholding: the authors' runs, the schedule, what a step promises."""

from dataclasses import replace
from pathlib import Path

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import DenseOperator
from featsieve.solvers import HomotopyIHT, RowSparseRegression, Status, run
from featsieve.terms import normalised_indicator

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


@pytest.mark.parametrize(("refined", "ridge"), [(False, 0.0), (True, 0.0), (False, 1.0)])
def test_strict_arrays_give_the_same_result(refined, ridge):
    X, Y = draw(3, 12, 20)
    solver, options = HomotopyIHT(refined=refined), {"sparsity": 1e-2, "ridge": ridge}
    plain = run(solver, RowSparseRegression(DenseOperator(X), Y, **options), max_iter=200)
    problem = RowSparseRegression(DenseOperator(strict.asarray(X)), strict.asarray(Y), **options)
    other = run(solver, problem, max_iter=200)
    np.testing.assert_allclose(np.from_dlpack(other.state.W), plain.state.W, rtol=0, atol=1e-12)
    np.testing.assert_allclose(other.objective, plain.objective, rtol=1e-12)


def test_a_row_on_the_threshold_becomes_zero():
    # Columns of length 1, W = 0 and step size 1: V = Z'Y, and a row stays if ||v||^2 > 2 lam.
    Z, Y = np.eye(4), np.array([[1.0, 1.0], [1.0, np.nextafter(1.0, 2.0)], [0.0, 0.0], [-2.0, 0.0]])
    problem = RowSparseRegression(DenseOperator(Z, center=False), Y)
    solver = HomotopyIHT()
    state = replace(solver.init(problem), penalties=(1.0,))
    W = solver.step(problem, state).W
    np.testing.assert_array_equal(W, np.where([[False], [True], [False], [True]], Y, 0.0))
