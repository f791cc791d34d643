"""explain: every column of its table against an independent computation."""

import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_ind
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import VarianceThreshold, f_classif
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from featsieve import (
    JASFS,
    AutoSelector,
    LabelFreeSearchCV,
    LaplacianScore,
    MaxVariance,
    RandomSelector,
    StabilitySelection,
)
from featsieve.arrays import dense
from featsieve.datasets import make_planted
from featsieve.tables import Table
from featsieve.tuning import explanation as explain_module
from featsieve.tuning import feature_qvalues
from featsieve.tuning.explanation import explain

COLUMNS = [
    "feature", "index", "selected", "rank", "score", "selection_frequency", "best_cluster",
    "separation", "eta_squared", "closest_selected", "correlation", "status", "reason",
]  # fmt: skip
LABELS = np.repeat([0, 1, 2], 4)


def fitted(X, support, *, ranking=None, **attributes):
    """Return a selector that has chosen the given columns."""
    sieve = RandomSelector(1, random_state=0).fit(X)
    sieve.support_ = np.isin(np.arange(sieve.n_features_in_), support)
    if ranking is None:
        ranking = np.argsort(np.argsort(~sieve.support_, kind="stable")) + 1
    sieve.ranking_ = np.asarray(ranking)
    sieve.scores_ = 1.0 / sieve.ranking_
    for name, value in attributes.items():
        setattr(sieve, name, value)
    return sieve


@pytest.fixture
def known():
    """Return 12 samples in 3 clusters: what the columns are is in their names."""
    rng = np.random.default_rng(0)
    high = np.where(LABELS == 1, 5.0, 0.0) + np.tile([1.0, -1.0], 6)
    return pd.DataFrame(
        {
            "high in 1": high,
            "constant": np.full(12, 0.1),
            "copy": high,
            "negative": 3.0 - 1000.0 * high,
            "noise": rng.standard_normal(12),
            "low in 2": np.where(LABELS == 2, -1.0, 1.0),
        }
    )


def test_a_feature_that_goes_with_the_clusters_is_not_called_low(known):
    known["weaker"] = known["high in 1"] + np.tile([3.0, 3.0, -3.0, -3.0], 3)
    sieve = fitted(known, [0], labels_=LABELS)
    also = "goes with the clusters as well; fewer suffice to show them"
    why = explain(sieve, known).set_index("feature")["reason"]
    assert why["low in 2"] == also  # the clusters explain all of it
    assert why["weaker"].startswith("ranked low: rank ")
    sieve.qvalues_ = np.where(known.columns == "weaker", 0.01, 0.5)
    why = explain(sieve, known).set_index("feature")["reason"]
    assert why["weaker"] == also
    assert why["noise"].startswith("ranked low: rank ")


def test_a_table_with_known_answers(known):
    sieve = fitted(known, [0, 5], labels_=LABELS)
    table = explain(sieve, known)
    assert list(table) == COLUMNS
    assert table["feature"].tolist() == list(known.columns)
    assert table["index"].tolist() == list(range(6))
    np.testing.assert_array_equal(table["selected"], sieve.support_)
    np.testing.assert_array_equal(table["rank"], sieve.ranking_)
    np.testing.assert_array_equal(table["score"], sieve.scores_)
    assert np.isnan(table["selection_frequency"]).all()
    assert table["status"].tolist() == [
        "selected", "constant", "redundant", "redundant", "low score", "selected",
    ]  # fmt: skip
    assert table["reason"].tolist() == [
        "selected", "constant", "redundant: r=1.00 with high in 1",
        "redundant: r=-1.00 with high in 1", "ranked low: rank 6", "selected",
    ]  # fmt: skip
    assert table["closest_selected"].tolist()[:4] == ["low in 2", "", "high in 1", "high in 1"]
    np.testing.assert_allclose(table["correlation"][[2, 3]], [1.0, -1.0])
    # The columns "high in 1" and "low in 2" are each other's closest.
    np.testing.assert_allclose(table["correlation"][0], table["correlation"][5])
    assert table["best_cluster"][[0, 1, 2, 3, 5]].tolist() == [1, -1, 1, 1, 2]
    # Means 5 and 0; 12 squares of 1 within the groups, 10 degrees of freedom.
    high = 5.0 / np.sqrt(12.0 / 10.0)
    np.testing.assert_allclose(table["separation"][[0, 2, 3]], [high, high, -high])
    assert np.isnan(table["separation"][1])
    assert table["separation"][5] == -np.inf
    # Between 4 * 25 * 8 / 12 = 200/3, within 12.
    np.testing.assert_allclose(table["eta_squared"][0], (200 / 3) / (200 / 3 + 12))
    np.testing.assert_allclose(table["eta_squared"][5], 1.0)
    assert np.isnan(table["eta_squared"][1])
    assert table.sort_values("rank")["feature"].head(2).tolist() == ["high in 1", "low in 2"]


