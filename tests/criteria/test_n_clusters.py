"""The number of clusters: known on clear tables, 2 on noise, and honest about its range."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine

from featsieve import defaults
from featsieve.criteria.n_clusters import (
    ClusterCount,
    candidate_numbers,
    overlap,
    separation,
)
from featsieve.datasets import make_cells, make_planted
from featsieve.io.counts import read_expression
from featsieve.tuning import suggest_n_clusters


def blobs(c, *, per_cluster=20, d=200, seed=0):
    """Return clusters that lie well apart in all of many columns."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(per_cluster * c) % c)
    centres = 3.0 * rng.standard_normal((c, d))
    return centres[labels] + rng.standard_normal((len(labels), d))


def count(X, **settings):
    return suggest_n_clusters(X, random_state=0, **settings)


@pytest.mark.parametrize("c", [2, 4, 6])
def test_blobs_in_many_columns_are_counted_exactly(c):
    found = count(blobs(c), most=12)
    assert found.n_clusters == c
    assert found.view == "hat"


def test_few_informative_columns_that_drown_in_the_hat_metric_are_found():
    planted = make_planted(200, 100, n_informative=10, n_clusters=4, random_state=0)
    found = count(planted.X, most=10)
    assert (found.n_clusters, found.view) == (4, "raw")


def test_informative_columns_of_small_variance_show_in_scaled_distances():
    planted = make_planted(120, 200, n_informative=10, n_clusters=3, signal=5.0, random_state=0)
    X = planted.X.copy()
    X[:, planted.informative] *= 0.01
    found = count(X, most=10)
    assert (found.n_clusters, found.view) == (3, "scaled")


@pytest.mark.parametrize(("c", "n_noise"), [(3, 0), (4, 0), (5, 0), (3, 4), (4, 4)])
def test_clusters_on_a_line_are_counted_exactly(c, n_noise):
    """Regression on indicators masks all but the outer ones, and the hat metric favours noise."""
    rng = np.random.default_rng(c)
    labels = np.repeat(np.arange(c), 40)
    X = rng.standard_normal((len(labels), 4 + n_noise))
    X[:, :4] += 5.0 * labels[:, None]
    found = count(X)
    assert (found.n_clusters, found.view) == (c, "scaled")


def test_clusters_that_touch_do_not_count_as_apart():
    found = count(np.random.default_rng(0).uniform(size=(300, 1)) * np.ones(4) + 0.0)
    assert found.view != "scaled"


def test_the_separation_is_that_of_the_definition():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), (5, 9, 7))
    points = rng.standard_normal((21, 4)) + 2.0 * rng.standard_normal((3, 4))[labels]
    found = separation(points, labels)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        scores = {}
        for own in (a, b):
            scores[own] = []
            for i in np.flatnonzero(labels == own):
                rest = np.delete(np.arange(21), i)
                centre = {k: points[rest][labels[rest] == k].mean(axis=0) for k in (a, b)}
                nearer = [np.sum((points[i] - centre[k]) ** 2) for k in (a, b)]
                scores[own].append((nearer[0] - nearer[1]) / 2.0)
        between = (np.mean(scores[b]) - np.mean(scores[a])) ** 2 / 4.0
        within = (np.var(scores[a]) + np.var(scores[b])) / 2.0
        assert found[a, b] == found[b, a] == pytest.approx(between / (between + within))


@pytest.mark.parametrize("shift", [0.0, 10.0, 1000.0])
def test_the_separation_has_no_origin_and_single_samples_are_not_apart(shift):
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1, 2], (8, 8, 1))
    points = rng.standard_normal((17, 3)) + 6.0 * labels[:, None]
    found = separation(points + shift, labels)
    assert found[0, 1] == pytest.approx(separation(points, labels)[0, 1])
    assert found[0, 1] > 0.9
    assert found[2, 0] == found[1, 2] == 0.0


