"""Agreement, target, consensus and certainty of hypotheses, against brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from featsieve.hypotheses import pool as module
from featsieve.hypotheses.pool import Pool, agreement, mutual_information


@settings(max_examples=60)
@given(st.integers(2, 40), st.integers(1, 6), st.integers(1, 6), st.integers(0, 10_000))
def test_mutual_information_is_that_of_scikit_learn(n, c, e, seed):
    rng = np.random.default_rng(seed)
    one, other = rng.integers(c, size=n), rng.integers(e, size=n)
    expected = normalized_mutual_info_score(one, other)
    assert mutual_information(one, other) == pytest.approx(expected, abs=1e-9)
    assert mutual_information(one, one) == pytest.approx(1.0)


def test_agreement_is_the_mean_over_pairs():
    rng = np.random.default_rng(0)
    labels = [rng.integers(3, size=30) for _ in range(4)]
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    expected = [normalized_mutual_info_score(labels[i], labels[j]) for i, j in pairs]
    assert agreement(labels) == pytest.approx(np.mean(expected))
    assert agreement(labels[:1]) == 1.0


def noisy_pool(seed, *, n=40, c=3, m=5, wrong=0.2):
    """Return a pool of copies of one partition, each with some samples at random."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % c)
    copies = []
    for _ in range(m):
        moved = np.where(rng.random(n) < wrong, rng.integers(c, size=n), truth)
        moved[:c] = rng.permutation(c)  # none is empty
        copies.append(rng.permutation(c)[moved])
    return Pool.of(copies, c, weights=list(rng.uniform(0.5, 2.0, m))), truth


def coassociation(pool):
    together = pool.labels[:, :, None] == pool.labels[:, None, :]
    return np.tensordot(pool.weights, together.astype(float), axes=1)


def dense_consensus(pool, n_clusters):
    """Return spectral clusters (unit rows) of the n x n co-association."""
    C = coassociation(pool)
    root = np.sqrt(C.sum(axis=1))
    U = np.linalg.eigh(C / root[:, None] / root)[1][:, -n_clusters:]
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    return KMeans(n_clusters, n_init=50, random_state=0).fit_predict(U)


@pytest.mark.parametrize("seed", range(6))
def test_the_consensus_is_spectral_clustering_of_the_coassociation(seed):
    pool, truth = noisy_pool(seed)
    found = pool.consensus(np.random.default_rng(0))
    assert adjusted_rand_score(dense_consensus(pool, 3), found) == 1.0
    alone = [adjusted_rand_score(truth, one) for one in pool.labels]
    assert adjusted_rand_score(truth, found) > np.mean(alone)


def test_lanczos_gives_the_consensus_of_the_dense_solver(monkeypatch):
    pool, _ = noisy_pool(0, n=120, c=4, m=12)
    dense = pool.consensus(np.random.default_rng(0))
    monkeypatch.setattr(module, "LARGEST_DENSE", 10)
    np.testing.assert_array_equal(pool.consensus(np.random.default_rng(0)), dense)


@pytest.mark.parametrize("m", [1, 2, 7])
def test_identical_hypotheses_are_their_consensus(m):
    labels = np.array([0, 1, 1, 2, 0, 3, 3, 2, 0, 1])
    pool = Pool.of([labels] * m, 4)
    found = pool.consensus(np.random.default_rng(0))
    np.testing.assert_array_equal(found, labels)
    np.testing.assert_allclose(pool.certainty(found), 1.0)


@pytest.mark.parametrize("seed", range(3))
def test_certainty_is_the_mean_coassociation_with_the_own_cluster(seed):
    pool, truth = noisy_pool(seed)
    truth[truth == 2] = 1
    truth[7] = 2  # a sample alone
    C = coassociation(pool)
    expected = np.ones(len(truth))
    for i, label in enumerate(truth):
        others = np.flatnonzero(truth == label)
        others = others[others != i]
        if len(others):
            expected[i] = C[i, others].mean()
    np.testing.assert_allclose(pool.certainty(truth), expected, rtol=1e-12)


def test_certainty_of_samples_that_follow_others():
    pool, truth = noisy_pool(0)
    rng = np.random.default_rng(0)
    rows = rng.integers(len(truth), size=5 * len(truth))
    labels = np.where(rng.random(len(rows)) < 0.9, truth[rows], 0)
    expected = pool.at(rows).certainty(labels)
    np.testing.assert_allclose(pool.certainty(labels, rows), expected, rtol=1e-12)


@pytest.mark.parametrize("m", [1, 3, 30])  # 30: more columns than half of the samples, factored
def test_the_target_has_the_products_of_all_hypotheses(m):
    pool, _ = noisy_pool(1, m=m)
    expected = np.zeros((40, 40))
    for labels, weight in zip(pool.labels, pool.weights, strict=True):
        M = np.eye(3)[labels]
        F = M / np.sqrt(M.sum(axis=0))
        F -= F.mean(axis=0)
        expected += weight * F @ F.T
    Y = pool.target()
    assert Y.shape[1] <= 40
    np.testing.assert_allclose(Y @ Y.T, expected, atol=1e-12)


def test_pools_are_joined_by_the_squares_of_their_agreement():
    one, other = noisy_pool(0, m=2)[0], noisy_pool(1, m=6)[0]
    both = Pool.joined([one, other])
    assert both.labels.shape == (8, 40)

    def agreement_by_weights(pool):
        pairs = list(combinations(range(len(pool.labels)), 2))
        values = [normalized_mutual_info_score(pool.labels[a], pool.labels[b]) for a, b in pairs]
        return np.average(values, weights=[pool.weights[a] * pool.weights[b] for a, b in pairs])

    mine, others = agreement_by_weights(one) ** 2, agreement_by_weights(other) ** 2
    np.testing.assert_allclose(both.weights[:2].sum(), mine / (mine + others))
    np.testing.assert_allclose(both.weights.sum(), 1.0)
    np.testing.assert_array_equal(both.labels[2:], other.labels)