def test_of_several_copies_the_best_ranked_is_named(known):
    X = np.column_stack([known["noise"]] * 4)
    table = explain(fitted(X, [0, 1, 2], ranking=[3, 1, 2, 4]), X)
    assert table["closest_selected"].tolist() == ["x1", "x2", "x1", "x1"]
    assert set(table["best_cluster"]) == {-1}  # without labels there are no clusters
    assert np.isnan(table["separation"]).all()
    assert np.isnan(table["eta_squared"]).all()


def test_nothing_else_is_selected(known):
    table = explain(fitted(known, [4]), known)
    assert table["closest_selected"][4] == ""
    assert np.isnan(table["correlation"][4])
    assert table["closest_selected"][0] == "noise"
    only_constant = explain(fitted(known, [1]), known)
    assert set(only_constant["closest_selected"]) == {""}
    assert set(only_constant["status"]) == {"selected", "low score"}
    assert only_constant["reason"][1] == "selected, but constant"


def test_the_limit_of_redundancy():
    # Columns of unit norm, the second at a correlation of 0.8 = 4/5 with the first.
    a, b = np.array([1.0, -1.0, 1.0, -1.0]), np.array([1.0, 1.0, -1.0, -1.0])
    X = np.column_stack([a, 0.8 * a + 0.6 * b, -2.0 * a])
    sieve = fitted(X, [0])
    np.testing.assert_allclose(explain(sieve, X)["correlation"][1:], [0.8, -1.0])
    assert explain(sieve, X)["status"].tolist() == ["selected", "low score", "redundant"]
    for limit in (0.8, 0.5):
        assert explain(sieve, X, redundant=limit)["status"][1] == "redundant"
    exact = explain(sieve, X, redundant=1)["status"].tolist()
    assert exact == ["selected", "low score", "redundant"]
    # Rounding leaves 1 - 1e-16 of many a copy's correlation.
    rng = np.random.default_rng(0)
    copies = np.outer(rng.standard_normal(37), rng.uniform(-9.0, 9.0, 50))
    table = explain(fitted(copies, [0]), copies, redundant=1.0)
    assert set(table["status"][1:]) == {"redundant"}


@settings(max_examples=30)
@given(
    n=st.integers(4, 30),
    d=st.integers(1, 8),
    n_clusters=st.integers(2, 4),
    seed=st.integers(0, 2**16),
    data=st.data(),
)
def test_against_brute_force(n, d, n_clusters, seed, data):
    rng = np.random.default_rng(seed)
    X = 10.0 * rng.standard_normal(d) + rng.standard_normal((n, d)) * rng.uniform(0.1, 9.0, d)
    labels = np.append(np.arange(n_clusters), rng.integers(n_clusters, size=n - n_clusters))
    chosen = data.draw(st.lists(st.integers(0, d - 1), min_size=1, unique=True))
    table = explain(fitted(X, chosen), X, labels=labels)

    r = np.atleast_2d(np.corrcoef(X, rowvar=False))
    for j in range(d):
        others = [i for i in chosen if i != j]
        if not others:
            assert table["closest_selected"][j] == ""
            continue
        closest = max(others, key=lambda i: abs(r[i, j]))
        assert table["closest_selected"][j] == f"x{closest}"
        np.testing.assert_allclose(table["correlation"][j], r[closest, j], atol=1e-12)
        redundant = not table["selected"][j] and abs(r[closest, j]) >= 0.9
        assert (table["status"][j] == "redundant") == redundant

    if n > n_clusters:  # F = (eta² / (c - 1)) / ((1 - eta²) / (n - c))
        F = f_classif(X, labels)[0] * (n_clusters - 1) / (n - n_clusters)
        np.testing.assert_allclose(table["eta_squared"], F / (1.0 + F), atol=1e-10)
    for j in range(d):
        best, inside = table["best_cluster"][j], labels == table["best_cluster"][j]
        t = [ttest_ind(X[labels == c, j], X[labels != c, j]).statistic for c in range(n_clusters)]
        np.testing.assert_allclose(abs(t[best]), np.max(np.abs(t)), rtol=1e-6)
        # Cohen's d from the t statistic of two groups.
        expected = t[best] * np.sqrt(1.0 / inside.sum() + 1.0 / (~inside).sum())
        np.testing.assert_allclose(table["separation"][j], expected, rtol=1e-6)


