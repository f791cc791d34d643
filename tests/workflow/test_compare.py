"""Several methods on one table."""

import json

import numpy as np
import pytest
from sklearn.metrics import jaccard_score

import featsieve
from featsieve import JASFS, MCFS, LaplacianScore
from featsieve.datasets import Dataset
from featsieve.evaluation.judging import Judge
from featsieve.workflow import compare_methods


@pytest.fixture(scope="module")
def compared(small_planted):
    return compare_methods(
        small_planted.X,
        ["jasfs", "laplacianscore", "mcfs"],
        n_clusters=3,
        n_features=8,
        n_subsamples=3,
    )


def test_selections_are_those_of_the_methods(small_planted, compared):
    X = small_planted.X
    fitted = [
        JASFS(3, n_features_to_select=8, random_state=0).fit(X),
        LaplacianScore(8).fit(X),
        MCFS(3, n_features_to_select=8).fit(X),
    ]
    for entry, selector in zip(compared.entries, fitted, strict=True):
        np.testing.assert_array_equal(entry.support, selector.support_)
        assert entry.seconds > 0.0
        assert entry.stability.n_selections == 3


def test_agreement_is_the_jaccard_index_of_scikit_learn(compared):
    supports = [entry.support for entry in compared.entries]
    expected = [[jaccard_score(one, other) for other in supports] for one in supports]
    np.testing.assert_allclose(compared.agreement, expected)


def test_chance_is_what_random_choices_share(small_planted):
    compared = compare_methods(
        small_planted.X, ["maxvariance"], n_clusters=3, n_features=8, n_subsamples=0
    )
    rng = np.random.default_rng(0)
    shared = []
    for _ in range(2000):
        one, other = (set(rng.permutation(60)[:8].tolist()) for _ in range(2))
        shared.append(len(one & other) / len(one | other))
    assert compared.by_chance == pytest.approx(np.mean(shared), abs=0.02)


def test_numbers_are_found_once_for_all(small_planted):
    compared = compare_methods(small_planted.X, ["laplacianscore", "mcfs"], n_subsamples=0)
    assert compared.n_clusters == 3
    found = JASFS(3, random_state=0).fit(small_planted.X)
    assert compared.n_features == found.n_features_selected_
    assert {int(entry.support.sum()) for entry in compared.entries} == {compared.n_features}
    assert [entry.stability for entry in compared.entries] == [None, None]
    assert any("as many as JASFS finds" in note for note in compared.notes)


def test_noise_is_told():
    noise = np.random.default_rng(0).standard_normal((80, 40))
    compared = compare_methods(noise, ["maxvariance"], n_subsamples=0)
    assert any("structure score" in note for note in compared.notes)


class Failing(MCFS):
    """A method that no table suits."""

    def _fit(self, X):
        raise ValueError("This table does not suit.")


def test_a_method_that_fails_does_not_stop_the_others(small_planted, monkeypatch):
    monkeypatch.setattr(featsieve.selectors, "MCFS", Failing)
    compared = compare_methods(
        small_planted.X, ["mcfs", "jasfs"], n_clusters=3, n_features=2, n_subsamples=2
    )
    failed, done = compared.entries
    assert failed.support is None
    assert failed.reason == "This table does not suit."
    assert done.support.sum() == 2
    assert np.isnan(compared.agreement[0]).all()
    assert compared.agreement[1, 1] == 1.0
    plain = json.loads(json.dumps(compared.as_dict(), allow_nan=False))
    assert [method["status"] for method in plain["methods"]] == ["failed", "done"]
    assert [method["jaccard_JASFS"] for method in plain["methods"]] == [None, 1.0]
    assert plain["methods"][0]["stability"] is None


def test_a_method_named_twice_counts_once(small_planted):
    compared = compare_methods(
        small_planted.X, ["maxvariance", "MaxVariance"], n_clusters=2, n_features=3, n_subsamples=0
    )
    assert len(compared.entries) == 1
    with pytest.raises(ValueError, match="at least one method"):
        compare_methods(small_planted.X, [])
    with pytest.raises(ValueError, match="no method"):
        compare_methods(small_planted.X, ["nothing"])


def test_methods_and_all_features_are_judged(small_planted):
    table = Dataset("t", small_planted.X, y=small_planted.labels)
    arguments = {"n_clusters": 3, "n_features": 8, "n_subsamples": 0}
    compared = compare_methods(table, ["maxvariance", "randomselector"], **arguments)
    judge = Judge(table.X, table.y)
    for entry in compared.entries:
        accuracy, nmi, _ = judge.scores(np.flatnonzero(entry.support)).mean()
        assert entry.agreement == {"accuracy": accuracy, "nmi": nmi}
    assert compared.all_features["nmi"] == judge.scores().mean()[1]
    good, bad = (entry.agreement["nmi"] for entry in compared.entries)
    assert good > bad
    unknown = compare_methods(small_planted.X, ["maxvariance", "randomselector"], **arguments)
    assert unknown.all_features is None
    for one, other in zip(compared.entries, unknown.entries, strict=True):
        np.testing.assert_array_equal(one.support, other.support)  # they have not seen the classes
        assert other.agreement is None


def test_classes_that_cannot_judge(small_planted):
    X = small_planted.X
    arguments = {"n_clusters": 3, "n_features": 8, "n_subsamples": 0}
    alone = Dataset("t", X, y=np.zeros(len(X), dtype=int))
    compared = compare_methods(alone, ["maxvariance"], **arguments)
    assert compared.all_features is None
    assert "The classes judge nothing: all samples are of one class." in compared.notes
    each = Dataset("t", X, y=np.arange(len(X)))
    compared = compare_methods(each, ["maxvariance"], **arguments)
    assert f"{len(X)} classes of {len(X)} samples" in compared.notes[-1]
