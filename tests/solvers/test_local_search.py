"""Add / drop / swap search, against explicit refits and exhaustive search."""

from itertools import combinations

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import DenseOperator
from featsieve.solvers import ForwardSelection, LocalSearch, RowSparseRegression, Status, run
from featsieve.solvers.homotopy_iht import ConvergedIHT
from featsieve.solvers.local_search import moves

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
    return RowSparseRegression(DenseOperator(X), Y, **options)


def brute_loss(X, Y, support, ridge):
    """The best loss on a support, from the matrix [Z; sqrt(mu) I] that is never formed in src."""
    Z = (X - X.mean(axis=0))[:, list(support)]
    k = Z.shape[1]
    A = np.vstack([Z, np.sqrt(ridge) * np.eye(k)])
    B = np.vstack([Y, np.zeros((k, Y.shape[1]))])
    return 0.5 * np.sum((A @ np.linalg.lstsq(A, B, rcond=None)[0] - B) ** 2)


def subsets(d, sizes):
    return [S for k in sizes for S in combinations(range(d), k)]


def neighbours(support, d, *, k=None):
    """All supports one move away; with a limit k, only exchanges."""
    inside, outside = set(support), set(range(d)) - set(support)
    exchanged = [inside - {i} | {j} for i in inside for j in outside]
    if k is not None:
        return exchanged
    return exchanged + [inside - {i} for i in inside] + [inside | {j} for j in outside]


def search(problem, start=None):
    return run(LocalSearch(start=start), problem, max_iter=1000)


@fast
@given(seeds, st.integers(4, 14), st.integers(2, 10), ridges, st.data())
def test_prices_of_all_moves_equal_refits(seed, n, d, ridge, data):
    X, Y = draw(seed, n, d)
    k = data.draw(st.integers(0, min(d - 1, n - 3)))
    support = np.random.default_rng(seed).permutation(d)[:k]
    priced = moves(regression(X, Y, ridge=ridge), support)
    here = brute_loss(X, Y, support, ridge)
    assert (priced.add.shape, priced.drop.shape, priced.swap.shape) == ((d,), (k,), (k, d))
    for j in range(d):
        if j in support:
            assert priced.add[j] == 0.0
            assert np.all(priced.swap[:, j] == np.inf)
            continue
        added = here - brute_loss(X, Y, [*support, j], ridge)
        assert priced.add[j] == pytest.approx(added, abs=1e-8)
        for i in range(k):
            swapped = brute_loss(X, Y, [*np.delete(support, i), j], ridge) - here
            assert priced.swap[i, j] == pytest.approx(swapped, abs=1e-8)
    for i in range(k):
        dropped = brute_loss(X, Y, np.delete(support, i), ridge) - here
        assert priced.drop[i] == pytest.approx(dropped, abs=1e-8)


@fast
@given(seeds, ridges, st.floats(0.02, 5.0), st.integers(0, 8))
def test_no_single_move_improves_the_final_support(seed, ridge, lam, size):
    X, Y = draw(seed)
    start = np.random.default_rng(seed).permutation(8)[:size]
    solution = search(regression(X, Y, ridge=ridge, sparsity=lam), start)
    assert solution.status is Status.STATIONARY
    found = solution.state.support
    value = brute_loss(X, Y, found, ridge) + lam * len(found)
    assert solution.objective[-1] == pytest.approx(value, abs=1e-8)
    for other in neighbours(found, 8):
        assert brute_loss(X, Y, other, ridge) + lam * len(other) >= value - 1e-8


@fast
@given(seeds, ridges, st.integers(1, 7))
def test_with_a_limit_exactly_k_features_remain_and_no_exchange_improves(seed, ridge, k):
    X, Y = draw(seed)
    solution = search(regression(X, Y, ridge=ridge, n_features=k))
    found = solution.state.support
    assert solution.status is Status.STATIONARY
    assert len(set(found)) == len(found) == k
    value = brute_loss(X, Y, found, ridge)
    for other in neighbours(found, 8, k=k):
        assert brute_loss(X, Y, other, ridge) >= value - 1e-8


@fast
@given(seeds, ridges, st.floats(0.02, 5.0), st.sampled_from([8, 16]))
def test_result_is_never_worse_than_the_solver_it_starts_from(seed, ridge, lam, d):
    X, Y = draw(seed, d=d)
    problem = regression(X, Y, ridge=ridge, sparsity=lam)
    forward = run(ForwardSelection(), problem, max_iter=100)
    thresholded = run(ConvergedIHT(), problem, max_iter=500)
    for support, value in (
        (forward.state.order, forward.objective[-1]),
        (np.flatnonzero(thresholded.state.W.any(axis=1)), thresholded.objective[-1]),
    ):
        refitted = brute_loss(X, Y, support, ridge) + lam * len(support)
        assert search(problem, support).objective[-1] <= min(value, refitted) + 1e-8


