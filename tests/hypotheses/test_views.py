"""Views of the samples: the hat metric by the Gram matrix, and spectral cuts."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from featsieve import defaults
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.graphs.coordinates import hat_coordinates, unit_rows
from featsieve.graphs.distances import hat_distances
from featsieve.hypotheses.views import hat_view, neighbourhoods, plain_view

SMALL, LARGE = neighbourhoods(5)


def all_distances(view):
    n = len(view.distances.squares)
    return np.asarray(view.distances(0, n), dtype=np.float64)


@pytest.mark.parametrize("shape", [(30, 80), (30, 30), (150, 200), (80, 20)])
@pytest.mark.parametrize("shrinkage", [0.3, 1.0, 3.0])
def test_the_gram_matrix_gives_the_distances_of_the_hat_coordinates(shape, shrinkage):
    X = np.random.default_rng(0).standard_normal(shape)
    X[:, 3] = 1.0
    operator = as_operator(X, scale="unit")
    E = hat_coordinates(operator, shrinkage=shrinkage)
    expected = np.asarray(hat_distances(E)(0, len(X)), dtype=np.float64)
    found = all_distances(hat_view(operator, 3, shrinkage=shrinkage))
    np.testing.assert_allclose(found, expected, atol=1e-5 * expected.max())


def test_the_gram_of_one_half_is_that_of_all_less_that_of_the_other():
    X = np.random.default_rng(0).standard_normal((20, 50))
    whole, left, right = (as_operator(part, scale="unit") for part in (X, X[:, :20], X[:, 20:]))
    K = whole.sample_gram() - left.sample_gram()
    given = all_distances(hat_view(right, 3, gram=K))
    np.testing.assert_allclose(given, all_distances(hat_view(right, 3)), atol=1e-9)


def test_the_bridge_is_a_factor_of_the_hat_matrix():
    X = np.random.default_rng(0).standard_normal((15, 40))
    operator = as_operator(X, scale="unit")
    view = hat_view(operator, 3)
    E = unit_rows(hat_coordinates(operator))  # angles, as in its distances
    B = view.bridge()
    np.testing.assert_allclose(B @ B.T, E @ E.T, atol=1e-10)


@pytest.mark.parametrize("shape", [(60, 120), (300, 100)])
def test_cuts_find_planted_clusters_in_both_metrics(shape):
    planted = make_planted(*shape, n_informative=100, n_clusters=3, signal=3.0, random_state=0)
    Z = as_operator(planted.X, scale="std").columns(np.arange(shape[1]))
    for view in (hat_view(as_operator(Z), 3), plain_view(Z)):
        cuts = view.cuts(3, np.random.default_rng(0), SMALL, LARGE)
        assert len(cuts) == 2
        for labels in cuts:
            assert adjusted_rand_score(planted.labels, labels) == 1.0


def test_one_search_serves_every_neighbourhood():
    Z = np.random.default_rng(0).standard_normal((60, 8))
    few = plain_view(Z).cuts(3, np.random.default_rng(0), SMALL)[0]
    of_both = plain_view(Z).cuts(3, np.random.default_rng(0), SMALL, LARGE)[0]
    np.testing.assert_array_equal(few, of_both)


@pytest.mark.parametrize(("n", "n_neighbors"), [(4, 5), (6, 5), (9, 5), (11, 5), (30, 40)])
def test_lists_of_all_others_are_cut_short(n, n_neighbors):
    truth = np.arange(n) % 2
    Z = np.random.default_rng(0).standard_normal((n, 3)) + 20.0 * truth[:, None]
    Z -= Z.mean(axis=0)
    for labels in plain_view(Z).cuts(2, np.random.default_rng(0), *neighbourhoods(n_neighbors)):
        assert adjusted_rand_score(truth, labels) == 1.0


def test_repeated_rows_have_cuts():
    Z = np.repeat(np.random.default_rng(0).standard_normal((6, 4)), 8, axis=0)
    truth = np.repeat(np.arange(6), 8)
    for view in (hat_view(as_operator(Z), 6), plain_view(Z)):
        labels = view.cuts(6, np.random.default_rng(0), SMALL)[0]
        assert adjusted_rand_score(truth, labels) == 1.0
        assert len(np.unique(view.cuts(9, np.random.default_rng(0), SMALL)[0])) == 9


@pytest.mark.parametrize("view_of", [plain_view, lambda Z: hat_view(as_operator(Z), 3)])
@pytest.mark.parametrize("shape", [(300, 40), (60, 90)])  # distances of points, and of products
def test_others_follow_the_nearest_landmark(monkeypatch, view_of, shape):
    monkeypatch.setattr(defaults, "CUT_LANDMARKS", 40)
    planted = make_planted(*shape, n_informative=40, n_clusters=3, signal=3.0, random_state=0)
    view = view_of(planted.X - planted.X.mean(axis=0))
    labels, other = (view.cuts_of_some(3, np.random.default_rng(seed), SMALL)[0] for seed in (0, 1))
    assert adjusted_rand_score(planted.labels, labels) == 1.0
    assert adjusted_rand_score(labels, other) == 1.0
    rows = np.array([3, 10, 47, 59])
    nearest = view.distances.nearest(rows)
    expected = all_distances(view)[:, rows].argmin(axis=1)
    np.testing.assert_array_equal(nearest, expected)
    np.testing.assert_allclose(
        view.distances.among(rows)(0, 4), all_distances(view)[np.ix_(rows, rows)], atol=1e-6
    )


def test_few_samples_are_all_cut():
    Z = np.random.default_rng(0).standard_normal((60, 5))
    of_some = plain_view(Z).cuts_of_some(3, np.random.default_rng(0), SMALL)[0]
    np.testing.assert_array_equal(
        of_some, plain_view(Z).cuts(3, np.random.default_rng(0), SMALL)[0]
    )
