"""StabilitySelection: against the same fits made by hand, and what a user may do with it."""

from typing import ClassVar

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel

from featsieve import JASFS, LaplacianScore, RandomSelector
from featsieve.datasets import make_planted
from featsieve.evaluation.stability import selection_stability
from featsieve.tuning.stability_selection import StabilitySelection


class Recorder(RandomSelector):
    """A selector that keeps the tables and seeds it is fitted with."""

    fits: ClassVar[list] = []

    def fit(self, X, y=None):
        self.fits.append((X, self.random_state))
        return super().fit(X)


class InnerModel(BaseEstimator):
    """Random importances, to see whether seeds reach a nested estimator."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        self.coef_ = np.random.default_rng(self.random_state).random(X.shape[1])
        return self


@pytest.fixture
def recorder():
    Recorder.fits.clear()
    yield Recorder
    Recorder.fits.clear()


@pytest.fixture(scope="module")
def planted():
    return make_planted(
        n_samples=120, n_features=100, n_informative=10, n_clusters=4, signal=3.0, random_state=0
    )


@pytest.fixture(scope="module")
def planted_sieve(planted):
    selector = JASFS(4, n_features_to_select=10)
    return StabilitySelection(selector, n_subsamples=12, random_state=0).fit(planted.X)


def quick(**settings):
    settings = {"n_subsamples": 6, "random_state": 0} | settings
    selector = JASFS(3, n_features_to_select=8, init="k-means")
    return StabilitySelection(selector, **settings)


def assert_same_fit(first, second):
    np.testing.assert_array_equal(first.selections_, second.selections_)
    np.testing.assert_array_equal(first.ranking_, second.ranking_)
    np.testing.assert_array_equal(first.support_, second.support_)
    assert first.stability_ == second.stability_


def test_planted_features_are_found_again_and_again(planted, planted_sieve):
    sieve = planted_sieve
    assert sieve.stability_ > 0.8
    assert sieve.stability_interval_[0] <= sieve.stability_ <= sieve.stability_interval_[1] <= 1.0
    assert set(np.argsort(sieve.ranking_)[:10]) == set(np.flatnonzero(planted.informative))
    np.testing.assert_array_equal(sieve.support_, planted.informative)
    assert sieve.selections_.dtype == bool
    by_frequency_and_rank = np.lexsort((sieve.selector_.ranking_, -sieve.selection_frequency_))
    np.testing.assert_array_equal(np.argsort(sieve.ranking_), by_frequency_and_rank)
    np.testing.assert_array_equal(sieve.transform(planted.X), planted.X[:, planted.informative])


def test_the_same_fits_by_hand_give_the_same_frequencies(small_planted, recorder):
    X = small_planted.X
    sieve = StabilitySelection(
        recorder(12, random_state=3),
        n_subsamples=15,
        subsample_size=0.7,
        threshold=0.2,
        random_state=4,
    ).fit(X)
    (of_all, own_seed), *of_subsamples = recorder.fits.copy()
    assert own_seed == 3
    np.testing.assert_array_equal(of_all, X)
    assert len(of_subsamples) == 15
    supports = []
    for rows, seed in of_subsamples:
        positions = [int(np.flatnonzero((row == X).all(axis=1))[0]) for row in rows]
        assert len(set(positions)) == len(rows) == 56  # rows of X, none of them twice
        supports.append(RandomSelector(12, random_state=seed).fit(rows).support_)
    assert len({seed for _, seed in of_subsamples}) == 15
    assert len({rows.tobytes() for rows, _ in of_subsamples}) == 15
    np.testing.assert_array_equal(sieve.selections_, supports)
    np.testing.assert_array_equal(sieve.selection_frequency_, np.sum(supports, axis=0) / 15)
    np.testing.assert_array_equal(sieve.scores_, sieve.selection_frequency_)
    np.testing.assert_array_equal(sieve.support_, np.sum(supports, axis=0) >= 3)
    stability = selection_stability(supports)
    assert sieve.stability_ == stability.value
    assert sieve.stability_interval_ == stability.interval


def test_pseudo_labels_are_found_anew_in_every_subsample(small_planted):
    X = small_planted.X
    seen = []

    def labels(rows, n_clusters, random_state):
        seen.append(len(rows))
        return KMeans(n_clusters, n_init=1, random_state=0).fit(rows).labels_

    selector = JASFS(3, n_features_to_select=8, init=labels)
    StabilitySelection(selector, n_subsamples=4, subsample_size=0.6, random_state=0).fit(X)
    assert seen == [80, 48, 48, 48, 48]


def test_the_fit_to_all_rows_is_the_one_of_the_selector(small_planted):
    selector = JASFS(3, n_features_to_select=8, random_state=3)
    sieve = StabilitySelection(selector, n_subsamples=2, random_state=0).fit(small_planted.X)
    alone = clone(selector).fit(small_planted.X)
    assert sieve.selector_.random_state == 3
    np.testing.assert_array_equal(sieve.selector_.scores_, alone.scores_)
    np.testing.assert_array_equal(sieve.labels_, alone.labels_)
    assert not hasattr(selector, "support_")
    without_labels = StabilitySelection(LaplacianScore(8), n_subsamples=2).fit(small_planted.X)
    assert not hasattr(without_labels, "labels_")


def test_nested_random_states_get_seeds(small_planted):
    selector = SelectFromModel(InnerModel(), max_features=10, threshold=-np.inf)
    first, second = (
        StabilitySelection(selector, n_features_to_select=10, random_state=seed)
        .fit(small_planted.X)
        .selections_
        for seed in (0, 0)
    )
    np.testing.assert_array_equal(first, second)
    assert len({row.tobytes() for row in first}) == 50
    assert selector.estimator.random_state is None


@pytest.mark.parametrize("backend", ["threading", pytest.param("loky", marks=pytest.mark.slow)])
def test_workers_do_not_change_the_answer(small_planted, backend):
    alone = quick(n_jobs=1).fit(small_planted.X)
    with joblib.parallel_config(backend, n_jobs=2):
        assert_same_fit(alone, quick(verbose=1).fit(small_planted.X))


def test_no_feature_reaches_the_threshold(small_planted):
    sieve = StabilitySelection(RandomSelector(3), threshold=0.9, random_state=0)
    with pytest.warns(UserWarning, match="No feature was selected in 90% of the subsamples"):
        sieve.fit(small_planted.X)
    np.testing.assert_array_equal(sieve.support_, sieve.ranking_ == 1)
    assert sieve.selection_frequency_[sieve.support_] == sieve.selection_frequency_.max()


def test_more_clusters_than_rows_in_a_subsample(small_planted):
    sieve = StabilitySelection(JASFS(50, n_features_to_select=8), subsample_size=0.5)
    with pytest.raises(ValueError, match=r"n_clusters=50 .*=40.* increase subsample_size"):
        sieve.fit(small_planted.X)
    # Where not even all rows are enough, subsamples are not spoken of.
    with pytest.raises(ValueError, match=r"^n_clusters=81 is more than n_samples=80"):
        sieve.set_params(selector__n_clusters=81).fit(small_planted.X)


def test_sparse_tables_give_the_answer_of_dense_ones(small_planted):
    dense = np.where(small_planted.X > 0.3, small_planted.X, 0.0)
    sieve = StabilitySelection(
        LaplacianScore(8), n_subsamples=6, n_features_to_select=8, random_state=0
    )
    expected = clone(sieve).fit(dense)
    assert_same_fit(sieve.fit(sp.csc_array(dense)), expected)
    assert sp.issparse(sieve.transform(sp.csc_array(dense)))


@pytest.mark.parametrize(
    ("error", "raised", "message"),
    [
        (
            ValueError("too few rows."),
            ValueError,
            r"on subsample 1 of 3 \(64 of 80 rows\) with ValueError: too few rows",
        ),
        (KeyError("gone"), RuntimeError, r"with KeyError: 'gone'\. It could"),
        (KeyboardInterrupt(), KeyboardInterrupt, None),
    ],
)
def test_a_failed_fit_says_which_subsample_and_why(small_planted, error, raised, message):
    class Failing(RandomSelector):
        def fit(self, X, y=None):
            if len(X) < 80:
                raise error
            return super().fit(X)

    X = small_planted.X
    sieve = StabilitySelection(LaplacianScore(8), n_subsamples=3, random_state=0).fit(X)
    with pytest.raises(raised, match=message):
        sieve.set_params(selector=Failing(8)).fit(X)
    with pytest.raises(NotFittedError):
        sieve.transform(X)
    assert not hasattr(sieve, "stability_")


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"selector": "JASFS"}, TypeError),
        ({"selector": KMeans(3)}, TypeError),
        ({"subsample_size": 1.0}, ValueError),
        ({"subsample_size": 40}, ValueError),
        ({"threshold": 1.1}, ValueError),
        ({"n_subsamples": 1}, ValueError),
        ({"n_features_to_select": 61}, ValueError),
    ],
)
def test_wrong_parameters_are_refused(settings, error, small_planted):
    with pytest.raises(error, match=next(iter(settings))):
        quick().set_params(**settings).fit(small_planted.X)
