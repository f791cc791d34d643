"""The solution from products alone against a dense solve, and what it may not form."""

import array_api_strict as strict
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import as_operator
from featsieve.solvers import implicit_ridge, reweighted_ridge
from featsieve.solvers.implicit_ridge import solve_implicitly
from featsieve.solvers.reweighted_ridge import ReweightedRidge


def case(seed, n=30, d=50):
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.5, (n, d)) * 1.0
    T = rng.standard_normal((n, 3))
    return X, T, 10.0 ** rng.uniform(-3, 0, d), rng.uniform(0.3, 2.0, n)


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rho=st.sampled_from([1.0, 30.0]),
    weighted=st.booleans(),
    leading=st.sampled_from([1, 10, 300]),
)
def test_it_solves_the_system(seed, rho, weighted, leading):
    X, T, inverse, p = case(seed)
    root = np.sqrt(p if weighted else np.ones(len(p)))[:, None]
    operator = as_operator(sp.csr_array(X), scale="std")
    Z = root * operator.rows(0, len(X))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(implicit_ridge, "N_LEADING", leading)
        patch.setattr(implicit_ridge, "TOLERANCE", 1e-10)
        V = solve_implicitly(operator, T, rho, inverse=inverse, root=root)
    expected = np.linalg.solve((Z * inverse) @ Z.T + rho * np.eye(len(X)), T)
    np.testing.assert_allclose(V, expected, atol=1e-8 * np.abs(expected).max())


def test_all_features_in_the_preconditioner_leave_one_step_to_do():
    X, T, inverse, _ = case(0)
    operator = as_operator(X, scale="std")
    steps = []
    real = operator.matmul
    operator.matmul = lambda W, **options: (steps.append(1), real(W, **options))[1]
    ones = np.ones((len(X), 1))
    V = solve_implicitly(operator, T, 2.0, inverse=inverse, root=ones)
    assert len(steps) <= 2
    steps.clear()
    solve_implicitly(operator, T, 2.0, inverse=inverse, root=ones, start=V)
    assert len(steps) == 1  # the residual of the start, and nothing to be done


def test_large_tables_are_solved_implicitly_and_alike(monkeypatch):
    X, T, inverse, p = case(1)
    operator = as_operator(sp.csr_array(X), scale="std")
    expected = ReweightedRidge(operator).solve(T, 3.0, inverse=inverse, sample_weights=p)
    monkeypatch.setattr(reweighted_ridge, "LARGEST_FORMED", 10)
    monkeypatch.setattr(implicit_ridge, "TOLERANCE", 1e-10)
    for name in ("sample_gram", "weighted_gram"):  # what the other forms are made of
        monkeypatch.delattr(type(operator), name)
    found = ReweightedRidge(operator).solve(T, 3.0, inverse=inverse, sample_weights=p)
    for ours, formed in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours, formed, atol=1e-7 * np.abs(formed).max())


def test_other_array_libraries_give_the_same():
    X, T, inverse, _ = case(2)
    expected, _ = ReweightedRidge(as_operator(X), "implicit").solve(T, 3.0, inverse=inverse)
    operator = as_operator(strict.asarray(X))
    found, _ = ReweightedRidge(operator, "implicit").solve(
        strict.asarray(T), 3.0, inverse=strict.asarray(inverse)
    )
    np.testing.assert_allclose(np.asarray(found), expected, atol=1e-12)