def test_support_of_iterative_hard_thresholding_is_improved():
    gains = []
    for seed in range(10):
        problem = regression(*draw(seed), sparsity=1.0)
        found = run(ConvergedIHT(), problem, max_iter=2000)
        support = np.flatnonzero(found.state.W.any(axis=1))
        gains.append(found.objective[-1] - search(problem, support).objective[-1])
    assert np.count_nonzero(np.array(gains) > 1e-3) >= 8


@pytest.mark.parametrize("ridge", [0.0, 1.0])
@pytest.mark.parametrize("options", [{"sparsity": 1.0}, {"n_features": 3}], ids=["lam", "k"])
def test_exhaustive_optimum_is_never_beaten_and_mostly_reached_from_several_starts(options, ridge):
    reached = 0
    for seed in range(20):
        X, Y = draw(seed)
        problem = regression(X, Y, ridge=ridge, **options)
        lam, k = problem.sparsity, problem.n_features
        supports = subsets(8, range(9) if k is None else [k])
        optimum = min(brute_loss(X, Y, S, ridge) + lam * len(S) for S in supports)
        thresholded = run(ConvergedIHT(), problem, max_iter=500).state.W.any(axis=1)
        starts = [[], np.flatnonzero(thresholded), np.arange(8) if k is None else np.arange(k)]
        values = [search(problem, start).objective[-1] for start in starts]
        assert min(values) >= optimum - 1e-9
        reached += min(values) <= optimum + 1e-9
    assert reached >= 17


@fast
@given(seeds, ridges, st.floats(0.02, 5.0), st.integers(0, 8))
def test_every_move_lowers_the_objective(seed, ridge, lam, size):
    problem = regression(*draw(seed), ridge=ridge, sparsity=lam)
    history = search(problem, np.random.default_rng(seed).permutation(8)[:size]).objective
    assert history[-1] == history[-2]  # the last step finds that nothing improves
    assert np.all(np.diff(history[:-1]) < 0.0)


@fast
@given(seeds, st.integers(1, 5), st.booleans())
def test_without_ridge_no_more_features_than_the_rank_are_selected(seed, rank, full):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, rank)) @ rng.standard_normal((rank, 8))
    Y = draw(seed)[1]
    solution = search(regression(X, Y, sparsity=1e-6), np.arange(8) if full else None)
    support = solution.state.support
    assert 0 < len(support) <= rank
    assert np.linalg.matrix_rank((X - X.mean(axis=0))[:, support]) == len(support)


@fast
@given(seeds, st.booleans(), st.floats(1e-6, 1.0))
def test_without_ridge_equal_columns_are_never_both_selected(seed, full, lam):
    A, Y = draw(seed, d=4)
    problem = regression(np.hstack([A, A]), Y, sparsity=lam)
    support = search(problem, np.arange(8) if full else None).state.support
    assert len(set(support % 4)) == len(support)


@pytest.mark.parametrize("options", [{"sparsity": 0.3}, {"n_features": 3}], ids=["lam", "k"])
@fast
@given(seeds)
def test_exchange_of_equal_columns_is_no_progress(options, seed):
    A, Y = draw(seed, d=4)
    problem = regression(np.hstack([A, A]), Y, ridge=0.5, **options)
    solution = run(LocalSearch(), problem, max_iter=50)
    assert solution.status is Status.STATIONARY


@pytest.mark.parametrize("start", [[], [0, 1, 2, 3, 4, 5, 6]], ids=["empty", "full"])
@fast
@given(seeds, st.floats(0.05, 3.0), st.sampled_from([0.0, 0.5]))
def test_orthonormal_columns_give_the_closed_form(start, seed, lam, ridge):
    X, Y = draw(seed, d=7)
    Z = np.linalg.qr(X - X.mean(axis=0))[0]
    # The loss falls by ||z_j'Y||^2 / (2 (1 + mu)) for every selected column.
    worth = np.sum((Z.T @ Y) ** 2, axis=1) / (2.0 * (1.0 + ridge))
    support = search(regression(Z, Y, ridge=ridge, sparsity=lam), start).state.support
    np.testing.assert_array_equal(np.sort(support), np.flatnonzero(worth > lam))


