import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import confusion_matrix

from featsieve import JASFS, AutoSelector, LaplacianScore, MaxVariance, structure_test
from featsieve.evaluation import Stability
from featsieve.report import summarize_selection
from featsieve.report.selection.facts import (
    class_facts,
    criterion_curve,
    method_facts,
    number_facts,
    stability_facts,
    table_facts,
)
from featsieve.report.selection.features import cluster_facts
from featsieve.tuning.selection import gather
from tests.report.selection.cases import GRADIENT, NOTHING, automatic, noise, planted, stable


def of(sieve, X=None):
    X = planted().X if X is None else X
    return gather(sieve.fit(X), X, n_clusters=3)


def number(sieve):
    selection = of(sieve)
    return number_facts(selection, criterion_curve(selection))


def test_facts_about_the_table():
    X = sp.csr_array(np.where(planted().X > 0.5, planted().X, 0.0))
    X = sp.csr_array(sp.hstack([X, sp.csr_array((60, 1))]))
    about = {"file": "a.csv", "dropped": ["id"]}
    facts = table_facts(of(MaxVariance(4), X), about)
    assert (facts["samples"], facts["features"], facts["constant"]) == (60, 41, 1)
    assert facts["sparse"]
    assert facts["density"] == pytest.approx(X.nnz / (60 * 41), rel=1e-2)
    assert (facts["file"], facts["dropped"]) == ("a.csv", ["id"])
    assert not facts["named"]
    # an empty column was filled and left out: it is counted once
    facts = table_facts(of(MaxVariance(4), X), {"dropped": ["id", "x40"]})
    assert (facts["features"], facts["constant"], facts["dropped"]) == (40, 0, ["id"])


def test_settings_are_those_that_were_changed():
    sieve = JASFS(3, n_features_to_select=4, alpha=0.3)
    facts = method_facts(of(sieve), {"seconds": 1.23456})
    assert facts["name"] == "JASFS"
    assert facts["inner"] is None
    assert facts["settings"] == "JASFS(n_clusters=3, n_features_to_select=4)"
    assert facts["seed"] is None
    assert facts["random"]
    assert facts["seconds"] == 1.23


@pytest.mark.filterwarnings("ignore::featsieve.tuning.NoStructureWarning")
def test_how_the_number_was_chosen():
    assert number(LaplacianScore(4)) == {
        "selected": 4, "how": "count", "asked": 4, "equivalent": None
    }  # fmt: skip
    assert number(LaplacianScore(0.1))["how"] == "share"
    found = number(JASFS(3, sparsity=0.01, random_state=0))
    assert (found["how"], found["asked"]) == ("price", 0.01)
    found = number(AutoSelector(LaplacianScore(), sizes=[2, 4]))
    assert found["how"] == "criterion"
    assert found["equivalent"][0] <= found["selected"] <= found["equivalent"][1]
    found = number_facts(gather(stable()[0], planted().X), None)
    assert (found["how"], found["asked"]) == ("frequency", 0.6)


@pytest.mark.filterwarnings("ignore::featsieve.tuning.NoStructureWarning")
def test_where_the_clusters_come_from():
    facts = cluster_facts(gather(automatic()[0], planted().X))
    assert (facts["source"], facts["number"], facts["plausible"]) == ("method", "asked", None)
    certainty = automatic()[0].sample_certainty_.mean()
    assert facts["certainty"] == pytest.approx(certainty, rel=1e-3)
    sieve = JASFS("auto", n_features_to_select=8, random_state=0)
    facts = cluster_facts(of(sieve))
    assert facts["number"] == "found"
    assert tuple(facts["plausible"]) == sieve.cluster_count_.plausible_range
    assert cluster_facts(of(LaplacianScore(4)))["certainty"] is None


@pytest.mark.whole_structure_test
def test_structure_is_that_of_the_fit_or_given_or_tested():
    expected = structure_test(planted().X).summary()
    untold = gather(MaxVariance(4).fit(planted().X), planted().X)  # which tests nothing
    assert untold.structure.summary() == expected
    given = summarize_selection(untold, structure=GRADIENT)
    assert given["structure"] == GRADIENT.summary()
    sieve = MaxVariance(4).fit(planted().X)
    sieve.structure_ = NOTHING
    assert summarize_selection(sieve, planted().X)["structure"] == NOTHING.summary()
    small = noise(9)
    assert summarize_selection(MaxVariance(4).fit(small), small)["structure"] is None


def test_stability_is_that_of_the_selector_or_given():
    assert stability_facts(gather(automatic()[0], planted().X), None) is None
    facts = stability_facts(gather(stable()[0], planted().X), None)
    assert facts["value"] == pytest.approx(stable()[0].stability_, rel=1e-3)
    assert facts["n_selections"] == 5
    given = Stability(0.5, (0.4, 0.6), 0.05, 9)
    facts = stability_facts(gather(automatic()[0], planted().X), given)
    assert facts == {"value": 0.5, "interval": [0.4, 0.6], "n_selections": 9}
    undefined = Stability(np.nan, (np.nan, np.nan), np.nan, 2)
    assert stability_facts(gather(automatic()[0], planted().X), undefined)["value"] is None


def test_the_curve_is_that_of_the_path():
    sieve, summary = automatic()
    curve = sieve.path_.curve
    assert summary["curve"]["sizes"] == curve.sizes.tolist()
    np.testing.assert_allclose(summary["curve"]["values"], curve.values, rtol=1e-5)
    assert summary["curve"]["chosen"] == sieve.n_features_selected_
    assert tuple(summary["curve"]["equivalent"]) == sieve.equivalent_range_
    assert not summary["curve"]["inner"]


def test_gains_are_those_of_the_path():
    sieve, summary = automatic()
    path = summary["path"]
    np.testing.assert_allclose(path["value"], sieve.path_.half_gains, rtol=1e-5)
    assert path["chosen"] == sieve.n_features_selected_
    assert path["name"][: path["chosen"]] == summary["selected"]


def test_the_clusters_of_the_method_are_judged_too():
    sieve = JASFS(3, n_features_to_select=8, random_state=0).fit(planted().X)
    judged = class_facts(gather(sieve, planted().X), planted().labels, ["a", "b", "c"])
    assert [row["kind"] for row in judged["rows"]] == ["selected", "all", "clusters"]
    assert [row["n_features"] for row in judged["rows"][:2]] == [8, 40]
    assert judged["rows"][2]["ari"] == 1.0
    assert judged["table"] == confusion_matrix(sieve.labels_, planted().labels).tolist()


def test_one_class_judges_nothing():
    judged = class_facts(of(MaxVariance(4)), np.zeros(60, dtype=int), ["a"])
    assert judged["rows"] == []
    assert judged["skipped"]
