import json

import numpy as np
import pytest
import scipy.sparse as sp

import featsieve
from featsieve import JASFS, LaplacianScore, MaxVariance
from featsieve.report import render_selection, summarize_selection
from featsieve.report.selection.summary import FORMAT, KNOWN
from tests.array_library_checks import quick
from tests.report.selection.cases import CLEAR, noise, planted

KEYS = {
    "format", "title", "table", "method", "number", "clusters", "structure", "stability",
    "selected", "features", "curve", "path", "map", "heatmap", "distribution", "beside",
    "redundancy", "image", "evaluation", "reproduce", "answer", "words", "caveats",
}  # fmt: skip


@pytest.mark.parametrize("name", featsieve.selectors.__all__)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_selector_has_a_report(name):
    X = np.where(planted().X > 0.0, planted().X, 0.0)[:40, :20]
    sieve = quick(name, n_features_to_select=5).fit(X)
    summary = summarize_selection(sieve, X, structure=CLEAR)
    assert set(summary) == KEYS
    assert summary["format"] == FORMAT
    assert summary["number"]["selected"] == len(summary["selected"]) == 5
    assert (summary["clusters"]["source"] == "method") == hasattr(sieve, "labels_")
    page = render_selection(json.loads(json.dumps(summary, allow_nan=False)))
    assert page == render_selection(summary)
    assert f"{name} selected 5" in page


def test_sparse_and_dense_tables_have_the_same_report():
    X = np.where(planted().X > 0.0, planted().X, 0.0)
    # given labels: of many hypotheses one sample may go either way by rounding
    sieve = JASFS(3, n_features_to_select=6, init=planted().labels, random_state=0)
    dense = summarize_selection(sieve.fit(X), X, y=planted().labels)
    sparse = summarize_selection(sieve.fit(sp.csr_array(X)), sp.csr_array(X), y=planted().labels)
    for key in ("selected", "heatmap", "evaluation", "words", "path"):
        assert sparse[key] == dense[key], key
    for key in ("sentence", "p_permuted", "p_rotated"):
        assert sparse["structure"][key] == dense["structure"][key], key
    assert sparse["redundancy"]["pairs"] == dense["redundancy"]["pairs"]
    assert sparse["table"]["sparse"]


def test_a_tensor_has_the_same_report():
    torch = pytest.importorskip("torch")
    sieve = JASFS(3, n_features_to_select=6, random_state=0).fit(planted().X)
    expected = summarize_selection(sieve, planted().X, structure=CLEAR)
    assert summarize_selection(sieve, torch.tensor(planted().X), structure=CLEAR) == expected


def test_a_sparse_table_is_not_densified(monkeypatch):
    X = sp.random_array(
        (300, 20_000), density=0.01, format="csr", random_state=np.random.default_rng(0)
    )
    sieve = MaxVariance(60).fit(X)
    largest = []
    toarray = sp.csr_array.toarray

    def watched(self, *args, **kwargs):
        largest.append(np.prod(self.shape))
        return toarray(self, *args, **kwargs)

    monkeypatch.setattr(sp.csr_array, "toarray", watched)
    summary = summarize_selection(sieve, X, y=np.arange(300) % 2)
    assert summary["features"]["total"] == 20_000
    assert len(summary["features"]["name"]) == 2000
    assert max(largest, default=0) < 0.2 * 300 * 20_000
    assert len(render_selection(summary)) < 500_000


@pytest.mark.slow
def test_the_largest_page_is_below_two_megabytes():
    X = np.random.default_rng(0).standard_normal((1100, 2100))
    X += 2.0 * X[:24][np.arange(1100) % 24]
    names = [f"ENSG{j:011d}.12" for j in range(2100)]
    about = {"n_clusters": 24}
    sieve = MaxVariance(2000).fit(X)
    summary = summarize_selection(
        sieve, X, feature_names=names, structure=CLEAR, frequency=np.ones(2100), about=about
    )
    assert len(summary["clusters"]["names"]) == 24
    assert len(render_selection(summary).encode()) < 2_000_000


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("sieve", [JASFS(2, n_features_to_select=3), LaplacianScore(1)])
def test_five_samples_are_enough(sieve):
    X = noise(5, 12)
    summary = summarize_selection(sieve.fit(X), X, y=list("aabbb"), image_shape=(3, 4))
    assert "few-samples" in {caveat["kind"] for caveat in summary["caveats"]}
    assert "<!doctype html>" in render_selection(json.loads(json.dumps(summary, allow_nan=False)))


def test_what_only_the_caller_knows():
    about = {
        "title": "My table", "file": "a.csv", "command": "featsieve select a.csv", "seconds": 2.5,
        "dropped": ["id"], "standardized": True, "seed": 4, "n_clusters": 3, "machine": "a laptop",
        "notes": ["Mind the gap."],
    }  # fmt: skip
    assert set(about) - set(KNOWN) == {"machine"}
    summary = summarize_selection(MaxVariance(5).fit(planted().X), planted().X, about=about)
    assert summary["title"] == "My table"
    assert summary["reproduce"]["command"] == "featsieve select a.csv"
    assert summary["reproduce"]["more"] == {"machine": "a laptop"}
    assert len(summary["clusters"]["names"]) == 3
    assert {"kind": "told", "level": "note", "text": "Mind the gap."} in summary["caveats"]
    page = render_selection(summary)
    for text in (
        "My table",
        "a.csv",
        "featsieve select a.csv",
        "2.5 s",
        "a laptop",
        "standardised",
    ):
        assert text in page


def test_frequencies_can_be_given():
    sieve = MaxVariance(5).fit(planted().X)
    shares = np.linspace(0.0, 1.0, 40)
    summary = summarize_selection(sieve, planted().X, frequency=shares, structure=CLEAR)
    expected = [float(f"{shares[j]:.6g}") for j in summary["features"]["index"]]
    assert summary["features"]["frequency"] == expected
    for wrong in (shares[:5], 2.0 * shares, np.full(40, np.nan)):
        with pytest.raises(ValueError, match="frequency must hold one share"):
            summarize_selection(sieve, planted().X, frequency=wrong)


def test_labels_change_nothing_but_the_evaluation():
    sieve = JASFS(3, n_features_to_select=6, random_state=0).fit(planted().X)
    without = summarize_selection(sieve, planted().X)
    rng = np.random.default_rng(0)
    names = ["one", "two", "three"]
    y = rng.permutation(np.array(names)[planted().labels])
    judged = summarize_selection(sieve, planted().X, y=y)
    different = {key for key in KEYS if judged[key] != without[key]}
    assert different == {"evaluation", "map", "words"}
    (said,) = set(judged["words"]) - set(without["words"])
    assert said.startswith("Known classes, used to judge only: ")
    assert {k for k in judged["map"] if judged["map"][k] != without["map"][k]} == {
        "class", "classes"
    }  # fmt: skip
    assert judged["evaluation"]["classes"] == sorted(names)