@pytest.mark.parametrize("ridge", [0.0, 2.0])
def test_price_above_every_first_gain_leaves_the_support_empty(ridge):
    X, Y = draw(0)
    Z = X - X.mean(axis=0)
    largest = np.max(np.sum((Z.T @ Y) ** 2, axis=1) / (2.0 * (np.sum(Z**2, axis=0) + ridge)))
    empty = search(regression(X, Y, ridge=ridge, sparsity=1.001 * largest))
    some = search(regression(X, Y, ridge=ridge, sparsity=0.999 * largest))
    assert len(empty.state.support) == 0 < len(some.state.support)


def test_constant_columns_are_neither_added_nor_swapped_in():
    X, Y = draw(1)
    X[:, [0, 5]] = 0.1
    priced = moves(regression(X, Y, ridge=1.0), np.array([1, 2]))
    assert np.all(priced.add[[0, 5]] == 0.0)
    assert np.all(priced.swap[:, [0, 5]] == np.inf)


@pytest.mark.parametrize("options", [{"sparsity": 0.5}, {"n_features": 4}], ids=["lam", "k"])
def test_strict_arrays_give_the_same_support(options):
    X, Y = draw(2)
    plain = search(regression(X, Y, ridge=0.5, **options))
    other = search(regression(strict.asarray(X), strict.asarray(Y), ridge=0.5, **options))
    np.testing.assert_array_equal(other.state.support, plain.state.support)
    np.testing.assert_allclose(other.objective, plain.objective, rtol=1e-12)


@pytest.mark.parametrize(("ridge", "kept"), [(0.0, [0, 1]), (0.3, [0, 1, 8]), (5.0, [0, 1, 8])])
def test_columns_of_the_start_that_depend_on_others_stay_only_with_a_ridge(ridge, kept):
    X, Y = draw(1)
    X = np.column_stack([X, X[:, 0]])
    start = LocalSearch(start=np.array([0, 1, 8]))
    assert start.init(regression(X, Y, ridge=ridge)).support.tolist() == kept


def test_start_of_columns_that_only_help_together_is_kept():
    y, a, b = np.array(
        [[1, 1, 1, 1, -1, -1, -1, -1], [1, 1, -1, -1, 1, 1, -1, -1], [1, -1, 1, -1, 1, -1, 1, -1]],
        dtype=float,
    )
    problem = regression(np.column_stack([a, b, y + 10 * a + 10 * b]), y[:, None], sparsity=0.5)
    start = np.array([0, 1, 2])
    found = run(LocalSearch(start=start), problem, max_iter=100)
    assert found.objective[-1] <= problem.value(start) + 1e-9


@pytest.mark.parametrize("ridge", [0.0, 1.0])
def test_start_larger_than_the_limit_is_reduced_to_it(ridge):
    problem = regression(*draw(0), ridge=ridge, n_features=3)
    found = run(LocalSearch(start=np.arange(6)), problem, max_iter=100)
    assert len(found.state.support) == 3


def test_limit_is_filled_after_a_perfect_fit():
    X, _ = draw(0)
    problem = regression(X, X[:, :2] - X[:, :2].mean(axis=0), n_features=4)
    assert len(run(LocalSearch(), problem, max_iter=100).state.support) == 4


def test_the_scale_of_the_targets_does_not_matter():
    X, Y = draw(1)
    supports = [
        set(run(LocalSearch(), regression(X, s * Y, sparsity=s**2), max_iter=100).state.support)
        for s in (1.0, 1e-5)
    ]
    assert supports[0] == supports[1]


@pytest.mark.parametrize("unit", [1e-7, 1e7])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_the_prices_do_not_depend_on_the_unit_of_the_table(unit, ridge):
    X, Y = draw(3)
    X[:, 7] = X[:, 0] + X[:, 2]  # depends on two members: it is never free without a ridge
    support = np.array([0, 2, 5])
    plain, other = (moves(regression(u * X, Y, ridge=ridge * u**2), support) for u in (1.0, unit))
    np.testing.assert_array_equal(other.free, plain.free)
    assert plain.free[7] == (ridge > 0.0)
    np.testing.assert_array_equal(np.isfinite(other.swap), np.isfinite(plain.swap))
    np.testing.assert_allclose(other.add, plain.add, rtol=1e-6, atol=1e-9)
    finite = np.isfinite(plain.swap)
    np.testing.assert_allclose(other.swap[finite], plain.swap[finite], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
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


def test_a_limit_is_filled_where_nothing_can_be_explained():
    X, Y = draw(0)
    assert len(search(regression(X, 0.0 * Y, ridge=0.3, n_features=3)).state.support) == 3