@settings(max_examples=20)
@given(seed=st.integers(0, 2**16))
def test_of_two_clusters_the_one_with_the_higher_mean_is_named(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((12, 5))
    labels = rng.permutation(np.repeat(["left", "right"], 6))
    table = explain(fitted(X, [0]), X, labels=labels)
    higher = X[labels == "right"].mean(axis=0) > X[labels == "left"].mean(axis=0)
    assert table["best_cluster"].tolist() == np.where(higher, "right", "left").tolist()
    assert (table["separation"] > 0.0).all()


def test_meta_estimators_are_looked_into(small_planted):
    X = small_planted.X
    inner = JASFS(3, n_features_to_select=8, random_state=0)
    outer = StabilitySelection(inner, n_subsamples=4, random_state=0).fit(X)
    table = explain(outer, X)
    np.testing.assert_array_equal(table["selected"], outer.support_)
    np.testing.assert_array_equal(table["selection_frequency"], outer.selection_frequency_)
    table.loc[:, "selection_frequency"] = 0.0  # the table is the user's own
    assert outer.selection_frequency_.max() > 0.0
    auto = AutoSelector(LaplacianScore()).fit(X)
    pd.testing.assert_frame_equal(explain(auto, X), explain(auto.selector_, X))


def test_the_best_candidate_of_a_search_is_explained():
    made = make_planted(24, 10, n_informative=4, n_clusters=3, signal=4.0, random_state=0)
    X = pd.DataFrame(made.X).add_prefix("f")
    search = LabelFreeSearchCV(LaplacianScore(4), {"n_neighbors": [3, 5]})
    with pytest.raises(TypeError, match="with its best_estimator_"):
        explain(search, X)
    search.fit(X)
    table = explain(search, X, labels=made.labels)
    pd.testing.assert_frame_equal(table, explain(search.best_estimator_, X, labels=made.labels))
    assert table["feature"][table["selected"]].tolist() == list(search.get_feature_names_out())
    with pytest.raises(TypeError, match="with its best_estimator_"):
        explain(search.set_params(refit=False).fit(X), X)
    search = LabelFreeSearchCV(
        make_pipeline(StandardScaler(), MaxVariance(4)), {"maxvariance__n_features_to_select": [4]}
    )
    with pytest.raises(TypeError, match="not the Pipeline around it"):
        explain(search.fit(X), X)


def test_without_pandas_it_is_a_table_that_has_a_head(monkeypatch, known):
    X = known.to_numpy()
    sieve = fitted(X, [0, 2])
    frame = explain(sieve, X)
    assert isinstance(frame, pd.DataFrame)
    monkeypatch.setitem(sys.modules, "pandas", None)
    table = explain(sieve, X)
    assert isinstance(table, Table)
    assert table.head(2)["reason"].tolist() == frame["reason"].head(2).tolist()
    for name, values in table.items():
        np.testing.assert_array_equal(values, frame[name].to_numpy(), err_msg=name)


def assert_close(first, second, atol=1e-9):
    for name, values in first.items():
        if values.dtype.kind == "f":
            np.testing.assert_allclose(second[name], values, rtol=atol, atol=atol, err_msg=name)
        else:
            np.testing.assert_array_equal(second[name], values, err_msg=name)


@pytest.fixture
def counts():
    """Return a table of small counts, mostly 0, in 3 clusters, with copies and a constant."""
    rng = np.random.default_rng(1)
    labels = rng.permutation(np.arange(60) % 3)
    X = rng.poisson(0.3 + 2.0 * (labels[:, None] == np.arange(30) % 5))
    X[:, 7], X[:, 8], X[:, 9] = X[:, 3], 4 * X[:, 3] + 2, 0
    return X, labels


def test_other_storage_gives_the_same_table(counts, monkeypatch):
    X, labels = counts
    sieve = fitted(X, [0, 1, 3, 8, 11])
    expected = explain(sieve, X.astype(float), labels=labels)
    assert set(expected["status"]) == {"selected", "constant", "redundant", "low score"}
    narrow = X.astype(np.uint8)
    stored = (
        X,
        narrow,
        np.asfortranarray(X),
        sp.csr_matrix(X),
        sp.csc_array(narrow),
        sp.coo_array(X),
    )
    for table in stored:
        assert_close(expected, explain(sieve, table, labels=labels))
    single = (X.astype(np.float32), sp.csr_array(X.astype(np.float32)), X.astype(np.float16))
    for table in (*single, X.astype(np.longdouble)):
        assert_close(expected, explain(sieve, table, labels=labels))
    monkeypatch.setattr(explain_module, "CONVERT_ELEMENTS", 0)  # large tables keep their type
    for table in single:
        assert_close(expected, explain(sieve, table, labels=labels), atol=1e-4)
    monkeypatch.setattr(dense, "CONVERT_ELEMENTS", 0)  # integers stay integers
    assert_close(expected, explain(sieve, narrow, labels=labels))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_blocks_do_not_show(counts, form, monkeypatch):
    X, labels = form(counts[0]), counts[1]
    sieve = fitted(X, np.arange(0, 30, 2))
    expected = explain(sieve, X, labels=labels)
    monkeypatch.setattr(explain_module, "BLOCK_ELEMENTS", 200)
    assert_close(expected, explain(sieve, X, labels=labels))


@pytest.mark.parametrize("large", [True, False])
def test_a_perfect_cluster_far_from_zero_in_single_precision(large, monkeypatch):
    if large:
        monkeypatch.setattr(explain_module, "CONVERT_ELEMENTS", 0)
    labels = np.arange(5000) % 3
    X = np.column_stack([50.0 + (labels == 2), np.arange(5000.0)]).astype(np.float32)
    for table in (X, sp.csr_array(X)):
        found = explain(fitted(X, [1]), table, labels=labels)
        assert found["separation"][0] == np.inf
        assert found["best_cluster"][0] == 2


def test_labels_of_text_and_given_ones_before_fitted_ones(known):
    text = np.array(["a", "b", "c"])[LABELS]
    sieve = fitted(known, [0], labels_=LABELS)
    for labels in (text, text.astype(object), pd.Series(text), pd.Categorical(text)):
        table = explain(sieve, known, labels=labels)
        assert table["best_cluster"][:3].tolist() == ["b", "", "b"]
    flags = explain(sieve, known, labels=LABELS == 1)
    assert flags["best_cluster"][0] == 1


def test_every_sample_a_cluster():
    X = np.array([[0.0, 1.0], [1.0, 1.0]])
    table = explain(fitted(X, [0]), X, labels=[0, 1])
    assert table["best_cluster"].tolist() == [1, -1]
    assert table["separation"][0] == np.inf
    np.testing.assert_allclose(table["eta_squared"][0], 1.0)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1], "for 12 samples"),
        (LABELS[:, None], "one class for every sample"),
        (np.append(LABELS[:-1].astype(object), [None]), "several kinds of values"),
        (np.linspace(0, 1, 12), "has fractions, missing values"),
        (np.append(LABELS[:-1], np.nan), "has fractions, missing values"),
    ],
)
def test_wrong_labels_are_refused(known, labels, message):
    with pytest.raises(ValueError, match=message):
        explain(fitted(known, [0]), known, labels=labels)


