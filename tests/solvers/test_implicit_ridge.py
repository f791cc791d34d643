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


class Counting:
    """Count the products of a solve: one for each step."""

    def __init__(self, operator):
        self.operator, self.n_products = operator, 0
        self.real = operator.matmul
        operator.matmul = self

    def __call__(self, W, **options):
        self.n_products += 1
        return self.real(W, **options)


@pytest.mark.parametrize("weights", [(1e-3, 1.0, 1e3), (1.0, 1.0, 1.0)])
def test_it_ends_as_soon_as_every_target_is_met(weights, monkeypatch):
    X, T, inverse, p = case(5, n=40, d=60)
    T = T * weights
    T[:, 0] = weights[0] * X[:, 3]  # met sooner than the others
    root = np.sqrt(p)[:, None]
    operator = as_operator(X, scale="std")
    Z = root * operator.rows(0, 40)
    A = (Z * inverse) @ Z.T + 2.0 * np.eye(40)
    monkeypatch.setattr(implicit_ridge, "N_LEADING", 5)
    count = Counting(operator)

    def worst(n_steps):
        monkeypatch.setattr(implicit_ridge, "MOST_STEPS", n_steps)
        V = solve_implicitly(operator, T, 2.0, inverse=inverse, root=root)
        return np.max(np.linalg.norm(A @ V - T, axis=0) / np.linalg.norm(T, axis=0))

    assert worst(50) <= 1.001e-6
    n_steps = count.n_products
    assert 3 < n_steps < 40
    assert worst(n_steps - 1) > 1e-6


def test_targets_of_zeros_need_no_step():
    X, T, inverse, _ = case(7)
    operator = as_operator(X, scale="std")
    ones = np.ones((len(X), 1))
    T[:, 1] = 0.0
    V = solve_implicitly(operator, T, 3.0, inverse=inverse, root=ones)
    alone = solve_implicitly(operator, T[:, ::2], 3.0, inverse=inverse, root=ones)
    np.testing.assert_array_equal(V[:, 1], 0.0)
    np.testing.assert_allclose(V[:, ::2], alone, rtol=1e-9)
    count = Counting(operator)
    solve_implicitly(operator, 0.0 * T, 3.0, inverse=inverse, root=ones)
    assert count.n_products == 0
