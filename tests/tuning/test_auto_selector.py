"""The number of features, found without labels: inside the selectors and around them."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from featsieve import (
    JASFS,
    MCFS,
    UGFS,
    AutoSelector,
    LaplacianScore,
)
from featsieve.datasets import make_planted
from featsieve.solvers.forward_selection import SelectionPath


@pytest.fixture(scope="module")
def clear():
    return make_planted(90, 60, n_informative=10, n_clusters=3, signal=4.0, random_state=0)


@pytest.mark.usefixtures("untested_fits")
@pytest.mark.parametrize("selector", [JASFS(3, random_state=0), MCFS(3), LaplacianScore()], ids=str)
def test_the_number_of_features_is_found(selector, clear):
    sieve = clone(selector).set_params(n_features_to_select="auto").fit(clear.X)
    curve = sieve.path_.curve
    assert sieve.n_features_selected_ == sieve.support_.sum() == curve.chosen
    np.testing.assert_array_equal(sieve.support_, sieve.ranking_ <= curve.chosen)
    low, high = sieve.equivalent_range_
    assert low <= curve.chosen <= high
    assert set(curve.sizes) >= {5, 10, 20, 50}
    assert curve.criterion == ("modularity" if isinstance(selector, JASFS) else "agreement")
    assert curve.chosen <= 30  # 10 of 60 are informative, few of them are enough
    assert clear.informative[sieve.support_].mean() >= 0.6
    outer = AutoSelector(selector, sizes=[3, 10, 30]).fit(clear.X)
    assert outer.n_features_selected_ in (3, 10, 30)
    assert outer.selector_.n_features_selected_ == outer.n_features_selected_
    np.testing.assert_array_equal(outer.support_, outer.selector_.support_)
    np.testing.assert_array_equal(outer.ranking_, outer.selector_.ranking_)
    assert hasattr(outer, "labels_") == hasattr(outer.selector_, "labels_")
    assert not hasattr(selector, "support_")  # the user's own is not touched
    assert set(outer.path_.order[:10]) == set(np.flatnonzero(outer.ranking_ <= 10))


@pytest.mark.usefixtures("untested_fits")
@pytest.mark.parametrize(
    "selector", [JASFS(n_features_to_select=10, random_state=0), MCFS(n_features_to_select=10)]
)
def test_the_number_of_clusters_is_found(selector, clear):
    sieve = clone(selector).set_params(n_clusters="auto").fit(clear.X)
    assert sieve.n_clusters == "auto"
    assert sieve.n_clusters_ == 3
    assert sieve.cluster_count_.plausible_range == (2, 6)
    fixed = clone(selector).set_params(n_clusters=3).fit(clear.X)
    np.testing.assert_array_equal(sieve.support_, fixed.support_)
    assert not hasattr(fixed, "cluster_count_")


@pytest.mark.usefixtures("untested_fits")
def test_jasfs_chooses_along_its_own_path(clear):
    sieve = JASFS(3, random_state=0).fit(clear.X)
    assert isinstance(sieve.path_, SelectionPath)
    assert sieve.path_.curve.criterion == "modularity"
    np.testing.assert_array_equal(
        np.sort(sieve.path_.order[: sieve.n_features_selected_]), np.flatnonzero(sieve.support_)
    )
    # the price of the last feature, and of no more
    assert np.sum(sieve.path_.sparsity >= sieve.sparsity_) == sieve.n_features_selected_
    same = JASFS(3, n_features_to_select="auto", random_state=0).fit(clear.X)
    np.testing.assert_array_equal(same.support_, sieve.support_)
    by_number = JASFS(3, n_features_to_select=sieve.n_features_selected_, random_state=0)
    np.testing.assert_array_equal(by_number.fit(clear.X).support_, sieve.support_)
    with pytest.raises(ValueError, match="both say how many"):
        JASFS(3, n_features_to_select="auto", sparsity=0.1).fit(clear.X)


@pytest.mark.usefixtures("untested_fits")
def test_mixed_units_do_not_mislead_the_number():
    """Every other k-means run is on columns as they are; the others keep the curve upright."""
    planted = make_planted(120, 60, n_informative=10, n_clusters=3, signal=3.0, random_state=1)
    units = 10.0 ** np.random.default_rng(0).integers(-3, 4, 60)
    sieve = JASFS(3, init=planted.labels, random_state=0).fit(planted.X * units)
    assert planted.informative[sieve.support_].all()


@pytest.mark.slow
def test_planted_features_are_not_called_noise():
    planted = make_planted(random_state=0)
    JASFS("auto", random_state=0).fit(planted.X)  # a warning would be an error
    AutoSelector(LaplacianScore()).fit(planted.X)


@pytest.mark.usefixtures("untested_fits")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("follows", [MCFS, UGFS])
def test_selections_that_depend_on_their_size_are_fitted_for_it(follows, clear):
    found = follows(3, n_features_to_select="auto").fit(clear.X)
    fixed = follows(3, n_features_to_select=found.n_features_selected_).fit(clear.X)
    np.testing.assert_array_equal(found.support_, fixed.support_)
    np.testing.assert_allclose(found.scores_, fixed.scores_)


@pytest.mark.usefixtures("untested_fits")
def test_the_same_as_auto_of_the_selector_for_sparse_tables_and_frames_too(clear):
    X = np.where(clear.X > 0.3, clear.X, 0.0)
    inner = MCFS(3, n_features_to_select="auto").fit(X)
    frame = pd.DataFrame(X).add_prefix("gene")
    for table in (X, sp.csr_array(X), frame):
        outer = AutoSelector(MCFS(3)).fit(table)
        np.testing.assert_array_equal(outer.support_, inner.support_)
        np.testing.assert_allclose(outer.path_.curve.values, inner.path_.curve.values, atol=1e-8)
    names = list(frame.columns[inner.support_])
    assert list(outer.get_feature_names_out()) == names
    assert list(outer.selector_.feature_names_in_) == list(frame.columns)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"selector": "JASFS"}, TypeError, "selector must be a selector of featsieve"),
        ({"selector": JASFS}, TypeError, "for example JASFS"),
        ({"criterion": "silhouette"}, ValueError, "criterion must be one of 'modularity'"),
        ({"sizes": [61]}, ValueError, "between 1 and 60"),
        ({"sizes": 5}, TypeError, r"such as \[10, 50\]"),
    ],
)
def test_mistakes_get_an_answer(settings, error, message, clear):
    sieve = AutoSelector(**{"selector": LaplacianScore(), **settings})
    with pytest.raises(error, match=message):
        sieve.fit(clear.X)
    assert not hasattr(sieve, "support_")


@pytest.mark.usefixtures("untested_fits")
def test_columns_that_do_not_vary_are_not_counted(clear):
    X = np.hstack([clear.X, np.ones((90, 30))])
    sieve = AutoSelector(MCFS(3)).fit(X)
    assert sieve.path_.curve.sizes.max() <= 60
    only = np.hstack([clear.X[:, :1] + clear.labels[:, None], np.ones((90, 3))])
    assert AutoSelector(LaplacianScore(), sizes=[2, 4]).fit(only).n_features_selected_ == 1


def test_what_finds_its_number_itself_is_not_asked_for_one(clear):
    with pytest.raises(TypeError, match="pass the selector inside of it"):
        AutoSelector(AutoSelector(LaplacianScore())).fit(clear.X)
    sieve = AutoSelector(JASFS(3, sparsity=0.1, random_state=0), sizes=[5, 20]).fit(clear.X)
    assert sieve.n_features_selected_ in (5, 20)  # a number, whatever the price was
