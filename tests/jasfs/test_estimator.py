"""JASFS as an estimator: attributes, inputs, errors, scikit-learn's tools."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.neighbors import NearestCentroid
from sklearn.utils.estimator_checks import check_estimator

from featsieve import JASFS
from featsieve.tuning import feature_qvalues

# scikit-learn sets n_clusters = 1 in these checks, which JASFS refuses on purpose: one cluster has
# no structure to select for.
CHECKS_WITH_ONE_CLUSTER = {
    "check_dont_overwrite_parameters",
    "check_methods_subset_invariance",
    "check_fit2d_1feature",
    "check_fit2d_predict1d",
}


@pytest.mark.slow
@pytest.mark.usefixtures("untested_fits")  # a contract needs none
@pytest.mark.parametrize(
    "settings", [{}, {"solver": "paper", "n_features_to_select": 0.5}], ids=str
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore::featsieve.tuning.NoStructureWarning")
def test_scikit_learn_checks_pass(settings):
    reason = "n_clusters = 1 is an error"
    results = check_estimator(
        JASFS(n_clusters=3, **settings),
        expected_failed_checks=dict.fromkeys(CHECKS_WITH_ONE_CLUSTER, reason),
        on_fail=None,
        on_skip=None,
    )
    by_status = {}
    for result in results:
        by_status.setdefault(result["status"], []).append(result["check_name"])
    assert len(results) >= 45
    assert len(by_status["passed"]) >= 42
    assert by_status.get("failed", []) == []
    assert set(by_status["xfail"]) == CHECKS_WITH_ONE_CLUSTER
    assert set(by_status.get("skipped", [])) <= {"check_array_api_input"}
    for result in results:
        if result["status"] == "xfail":
            causes = f"{result['exception']} {result['exception'].__cause__}"
            assert "n_clusters must be an integer of at least 2" in causes


def test_coefficients_reproduce_the_labels_in_the_units_of_the_table(small_planted):
    model = JASFS(3, ridge=1e-6, sparsity=1e-7, random_state=0).fit(small_planted.X)
    F = np.eye(3)[model.labels_]
    F /= np.sqrt(F.sum(axis=0))
    fitted = small_planted.X @ model.coef_ + model.intercept_
    np.testing.assert_allclose(fitted.mean(axis=0), F.mean(axis=0), atol=1e-12)
    assert np.sum((fitted - F) ** 2) < 0.3 * np.sum((F - F.mean(axis=0)) ** 2)


def test_one_iteration_is_the_fast_mode_two_may_be_too_few(small_planted):
    start = np.arange(80) % 3
    with pytest.warns(ConvergenceWarning, match="Increase max_iter"):
        JASFS(3, init=start, refine_labels=True, max_iter=2, tol=0.0).fit(small_planted.X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        JASFS(3, init=start, refine_labels=True, max_iter=1).fit(
            small_planted.X
        )  # the fast mode is no failure


BAD_INPUT = [
    ({"n_clusters": 1}, ValueError, "at least 2; got 1"),
    ({"n_clusters": 2.5}, TypeError, "n_clusters must be an integer"),
    ({"n_clusters": 81}, ValueError, "choose n_clusters between 2 and 80"),
    ({"init": "random"}, ValueError, "'spectral', 'k-means'"),
    ({"init": "auto"}, ValueError, "'spectral', 'k-means'"),
    ({"n_hypotheses": 0}, ValueError, "n_hypotheses must be an integer of at least 1"),
    ({"n_hypotheses": 2.5}, TypeError, "n_hypotheses must be an integer of at least 1"),
    ({"n_hypotheses": "many"}, ValueError, "'auto' or an integer of at least 1"),
    ({"init": np.zeros(80)}, ValueError, "1 different labels but n_clusters=3"),
    ({"init": np.zeros(5)}, ValueError, r"one label per sample, shape \(80,\)"),
    ({"sparsity": "big"}, ValueError, "sparsity must be 'auto' or a number above 0"),
    ({"sparsity": -1.0}, ValueError, "sparsity must be a number above 0"),
    ({"sparsity": 1e-3, "n_features_to_select": 3}, ValueError, "set one of them"),
    ({"scale": "std"}, ValueError, "scale must be one of 'auto', 'unit'"),
    ({"beta": 0}, ValueError, "beta must be a number above 0"),
]


@pytest.mark.parametrize(
    ("settings", "error", "message"), BAD_INPUT, ids=lambda value: str(value)[:40]
)
def test_wrong_parameters_are_refused_with_the_fix(small_planted, settings, error, message):
    with pytest.raises(error, match=message):
        JASFS(**{"n_clusters": 3, **settings}).fit(small_planted.X)


def test_too_large_sparsity_names_the_largest_that_selects(small_planted):
    model = JASFS(3, sparsity=10.0, random_state=0)
    with pytest.raises(ValueError, match="largest value that selects something") as caught:
        model.fit(small_planted.X)
    assert not hasattr(model, "support_")
    largest = float(str(caught.value).split("selects something here is ")[1].split(". ")[0])
    assert model.set_params(sparsity=largest).fit(small_planted.X).n_features_selected_ >= 1
    with pytest.raises(ValueError, match="no feature is selected"):
        model.set_params(sparsity=largest * 1.001).fit(small_planted.X)


@pytest.mark.parametrize(
    ("load", "n_clusters", "k", "least"),
    [
        (load_iris, "auto", "auto", 0.95),
        (load_wine, 3, 8, 0.9),
        (load_digits, 10, "auto", 0.85),
    ],
)
@pytest.mark.filterwarnings("ignore::featsieve.tuning.NoStructureWarning")
def test_fitted_rows_are_predicted_as_they_were_clustered(load, n_clusters, k, least):
    X = load().data[:300]
    model = JASFS(n_clusters, n_features_to_select=k, random_state=0).fit(X)
    predicted = model.predict(X)
    assert np.mean(predicted == model.labels_) >= least
    # the same as scikit-learn's nearest centroids of the scaled columns
    Z = X[:, model.support_] / X[:, model.support_].std(axis=0)
    oracle = NearestCentroid().fit(Z, model.labels_)
    np.testing.assert_array_equal(predicted, oracle.predict(Z))
    scaled = model.cluster_centers_ / X[:, model.support_].std(axis=0)
    np.testing.assert_allclose(scaled, oracle.centroids_, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(model.predict(sp.csr_array(X)), predicted)


def test_certificate_brackets_the_best_selection(small_planted):
    for settings in ({"n_features_to_select": 4}, {"sparsity": 0.01}):
        model = JASFS(3, random_state=0, **settings).fit(small_planted.X)
        certificate = model.certify(small_planted.X)
        assert 0.0 < certificate.lower_bound <= certificate.value
        # a bound is a proof: single precision is that of the table, not of the bound
        single = small_planted.X.astype(np.float32)
        exact = model.certify(single.astype(np.float64))
        assert model.certify(single).lower_bound == pytest.approx(exact.lower_bound, rel=1e-12)
    with pytest.raises(ValueError, match="solver='joint'"):
        JASFS(3, solver="paper", random_state=0).fit(small_planted.X).certify(small_planted.X)


def test_refitting_leaves_nothing_of_the_first_fit(small_planted):
    frame = pd.DataFrame(small_planted.X, columns=[f"gene{j}" for j in range(60)])
    model = JASFS(3, random_state=0).fit(frame)
    model.set_params(solver="paper", n_features_to_select=3).fit(small_planted.X[:, :20])
    assert not hasattr(model, "path_")
    assert not hasattr(model, "feature_names_in_")
    assert model.support_.shape == (20,)


def test_all_significant_features_are_kept(small_planted):
    X = small_planted.X
    settings = {"init": "k-means", "random_state": 0}
    sieve = JASFS(3, n_features_to_select="significant", **settings).fit(X)
    found = feature_qvalues(JASFS(3, **settings).fit(X), X, random_state=0)
    np.testing.assert_array_equal(sieve.qvalues_, found.qvalues)
    np.testing.assert_array_equal(sieve.support_, found.significant())
    assert sieve.support_[small_planted.informative].sum() >= 7
    assert sieve.path_.curve.chosen <= sieve.n_features_selected_  # the fewest are known as well
    np.testing.assert_array_equal(sieve.ranking_ <= sieve.n_features_selected_, sieve.support_)
    np.testing.assert_array_equal(sieve.coef_.any(axis=1), sieve.support_)
    assert sieve.transform(X).shape == (80, sieve.n_features_selected_)
    # asked before the fit, the q-values are those of the automatic fit
    unfitted = JASFS(3, n_features_to_select="significant", **settings)
    np.testing.assert_array_equal(
        feature_qvalues(unfitted, X, random_state=0).qvalues, found.qvalues
    )


@pytest.mark.filterwarnings("ignore::featsieve.tuning.NoStructureWarning")
def test_where_no_feature_is_significant_the_automatic_ones_are_kept():
    X = np.random.default_rng(0).normal(size=(40, 20))
    sieve = JASFS(3, n_features_to_select="significant", init="k-means", random_state=0)
    with pytest.warns(UserWarning, match="No feature goes with the clusters at q <= 0.05"):
        sieve.fit(X)
    assert sieve.n_features_selected_ == sieve.path_.curve.chosen
    assert sieve.qvalues_.min() > 0.05


def test_automatic_numbers_of_a_constant_table_are_refused_in_words():
    with pytest.raises(ValueError, match="columns of X are constant, so there is nothing to sel"):
        JASFS("auto").fit(np.ones((20, 4)))
