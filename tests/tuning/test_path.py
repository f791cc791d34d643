"""The regularisation path, point by point against separate fits."""

import numpy as np
import pytest

from featsieve import JASFS, NDFS, LaplacianScore, sparsity_path
from featsieve.criteria.curve import default_sizes
from featsieve.datasets import make_planted
from featsieve.solvers import Status


@pytest.fixture(scope="module")
def clear():
    return make_planted(60, 60, n_informative=10, n_clusters=3, signal=3.0, random_state=0)


def test_every_point_is_a_solution_of_the_whole_problem(clear):
    sieve = JASFS(3, init="spectral", random_state=0)
    path = sparsity_path(clear.X, sieve, sizes=[2, 5, 10, 40])
    assert path.n_features.tolist() == [2, 5, 10, 40]
    labels = None
    for i, k in enumerate(path.n_features):
        start = "spectral" if labels is None else labels
        fit = JASFS(3, n_features_to_select=int(k), init=start, random_state=0).fit(clear.X)
        np.testing.assert_array_equal(path.supports[i], fit.support_)
        np.testing.assert_allclose(path.objective[i], fit.objective_[-1], rtol=1e-10)
        assert path.statuses[i] is fit.status_
        labels = path.labels[i]
    assert (np.diff(path.objective) <= 1e-12).all()  # more features, lower loss


def test_values_of_lambda(clear):
    sieve = JASFS(3, init="spectral", random_state=0)
    sizes = sparsity_path(clear.X, sieve, sizes=[3, 8, 20])
    prices = sizes.sparsity * (1.0 - 1e-9)  # the gain of the last feature is no less than that
    path = sparsity_path(clear.X, sieve, sparsities=[*prices, 1e9])
    assert len(path) == 3  # the huge one selects nothing
    np.testing.assert_array_equal(path.sparsity, prices)
    assert (np.diff(path.n_features) > 0).all()
    labels = "spectral"
    for i, sparsity in enumerate(prices.tolist()):
        fit = JASFS(3, sparsity=sparsity, init=labels, random_state=0).fit(clear.X)
        np.testing.assert_array_equal(fit.support_, path.supports[i])
        np.testing.assert_allclose(path.objective[i], fit.objective_[-1], rtol=1e-10)
        labels = path.labels[i]
    with pytest.raises(ValueError, match="largest value that selects something"):
        sparsity_path(clear.X, sieve, sparsities=[1e9])


def test_scores_price_the_features(clear):
    path = sparsity_path(clear.X, JASFS(3, random_state=0), sizes=[4, 12])
    for support, scores, price in zip(path.supports, path.scores, path.sparsity, strict=True):
        assert scores[support].min() >= price * (1 - 1e-12)
        assert scores[~support].max() <= price * (1 + 1e-12)
    # The labels stay, so both points lie on one nested path, and its prices are those of both.
    np.testing.assert_array_equal(path.labels[0], path.labels[1])
    np.testing.assert_array_equal(path.scores[0], path.scores[1])


def test_any_selector_that_ranks(clear):
    for selector in (LaplacianScore(), NDFS(3, random_state=0)):
        path = sparsity_path(clear.X, selector)
        np.testing.assert_array_equal(path.n_features, default_sizes(60))
        fit = selector.set_params(n_features_to_select=20).fit(clear.X)
        np.testing.assert_array_equal(path.support_at(20), np.flatnonzero(fit.support_))
        np.testing.assert_array_equal(path.scores[0], fit.scores_)
        assert np.isnan(path.sparsity).all()
        assert (path.labels is None) == (not hasattr(fit, "labels_"))
        assert all(isinstance(status, Status) for status in path.statuses)


def test_without_any_choice(clear):
    path = sparsity_path(clear.X)
    assert path.labels.max() == 2
    assert path.n_features[-1] == 60
    assert path.table()["n_features"].tolist() == path.n_features.tolist()


def test_mistakes_get_an_answer(clear):
    path = sparsity_path(clear.X, LaplacianScore(), sizes=[3, 5])
    with pytest.raises(ValueError, match="only of 3, 5"):
        path.support_at(4)
    with pytest.raises(ValueError, match="pass sizes instead"):
        sparsity_path(clear.X, LaplacianScore(), sparsities=[0.1])
    with pytest.raises(ValueError, match="pass sizes instead"):
        sparsity_path(clear.X, JASFS(3), sizes=[3], sparsities=[0.1])
    with pytest.raises(ValueError, match="above 0"):
        sparsity_path(clear.X, JASFS(3), sparsities=[-1.0])
    with pytest.raises(TypeError, match="selector must be"):
        sparsity_path(clear.X, "jasfs")


def test_columns_of_extreme_size_have_the_path_of_ordinary_ones(clear):
    sieve = JASFS(3, init="spectral", random_state=0)
    ordinary = sparsity_path(clear.X, sieve, sizes=[2, 5, 10])
    huge = sparsity_path(
        np.ldexp(clear.X, np.where(np.arange(60) % 2, 900, 0)), sieve, sizes=[2, 5, 10]
    )
    np.testing.assert_array_equal(huge.supports, ordinary.supports)
    np.testing.assert_allclose(huge.objective, ordinary.objective, rtol=1e-9)
