"""Families of hypotheses: their members against brute force, how far they are believed."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score

from featsieve import JASFS, defaults
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.hypotheses import families
from featsieve.hypotheses.families import (
    Belief,
    components,
    first_hypotheses,
    second_hypotheses,
    second_sizes,
    table_labels,
    two_means_share,
)
from featsieve.hypotheses.sparse_kmeans import sparse_kmeans


def first(X, n_clusters, seed=0, **options):
    operator = as_operator(X, scale="unit")
    return first_hypotheses(X, operator, n_clusters, np.random.default_rng(seed), **options)


# Members ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(30, 80), (90, 20), (450, 420)])
def test_components_are_principal_components(shape):
    rng = np.random.default_rng(0)
    A = rng.standard_normal(shape) * np.geomspace(10.0, 0.1, shape[1])
    A -= A.mean(axis=0)
    found = components(A, rng)
    assert found.shape[1] == min(100, *shape)
    expected = PCA(5, svd_solver="full").fit_transform(A)
    np.testing.assert_allclose(np.abs(found[:, :5]), np.abs(expected), atol=1e-3)


@pytest.mark.parametrize("n", [30, 120])
def test_the_best_cut_into_two_is_that_of_all_cuts(n):
    rng = np.random.default_rng(0)
    Z = np.stack(
        [
            rng.standard_normal(n),
            np.where(rng.random(n) < 0.4, 5.0, 0.0) + rng.standard_normal(n),
            (rng.random(n) < 0.3).astype(float),
            np.r_[100.0, rng.standard_normal(n - 1)],  # one outlier: not a mode
            np.zeros(n),
        ],
        axis=1,
    )
    fewest = max(2, round(0.02 * n))
    expected = np.zeros(5)
    for j, column in enumerate(np.sort(Z, axis=0).T):
        total = n * column.var()
        for cut in range(fewest, n - fewest + 1):
            left, right = column[:cut], column[cut:]
            within = cut * left.var() + (n - cut) * right.var()
            if total > 0.0:
                expected[j] = max(expected[j], 1.0 - within / total)
    np.testing.assert_allclose(two_means_share(Z), expected, atol=1e-9)


def test_tables_of_few_rows_have_no_modes():
    assert np.isfinite(two_means_share(np.random.default_rng(0).standard_normal((3, 2)))).all()


def witten_tibshirani(Z, labels, n_columns, n_clusters):
    """Return the weights of sparse k-means for given labels, column by column."""
    between = np.array(
        [
            sum(
                np.sum(labels == k) * (column[labels == k].mean() - column.mean()) ** 2
                for k in range(n_clusters)
            )
            for column in Z.T
        ]
    )
    threshold = np.sort(between)[::-1][n_columns]
    return np.maximum(between - threshold, 0.0)


def test_sparse_kmeans_ends_where_labels_and_weights_belong_together():
    planted = make_planted(120, 60, n_informative=8, n_clusters=3, signal=2.0, random_state=1)
    Z = (planted.X - planted.X.mean(axis=0)) / planted.X.std(axis=0)
    rng = np.random.default_rng(0)
    labels = sparse_kmeans(Z, components(Z, rng)[:, :10], 3, 8, rng)
    assert adjusted_rand_score(planted.labels, labels) > 0.95
    weights = witten_tibshirani(Z, labels, 8, 3)
    assert set(np.flatnonzero(weights)) == set(np.flatnonzero(planted.informative))
    again = KMeans(3, n_init=20, random_state=0).fit_predict(Z * np.sqrt(weights))
    assert adjusted_rand_score(again, labels) == 1.0


def test_sparse_kmeans_of_fewer_columns_than_asked_for_takes_all():
    planted = make_planted(60, 5, n_informative=5, n_clusters=3, signal=4.0, random_state=0)
    Z = planted.X - planted.X.mean(axis=0)
    labels = sparse_kmeans(Z, Z, 3, 16, np.random.default_rng(0))
    assert adjusted_rand_score(planted.labels, labels) > 0.95


# Belief -------------------------------------------------------------------------------------------


def test_belief_is_the_excess_over_chance():
    a, b = np.arange(60) % 3, np.arange(60) // 20
    belief = Belief()
    belief.add("same", [a, a, a], by_chance=(0.5, np.nan))
    belief.add("as by chance", [a, a], by_chance=(0.2, 1.0))
    belief.add("less than chance", [a, b], by_chance=(0.3, 0.1))
    belief.add("little room", [a, a], by_chance=(0.9, 0.1))
    np.testing.assert_allclose(belief.weight, [1.0, 0.0, 0.0, 0.1 / defaults.LEAST_ROOM])
    assert belief.n_members == [3, 2, 2, 2]


@pytest.mark.parametrize(("n", "d", "informative"), [(60, 200, 150), (300, 50, 40)])
def test_many_informative_columns_make_the_hat_family_credible(n, d, informative):
    planted = make_planted(
        n, d, n_informative=informative, n_clusters=3, signal=2.0, random_state=0
    )
    pool, belief = first(planted.X, 3)
    assert belief.family == ["hat"]
    assert belief.weight == [1.0]
    assert belief.agreement[0] > 0.9 > 0.3 > belief.permuted[0]
    assert len(pool.labels) == 2 * defaults.HAT_SPLITS + 2  # halves, all columns, ranks
    assert adjusted_rand_score(planted.labels, pool.consensus(np.random.default_rng(0))) == 1.0


@pytest.mark.parametrize("seed", [0, 1])
def test_few_informative_columns_are_found_by_other_families(seed):
    planted = make_planted(150, 300, n_informative=15, n_clusters=4, signal=1.5, random_state=seed)
    Z = (planted.X - planted.X.mean(axis=0)) / planted.X.std(axis=0)
    pool, belief = first(Z, 4)
    weight = dict(zip(belief.family, belief.weight, strict=True))
    assert weight["hat"] < 0.05
    assert max(weight, key=weight.get) in ("sparse", "modes")
    assert sum(weight.values()) == pytest.approx(1.0)
    assert pool.weights.sum() == pytest.approx(1.0)
    assert adjusted_rand_score(planted.labels, pool.consensus(np.random.default_rng(0))) > 0.8


def test_genes_that_are_zero_nearly_everywhere_hide_no_modes(monkeypatch):
    """Each falls into two parts by itself, more clearly than columns with groups do."""
    planted = make_planted(60, 2000, n_informative=10, n_clusters=3, signal=2.6, random_state=1)
    X, others, rng = (
        planted.X.copy(),
        np.flatnonzero(~planted.informative),
        np.random.default_rng(0),
    )
    silent, together = others[:160], others[160:240]
    X[:, together] += 2.0 * rng.standard_normal((60, 1))
    seen = rng.random((60, 160)).argsort(axis=0) < 4
    X[:, silent] = np.where(seen, 6.0 + X[:, silent], 0.0)
    sieve = JASFS(3, n_features_to_select=10, random_state=0)
    found = adjusted_rand_score(planted.labels, sieve.fit_predict(X))
    monkeypatch.setattr(families, "has_many_ties", lambda Z: np.zeros(Z.shape[1], dtype=bool))
    assert found > 0.9 > 0.1 > adjusted_rand_score(planted.labels, sieve.fit_predict(X))


def test_noise_is_hardly_believed(monkeypatch):
    """Before the weights are made to sum to one, none says much: no family agrees on noise."""
    most = []
    for seed in range(3):
        noise = np.random.default_rng(seed).standard_normal((100, 150))
        beliefs = []
        monkeypatch.setattr("featsieve.hypotheses.families.Belief", lambda into=beliefs: kept(into))
        first(noise, 4, seed)
        most.append(max(beliefs))
    assert np.median(most) < defaults.CREDIBLE_EXCESS


def kept(weights):
    """Return a belief that writes down its weights before they are divided by their sum."""

    class Kept(Belief):
        def add(self, *arguments, **options):
            super().add(*arguments, **options)
            weights.append(self.weight[-1])

    return Kept()


def test_units_of_columns_matter_to_the_raw_family_alone():
    planted = make_planted(100, 150, n_informative=8, n_clusters=3, signal=2.0, random_state=0)
    units = 10.0 ** np.random.default_rng(0).uniform(-3, 3, 150)
    _, one = first(planted.X, 3)
    _, other = first(planted.X * units, 3)
    assert one.family == other.family
    for i, family in enumerate(one.family):
        if family not in ("raw",):
            assert one.agreement[i] == pytest.approx(other.agreement[i], abs=0.15), family


@pytest.mark.parametrize("n_splits", [1, 2, 5])
def test_the_number_of_hypotheses_is_that_of_the_splits(n_splits):
    planted = make_planted(60, 50, n_informative=30, n_clusters=3, signal=3.0, random_state=0)
    pool, belief = first(planted.X, 3, n_splits=n_splits)
    assert belief.n_members[0] == 2 * n_splits + 1
    assert len(pool.labels) == 2 * n_splits + 2


@pytest.mark.parametrize("n_varying", [1, 2, 3])
@pytest.mark.parametrize("n", [20, 90])
def test_halves_are_halves_of_the_columns_that_vary(n, n_varying):
    planted = make_planted(n, 3, n_informative=3, n_clusters=3, signal=4.0, random_state=0)
    X = np.hstack([planted.X[:, :n_varying], np.ones((n, 40))])
    pool, belief = first(X, 3)
    assert belief.n_members[0] == (1 if n_varying == 1 else 2 * defaults.HAT_SPLITS + 1)
    for labels in pool.labels:
        assert np.bincount(labels, minlength=3).min() > 0


def test_table_labels_are_the_consensus_of_the_first_stage():
    planted = make_planted(60, 200, n_informative=150, n_clusters=3, signal=2.0, random_state=0)
    labels = table_labels(planted.X, 3, random_state=np.random.RandomState(0))
    assert adjusted_rand_score(planted.labels, labels) == 1.0


# The second stage ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_columns", "sizes"),
    [(1, [1]), (2, [2]), (9, [2, 3]), (400, [50, 133]), (2000, [50, 300])],
)
def test_the_second_stage_looks_at_these_numbers_of_columns(n_columns, sizes):
    assert second_sizes(n_columns) == sizes


def test_the_second_stage_sees_the_selected_columns_alone():
    planted = make_planted(120, 24, n_informative=24, n_clusters=4, signal=2.0, random_state=0)
    asked = []

    def columns(count):
        asked.append(count)
        return (planted.X - planted.X.mean(axis=0))[:, :count]

    pool = second_hypotheses(columns, 192, 4, np.random.default_rng(0))
    assert asked == [24, 64]
    assert pool.labels.shape == (12, 120)
    np.testing.assert_allclose(pool.weights, 1 / 12)
    for labels in pool.labels:
        assert adjusted_rand_score(planted.labels, labels) > 0.9
