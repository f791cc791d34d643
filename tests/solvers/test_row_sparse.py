"""The ridge regression on one support, against explicit normal equations."""

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import DenseOperator
from featsieve.solvers import RowSparseRegression
from featsieve.solvers.row_sparse import SummedRegression

fast = settings(max_examples=40, deadline=None)
seeds = st.integers(0, 10**6)


def draw(seed, n, d, c=2):
    """A table, its centred form, centred targets and a random support order."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 3.0
    Y = rng.standard_normal((n, c))
    return X, X - X.mean(axis=0), Y - Y.mean(axis=0), rng.permutation(d)


@fast
@given(seeds, st.integers(2, 15), st.integers(1, 20), st.sampled_from([1e-3, 0.5, 20.0]))
def test_refit_equals_the_explicit_ridge_solution_for_supports_of_every_size(seed, n, d, ridge):
    X, Z, Y, order = draw(seed, n, d)
    problem = RowSparseRegression(DenseOperator(X), Y, ridge=ridge)
    for k in range(1, d + 1):  # k <= n and k > n
        Z_S = Z[:, order[:k]]
        W = np.linalg.solve(Z_S.T @ Z_S + ridge * np.eye(k), Z_S.T @ Y)
        np.testing.assert_allclose(problem.refit(order[:k]), W, atol=1e-9)


@pytest.mark.parametrize("own_gram", [True, False])
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_sums_over_the_samples_say_all_that_the_samples_say(own_gram, ridge):
    X, Z, Y, order = draw(4, 30, 8)
    operator = DenseOperator(X)
    plain = RowSparseRegression(operator, Y, ridge=ridge, sparsity=0.3)
    gram = Z.T @ Z
    summed = SummedRegression(
        operator,
        ridge=ridge,
        sparsity=0.3,
        sums=Z.T @ Y,
        total=float(np.sum(Y**2)),
        gram_of=(lambda support: gram[np.ix_(support, support)]) if own_gram else None,
    )
    assert summed.energy() == pytest.approx(plain.energy())
    np.testing.assert_allclose(summed.correlation(), plain.correlation(), atol=1e-12)
    for k in (0, 1, 5, 8):
        support = order[:k]
        assert summed.value(support) == pytest.approx(plain.value(support), rel=1e-10)
        np.testing.assert_allclose(summed.moments(support), plain.moments(support), atol=1e-12)
        if k:
            np.testing.assert_allclose(summed.refit(support), plain.refit(support), atol=1e-10)
    changed = summed.correlation()
    changed += 1.0  # the caller's own
    np.testing.assert_allclose(summed.correlation(), Z.T @ Y)


@pytest.mark.parametrize(("n", "k"), [(12, 5), (6, 11)])
def test_refit_without_ridge_is_the_least_squares_solution_of_least_norm(n, k):
    X, Z, Y, order = draw(0, n, 11)
    W = np.linalg.lstsq(Z[:, order[:k]], Y, rcond=None)[0]
    problem = RowSparseRegression(DenseOperator(X), Y)
    np.testing.assert_allclose(problem.refit(order[:k]), W, atol=1e-10)


@fast
@given(seeds, st.integers(2, 15), st.integers(1, 20), st.sampled_from([0.0, 1e-2, 5.0]))
def test_value_equals_the_explicit_objective_at_the_refit(seed, n, d, ridge):
    X, Z, Y, order = draw(seed, n, d)
    problem = RowSparseRegression(DenseOperator(X), Y, ridge=ridge, sparsity=0.3)
    for support in (order[:1], order[: (d + 1) // 2], order):
        W = problem.refit(support)
        fit = 0.5 * np.sum((Z[:, support] @ W - Y) ** 2) + 0.5 * ridge * np.sum(W**2)
        np.testing.assert_allclose(problem.value(support), fit + 0.3 * len(support), atol=1e-9)


@pytest.mark.parametrize(("n_features", "limit"), [(None, 4), (3, 3), (9, 4), (0, 0)])
def test_limit_is_k_but_never_more_than_the_columns_that_vary(n_features, limit):
    X, _, Y, _ = draw(3, 8, 6)
    X[:, [1, 4]] = 0.1
    assert RowSparseRegression(DenseOperator(X), Y, n_features=n_features).limit == limit


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_strict_arrays_give_the_same_refit_and_value(ridge):
    X, _, Y, order = draw(4, 6, 9)
    plain = RowSparseRegression(DenseOperator(X), Y, ridge=ridge, sparsity=0.1)
    other = RowSparseRegression(
        DenseOperator(strict.asarray(X)), strict.asarray(Y), ridge=ridge, sparsity=0.1
    )
    for k in (2, 8):
        W = np.from_dlpack(other.refit(order[:k]))
        np.testing.assert_allclose(W, plain.refit(order[:k]), atol=1e-12)
        value = other.value(order[:k])
        assert value == pytest.approx(plain.value(order[:k]), rel=1e-12)
