"""From a table to a selection."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from featsieve import JASFS, MCFS, explain, structure_test
from featsieve.datasets import Dataset, make_planted
from featsieve.report import render_selection
from featsieve.tuning import FeatureQValues, feature_qvalues
from featsieve.workflow import select_features
from featsieve.workflow.outputs import summarize
from featsieve.workflow.prepare import prepare_table
from featsieve.workflow.select import _too_few_null_values, note_about_units

FAST = {"n_clusters": 3, "n_features": 8, "n_subsamples": 0}


@pytest.fixture(scope="module")
def few():
    """Return a table of few columns: q-values take forty fits."""
    made = make_planted(50, 24, n_informative=8, n_clusters=3, signal=4.0, random_state=0)
    return Dataset("planted", made.X, made.labels, feature_names=[f"g{j}" for j in range(24)])


@pytest.fixture(scope="module")
def run(few):
    return select_features(few, n_subsamples=4)


def test_the_selection_is_that_of_the_method(few, run):
    sieve = JASFS("auto", n_features_to_select="auto", random_state=0).fit(few.X)
    np.testing.assert_array_equal(run.selector.support_, sieve.support_)
    assert run.selected == [f"g{j}" for j in np.flatnonzero(sieve.support_)]
    np.testing.assert_array_equal(run.labels, sieve.labels_)
    assert run.n_clusters == 3
    assert run.structure is run.selector.structure_  # tested once
    assert run.structure.summary() == structure_test(few.X, n_tables=3, level=0.25).summary()
    assert run.model.method == "JASFS"
    assert run.notes == ()


def test_features_are_explained_by_name(few, run):
    frame = pd.DataFrame(few.X, columns=few.feature_names)
    sieve = JASFS("auto", n_features_to_select="auto", random_state=0).fit(frame)
    expected = explain(sieve, frame, qvalues=True)  # of a small table, by default
    expected["selection_frequency"] = run.frequency
    assert list(run.features) == list(expected)
    for name, values in expected.items():  # a frame may lie in memory the other way round
        if values.dtype.kind == "f":
            np.testing.assert_allclose(run.features[name], values, rtol=1e-9)
        else:
            np.testing.assert_array_equal(run.features[name], values)
    assert not hasattr(run.selector, "feature_names_in_")


@pytest.mark.slow
def test_classes_judge_and_never_select(few, monkeypatch):
    """The same selection, bit for bit, whatever the classes are."""
    quick = partial(feature_qvalues, n_refits=2)
    monkeypatch.setattr("featsieve.workflow.select.feature_qvalues", quick)
    rng = np.random.default_rng(0)
    shuffled = replace(few, y=rng.permutation(few.y))
    unlabelled = replace(few, y=None)
    first = select_features(few, n_clusters=3, n_subsamples=2)
    for other in (shuffled, unlabelled):
        again = select_features(other, n_clusters=3, n_subsamples=2)
        assert again.selected == first.selected
        np.testing.assert_array_equal(again.labels, first.labels)
        np.testing.assert_array_equal(again.selector.scores_, first.selector.scores_)
        np.testing.assert_array_equal(again.frequency, first.frequency)
        assert again.features == first.features


def test_sparse_and_single_precision(table):
    dense = select_features(table, **FAST)
    for X in (sp.csr_array(table.X), table.X.astype(np.float32)):
        assert select_features(replace(table, X=X), **FAST).selected == dense.selected


def test_standardised_columns(table):
    units = 10.0 ** np.random.default_rng(0).uniform(-3, 3, 60)
    scaled = replace(table, X=table.X * units)
    plain = MCFS(3, n_features_to_select=8).fit((table.X - table.X.mean(0)) / table.X.std(0))
    run = select_features(scaled, method="mcfs", standardize=True, **FAST)
    np.testing.assert_array_equal(run.selector.support_, plain.support_)
    np.testing.assert_array_equal(run.table.X, scaled.X)
    assert run.prepared.scale is not None


def planted_in_large_units():
    """Return a table whose clusters show in plain distances only, by the units of 6 columns."""
    planted = make_planted(60, 400, n_informative=6, n_clusters=3, signal=2.0, random_state=1)
    X = planted.X.copy()
    X[:, planted.informative] *= 8.0
    return X, planted.informative


def test_units_that_decide_are_told():
    X, informative = planted_in_large_units()
    settings = {"n_clusters": 3, "n_features": 6, "n_subsamples": 0}
    run = select_features(X, **settings)
    init = run.selector.init_
    assert init["family"][int(np.argmax(init["weight"]))] == "raw"
    (note,) = [note for note in run.notes if note.kind == "units"]
    widest = int(X.std(axis=0).argmax())
    assert f"such as 'x{widest}'" in note
    assert "--standardize" in note
    assert informative[widest]


def test_units_that_do_not_decide_are_not_told():
    X, _ = planted_in_large_units()
    plain, hat = (
        SimpleNamespace(init_={"family": ["hat", "raw"], "weight": weight})
        for weight in ([0.1, 0.9], [0.9, 0.1])
    )
    for table in (X, sp.csr_array(X)):
        assert len(note_about_units(prepare_table(table), plain)) == 1
        assert note_about_units(prepare_table(table), hat) == ()
        assert note_about_units(prepare_table(table, standardize=True), plain) == ()
    one_narrow = np.random.default_rng(0).standard_normal((40, 11)) * [1e-3, *[1.0] * 10]
    assert note_about_units(prepare_table(one_narrow), plain) == ()


def test_depth_beside_the_clusters_is_told():
    """Clusters whose cells have more counts, and others whose cells have not."""
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 40)
    rates = np.where(labels[:, None] * (np.arange(60) < 20), 40.0, 5.0)
    told = []
    for depth in (1.0, 1.0 + 4.0 * labels, 1.0 / rates.sum(axis=1)):
        X = rng.poisson(rates * np.reshape(depth / np.mean(depth), (-1, 1)))
        found = select_features(X, n_clusters=2, n_features=10, counts=True, n_subsamples=0)
        told += [str(note) for note in found.notes if note.kind == "depth"]
    assert ["do not differ between the clusters" in text for text in told] == [False, False, True]
    assert "(depth) differ between the clusters: medians" in told[0]
    X = rng.multinomial(1000, rates[0] / rates[0].sum(), 80)  # rarefied: all totals are equal
    X[labels == 1] = rng.multinomial(1000, rates[-1] / rates[-1].sum(), 40)
    found = select_features(X, n_clusters=2, n_features=10, counts=True, n_subsamples=0)
    assert "depth" not in [note.kind for note in found.notes]


@pytest.mark.slow
def test_noise_is_told_once():
    noise = np.random.default_rng(0).standard_normal((80, 40))
    run = select_features(noise, n_subsamples=0)
    assert [note.kind for note in run.notes] == ["NoStructureWarning"]
    assert run.structure.verdict == "nothing"
    assert str(run.notes[0]).startswith(run.structure.sentence)


def test_steps_are_told(table):
    told = []
    select_features(table, **FAST | {"n_subsamples": 3}, progress=told.append)
    assert told[0] == "looking for features with JASFS"
    assert told[1:4] == [f"JASFS: subsample {i} of 3" for i in (1, 2, 3)]


def test_q_values_on_request(table, monkeypatch):
    quick, told = partial(feature_qvalues, n_refits=2), []
    monkeypatch.setattr("featsieve.workflow.select.feature_qvalues", quick)
    monkeypatch.setattr("featsieve.workflow.select.SLOW_FIT", 0.0)  # in processes of their own
    run = select_features(table, qvalues=True, n_jobs=2, progress=told.append, **FAST)
    assert any(text.startswith("testing the features: 1 of 2 refits") for text in told)
    expected = quick(run.selector, table.X, random_state=0).qvalues
    np.testing.assert_array_equal(run.features["q_value"], expected)
    summary = summarize(run)
    assert summary["number"]["significant"] == (expected <= 0.05).sum()
    assert "with the clusters at q ≤ 0.05" in " ".join(summary["words"])
    assert "False discovery rate at which it goes" in render_selection(summary)


def test_only_jasfs_selects_all_significant_features(table):
    with pytest.raises(ValueError, match="MCFS has no n_features_to_select='significant'"):
        select_features(table, method="mcfs", n_features="significant")
    with pytest.raises(ValueError, match="MaxVariance finds no clusters"):
        select_features(table, method="maxvariance", qvalues=True, **FAST)


def test_features_beyond_too_few_null_values_are_told():
    """A category of which there is one has few null values, and cannot be called by itself."""
    p, sizes = np.array([0.001, 0.04, 0.06, 0.06, 0.5]), np.array([999, 49, 49, 49, 999])
    tested = FeatureQValues(np.array([0.004, 0.2, 0.2, 0.2, 0.6]), p, p, sizes, 50, 3, 90)
    chosen = SimpleNamespace(feature_names=["a", "b", "kind", "e"], chosen=[0, 1, 2, 3])
    chosen.owner = np.array([0, 1, 2, 2, 3])  # of the two levels of a kind, p is twice 1/50
    assert _too_few_null_values(tested, chosen) == ()
    tested.pvalues[1:4] = 0.02, 0.04, 0.04
    (note,) = _too_few_null_values(tested, chosen)
    assert note.startswith("Beyond all that chance gave, though not significant: 2 columns ('b', ")
    chosen.chosen = [0, 3]  # selected or not
    assert _too_few_null_values(tested, chosen) == (note,)
