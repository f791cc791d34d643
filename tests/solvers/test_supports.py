"""W-steps that never lose, and rankings that pass through a support."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import as_operator
from featsieve.solvers import ForwardSelection, RowSparseRegression, run
from featsieve.solvers.supports import (
    find_support,
    largest_sparsity,
    path_through,
    rank_features,
    refit,
    value_of,
)

fast = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 10**6)
STEPS = ("forward", "iht", "local", "exchange")


def draw(seed, n=14, d=9, c=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 1.5 * rng.standard_normal((n, 1))
    Y = X[:, ::2] @ rng.standard_normal((X[:, ::2].shape[1], c)) + rng.standard_normal((n, c))
    return X, Y - Y.mean(axis=0)


def regression(seed, **options):
    X, Y = draw(seed)
    return RowSparseRegression(as_operator(X, scale="std"), Y, **options)


def brute_value(problem, support):
    """The objective at a support, from the augmented matrix."""
    Z = problem.operator.columns(np.asarray(support, dtype=int))
    A = np.vstack([Z, np.sqrt(problem.ridge) * np.eye(len(support))])
    B = np.vstack([problem.target, np.zeros((len(support), problem.target.shape[1]))])
    loss = 0.5 * np.sum((A @ np.linalg.lstsq(A, B, rcond=None)[0] - B) ** 2)
    return loss + problem.sparsity * len(support)


@pytest.mark.parametrize("w_step", STEPS)
@fast
@given(seed=seeds, ridge=st.sampled_from([0.5, 20.0]), k=st.integers(1, 9), fresh=st.booleans())
def test_a_fixed_number_of_features_is_met_and_never_worse(w_step, seed, ridge, k, fresh):
    problem = regression(seed, ridge=ridge, n_features=k)
    known = np.random.default_rng(seed).permutation(9)[:k]
    found = find_support(problem, w_step, known=known, fresh=fresh)
    assert len(set(found.tolist())) == k
    assert brute_value(problem, found) <= brute_value(problem, known) + 1e-9
    assert len(find_support(problem, w_step)) == k


@pytest.mark.parametrize("w_step", STEPS[:3])
@fast
@given(seed=seeds, ridge=st.sampled_from([0.0, 0.5, 20.0]), lam=st.floats(0.02, 40.0))
def test_a_penalty_is_never_worse_than_the_known_or_the_empty_support(w_step, seed, ridge, lam):
    problem = regression(seed, ridge=ridge, sparsity=lam)
    known = np.random.default_rng(seed).permutation(9)[:3]
    found = find_support(problem, w_step, known=known)
    assert len(found) > 0
    assert brute_value(problem, found) <= brute_value(problem, known) + 1e-9
    anew = find_support(problem, w_step)
    assert brute_value(problem, anew) <= brute_value(problem, []) + 1e-9
    assert value_of(problem, anew) == pytest.approx(brute_value(problem, anew))


def test_local_and_exchange_nearly_always_reach_the_exhaustive_optimum():
    reached = {"local": 0, "exchange": 0}
    for seed in range(30):
        for w_step in reached:
            problem = regression(seed, ridge=1.0, n_features=3)
            best = min(brute_value(problem, S) for S in combinations(range(9), 3))
            value = brute_value(problem, find_support(problem, w_step))
            assert value >= best - 1e-9
            reached[w_step] += value <= best + 1e-9
    assert min(reached.values()) >= 26


@pytest.mark.parametrize("w_step", STEPS[:3])
@fast
@given(seed=seeds, ridge=st.sampled_from([0.5, 20.0]))
def test_the_largest_sparsity_selects_and_more_does_not(w_step, seed, ridge):
    largest = largest_sparsity(regression(seed, ridge=ridge), w_step)
    below = regression(seed, ridge=ridge, sparsity=largest * (1 - 1e-9))
    assert len(find_support(below, w_step)) > 0
    if w_step != "iht":  # for which it is a safe value, not the largest of all
        above = regression(seed, ridge=ridge, sparsity=largest * (1 + 1e-6))
        assert len(find_support(above, w_step)) == 0
        single = max(brute_value(below, []) - brute_value(below, [j]) for j in range(9))
        assert largest == pytest.approx(single + below.sparsity)


@fast
@given(seed=seeds, ridge=st.sampled_from([0.0, 2.0]), k=st.integers(1, 9))
def test_refit_is_ridge_regression_on_the_support(seed, ridge, k):
    problem = regression(seed, ridge=ridge)
    support = np.random.default_rng(seed).permutation(9)[:k]
    W = refit(problem, support)
    Z = problem.operator.columns(support)
    expected = np.linalg.solve(Z.T @ Z + ridge * np.eye(k), Z.T @ problem.target)
    np.testing.assert_allclose(W[support], expected, atol=1e-7)
    assert not W[np.setdiff1d(np.arange(9), support)].any()
    assert not refit(problem, np.zeros(0, dtype=int)).any()


@fast
@given(seed=seeds, k=st.integers(1, 6), more=st.integers(0, 3))
def test_a_path_passes_through_its_support_and_prices_every_step(seed, k, more):
    problem = regression(seed, ridge=2.0)
    support = np.random.default_rng(seed).permutation(9)[:k]
    path, _ = path_through(problem, support, length=k + more)
    assert len(path.order) == k + more
    assert sorted(path.order[:k].tolist()) == sorted(support.tolist())
    for m in range(k + more + 1):
        assert path.loss[m] == pytest.approx(brute_value(problem, path.order[:m]))
    # Among the members the best one comes first.
    left = [brute_value(problem, [j]) for j in support]
    assert brute_value(problem, path.order[:1]) == pytest.approx(min(left))


def test_the_path_through_a_forward_selection_is_that_selection():
    problem = regression(3, ridge=2.0, n_features=7)
    forward = run(ForwardSelection(), problem, max_iter=7).state
    path, _ = path_through(problem, np.sort(forward.order[:4]), length=7)
    assert path.order.tolist() == forward.order
    np.testing.assert_allclose(path.half_gains, forward.half_gains)


@fast
@given(seed=seeds, k=st.integers(1, 6), length=st.integers(0, 9))
def test_scores_fall_along_the_order_and_are_in_units_of_the_whole_loss(seed, k, length):
    X, Y = draw(seed)
    X[:, 2] = 5.0
    problem = RowSparseRegression(as_operator(X), Y, ridge=2.0)
    support = np.setdiff1d(np.random.default_rng(seed).permutation(9)[:k], [2])
    scores, order, path = rank_features(problem, support, length=length)
    assert sorted(order.tolist()) == list(range(9))
    assert order[-1] == 2
    assert scores[2] == 0.0
    assert np.all(np.diff(scores[order]) <= 0.0)
    assert set(order[: len(support)].tolist()) == set(support.tolist())
    if len(path.order):
        first = 2.0 * (brute_value(problem, []) - brute_value(problem, path.order[:1]))
        assert path.half_gains[0] == pytest.approx(first)
        assert scores[path.order[0]] == pytest.approx(first)
    for k in range(len(path.order) + 1):  # the loss without the factor 1/2 and the sparsity term
        loss = brute_value(problem, path.order[:k]) - problem.sparsity * k
        assert path.loss[k] == pytest.approx(2.0 * loss, rel=1e-9, abs=1e-9)


def test_without_a_ridge_dependent_columns_are_left_out():
    X, Y = draw(1)
    X = np.column_stack([X, X[:, :4]])
    problem = RowSparseRegression(as_operator(X, scale="std"), Y, sparsity=1e-4)
    found = find_support(problem, "iht")
    Z = problem.operator.columns(found)
    assert len(found) > 0
    assert np.linalg.matrix_rank(Z) == len(found)
