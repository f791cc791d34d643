"""The number of features, found without labels: inside the selectors and around them."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

import featsieve
from featsieve import (
    JASFS,
    MCFS,
    UGFS,
    AutoSelector,
    LaplacianScore,
    MaxVariance,
    StabilitySelection,
)
from featsieve.criteria.automatic import default_criterion
from featsieve.datasets import make_planted
from featsieve.solvers.forward_selection import SelectionPath
from featsieve.tuning import NoStructureWarning

NAMES = tuple(featsieve.selectors.__all__)
CONTROLS = ("RandomSelector", "MaxVariance")

# The others go through the same code of the base class.
QUICK = ("JASFS", "MCFS", "LaplacianScore")


def most_are_slow(names):
    """Return the names as parameters of a test; those that are not quick only for `test-all`."""
    return [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in names]


def make(name, **settings):
    cls = getattr(featsieve, name)
    settings = {"n_clusters": 3, "random_state": 0, **settings}
    known = cls().get_params()
    return cls(**{key: value for key, value in settings.items() if key in known})


def quiet(estimator, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return estimator.fit(X)


@pytest.fixture(scope="module")
def clear():
    return make_planted(120, 60, n_informative=10, n_clusters=3, signal=3.0, random_state=0)


@pytest.mark.parametrize("name", most_are_slow(NAMES))
def test_every_selector_finds_its_number_of_features(name, clear):
    sieve = quiet(make(name, n_features_to_select="auto"), clear.X)
    curve = sieve.path_.curve
    assert sieve.n_features_selected_ == sieve.support_.sum() == curve.chosen
    np.testing.assert_array_equal(sieve.support_, sieve.ranking_ <= curve.chosen)
    low, high = sieve.equivalent_range_
    assert low <= curve.chosen <= high
    assert set(curve.sizes) >= {5, 10, 20, 50}
    assert curve.criterion == ("modularity" if name == "JASFS" else "agreement")
    if name not in CONTROLS:  # 10 of 60 are informative, few of them are enough
        # (k-means on ten columns of SOGFS finds its labels in eight runs of ten, on fifty in all)
        assert curve.chosen <= (50 if name == "SOGFS" else 30)
        assert name == "SOGFS" or clear.informative[sieve.support_].mean() >= 0.6


@pytest.mark.parametrize(
    "name", most_are_slow(name for name in NAMES if "n_clusters" in make(name).get_params())
)
def test_every_selector_finds_its_number_of_clusters(name, clear):
    extra = {"criterion": "leading"} if name == "SPEC" else {}
    sieve = make(name, n_clusters="auto", n_features_to_select=10, **extra)
    sieve = quiet(sieve, clear.X)
    assert sieve.n_clusters == "auto"
    assert sieve.n_clusters_ == 3
    assert sieve.cluster_count_.plausible_range == (2, 6)
    fixed = quiet(make(name, n_clusters=3, n_features_to_select=10, **extra), clear.X)
    np.testing.assert_array_equal(sieve.support_, fixed.support_)
    assert not hasattr(fixed, "cluster_count_")


def test_unknown_words_are_refused(clear):
    with pytest.raises(TypeError, match="or 'auto'; got 'most'"):
        LaplacianScore("most").fit(clear.X)
    with pytest.raises(ValueError, match="n_clusters must be one of 'auto'"):
        JASFS("many").fit(clear.X)


@pytest.mark.slow
def test_nothing_is_left_to_the_user(clear):
    """No parameter at all: clusters and features are found."""
    sieve = JASFS(n_clusters="auto", sparsity="auto", random_state=0).fit(clear.X)
    assert sieve.n_clusters_ == 3
    assert clear.informative[sieve.support_].mean() >= 0.8
    X = load_digits().data
    sieve = JASFS("auto", random_state=0).fit(X[:400])
    assert 5 <= sieve.n_clusters_ <= 20  # of ten digits: within a factor of two
    assert 5 <= sieve.n_features_selected_ < 64


def test_jasfs_chooses_along_its_own_path(clear):
    sieve = JASFS(3, random_state=0).fit(clear.X)
    assert isinstance(sieve.path_, SelectionPath)
    assert sieve.path_.curve.criterion == "modularity"
    np.testing.assert_array_equal(
        sieve.path_.support_at(sieve.n_features_selected_), np.flatnonzero(sieve.support_)
    )
    # the price of the last feature, and of no more
    assert sieve.path_.n_features_at(sieve.sparsity_) == sieve.n_features_selected_
    same = JASFS(3, n_features_to_select="auto", random_state=0).fit(clear.X)
    np.testing.assert_array_equal(same.support_, sieve.support_)
    by_number = JASFS(3, n_features_to_select=sieve.n_features_selected_, random_state=0)
    np.testing.assert_array_equal(by_number.fit(clear.X).support_, sieve.support_)
    with pytest.raises(ValueError, match="both say how many"):
        JASFS(3, n_features_to_select="auto", sparsity=0.1).fit(clear.X)


def test_mixed_units_do_not_mislead_the_number():
    """Every other k-means run is on columns as they are; the others keep the curve upright."""
    planted = make_planted(120, 60, n_informative=10, n_clusters=3, signal=3.0, random_state=1)
    units = 10.0 ** np.random.default_rng(0).integers(-3, 4, 60)
    sieve = JASFS(3, init=planted.labels, random_state=0).fit(planted.X * units)
    assert planted.informative[sieve.support_].all()


@pytest.mark.parametrize(
    "shape", [(100, 50), *(pytest.param(s, marks=pytest.mark.slow) for s in ((60, 300), (300, 20)))]
)
def test_noise_is_named(shape):
    X = np.random.default_rng(3).standard_normal(shape)
    for sieve in (JASFS(4, random_state=0), LaplacianScore("auto"), AutoSelector(MaxVariance())):
        with pytest.warns(NoStructureWarning, match="no clearer than") as caught:
            sieve.fit(X)
        assert caught[0].filename == __file__


@pytest.mark.slow
def test_planted_features_are_not_called_noise():
    for seed in range(3):
        planted = make_planted(random_state=seed)
        JASFS("auto", random_state=0).fit(planted.X)  # a warning would be an error
        AutoSelector(LaplacianScore()).fit(planted.X)


@pytest.mark.parametrize("follows", [MCFS, UGFS])
def test_selections_that_depend_on_their_size_are_fitted_for_it(follows, clear):
    found = quiet(follows(3, n_features_to_select="auto"), clear.X)
    fixed = quiet(follows(3, n_features_to_select=found.n_features_selected_), clear.X)
    np.testing.assert_array_equal(found.support_, fixed.support_)
    np.testing.assert_allclose(found.scores_, fixed.scores_)


@pytest.mark.slow
def test_sparse_tables_and_frames(clear):
    X = np.where(clear.X > 0.3, clear.X, 0.0)
    dense = AutoSelector(LaplacianScore()).fit(X)
    sparse = AutoSelector(LaplacianScore()).fit(sp.csr_array(X))
    np.testing.assert_allclose(sparse.path_.curve.values, dense.path_.curve.values, atol=1e-8)
    np.testing.assert_array_equal(sparse.support_, dense.support_)
    frame = pd.DataFrame(X).add_prefix("gene")
    named = AutoSelector(LaplacianScore()).fit(frame)
    assert list(named.get_feature_names_out()) == [
        f"gene{j}" for j in np.flatnonzero(dense.support_)
    ]
    assert list(named.selector_.feature_names_in_) == list(frame.columns)
    assert named.set_output(transform="pandas").transform(frame).shape[1] == dense.support_.sum()


# AutoSelector ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", most_are_slow(NAMES))
def test_around_every_selector(name, clear):
    selector = make(name)
    sieve = quiet(AutoSelector(selector, sizes=[3, 10, 30]), clear.X)
    assert sieve.n_features_selected_ in (3, 10, 30)
    assert sieve.selector_.n_features_selected_ == sieve.n_features_selected_
    np.testing.assert_array_equal(sieve.support_, sieve.selector_.support_)
    np.testing.assert_array_equal(sieve.ranking_, sieve.selector_.ranking_)
    assert hasattr(sieve, "labels_") == hasattr(sieve.selector_, "labels_")
    assert not hasattr(selector, "support_")  # the user's own is not touched
    np.testing.assert_array_equal(sieve.path_.support_at(10), np.flatnonzero(sieve.ranking_ <= 10))


def test_the_same_as_auto_of_the_selector(clear):
    outer = AutoSelector(LaplacianScore()).fit(clear.X)
    inner = LaplacianScore("auto").fit(clear.X)
    np.testing.assert_array_equal(outer.support_, inner.support_)
    np.testing.assert_array_equal(outer.path_.curve.values, inner.path_.curve.values)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"selector": "JASFS"}, TypeError, "selector must be a selector of featsieve"),
        ({"selector": JASFS}, TypeError, "for example JASFS"),
        ({"criterion": "silhouette"}, ValueError, "criterion must be one of 'modularity'"),
        ({"sizes": [0]}, ValueError, "of at least 1"),
        ({"sizes": [61]}, ValueError, "between 1 and 60"),
        ({"sizes": 5}, TypeError, r"such as \[10, 50\]"),
    ],
)
def test_mistakes_get_an_answer(settings, error, message, clear):
    sieve = AutoSelector(**{"selector": LaplacianScore(), **settings})
    with pytest.raises(error, match=message):
        sieve.fit(clear.X)
    assert not hasattr(sieve, "support_")


def test_columns_that_do_not_vary_are_not_counted(clear):
    X = np.hstack([clear.X, np.ones((120, 30))])
    sieve = AutoSelector(LaplacianScore()).fit(X)
    assert sieve.path_.curve.sizes.max() <= 60
    only = np.hstack([clear.X[:, :1] + clear.labels[:, None], np.ones((120, 3))])
    assert AutoSelector(LaplacianScore(), sizes=[2, 4]).fit(only).n_features_selected_ == 1


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_scikit_learn_checks_pass():
    results = check_estimator(AutoSelector(LaplacianScore()), on_fail=None, on_skip=None)
    failed = [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]
    assert failed == []
    assert sum(r["status"] == "passed" for r in results) >= 40


@pytest.mark.slow
def test_around_a_stability_selection(clear):
    inner = StabilitySelection(MCFS(3, n_features_to_select=10), n_subsamples=5, random_state=0)
    sieve = AutoSelector(inner, sizes=[5, 20]).fit(clear.X)
    assert sieve.n_features_selected_ == sieve.selector_.n_features_selected_
    outer = StabilitySelection(AutoSelector(MCFS(3), sizes=[5, 20]), n_subsamples=5, random_state=0)
    assert outer.fit(clear.X).stability_ > 0.5


def test_what_finds_its_number_itself_is_not_asked_for_one(clear):
    with pytest.raises(TypeError, match="pass the selector inside of it"):
        AutoSelector(AutoSelector(LaplacianScore())).fit(clear.X)
    sieve = AutoSelector(JASFS(3, sparsity=0.1, random_state=0), sizes=[5, 20]).fit(clear.X)
    assert sieve.n_features_selected_ in (5, 20)  # a number, whatever the price was


def test_the_criterion_is_that_of_the_selector_inside():
    assert default_criterion(StabilitySelection(JASFS(3))) == "modularity"
    assert default_criterion(StabilitySelection(LaplacianScore())) == "agreement"


@pytest.mark.slow
@pytest.mark.parametrize("power", [-800, 800])
def test_columns_of_extreme_size_are_judged_as_well(power):
    # Squares of 2^800 overflow, those of 2^-800 vanish.
    made = make_planted(30, 8, n_informative=4, n_clusters=3, signal=4.0, random_state=0)
    X = np.ldexp(made.X, np.where(np.arange(8) % 2, power, 0))
    inner = LaplacianScore(4, scale="unit")
    auto = AutoSelector(inner, sizes=[2, 4]).fit(X)
    np.testing.assert_array_equal(auto.ranking_, inner.fit(made.X).ranking_)
    outer = StabilitySelection(
        inner, n_subsamples=2, n_features_to_select="auto", random_state=0
    ).fit(X)
    for sieve in (auto, outer):
        assert np.isfinite(sieve.path_.curve.values).all()
        assert 1 <= sieve.n_features_selected_ <= 8
