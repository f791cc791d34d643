"""The regularisation path, point by point against separate fits."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from featsieve import JASFS, NDFS, LaplacianScore, sparsity_path
from featsieve.criteria.curve import default_sizes
from featsieve.datasets import make_planted


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
        assert adjusted_rand_score(path.labels[i], fit.labels_) == 1.0
        labels = path.labels[i]


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
        np.testing.assert_array_equal(path.supports[path.n_features == 20][0], fit.support_)
        np.testing.assert_array_equal(path.scores[0], fit.scores_)
        assert np.isnan(path.sparsity).all()
        assert (path.labels is None) == (not hasattr(fit, "labels_"))


def test_without_any_choice(clear):
    path = sparsity_path(clear.X)
    assert path.labels.max() == 2
    assert path.n_features[-1] == 60


def test_mistakes_get_an_answer(clear):
    with pytest.raises(TypeError, match="selector must be"):
        sparsity_path(clear.X, "jasfs")


@pytest.mark.parametrize("kind", [JASFS, NDFS])
def test_paths_inside_of_batches(clear, kind):
    batch = np.arange(60) % 2
    shifted = clear.X + 9.0 * np.outer(batch, np.ones(60))
    settings = {"init": "k-means"} if kind is JASFS else {}
    sieve = kind(3, n_features_to_select=5, random_state=0, **settings)
    path = sparsity_path(shifted, sieve, sizes=[5], batch=batch)
    np.testing.assert_array_equal(path.supports[0], sieve.fit(shifted, batch=batch).support_)


def test_constraints_are_refused(clear):
    with pytest.raises(ValueError, match="leave keep out, or fit the selector"):
        sparsity_path(clear.X, JASFS(3, keep=[1]))
