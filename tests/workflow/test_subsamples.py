"""The same selection on subsamples."""

import numpy as np
import pytest
import scipy.sparse as sp

from featsieve import JASFS, LaplacianScore, RandomSelector
from featsieve.tuning import StabilitySelection
from featsieve.workflow.messages import Steps
from featsieve.workflow.subsamples import (
    check_subsamples,
    repeat_selection,
    with_found_numbers,
)


def quiet(n=10):
    return Steps(n, None)


def test_clear_features_come_back(small_planted):
    selector = JASFS(3, n_features_to_select=8, random_state=0).fit(small_planted.X)
    repeats = repeat_selection(selector, small_planted.X, 5, steps=quiet())
    assert repeats.frequency[small_planted.informative].min() == 1.0
    assert repeats.stability.value == pytest.approx(1.0)
    assert repeats.stability.n_selections == 5
    assert repeats.notes == ()


def test_random_features_do_not(small_planted):
    selector = RandomSelector(10, random_state=0).fit(small_planted.X)
    repeats = repeat_selection(selector, small_planted.X, 30, steps=quiet())
    assert abs(repeats.stability.value) < 0.1
    again = repeat_selection(selector, small_planted.X, 30, steps=quiet())
    np.testing.assert_array_equal(again.selections, repeats.selections)
    other = repeat_selection(selector, small_planted.X, 30, random_state=1, steps=quiet())
    assert (other.selections != repeats.selections).any()


def test_it_agrees_with_stability_selection(small_planted):
    """Another program of ours, with other draws: the frequencies are alike."""
    X = small_planted.X
    selector = LaplacianScore(20).fit(X)
    ours = repeat_selection(selector, X, 60, steps=quiet()).frequency
    theirs = StabilitySelection(LaplacianScore(20), n_subsamples=60, random_state=1).fit(X)
    assert np.corrcoef(ours, theirs.selection_frequency_)[0, 1] > 0.95


@pytest.mark.slow
def test_the_numbers_are_those_of_the_fit(small_planted):
    selector = JASFS("auto", random_state=0).fit(small_planted.X)
    repeats = repeat_selection(selector, sp.csr_array(small_planted.X), 2, steps=quiet())
    assert repeats.selections.sum(axis=1).tolist() == 2 * [selector.n_features_selected_]
    again = with_found_numbers(selector, random_state=5)
    assert again.n_clusters == selector.n_clusters_
    assert again.random_state == 5
    assert with_found_numbers(
        LaplacianScore(0.1).fit(small_planted.X), random_state=5
    ).get_params() == {**LaplacianScore(6).get_params()}


def test_fits_that_fail_are_told_and_do_not_stop_the_others():
    X = np.random.default_rng(0).standard_normal((6, 4))
    selector = JASFS(6, n_features_to_select=2, random_state=0).fit(X)  # 5 rows: too few
    repeats = repeat_selection(selector, X, 3, steps=quiet())
    assert repeats.frequency is None
    assert repeats.stability is None
    (note,) = repeats.notes
    assert note.startswith("3 of the 3 fits to subsamples failed")
    assert "n_clusters=6 is more than n_samples=5" in note


def test_how_many(monkeypatch):
    small, large = np.broadcast_to(0.0, (100, 20)), np.broadcast_to(0.0, (10**5, 201))
    assert check_subsamples(None, small) == 10
    assert check_subsamples(None, large) == 0
    assert check_subsamples(3, large) == 3
    with pytest.raises(ValueError, match="or at least 2"):
        check_subsamples(1, small)
    with pytest.raises(ValueError, match="n_subsamples"):
        check_subsamples(-1, small)
    with pytest.raises(TypeError, match="n_subsamples"):
        check_subsamples(2.5, small)
