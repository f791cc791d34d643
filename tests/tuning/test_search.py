"""LabelFreeSearchCV against scikit-learn's own conventions."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from featsieve import (
    JASFS,
    NDFS,
    LabelFreeSearchCV,
    LaplacianScore,
    MaxVariance,
    suggest_n_clusters,
)
from featsieve.datasets import make_planted
from featsieve.graphs.views import sample_view
from featsieve.tuning import LabelAgreement, Modularity


@pytest.fixture(scope="module")
def clear():
    return make_planted(60, 30, n_informative=10, n_clusters=3, signal=3.0, random_state=0)


def test_the_scores_are_the_criterion_of_separate_fits(clear):
    grid = {"n_features_to_select": [2, 10, 25]}
    search = LabelFreeSearchCV(JASFS(3, random_state=0), grid).fit(clear.X)
    shown = suggest_n_clusters(clear.X, random_state=0)
    graph = sample_view(clear.X, shown.view, n_clusters=shown.n_clusters).graph
    for k, score in zip([2, 10, 25], search.cv_results_["mean_test_score"], strict=True):
        sieve = JASFS(3, n_features_to_select=k, random_state=0).fit(clear.X)
        assert score == Modularity(graph=graph)(clear.X, sieve.support_, sieve.labels_)
    best = int(search.cv_results_["mean_test_score"].argmax())
    assert search.best_index_ == best
    assert search.best_params_ == search.cv_results_["params"][best]
    assert search.best_score_ == search.cv_results_["mean_test_score"][best]
    assert search.n_splits_ == 1
    assert {"n_features_to_select": search.best_estimator_.support_.sum()} == search.best_params_


def test_a_scale_that_hides_the_informative_columns_loses(clear):
    X = clear.X.copy()
    X[:, ~clear.informative] *= 30.0
    search = LabelFreeSearchCV(
        LaplacianScore(10), {"scale": ["none", "unit"]}, criterion=Modularity()
    )
    assert search.fit(X).best_params_ == {"scale": "unit"}


def test_labels_given_by_the_user_are_never_looked_at(clear):
    search = LabelFreeSearchCV(LaplacianScore(), {"n_features_to_select": [2, 10]})
    with_y = clone(search).fit(clear.X, np.random.default_rng(0).permutation(60))
    without = clone(search).fit(clear.X)
    np.testing.assert_array_equal(
        with_y.cv_results_["mean_test_score"], without.cv_results_["mean_test_score"]
    )


def test_folds_judge_rows_that_were_not_fitted(clear):
    seen = []

    class Recorder(LabelAgreement):
        def prepare(self, X, labels):
            seen.append((X.shape[0], len(labels)))
            return super().prepare(X, labels)

    splitter = KFold(4, shuffle=True, random_state=0)
    search = LabelFreeSearchCV(
        NDFS(3, random_state=0),
        {"n_features_to_select": [5, 20]},
        criterion=Recorder(),
        cv=splitter,
    ).fit(clear.X)
    assert seen == [(15, 15)] * 8
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_sparse_tables_and_frames(clear):
    grid = {"n_features_to_select": [3, 10]}
    X = np.where(clear.X > 0.3, clear.X, 0.0)
    dense = LabelFreeSearchCV(LaplacianScore(), grid).fit(X)
    for table in (sp.csr_array(X), pd.DataFrame(X).add_prefix("f")):
        other = LabelFreeSearchCV(LaplacianScore(), grid).fit(table)
        np.testing.assert_allclose(
            other.cv_results_["mean_test_score"], dense.cv_results_["mean_test_score"], atol=1e-9
        )
    assert list(other.best_estimator_.feature_names_in_)[:2] == ["f0", "f1"]


def test_a_candidate_that_cannot_be_fitted_does_not_stop_the_rest(clear):
    grid = {"n_features_to_select": [5, 1000]}
    search = LabelFreeSearchCV(LaplacianScore(), grid)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        search.fit(clear.X)
    assert any(issubclass(warning.category, FitFailedWarning) for warning in caught)
    assert search.best_params_ == {"n_features_to_select": 5}
    with pytest.raises(ValueError, match="between 1 and 30"):
        clone(search).set_params(error_score="raise").fit(clear.X)


def test_mistakes_get_an_answer(clear):
    with pytest.raises(TypeError, match="selector must be a selector"):
        LabelFreeSearchCV(KMeans(3), {"n_clusters": [2]}).fit(clear.X)
    with pytest.raises(ValueError, match="criterion must be one of"):
        LabelFreeSearchCV(LaplacianScore(), {"n_neighbors": [2]}, criterion="acc").fit(clear.X)


def test_one_graph_for_all_candidates_of_a_pipeline_too(clear):
    grid = [3, 4, 6]
    bare = LabelFreeSearchCV(
        JASFS(n_features_to_select=10, random_state=0), {"n_clusters": grid}
    ).fit(clear.X)
    pipeline = make_pipeline(
        StandardScaler(with_std=False), JASFS(n_features_to_select=10, random_state=0)
    )
    piped = LabelFreeSearchCV(pipeline, {"jasfs__n_clusters": grid}).fit(clear.X)
    np.testing.assert_allclose(
        piped.cv_results_["mean_test_score"], bare.cv_results_["mean_test_score"], atol=1e-6
    )


def test_rows_that_are_all_the_same_cannot_judge():
    X = make_planted(15, 4, n_informative=2, n_clusters=2, signal=4.0, random_state=0).X
    X[:5] = X[0]  # the first fold
    search = LabelFreeSearchCV(MaxVariance(2), {}, cv=KFold(3), error_score="raise")
    with pytest.raises(ValueError, match="All 4 columns of X are constant"):
        search.fit(X)
