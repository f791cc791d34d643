import numpy as np

from featsieve import JASFS, AutoSelector, LaplacianScore
from featsieve.report.selection import curves as selection_curves
from featsieve.report.selection.curves import criterion_curve, objective_steps, selection_path
from featsieve.report.selection.inputs import gather
from tests.report.selection.cases import automatic, planted, stable


def test_the_curve_is_that_of_the_path():
    sieve, summary = automatic()
    curve = sieve.path_.curve
    assert summary["curve"]["sizes"] == curve.sizes.tolist()
    np.testing.assert_allclose(summary["curve"]["values"], curve.values, rtol=1e-5)
    assert summary["curve"]["chosen"] == sieve.n_features_selected_
    assert tuple(summary["curve"]["equivalent"]) == sieve.equivalent_range_
    assert not summary["curve"]["inner"]


def test_no_curve_where_the_number_was_given():
    selection = gather(LaplacianScore(4).fit(planted().X), planted().X)
    assert criterion_curve(selection) is None
    assert objective_steps(selection) is None


def test_the_curve_of_auto_selector():
    sieve = AutoSelector(LaplacianScore(), sizes=[2, 4, 8]).fit(planted().X)
    curve = criterion_curve(gather(sieve, planted().X))
    assert curve["sizes"] == [2, 4, 8]
    assert curve["chosen"] == sieve.n_features_selected_
    assert not curve["inner"]


def test_gains_add_up_to_the_loss():
    path = automatic()[1]["path"]
    assert path["kind"] == "gains"
    np.testing.assert_allclose(
        path["loss"][0] - np.cumsum(path["gain"]), path["loss"][1:], atol=1e-4
    )
    np.testing.assert_allclose(path["price"], np.minimum.accumulate(path["gain"]), rtol=1e-5)
    assert path["chosen"] == automatic()[0].n_features_selected_
    assert path["name"][: path["chosen"]] == automatic()[1]["selected"]


def test_the_path_inside_of_a_meta_estimator_says_so():
    sieve, summary = stable()
    assert summary["path"]["kind"] == "gains"
    assert summary["path"]["chosen"] == sieve.selector_.n_features_selected_
    different = not np.array_equal(sieve.selector_.support_, sieve.support_)
    assert summary["path"]["inner"] == different


def test_rankings_have_falling_scores(monkeypatch):
    monkeypatch.setattr(selection_curves, "MOST_STEPS", 15)
    path = selection_path(gather(LaplacianScore(4).fit(planted().X), planted().X))
    assert path["kind"] == "scores"
    assert len(path["score"]) == 15
    assert path["length"] == 40
    assert (np.diff(path["score"]) <= 0.0).all()


def test_the_objective_is_that_of_the_solver():
    sieve, summary = automatic()
    np.testing.assert_allclose(summary["objective"]["values"], sieve.objective_, rtol=1e-7)
    assert summary["objective"]["status"] == sieve.status_.value
    assert summary["objective"]["success"]


def test_a_solver_that_was_stopped_says_so():
    sieve = JASFS(3, n_features_to_select=4, callback=lambda *_: True, random_state=0)
    steps = objective_steps(gather(sieve.fit(planted().X), planted().X))
    assert not steps["success"]