def test_another_table_is_refused(known):
    sieve = fitted(known, [0], labels_=LABELS)
    with pytest.raises(ValueError, match="pass the table that was fitted, or the clusters"):
        explain(sieve, known[:9])
    assert explain(sieve, known[:9], labels=LABELS[:9])["best_cluster"][0] == 1
    with pytest.raises(ValueError, match="feature names should match"):
        explain(sieve, known[known.columns[::-1]])
    with pytest.raises(ValueError, match=r"NaN: 12 non-finite values in 1 column \(noise\)"):
        explain(sieve, known.assign(noise=np.nan))


def test_what_is_no_fitted_selector_is_refused(known):
    with pytest.raises(NotFittedError):
        explain(LaplacianScore(), known)
    with pytest.raises(TypeError, match="got StandardScaler"):
        explain(StandardScaler().fit(known), known)
    with pytest.raises(TypeError, match="got VarianceThreshold"):
        explain(VarianceThreshold().fit(known), known)
    with pytest.raises(ValueError, match="redundant"):
        explain(fitted(known, [0]), known, redundant=1.1)
    pipeline = make_pipeline(StandardScaler(), MaxVariance(n_features_to_select=2)).fit(known)
    advice = r"explain\(pipeline\[-1\], pipeline\[:-1\]\.transform\(X\)\)"
    with pytest.raises(TypeError, match=advice):
        explain(pipeline, known)
    assert explain(pipeline[1], pipeline[:1].transform(known))["selected"].sum() == 2


