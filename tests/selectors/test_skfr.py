"""SKFR: against all partitions and subsets, and against the published iteration step by step."""

from itertools import combinations, product

import numpy as np
import pytest

from featsieve import SKFR
from featsieve.arrays import as_operator
from featsieve.selectors.skfr import largest
from featsieve.solvers.block_problem import solve
from featsieve.solvers.weighted_kmeans import WeightedKMeans


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0)


def sum_of_squares(Z, labels, columns):
    """Return the sum over samples of ||x - θ||², θ the means in some columns and 0 in others."""
    centres = np.zeros((labels.max() + 1, Z.shape[1]))
    for k in np.unique(labels):
        centres[k, columns] = Z[labels == k][:, columns].mean(axis=0)
    return float(np.sum((Z - centres[labels]) ** 2))


def published(Z, labels, n_clusters, n_columns):
    """Iterate as the paper says, sample by sample, until no label changes."""
    labels = labels.copy()
    while True:
        centres = np.array([Z[labels == k].mean(axis=0) for k in range(n_clusters)])
        sizes = np.bincount(labels, minlength=n_clusters)
        criterion = (sizes[:, None] * centres**2).sum(axis=0)
        columns = np.argsort(-criterion, kind="stable")[:n_columns]
        kept = np.zeros_like(centres)
        kept[:, columns] = centres[:, columns]
        moved = np.array([np.argmin([np.sum((x - c) ** 2) for c in kept]) for x in Z])
        if (moved == labels).all():
            return labels, set(columns.tolist())
        if len(np.unique(moved)) < n_clusters:
            return None  # it leaves a cluster empty: ours does not
        labels = moved


def test_the_best_of_all_partitions_and_subsets_is_found():
    found = 0
    for seed in range(10):
        X = np.random.default_rng(seed).standard_normal((8, 5))
        Z = standardised(X)
        every = [np.array((0, *rest)) for rest in product((0, 1), repeat=7) if any(rest)]
        best = min(
            sum_of_squares(Z, labels, list(columns))
            for labels in every
            for columns in combinations(range(5), 2)
        )
        sieve = SKFR(2, n_features_to_select=2, random_state=0).fit(X)
        value = sum_of_squares(Z, sieve.labels_, np.flatnonzero(sieve.support_))
        assert value == pytest.approx(sieve.objective_[-1])
        assert value >= best - 1e-9
        found += value <= best + 1e-9
    assert found >= 6


def test_every_iteration_is_the_published_one():
    compared = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((40, 15)) + 1.5 * (np.arange(40) % 3)[:, None] * (np.arange(15) < 4)
        labels = rng.permutation(np.arange(40) % 3)
        expected = published(standardised(X), labels, 3, 4)
        operator = as_operator(X, scale="std")
        problem = WeightedKMeans(operator, 3, lambda b: largest(b, 4), by_steps=True)
        if expected is not None:
            compared += 1
            found = solve(problem, problem.start(labels), tol=1e-15).state
            np.testing.assert_array_equal(found.labels, expected[0])
            assert set(np.flatnonzero(found.weights).tolist()) == expected[1]
    assert compared >= 8


@pytest.mark.parametrize("count", [3, 100])  # the second: more than samples
def test_the_objective_never_rises(count):
    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal((60, 200))
        sieve = SKFR(5, n_features_to_select=count, random_state=seed).fit(X)
        assert (np.diff(sieve.objective_) <= 1e-7).all()
        assert len(np.unique(sieve.labels_)) == 5
        # no random labels with their best columns do better
        Z, rng = standardised(X), np.random.default_rng(0)
        for _ in range(20):
            labels = rng.permutation(sieve.labels_)
            between = sum((labels == k).sum() * Z[labels == k].mean(axis=0) ** 2 for k in range(5))
            columns = np.argsort(-between)[:count]
            assert sum_of_squares(Z, labels, columns) > sieve.objective_[-1]


def test_scores_are_shares_of_variance_between_the_clusters():
    X = np.random.default_rng(0).standard_normal((50, 10))
    sieve = SKFR(3, n_features_to_select=2, random_state=0).fit(X)
    Z = standardised(X)
    within = sum((sieve.labels_ == k).sum() * Z[sieve.labels_ == k].var(axis=0) for k in range(3))
    np.testing.assert_allclose(sieve.scores_, 1.0 - within / 50, atol=1e-9)
