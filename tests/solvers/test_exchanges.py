"""Exchanges of features, against explicit refits."""

import array_api_strict as strict
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve import defaults
from featsieve.arrays import as_operator
from featsieve.solvers import ForwardSelection, RowSparseRegression, run
from featsieve.solvers.exchanges import exchange, price_exchanges

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


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@fast
@given(seeds, st.integers(4, 14), st.integers(2, 12), ridges, st.data())
def test_prices_of_all_exchanges_equal_refits(container, seed, n, d, ridge, data):
    X, Y = draw(seed, n, d)
    # with a ridge also more members than samples: everything is computed in sample space then
    k = data.draw(st.integers(0, min(d - 1, n - 3) if ridge == 0.0 else d - 1))
    support = np.random.default_rng(seed).permutation(d)[:k]
    candidates, change = price_exchanges(regression(container(X), Y, ridge=ridge), support)
    here = brute_loss(X, Y, support, ridge)
    np.testing.assert_array_equal(candidates, np.setdiff1d(np.arange(d), support))
    for m, j in enumerate(candidates):
        for i in range(k):
            swapped = brute_loss(X, Y, [*np.delete(support, i), j], ridge) - here
            assert change[i, m] == pytest.approx(swapped, abs=1e-7)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array, strict.asarray])
def test_sums_over_the_samples_give_the_same_prices(container):
    X, Y = draw(5, 30, 12)
    problem = regression(
        container(X), container(Y) if container is strict.asarray else Y, ridge=2.0
    )
    support = np.array([3, 0, 7])
    (candidates, change), (again, other) = (
        price_exchanges(one, support) for one in (problem, problem.summed())
    )
    np.testing.assert_array_equal(candidates, again)
    np.testing.assert_allclose(change, other, atol=1e-10)
    assert problem.value(support) == pytest.approx(problem.summed().value(support), rel=1e-12)


@pytest.mark.parametrize(("unit", "ridge"), [(1e-7, 0.0), (1e7, 0.3)])
def test_the_prices_do_not_depend_on_the_unit_of_the_table(unit, ridge):
    X, Y = draw(3)
    X[:, 7] = X[:, 0] + X[:, 2]  # depends on two members: no candidate without a ridge
    support = np.array([0, 2, 5])
    (plain, change), (other, changed) = (
        price_exchanges(regression(u * X, Y, ridge=ridge * u**2), support) for u in (1.0, unit)
    )
    np.testing.assert_array_equal(other, plain)
    assert (7 in plain) == (ridge > 0.0)
    np.testing.assert_allclose(changed, change, rtol=1e-6, atol=1e-9)


def test_few_candidates_are_those_that_would_add_most(monkeypatch):
    monkeypatch.setattr(defaults, "EXCHANGE_CANDIDATES", 6)
    X, Y = draw(5, n=30, d=40)
    problem = regression(X, Y, ridge=1.0, n_features=4)
    order = run(ForwardSelection(), problem, max_iter=4).state.order
    few, _ = price_exchanges(problem, np.asarray(order))
    losses = np.array([brute_loss(X, Y, [*order, j], 1.0) for j in range(40)])
    outside = np.setdiff1d(np.arange(40), order)
    expected = outside[np.argsort(losses[outside])[:6]]
    assert few.tolist() == sorted(expected.tolist())


@fast
@given(seeds, st.sampled_from([0.05, 0.3, 30.0]), st.integers(1, 11))
def test_with_a_limit_exactly_k_features_remain_and_no_exchange_improves(seed, ridge, k):
    X, Y = draw(seed, n=8, d=12)
    problem = regression(X, Y, ridge=ridge, n_features=k)
    start = np.random.default_rng(seed).permutation(12)[:k]
    found = exchange(problem, start)
    assert len(set(found.tolist())) == len(found) == k
    value = brute_loss(X, Y, found, ridge)
    assert value <= brute_loss(X, Y, start, ridge) + 1e-9
    least = 2e-6 * 0.5 * np.sum(Y**2)  # what an exchange must gain, and rounding
    assert all(brute_loss(X, Y, other, ridge) >= value - least for other in exchanged(found, 12))


@pytest.mark.parametrize("k", [3, 10])
def test_strict_arrays_give_the_same_support(k):
    X, Y = draw(2, d=12, n=8)
    start = np.arange(k)
    found = [
        exchange(regression(A, B, ridge=0.5, n_features=k), start)
        for A, B in ((X, Y), (strict.asarray(X), strict.asarray(Y)))
    ]
    assert {*found[1].tolist()} == {*found[0].tolist()}


@pytest.mark.parametrize("seed", range(2))
def test_an_exchange_must_lower_the_objective_by_the_least_share(monkeypatch, seed):
    X, Y = draw(seed, n=20)
    start = np.array([1])
    problem = regression(X, Y, ridge=1.0, n_features=1)
    here = brute_loss(X, Y, start, 1.0)
    best = here - min(brute_loss(X, Y, [j], 1.0) for j in range(8))
    share = best / (0.5 * np.sum(Y**2))
    for factor, moves in ((0.8, True), (1.25, False)):
        monkeypatch.setattr(defaults, "LEAST_EXCHANGE", factor * share)
        assert (exchange(problem, start).tolist() != [1]) == moves


@pytest.mark.parametrize("k", [0, 8])
def test_where_nothing_can_be_exchanged_the_support_stays(k):
    X, Y = draw(0, n=8, d=12)
    problem = RowSparseRegression(as_operator(X, center=False), Y, n_features=k)
    np.testing.assert_array_equal(exchange(problem, np.arange(k)), np.arange(k))