def test_units_of_any_size_change_nothing():
    planted = make_planted(60, 8, n_informative=4, n_clusters=3, signal=4.0, random_state=0)
    powers = [2.0**e for e in (0, 190, -190, 100, -100, 50, -150, 120)]
    sieve = JASFS(3, n_features_to_select=3, random_state=0)
    plain = explain(sieve.fit(planted.X), planted.X)
    X = planted.X * powers
    for table in (X, X.astype(X.dtype.newbyteorder()), sp.csr_array(X)):
        found = explain(sieve.fit(X), table)
        for name in COLUMNS:
            if found[name].dtype.kind == "f":
                np.testing.assert_allclose(found[name], plain[name], rtol=1e-9, atol=1e-12)
            else:
                assert found[name].tolist() == plain[name].tolist(), name


def test_q_values_are_there_where_they_were_computed(small_planted, monkeypatch):
    X = small_planted.X
    sieve = JASFS(3, n_features_to_select=3, init="k-means", random_state=0).fit(X)
    assert "q_value" not in explain(sieve, X)
    found = feature_qvalues(sieve, X, n_refits=2, random_state=0)
    np.testing.assert_array_equal(explain(sieve, X, qvalues=found)["q_value"], found.qvalues)
    quick = partial(feature_qvalues, n_refits=2)
    monkeypatch.setattr(explain_module, "feature_qvalues", quick)
    np.testing.assert_array_equal(explain(sieve, X, qvalues=True)["q_value"], found.qvalues)
    sieve.qvalues_ = np.full(60, 0.5)
    np.testing.assert_array_equal(explain(sieve, X)["q_value"], sieve.qvalues_)
    with pytest.raises(ValueError, match="what feature_qvalues returns for these 60 columns"):
        explain(sieve, X, qvalues=found.qvalues)


def test_features_are_explained_inside_of_batches():
    rng = np.random.default_rng(0)
    batch, groups = np.arange(80) % 2, np.arange(80) // 40
    X = rng.standard_normal((80, 4))
    X[:, 0] += 6.0 * groups + 50.0 * batch
    X[:, 1] += 50.0 * batch
    sieve = MaxVariance(n_features_to_select=1).fit(X, batch=batch)
    for table in (X, sp.csr_array(X)):
        facts = explain(sieve, table, labels=groups, batch=batch)
        assert facts["eta_squared"][0] > 0.8
        assert abs(facts["correlation"][1]) < 0.5  # both have the batches
    with pytest.raises(ValueError, match="MaxVariance was fitted with batches: pass batch="):
        explain(sieve, X, labels=groups)
    assert "kept" not in facts


def test_what_is_kept_has_a_column():
    X = np.random.default_rng(0).standard_normal((20, 4))
    sieve = MaxVariance(n_features_to_select=2, keep=[3], groups={"pair": [0, 3]}).fit(X)
    assert explain(sieve, X)["kept"].tolist() == [True, False, False, True]  # bought together
