"""Exchanges at a fixed number of features, against explicit refits."""

from itertools import product

import array_api_strict as strict
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import as_operator
from featsieve.solvers import ForwardSelection, RowSparseRegression, Status, run
from featsieve.solvers.exchange_search import ExchangeSearch, disjoint_pairs, exchanges

fast = settings(max_examples=30, deadline=None)
seeds = st.integers(0, 10**6)


def draw(seed, n=8, d=12, c=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + rng.standard_normal((n, 1))
    Y = X[:, ::3] @ rng.standard_normal((X[:, ::3].shape[1], c)) + rng.standard_normal((n, c))
    return X, Y - Y.mean(axis=0)


def brute_loss(X, Y, support, ridge):
    Z = (X - X.mean(axis=0))[:, list(support)]
    A = np.vstack([Z, np.sqrt(ridge) * np.eye(Z.shape[1])])
    B = np.vstack([Y, np.zeros((Z.shape[1], Y.shape[1]))])
    return 0.5 * np.sum((A @ np.linalg.lstsq(A, B, rcond=None)[0] - B) ** 2)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@fast
@given(seed=seeds, k=st.integers(1, 11), ridge=st.sampled_from([0.05, 1.0, 30.0]))
def test_prices_equal_refits_for_few_and_for_many_features(container, seed, k, ridge):
    X, Y = draw(seed)  # 8 samples: from k = 9 on everything is computed in sample space
    support = np.random.default_rng(seed).permutation(12)[:k]
    problem = RowSparseRegression(as_operator(container(X)), Y, ridge=ridge, n_features=k)
    priced = exchanges(problem, support)
    assert priced.candidates.tolist() == np.setdiff1d(np.arange(12), support).tolist()
    here = brute_loss(X, Y, support, ridge)
    for i, j in product(range(k), range(12 - k)):
        other = [*np.delete(support, i), priced.candidates[j]]
        expected = brute_loss(X, Y, other, ridge) - here
        assert priced.change[i, j] == pytest.approx(expected, abs=1e-7)


@fast
@given(seed=seeds, k=st.integers(1, 5))
def test_prices_without_a_ridge(seed, k):
    X, Y = draw(seed)
    support = np.random.default_rng(seed).permutation(12)[:k]
    priced = exchanges(RowSparseRegression(as_operator(X), Y, n_features=k), support)
    i, j = np.unravel_index(priced.change.argmin(), priced.change.shape)
    other = [*np.delete(support, i), priced.candidates[j]]
    change = brute_loss(X, Y, other, 0.0) - brute_loss(X, Y, support, 0.0)
    assert priced.change[i, j] == pytest.approx(change, abs=1e-7)


@fast
@given(seed=seeds, k=st.integers(1, 11), ridge=st.sampled_from([0.05, 1.0, 30.0]))
def test_the_search_descends_to_a_support_that_no_exchange_improves(seed, k, ridge):
    X, Y = draw(seed)
    problem = RowSparseRegression(as_operator(X), Y, ridge=ridge, n_features=k)
    start = np.random.default_rng(seed).permutation(12)[:k]
    solution = run(ExchangeSearch(start=start), problem, max_iter=500)
    found = solution.state.support
    assert solution.status is Status.STATIONARY
    assert np.all(np.diff(solution.objective) <= 0.0)
    assert len(set(found.tolist())) == k
    here = brute_loss(X, Y, found, ridge)
    assert solution.state.value == pytest.approx(here)
    for i, j in product(range(k), np.setdiff1d(np.arange(12), found)):
        assert brute_loss(X, Y, [*np.delete(found, i), j], ridge) >= here - 1e-7


def test_candidates_are_those_that_would_add_most():
    X, Y = draw(5, n=30, d=40)
    problem = RowSparseRegression(as_operator(X), Y, ridge=1.0, n_features=4)
    path = run(ForwardSelection(), problem, max_iter=4).state
    few = exchanges(problem, np.asarray(path.order), n_candidates=6)
    gains = [brute_loss(X, Y, [*path.order, j], 1.0) for j in range(40)]
    outside = np.setdiff1d(np.arange(40), path.order)
    expected = outside[np.argsort(np.asarray(gains)[outside])[:6]]
    assert sorted(few.candidates.tolist()) == sorted(expected.tolist())


def test_constant_and_dependent_columns_are_never_candidates():
    X, Y = draw(2, n=20, d=6)
    X[:, 4] = 1.0
    X[:, 5] = X[:, 0]
    problem = RowSparseRegression(as_operator(X), Y, n_features=2)
    assert exchanges(problem, np.array([0, 1])).candidates.tolist() == [2, 3]
    everything = RowSparseRegression(as_operator(X[:, :2]), Y, n_features=2)
    solution = run(ExchangeSearch(start=np.array([0, 1])), everything, max_iter=9)
    assert solution.status is Status.STATIONARY
    assert solution.state.support.tolist() == [0, 1]


def test_pairs_share_no_feature_and_come_best_first():
    change = np.array([[-3.0, -1.0, 2.0], [-5.0, -4.0, 1.0], [0.5, -2.0, 3.0]])
    assert disjoint_pairs(change) == [(1, 0), (2, 1)]
    assert disjoint_pairs(np.ones((2, 2))) == []
    assert disjoint_pairs(np.zeros((2, 0))) == []


@fast
@given(seed=seeds, k=st.integers(1, 6), d=st.integers(1, 6), most=st.integers(1, 4))
def test_every_pair_is_the_best_of_its_member(seed, k, d, most):
    change = np.random.default_rng(seed).standard_normal((k, d))
    pairs = disjoint_pairs(change, n_pairs=most)
    falls = [change[pair] for pair in pairs]
    assert falls == sorted(falls)
    assert all(fall < 0.0 for fall in falls)
    assert all(j == change[i].argmin() for i, j in pairs)
    assert len({i for i, _ in pairs}) == len({j for _, j in pairs}) == len(pairs) <= most
    if change.min() < 0.0:
        assert falls[0] == change.min()


@pytest.mark.parametrize("seed", range(4))
def test_an_exchange_must_lower_the_objective_by_the_share_asked_for(seed):
    X, Y = draw(seed, n=20)
    start = np.arange(1, 3)
    problem = RowSparseRegression(as_operator(X), Y, ridge=1.0, n_features=2)
    here = brute_loss(X, Y, start, 1.0)
    others = [[*np.delete(start, i), j] for i, j in product(range(2), {*range(12)} - {1, 2})]
    best = here - min(brute_loss(X, Y, other, 1.0) for other in others)
    share = best / (0.5 * np.sum(Y**2))
    for factor, moves in ((0.8, True), (1.25, False)):
        search = ExchangeSearch(start=start, progress=factor * share)
        state = search.step(problem, search.init(problem))
        assert (state.value < here - 1e-9) == moves
        assert state.stable != moves


def test_no_features_cannot_be_exchanged():
    X, Y = draw(0)
    problem = RowSparseRegression(as_operator(X), Y, ridge=1.0, n_features=0)
    solution = run(ExchangeSearch(start=np.zeros(0, dtype=int)), problem, max_iter=5)
    assert solution.status is Status.STATIONARY
    assert solution.objective[-1] == pytest.approx(0.5 * np.sum(Y**2))


def test_other_array_libraries():
    X, Y = draw(3)
    for k in (3, 10):
        start = np.arange(k)
        plain = RowSparseRegression(as_operator(X), Y, ridge=1.0, n_features=k)
        other = RowSparseRegression(
            as_operator(strict.asarray(X)), strict.asarray(Y), ridge=1.0, n_features=k
        )
        got = run(ExchangeSearch(start=start), other, max_iter=50).state
        assert sorted(got.support.tolist()) == sorted(
            run(ExchangeSearch(start=start), plain, max_iter=50).state.support.tolist()
        )


def test_as_many_features_as_samples_without_a_ridge_leave_nothing_to_exchange():
    X, Y = draw(0)
    problem = RowSparseRegression(as_operator(X, center=False), Y, n_features=8)
    priced = exchanges(problem, np.arange(8))
    assert priced.change.shape == (8, 0)
    state = run(ExchangeSearch(start=np.arange(8)), problem, max_iter=5).state
    np.testing.assert_array_equal(state.support, np.arange(8))
