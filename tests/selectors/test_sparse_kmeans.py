"""Sparse k-means: weights against a general optimiser, clusters against all partitions."""

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.metrics import adjusted_rand_score

from featsieve import SKFR, SparseKMeans
from featsieve.datasets import make_planted
from featsieve.hypotheses.sparse_kmeans import weights_of_some, weights_within
from featsieve.tuning import AutoSelector


def between_squares(X, labels):
    """Return the sum of squares between the clusters, column by column."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    return sum(np.sum(labels == k) * Z[labels == k].mean(axis=0) ** 2 for k in np.unique(labels))


def solved(between, bound):
    """Return the largest sum of w_j b_j under the constraints, by a general optimiser."""
    d = len(between)
    found = minimize(
        lambda w: -w @ between / between.max(),
        np.full(d, 0.5 / d),
        method="SLSQP",
        bounds=[(0.0, 1.0)] * d,
        constraints=[
            {"type": "ineq", "fun": lambda w: 1.0 - w @ w},
            {"type": "ineq", "fun": lambda w: bound - w.sum()},
        ],
        options={"maxiter": 500, "ftol": 1e-14},
    )
    return -found.fun * between.max()


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_the_best_under_the_constraints(seed):
    between = np.random.default_rng(seed).gamma(0.5, size=8)
    for bound in (1.0, 1.1, 1.5, 2.0, 2.5, 10.0):
        weights = weights_within(between, bound)
        assert (weights >= 0.0).all()
        assert weights @ weights <= 1.0 + 1e-12
        assert weights.sum() <= bound + 1e-9
        assert weights @ between == pytest.approx(solved(between, bound), rel=1e-6)


def test_weights_of_columns_that_tie():
    # No threshold gives the l1 norm asked for: equal weights are shortened.
    np.testing.assert_allclose(weights_within(np.ones(4), 1.2), np.full(4, 0.3))
    np.testing.assert_allclose(weights_within(np.zeros(4), 1.2), np.zeros(4))


@pytest.mark.parametrize("count", [1, 3, 7, 8])
def test_a_number_of_weights_has_a_bound(count):
    between = np.random.default_rng(count).gamma(1.0, size=8)
    weights = weights_of_some(between, count)
    assert np.count_nonzero(weights) == count
    bound = weights.sum() / np.linalg.norm(weights)
    unit = weights / np.linalg.norm(weights)
    np.testing.assert_allclose(weights_within(between, bound), unit, atol=1e-7)


def test_the_best_of_all_partitions_is_found():
    found = 0
    for seed in range(10):
        X = np.random.default_rng(seed).standard_normal((8, 4))
        every = [np.array((0, *rest)) for rest in product((0, 1), repeat=7) if any(rest)]
        best = max(
            weights_within(b, 1.4) @ b for b in (between_squares(X, labels) for labels in every)
        )
        sieve = SparseKMeans(2, bound=1.4, random_state=0).fit(X)
        value = sieve.scores_ @ between_squares(X, sieve.labels_)
        assert value <= best + 1e-9
        assert value == pytest.approx(-sieve.objective_[-1])
        found += value >= best - 1e-9
    assert found >= 6


@pytest.mark.parametrize("bound", [1.2, 3.0, 10.0])
def test_the_objective_never_rises_and_ends_at_a_fixed_point(bound):
    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal((60, 200))
        sieve = SparseKMeans(4, bound=bound, tol=0.0, max_iter=15, random_state=seed)
        with pytest.warns(UserWarning, match="max_iter"):
            sieve.fit(X)
        assert (np.diff(sieve.objective_) <= 1e-9).all()
        between = between_squares(X, sieve.labels_)
        np.testing.assert_allclose(sieve.scores_, weights_within(between, bound), atol=1e-6)


def test_as_many_weights_as_asked_for():
    made = make_planted(90, 120, n_informative=10, n_clusters=3, signal=2.0, random_state=0)
    sieve = SparseKMeans(3, n_features_to_select=10, random_state=0).fit(made.X)
    assert np.count_nonzero(sieve.scores_) == 10
    assert (sieve.support_ & made.informative).sum() >= 9
    again = SparseKMeans(3, bound=sieve.bound_, random_state=0).fit(made.X)
    assert (again.support_ == sieve.support_).all()
    np.testing.assert_allclose(again.scores_, sieve.scores_, atol=1e-9)


def test_the_gap_statistic_chooses_a_bound():
    made = make_planted(40, 25, n_informative=6, n_clusters=3, signal=3.0, random_state=0)
    sieve = SparseKMeans(3, n_permutations=3, random_state=0).fit(made.X)
    assert sieve.bounds_[[0, -1]] == pytest.approx([1.2, 0.9 * 5.0])
    assert sieve.bound_ == sieve.bounds_[np.argmax(sieve.gap_)]
    assert sieve.gap_.max() > 0.3  # clusters: beyond what permuted columns have
    assert sieve.n_features_selected_ == np.count_nonzero(sieve.scores_)
    assert made.informative[np.argsort(sieve.ranking_)[:4]].all()


def test_a_bound_and_a_number_contradict_each_other():
    with pytest.raises(ValueError, match="leave bound at 'auto'"):
        SparseKMeans(2, n_features_to_select=3, bound=2.0).fit(np.eye(5))


@pytest.mark.parametrize("method", [SKFR, SparseKMeans])
def test_columns_that_are_bought_together_are_weighed_together(method):
    rng = np.random.default_rng(0)
    kind = rng.integers(3, size=150)
    near = np.where(rng.random(150) < 0.9, kind, rng.integers(3, size=150))
    X = np.hstack([np.eye(3)[kind], np.eye(3)[near], rng.standard_normal((150, 6))])
    groups = {"kind": [0, 1, 2], "near": [3, 4, 5]}
    sieve = method(3, n_features_to_select=2, groups=groups, random_state=0).fit(X)
    assert np.flatnonzero(sieve.support_).tolist() == [0, 1, 2, 3, 4, 5]
    assert adjusted_rand_score(kind, sieve.labels_) > 0.5  # of both: they agree so far


def test_what_is_kept_counts_where_the_bound_decides():
    X = make_planted(100, 40, n_informative=5, random_state=0).X
    sieve = SparseKMeans(4, bound=1.0, keep=range(2, 12), random_state=0).fit(X)
    assert np.flatnonzero(sieve.support_).tolist() == list(range(2, 12))
    assert AutoSelector(SparseKMeans(4, bound=2.0, random_state=0)).fit(X).n_features_selected_ < 40
