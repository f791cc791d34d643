"""Several methods on one table."""

import json

import numpy as np
import pytest
from sklearn.metrics import jaccard_score

import featsieve
from featsieve import JASFS, MCFS, LaplacianScore, structure_test
from featsieve.criteria.structure import WHAT_TO_DO
from featsieve.datasets import Dataset
from featsieve.evaluation.judging import Judge
from featsieve.workflow.compare import compare_methods

FAST = {"n_clusters": 3, "n_features": 8, "n_subsamples": 0}


def compare(X, methods, *, y=None, **settings):
    return compare_methods(Dataset("t", X, y=y), methods, **settings)


def names_of(support):
    return ";".join(f"x{j}" for j in np.flatnonzero(support))


def test_selections_are_those_of_the_methods(small_planted):
    X = small_planted.X
    methods = ["jasfs", "laplacianscore", "mcfs"]
    rows = compare(X, methods, n_clusters=3, n_features=8, n_subsamples=3)["methods"]
    fitted = [
        JASFS(3, n_features_to_select=8, random_state=0).fit(X),
        LaplacianScore(8).fit(X),
        MCFS(3, n_features_to_select=8).fit(X),
    ]
    for row, selector in zip(rows, fitted, strict=True):
        assert row["selected"] == names_of(selector.support_)
        assert row["seconds"] > 0.0
        assert row["stability_low"] <= row["stability"] <= row["stability_high"]
        for other in fitted:
            expected = jaccard_score(selector.support_, other.support_)
            assert row[f"jaccard_{type(other).__name__}"] == pytest.approx(expected)


def test_chance_is_what_random_choices_share(small_planted):
    compared = compare(small_planted.X, ["maxvariance"], **FAST)
    rng = np.random.default_rng(0)
    shared = []
    for _ in range(2000):
        one, other = (set(rng.permutation(60)[:8].tolist()) for _ in range(2))
        shared.append(len(one & other) / len(one | other))
    assert compared["jaccard_by_chance"] == pytest.approx(np.mean(shared), abs=0.02)


def test_numbers_are_found_once_for_all(small_planted):
    compared = compare(small_planted.X, ["laplacianscore", "mcfs"], n_subsamples=0)
    assert compared["n_clusters"] == 3
    found = JASFS(3, random_state=0).fit(small_planted.X)
    assert compared["n_selected"] == found.n_features_selected_
    assert {row["n_features"] for row in compared["methods"]} == {compared["n_selected"]}
    assert [row["stability"] for row in compared["methods"]] == [None, None]
    assert any("as many as JASFS finds" in note for note in compared["notes"])


@pytest.mark.whole_structure_test
def test_noise_is_told():
    noise = np.random.default_rng(0).standard_normal((80, 40))
    compared = compare(noise, ["maxvariance"], n_subsamples=0)
    assert f"{structure_test(noise).sentence} {WHAT_TO_DO}" in compared["notes"]
    asked = compare(noise, ["maxvariance"], n_clusters=3, n_features=5, n_subsamples=0)
    assert asked["notes"] == []


class Failing(MCFS):
    """A method that no table suits."""

    def _fit(self, X):
        raise ValueError("This table does not suit.")


def test_a_method_that_fails_does_not_stop_the_others(small_planted, monkeypatch):
    monkeypatch.setattr(featsieve.selectors, "MCFS", Failing)
    settings = {"n_clusters": 3, "n_features": 2, "n_subsamples": 2}
    compared = compare(small_planted.X, ["mcfs", "jasfs"], **settings)
    failed, done = json.loads(json.dumps(compared, allow_nan=False))["methods"]
    assert (failed["status"], done["status"]) == ("failed", "done")
    assert (failed["selected"], failed["stability"]) == ("", None)
    assert failed["reason"] == "This table does not suit."
    assert done["n_features"] == 2
    assert failed["jaccard_JASFS"] is None
    assert done["jaccard_JASFS"] == 1.0


def test_a_method_named_twice_counts_once(small_planted):
    compared = compare(small_planted.X, ["maxvariance", "MaxVariance"], **FAST)
    assert len(compared["methods"]) == 1
    with pytest.raises(ValueError, match="no method"):
        compare(small_planted.X, ["nothing"])


def test_methods_and_all_features_are_judged(small_planted):
    X, y = small_planted.X, small_planted.labels
    methods = ["maxvariance", "randomselector"]
    *rows, everything = compare(X, methods, y=y, **FAST)["methods"]
    judge = Judge(X, y)
    for row in rows:
        columns = [int(name[1:]) for name in row["selected"].split(";")]
        accuracy, nmi, _ = judge.scores(np.array(columns)).mean()
        assert (row["accuracy"], row["nmi"]) == (accuracy, nmi)
    assert everything["method"] == "all features"
    assert everything["nmi"] == judge.scores().mean()[1]
    assert rows[0]["nmi"] > rows[1]["nmi"]
    unknown = compare(X, methods, **FAST)["methods"]
    # they have not seen the classes
    assert [row["selected"] for row in unknown] == [row["selected"] for row in rows]
    assert "nmi" not in unknown[0]


def test_classes_that_cannot_judge(small_planted):
    X = small_planted.X
    compared = compare(X, ["maxvariance"], y=np.zeros(len(X), dtype=int), **FAST)
    assert "nmi" not in compared["methods"][0]
    assert "The classes judge nothing: there are 1 for 80 samples." in compared["notes"]
    compared = compare(X, ["maxvariance"], y=np.arange(len(X)), **FAST)
    assert "The classes judge nothing: there are 80 for 80 samples." in compared["notes"]


def test_batches_and_constraints_count(small_planted):
    X, rng = small_planted.X, np.random.default_rng(0)
    batch = rng.integers(2, size=len(X))
    table = Dataset("t", X + 9.0 * np.outer(batch, rng.random(60)), batch=batch.astype(str))
    compared = compare_methods(table, ["jasfs", "maxvariance"], keep=["x0"], exclude="x1*", **FAST)
    expected = JASFS(
        3, n_features_to_select=8, random_state=0, keep=[0], exclude=[1, *range(10, 20)]
    )
    support = expected.fit(table.X, batch=table.batch).support_
    assert compared["methods"][0]["selected"] == names_of(support)
    for row in compared["methods"]:
        assert row["selected"].startswith("x0;")
    shared = 1 + 7**2 / 48  # x0, and 7 each of the 48 that are free
    assert compared["jaccard_by_chance"] == pytest.approx(shared / (16 - shared))
    with pytest.raises(ValueError, match="selections of one size, which budget would change"):
        compare_methods(table, ["jasfs"], budget=3.0)
