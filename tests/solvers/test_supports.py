"""W-steps that never lose, and rankings that pass through a support."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import as_operator
from featsieve.solvers import ForwardSelection, RowSparseRegression, run, supports
from featsieve.solvers.supports import exchange_support, largest_sparsity, rank_features

fast = settings(max_examples=10, deadline=None)
seeds = st.integers(0, 10**6)


def draw(seed, n=14, d=9, c=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 1.5 * rng.standard_normal((n, 1))
    Y = X[:, ::2] @ rng.standard_normal((X[:, ::2].shape[1], c)) + rng.standard_normal((n, c))
    return X, Y - Y.mean(axis=0)


def find_support(problem, **options):
    return supports.find_support(problem, **options)[0]


def path_through(problem, support, *, length, **options):
    return supports.path_through(problem, support, length=length, **options).nested()


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


@pytest.mark.parametrize("find", [find_support, exchange_support])
@fast
@given(seed=seeds, ridge=st.sampled_from([0.5, 20.0]), k=st.integers(1, 9))
def test_a_fixed_number_of_features_is_met_and_never_worse(find, seed, ridge, k):
    problem = regression(seed, ridge=ridge, n_features=k)
    known = np.random.default_rng(seed).permutation(9)[:k]
    found = find(problem, known=known)
    assert len(set(found.tolist())) == k
    assert brute_value(problem, found) <= brute_value(problem, known) + 1e-9
    assert len(find(problem)) == k


@fast
@given(seed=seeds, ridge=st.sampled_from([0.0, 0.5, 20.0]), lam=st.floats(0.02, 40.0))
def test_a_penalty_is_never_worse_than_the_known_or_the_empty_support(seed, ridge, lam):
    problem = regression(seed, ridge=ridge, sparsity=lam)
    known = np.random.default_rng(seed).permutation(9)[:3]
    found = find_support(problem, known=known)
    assert len(found) > 0
    assert brute_value(problem, found) <= brute_value(problem, known) + 1e-9
    anew = find_support(problem)
    assert brute_value(problem, anew) <= brute_value(problem, []) + 1e-9
    assert problem.value(anew) == pytest.approx(brute_value(problem, anew))


@fast
@given(seed=seeds, ridge=st.sampled_from([0.5, 20.0]))
def test_the_largest_sparsity_selects_and_more_does_not(seed, ridge):
    largest = largest_sparsity(regression(seed, ridge=ridge))
    below = regression(seed, ridge=ridge, sparsity=largest * (1 - 1e-9))
    assert len(find_support(below)) > 0
    above = regression(seed, ridge=ridge, sparsity=largest * (1 + 1e-6))
    assert len(find_support(above)) == 0
    single = max(brute_value(below, []) - brute_value(below, [j]) for j in range(9))
    assert largest == pytest.approx(single + below.sparsity)


@fast
@given(seed=seeds, k=st.integers(1, 6), more=st.integers(0, 3))
def test_a_path_passes_through_its_support_and_prices_every_step(seed, k, more):
    problem = regression(seed, ridge=2.0)
    support = np.random.default_rng(seed).permutation(9)[:k]
    path = path_through(problem, support, length=k + more)
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
    path = path_through(problem, np.sort(forward.order[:4]), length=7)
    assert path.order.tolist() == forward.order
    np.testing.assert_allclose(path.half_gains, forward.half_gains)


@fast
@given(seed=seeds, k=st.integers(1, 6), length=st.integers(0, 9))
def test_scores_fall_along_the_order_and_are_in_units_of_the_whole_loss(seed, k, length):
    X, Y = draw(seed)
    X[:, 2] = 5.0
    problem = RowSparseRegression(as_operator(X), Y, ridge=2.0)
    support = np.setdiff1d(np.random.default_rng(seed).permutation(9)[:k], [2])
    ranking = rank_features(problem, support, length=length, unit=2.0)
    scores, order, path = ranking.scores, ranking.order, ranking.path
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


def random_support(seed, k):
    """Return a support that nobody looked for."""
    return np.random.default_rng(seed).permutation(9)[:k]


@pytest.mark.parametrize("unit", [1e-8, 1e8])
@pytest.mark.parametrize("find", [find_support, exchange_support])
def test_a_poor_support_is_improved_on_whatever_the_unit(find, unit):
    X, Y = draw(0)
    operator = as_operator(X, scale="std")
    problem = RowSparseRegression(operator, unit * Y, ridge=1.0, n_features=3)
    values = {S: brute_value(problem, S) for S in combinations(range(9), 3)}
    worst = np.array(max(values, key=values.get))
    found = find(problem, known=worst)
    assert brute_value(problem, found) < 0.9 * brute_value(problem, worst)
    # exchanges alone find a better one too
    assert set(exchange_support(problem, known=worst, fresh=False)) != set(worst)
    # as good a support in another order is no progress
    again = find(problem, known=found[::-1])
    np.testing.assert_array_equal(again, found[::-1])


def test_no_support_at_all_is_not_an_answer_once_there_is_one():
    costly = regression(1, ridge=1.0, sparsity=1e6)
    assert len(find_support(costly, known=np.array([4]))) == 1
    assert len(find_support(costly)) == 0


def test_both_starts_are_searched_and_the_better_end_is_taken():
    better = set()
    for seed in (5, 74, 102, 116, 148):
        problem = regression(seed, ridge=0.05, n_features=2)
        known = random_support(seed, 2)
        starts = ({}, {"known": known, "fresh": False})
        ends = [brute_value(problem, exchange_support(problem, **start)) for start in starts]
        found = exchange_support(problem, known=known)
        assert brute_value(problem, found) == pytest.approx(min(ends), rel=1e-12)
        better.add(ends[0] < ends[1])
    assert better == {True, False}


def test_members_enter_a_path_by_their_gain_and_ties_by_their_index():
    X, Y = draw(4, c=1)
    X[:, 6] = X[:, 1]
    X[:, 7] = X[:, 1] + 1e-6 * X[:, 5] * np.sign(X[:, 5] @ Y[:, 0])
    problem = RowSparseRegression(as_operator(X), Y, ridge=0.5)
    values = [brute_value(problem, [j]) for j in (1, 6, 7)]
    assert values[0] == pytest.approx(values[1], rel=1e-14)
    better = 7 if values[2] < values[0] else 1
    assert 1e-7 < abs(values[2] - values[0]) / (brute_value(problem, []) - values[0]) < 1e-5
    assert path_through(problem, np.array([7, 1]), length=2).order[0] == better
    assert path_through(problem, np.array([6, 1]), length=2).order.tolist() == [1, 6]


@pytest.mark.parametrize(("seed", "unit"), [(0, 1.0), (1, 1e-3)])
def test_off_the_path_a_score_is_what_the_feature_would_add(seed, unit):
    X, Y = draw(seed)
    problem = RowSparseRegression(as_operator(X), unit * Y, ridge=2.0)
    ranking = rank_features(problem, random_support(seed, 3), length=4, unit=2.0)
    scores, order, path = ranking.scores, ranking.order, ranking.path
    here = brute_value(problem, path.order)
    for j in order[4:]:
        adds = 2.0 * (here - brute_value(problem, [*path.order, j]))
        assert scores[j] == pytest.approx(min(adds, scores[order[3]]), rel=1e-6)
    losses = [brute_value(problem, path.order[:k]) for k in range(5)]
    worth = np.minimum.accumulate(-2.0 * np.diff(losses))
    np.testing.assert_allclose(scores[path.order], worth, rtol=1e-6)
