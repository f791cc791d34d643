"""Searches by single moves, against explicit refits and exhaustive search."""

from itertools import combinations

import array_api_strict as strict
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import as_operator
from featsieve.solvers import ForwardSelection, LocalSearch, RowSparseRegression, Status, run
from featsieve.solvers.homotopy_iht import ConvergedIHT
from featsieve.solvers.local_search import ExchangeSearch, price_moves

fast = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 10**6)
ridges = st.sampled_from([0.0, 0.3, 5.0])


def draw(seed, n=12, d=8, c=3):
    """Correlated columns, and centred targets made of half of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 1.5 * rng.standard_normal((n, 1)) + 2.0
    Y = X[:, ::2] @ rng.standard_normal((X[:, ::2].shape[1], c)) + rng.standard_normal((n, c))
    return X, Y - Y.mean(axis=0)


def regression(X, Y, **options):
    return RowSparseRegression(as_operator(X), Y, **options)


def brute_loss(X, Y, support, ridge):
    """The best loss on a support, from the matrix [Z; sqrt(mu) I] that is never formed in src."""
    Z = (X - X.mean(axis=0))[:, list(support)]
    A = np.vstack([Z, np.sqrt(ridge) * np.eye(Z.shape[1])])
    B = np.vstack([Y, np.zeros((Z.shape[1], Y.shape[1]))])
    return 0.5 * np.sum((A @ np.linalg.lstsq(A, B, rcond=None)[0] - B) ** 2)


def exchanged(support, d):
    """Return all supports one exchange away."""
    inside, outside = set(support), set(range(d)) - set(support)
    return [inside - {i} | {j} for i in inside for j in outside]


def search(problem, start=None):
    return run(LocalSearch(start=start), problem, max_iter=1000)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@fast
@given(seeds, st.integers(4, 14), st.integers(2, 12), ridges, st.data())
def test_prices_of_all_moves_equal_refits(container, seed, n, d, ridge, data):
    X, Y = draw(seed, n, d)
    # with a ridge also more members than samples: everything is computed in sample space then
    k = data.draw(st.integers(0, min(d - 1, n - 3) if ridge == 0.0 else d - 1))
    support = np.random.default_rng(seed).permutation(d)[:k]
    priced = price_moves(regression(container(X), Y, ridge=ridge), support)
    here = brute_loss(X, Y, support, ridge)
    np.testing.assert_array_equal(priced.candidates, np.setdiff1d(np.arange(d), support))
    assert not priced.add[support].any()
    assert not priced.free[support].any()
    for i in range(k):
        dropped = brute_loss(X, Y, np.delete(support, i), ridge) - here
        assert priced.drop[i] == pytest.approx(dropped, abs=1e-7)
    for m, j in enumerate(priced.candidates):
        added = here - brute_loss(X, Y, [*support, j], ridge)
        assert priced.add[j] == pytest.approx(added, abs=1e-7)
        for i in range(k):
            swapped = brute_loss(X, Y, [*np.delete(support, i), j], ridge) - here
            assert priced.swap[i, m] == pytest.approx(swapped, abs=1e-7)


@pytest.mark.parametrize(("unit", "ridge"), [(1e-7, 0.0), (1e7, 0.3)])
def test_the_prices_do_not_depend_on_the_unit_of_the_table(unit, ridge):
    X, Y = draw(3)
    X[:, 7] = X[:, 0] + X[:, 2]  # depends on two members: it is never free without a ridge
    support = np.array([0, 2, 5])
    plain, other = (
        price_moves(regression(u * X, Y, ridge=ridge * u**2), support) for u in (1.0, unit)
    )
    np.testing.assert_array_equal(other.free, plain.free)
    assert plain.free[7] == (ridge > 0.0)
    np.testing.assert_array_equal(np.isfinite(other.swap), np.isfinite(plain.swap))
    np.testing.assert_allclose(other.add, plain.add, rtol=1e-6, atol=1e-9)
    finite = np.isfinite(plain.swap)
    np.testing.assert_allclose(other.swap[finite], plain.swap[finite], rtol=1e-6, atol=1e-9)


def test_few_candidates_are_those_that_would_add_most():
    X, Y = draw(5, n=30, d=40)
    problem = regression(X, Y, ridge=1.0, n_features=4)
    order = run(ForwardSelection(), problem, max_iter=4).state.order
    few = price_moves(problem, np.asarray(order), n_candidates=6)
    losses = np.array([brute_loss(X, Y, [*order, j], 1.0) for j in range(40)])
    outside = np.setdiff1d(np.arange(40), order)
    expected = outside[np.argsort(losses[outside])[:6]]
    assert few.candidates.tolist() == sorted(expected.tolist())


@fast
@given(seeds, ridges, st.floats(0.02, 5.0), st.integers(0, 8))
def test_every_move_lowers_the_objective_and_none_improves_the_end(seed, ridge, lam, size):
    X, Y = draw(seed)
    start = np.random.default_rng(seed).permutation(8)[:size]
    solution = search(regression(X, Y, ridge=ridge, sparsity=lam), start)
    assert solution.status is Status.STATIONARY
    history = solution.objective
    assert history[-1] == history[-2]  # the last step finds that nothing improves
    assert np.all(np.diff(history[:-1]) < 0.0)
    found = set(solution.state.support.tolist())
    value = brute_loss(X, Y, found, ridge) + lam * len(found)
    assert history[-1] == pytest.approx(value, abs=1e-8)
    others = exchanged(found, 8) + [found - {i} for i in found]
    for other in others + [found | {j} for j in set(range(8)) - found]:
        assert brute_loss(X, Y, other, ridge) + lam * len(other) >= value - 1e-8


@pytest.mark.parametrize("solver", ["local", "exchange"])
@fast
@given(seeds, st.sampled_from([0.05, 0.3, 30.0]), st.integers(1, 11))
def test_with_a_limit_exactly_k_features_remain_and_no_exchange_improves(solver, seed, ridge, k):
    X, Y = draw(seed, n=8, d=12)
    problem = regression(X, Y, ridge=ridge, n_features=k)
    start = np.random.default_rng(seed).permutation(12)[:k]
    kind = {"local": LocalSearch, "exchange": ExchangeSearch}[solver]
    solution = run(kind(start=start), problem, max_iter=500)
    found = solution.state.support
    assert solution.status is Status.STATIONARY
    assert np.all(np.diff(solution.objective) <= 0.0)
    assert len(set(found.tolist())) == len(found) == k
    value = brute_loss(X, Y, found, ridge)
    assert solution.state.value == pytest.approx(value)
    assert all(brute_loss(X, Y, other, ridge) >= value - 1e-7 for other in exchanged(found, 12))


@pytest.mark.parametrize("ridge", [0.0, 1.0])
@pytest.mark.parametrize("options", [{"sparsity": 1.0}, {"n_features": 3}], ids=["lam", "k"])
def test_exhaustive_optimum_is_never_beaten_and_mostly_reached_from_several_starts(options, ridge):
    reached = 0
    for seed in range(6):
        X, Y = draw(seed)
        problem = regression(X, Y, ridge=ridge, **options)
        lam, k = problem.sparsity, problem.n_features
        sizes = range(9) if k is None else [k]
        supports = [S for size in sizes for S in combinations(range(8), size)]
        optimum = min(brute_loss(X, Y, S, ridge) + lam * len(S) for S in supports)
        thresholded = run(ConvergedIHT(), problem, max_iter=500).state.W.any(axis=1)
        starts = [[], np.flatnonzero(thresholded), np.arange(8) if k is None else np.arange(k)]
        values = [search(problem, start).objective[-1] for start in starts]
        assert min(values) >= optimum - 1e-9
        reached += min(values) <= optimum + 1e-9
    assert reached >= 5


@fast
@given(seeds, st.integers(1, 5), st.booleans())
def test_without_ridge_no_more_features_than_the_rank_are_selected(seed, rank, full):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, rank)) @ rng.standard_normal((rank, 8))
    Y = draw(seed)[1]
    support = search(regression(X, Y, sparsity=1e-6), np.arange(8) if full else None).state.support
    assert 0 < len(support) <= rank
    assert np.linalg.matrix_rank((X - X.mean(axis=0))[:, support]) == len(support)


@pytest.mark.parametrize("kind", [LocalSearch, ExchangeSearch])
@pytest.mark.parametrize("k", [3, 10])
def test_strict_arrays_give_the_same_support(kind, k):
    X, Y = draw(2, d=12, n=8)
    start = np.arange(k)
    found = [
        run(kind(start=start), regression(A, B, ridge=0.5, n_features=k), max_iter=100)
        for A, B in ((X, Y), (strict.asarray(X), strict.asarray(Y)))
    ]
    assert {*found[1].state.support.tolist()} == {*found[0].state.support.tolist()}
    np.testing.assert_allclose(found[1].objective, found[0].objective, rtol=1e-12)


@pytest.mark.parametrize(("ridge", "kept"), [(0.0, [0, 1]), (0.3, [0, 1, 8]), (5.0, [0, 1, 8])])
def test_columns_of_the_start_that_depend_on_others_stay_only_with_a_ridge(ridge, kept):
    X, Y = draw(1)
    X = np.column_stack([X, X[:, 0]])
    start = LocalSearch(start=np.array([0, 1, 8]))
    assert start.init(regression(X, Y, ridge=ridge)).support.tolist() == kept


@pytest.mark.parametrize("seed", range(2))
def test_of_a_start_beyond_the_limit_the_least_are_dropped_one_by_one(seed):
    X, Y = draw(seed)
    start = [1, 3, 4, 6, 7]
    problem = regression(X, Y, ridge=0.3, n_features=2)
    found = LocalSearch(start=np.array(start)).init(problem).support
    while len(start) > 2:
        start = min(
            ([i for i in start if i != j] for j in start),
            key=lambda S: brute_loss(X, Y, S, 0.3),
        )
    assert found.tolist() == start


def test_a_limit_is_filled_where_nothing_is_left_to_explain():
    X, Y = draw(0)
    for target in (X[:, :2] - X[:, :2].mean(axis=0), 0.0 * Y):
        assert len(search(regression(X, target, n_features=4)).state.support) == 4


@pytest.mark.parametrize("seed", range(2))
def test_an_exchange_must_lower_the_objective_by_the_share_asked_for(seed):
    X, Y = draw(seed, n=20)
    start = np.array([1])
    problem = regression(X, Y, ridge=1.0, n_features=1)
    here = brute_loss(X, Y, start, 1.0)
    best = here - min(brute_loss(X, Y, [j], 1.0) for j in range(8))
    share = best / (0.5 * np.sum(Y**2))
    for factor, moves in ((0.8, True), (1.25, False)):
        exchange = ExchangeSearch(start=start, progress=factor * share)
        state = exchange.step(problem, exchange.init(problem))
        assert (state.value < here - 1e-9) == moves
        assert state.stable != moves


@pytest.mark.parametrize("k", [0, 8])
def test_where_nothing_can_be_exchanged_the_support_stays(k):
    X, Y = draw(0, n=8, d=12)
    problem = RowSparseRegression(as_operator(X, center=False), Y, n_features=k)
    solution = run(ExchangeSearch(start=np.arange(k)), problem, max_iter=5)
    assert solution.status is Status.STATIONARY
    np.testing.assert_array_equal(solution.state.support, np.arange(k))