def test_repeated_rows_and_combinations_of_answers_are_not_counted_by_the_dozen():
    """They lie apart as well, when their groups have been cut to pieces."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 16)
    X = 6.0 * rng.standard_normal((3, 6))[labels] + rng.standard_normal((48, 6))
    twins = np.repeat(X, 5, axis=0)
    answers = rng.random((300, 4)) < np.where(rng.random((300, 1)) < 0.5, 0.9, 0.1)
    tables = ((twins, 3), (twins + 0.1 * rng.standard_normal(twins.shape), 3), (answers, 2))
    for table, truth in tables:
        low, high = count(table.astype(float)).plausible_range
        assert low <= truth <= high


def test_halves_of_a_uniform_strip_are_the_limit():
    strip = (np.arange(4000) + 0.5)[:, None] / 4000 - 0.5
    halves = (strip[:, 0] > 0.0).astype(int)
    assert separation(strip, halves)[0, 1] == pytest.approx(defaults.COUNT_STRIP_SHARE, abs=1e-3)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_columns_that_do_not_vary_among_the_rows_that_are_looked_at(form):
    X = np.zeros((5000, 3))
    X[:3] = np.eye(3)
    found = count(form(X))
    assert (found.n_clusters, found.view, found.runner_up) == (2, None, None)


def test_the_runner_up_is_the_best_of_the_other_plausible_numbers():
    candidates, score = np.arange(2, 9), np.array([0.1, 0.5, 0.6, 0.4, 0.2, 0.3, 0.9])
    found = ClusterCount(3, "hat", candidates, score, score, np.array([3]))
    assert (found.plausible_range, found.runner_up) == ((2, 6), 4)
    score = np.array([0.0, 0.5, 0.0, 0.0, -0.1, 0.0, 0.9])  # the others were ruled out
    assert ClusterCount(3, "scaled", candidates, score, score, np.array([3])).runner_up is None


@pytest.mark.parametrize("shape", [(100, 30), (60, 200)])
def test_noise_has_two_clusters_that_show_nowhere(shape):
    found = count(np.random.default_rng(0).standard_normal(shape), most=10)
    assert (found.n_clusters, found.view) == (2, None)


def test_the_evidence_is_given_for_every_candidate():
    found = count(blobs(4), most=12)
    assert found.candidates.tolist() == [*range(2, 11), 12]
    assert found.n_clusters == found.candidates[found.score.argmax()] == 4
    near = found.score >= (1.0 - defaults.COUNT_TOLERANCE) * found.score.max()
    assert found.equivalent.tolist() == found.candidates[near].tolist()
    assert not near.all()
    assert found.agreement[found.candidates == 4] == pytest.approx(1.0, abs=0.01)
    assert found.score[found.candidates == 4] == pytest.approx(0.75, abs=0.02)  # modularity


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("sizes", [(150, 90, 45, 15), (110, 80, 50, 30, 20, 10)])
def test_small_clusters_are_counted_whatever_the_units(sizes, scaled):
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.standard_normal((300, 100))
    X[:, :15] += 2.5 * rng.standard_normal((len(sizes), 15))[labels]
    if scaled:
        X *= 10.0 ** rng.uniform(-3.0, 3.0, 100)
    found = count(X)
    assert found.n_clusters == len(sizes)
    assert found.n_clusters in found.equivalent
    assert found.score.max() > 0.8


def test_a_random_column_does_not_split_the_wines():
    X = load_wine().data
    extra = [np.random.default_rng(draw).integers(2, size=len(X)) for draw in range(4)]
    found = [count(np.column_stack([X, column])).n_clusters for column in extra]
    assert found.count(3) >= 3


def test_overlap_counts_clusters_alike_whatever_their_size():
    one = np.repeat([0, 1, 2], [80, 15, 5])
    assert overlap(one, (one + 1) % 3) == 1.0
    other = np.where(one == 2, 1, one)  # the smallest is missed
    assert overlap(one, other) == pytest.approx((1.0 + 15 / 20) / 2)


@pytest.mark.parametrize("shape", [(2, 4), (3, 4), (5, 4), (9, 4), (30, 1), (9, 1), (2, 1)])
def test_tables_of_few_samples_or_one_column_get_an_answer(shape):
    found = count(np.random.default_rng(0).standard_normal(shape))
    assert 2 <= found.n_clusters <= max(2, shape[0] // 3)  # three samples for each


@pytest.mark.parametrize("most_samples", [5000, 60])
def test_sparse_tables_give_the_answer_of_dense_ones(most_samples, monkeypatch):
    monkeypatch.setattr(defaults, "COUNT_SAMPLES", most_samples)
    X = blobs(3, per_cluster=30, d=30)
    X[np.abs(X) < 0.8] = 0.0
    dense = count(X, most=8)
    sparse = count(sp.csc_array(X), most=8)
    assert (sparse.n_clusters, sparse.view) == (dense.n_clusters, dense.view)
    np.testing.assert_allclose(sparse.score, dense.score, atol=1e-6)


def test_of_large_tables_some_samples_are_looked_at(monkeypatch):
    monkeypatch.setattr(defaults, "COUNT_SAMPLES", 80)
    found = count(blobs(4, per_cluster=50))
    assert found.n_clusters == 4
    assert found.candidates[-1] <= 80 // 3


def test_orders_and_units_do_not_matter_on_clear_data():
    c = 3
    X = blobs(c)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    units = 10.0 ** rng.uniform(-2, 2, X.shape[1])
    for table in (X[rows], X[:, columns], X * units + 3.0, pd.DataFrame(X), X.astype(np.float32)):
        found = count(table, most=10)
        assert found.n_clusters == c
        assert found.score[c - 2] == pytest.approx(1 - 1 / c, abs=0.02)


@settings(max_examples=40)
@given(n=st.integers(2, 6000), most=st.integers(2, 200))
def test_candidates_rise_from_two_by_small_steps(n, most):
    numbers = candidate_numbers(n, most)
    limit = max(2, min(most, n // 3))
    assert numbers[0] == 2
    assert numbers[-1] <= limit
    assert (np.diff(numbers) > 0).all()
    assert numbers[:9].tolist() == list(range(2, min(limit, 10) + 1))
    assert (numbers[1:] <= np.maximum(numbers[:-1] + 1, 1.2 * numbers[:-1])).all()
    assert limit <= max(numbers[-1] + 1, 1.2 * numbers[-1])  # nothing is left out at the end


def test_equal_columns_are_no_obstacle():
    column = np.random.default_rng(0).standard_normal((40, 1))
    assert count(np.tile(column, 6)).n_clusters >= 2
    assert len(count(np.eye(12)).equivalent) > 0


def test_mistakes_get_an_answer():
    with pytest.raises(ValueError, match="All 3 columns of X are constant"):
        count(np.full((10, 3), 0.1))
    X = blobs(2, d=5)
    X[3, 2] = np.nan
    with pytest.raises(ValueError, match=r"1 column \(c\).*suggest_n_clusters.*impute"):
        count(pd.DataFrame(X, columns=list("abcde")))
    assert count(blobs(2, per_cluster=3), most=50).candidates.tolist() == [2]  # of six samples
    with pytest.raises(ValueError, match="most must be an integer of at least 2"):
        count(np.eye(6), most=1)


def test_types_of_cells_with_weak_markers_among_many_genes_are_told_apart():
    cells = make_cells(400, 2000, random_state=0)
    found = suggest_n_clusters(read_expression(cells.X).X, random_state=0)
    assert 4 <= found.n_clusters <= 10
    shuffled = np.random.default_rng(0).permuted(read_expression(cells.X).X, axis=0)
    assert suggest_n_clusters(shuffled, random_state=0).view is None


@pytest.mark.slow
def test_genes_that_tell_types_in_many_cells_show_their_number():
    rng = np.random.default_rng(0)
    n_types, n_markers = 10, 40
    share = np.array([30, 20, 14, 10, 8, 6, 4, 3, 3, 2]) / 100
    means = np.minimum(np.exp(rng.normal(-4.2, 1.5, 6000)), 20.0)
    by_type = np.tile(means, (n_types, 1))
    found = rng.choice(np.flatnonzero(means > 0.02), (n_types, n_markers), replace=False)
    for kind, genes in enumerate(found):
        by_type[kind, genes] *= np.exp(rng.uniform(1.5, 3.0, n_markers))
    types = rng.choice(n_types, 4000, p=share)
    X = sp.csr_array(np.log1p(rng.poisson(by_type[types])))
    assert 7 <= suggest_n_clusters(X).n_clusters <= 12
