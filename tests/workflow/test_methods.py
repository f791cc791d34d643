"""Methods by name, and their fits to subsamples."""

from inspect import signature

import numpy as np
import pytest
import scipy.sparse as sp

import featsieve
from featsieve import JASFS, LaplacianScore, RandomSelector
from featsieve.datasets import make_planted
from featsieve.tuning import StabilitySelection
from featsieve.workflow.methods import (
    check_counts,
    check_subsamples,
    find_method,
    make_selector,
    method_names,
    repeat_selection,
    with_found_numbers,
)
from featsieve.workflow.prepare import prepare_table

SHAPE = (30, 12)


def repeated(selector, X, n_subsamples, **settings):
    return repeat_selection(selector, prepare_table(X, n_subsamples=n_subsamples, **settings))


def test_every_selector_is_a_method():
    assert set(method_names()) == set(featsieve.selectors.__all__)
    assert method_names()[0] == "JASFS"


@pytest.mark.parametrize(
    "name", ["laplacianscore", "LAPLACIAN_SCORE", "Laplacian-Score", " laplacian score "]
)
def test_spelling_does_not_matter(name):
    assert find_method(name) is featsieve.LaplacianScore


@pytest.mark.parametrize("name", method_names())
def test_every_method_can_be_made_and_fitted(name):
    X = make_planted(40, 12, n_informative=4, n_clusters=2, random_state=0).X
    kind = find_method(name)
    selector = make_selector(kind, n_clusters=2, n_features=3, random_state=0).fit(X)
    assert selector.get_support().sum() == 3
    default = signature(kind).parameters.get("n_clusters")
    takes = default is not None and default.default is not None
    assert getattr(selector, "n_clusters", None) == (2 if takes else None)


def test_a_name_that_is_none_gets_those_spelled_alike():
    with pytest.raises(ValueError, match=r"'jsafs' .did you mean 'jasfs'.*: the methods are"):
        find_method("jsafs")
    with pytest.raises(ValueError, match=r"no method '123': the methods are JASFS, AUFS"):
        find_method("123")


def test_counts():
    assert check_counts("auto", "auto", SHAPE) == ("auto", "auto")
    assert check_counts(2, 12, SHAPE) == (2, 12)
    assert check_counts(np.int64(30), 0.25, SHAPE) == (30, 3)
    assert check_counts(2, 1, SHAPE)[1] == 1
    assert check_counts(2, 1.0, SHAPE)[1] == 12


@pytest.mark.parametrize("wrong", [1, 31, -2, 2.5, True, None, "many"])
def test_clusters_that_cannot_be(wrong):
    with pytest.raises(ValueError, match=r"clusters must be 'auto' or from 2 to 30 .*; got "):
        check_counts(wrong, 3, SHAPE)


@pytest.mark.parametrize("wrong", [0, 13, 1.5, 0.0, True, "many", np.nan])
def test_features_that_cannot_be(wrong):
    with pytest.raises((ValueError, TypeError), match=r"n_features must be .*; got "):
        check_counts(3, wrong, SHAPE)


# Subsamples ---------------------------------------------------------------------------------------


def test_clear_features_come_back(small_planted):
    selector = JASFS(3, n_features_to_select=8, random_state=0).fit(small_planted.X)
    repeats = repeated(selector, small_planted.X, 5)
    assert repeats.frequency[small_planted.informative].min() == 1.0
    assert repeats.stability.value == pytest.approx(1.0)
    assert repeats.stability.n_selections == 5
    assert repeats.notes == ()


def test_random_features_do_not(small_planted):
    selector = RandomSelector(10, random_state=0).fit(small_planted.X)
    repeats = repeated(selector, small_planted.X, 30)
    assert abs(repeats.stability.value) < 0.1
    again = repeated(selector, small_planted.X, 30)
    np.testing.assert_array_equal(again.frequency, repeats.frequency)
    other = repeated(selector, small_planted.X, 30, random_state=1)
    assert (other.frequency != repeats.frequency).any()


def test_it_agrees_with_stability_selection(small_planted):
    """Another program of ours, with other draws: the frequencies are alike."""
    X = small_planted.X
    selector = LaplacianScore(20).fit(X)
    ours = repeated(selector, X, 60).frequency
    theirs = StabilitySelection(LaplacianScore(20), n_subsamples=60, random_state=1).fit(X)
    assert np.corrcoef(ours, theirs.selection_frequency_)[0, 1] > 0.95


@pytest.mark.slow
def test_the_numbers_are_those_of_the_fit(small_planted):
    selector = JASFS("auto", random_state=0).fit(small_planted.X)
    repeats = repeated(selector, sp.csr_array(small_planted.X), 2)
    assert repeats.frequency.sum() == selector.n_features_selected_
    again = with_found_numbers(selector, random_state=5)
    assert again.n_clusters == selector.n_clusters_
    assert again.random_state == 5
    assert with_found_numbers(
        LaplacianScore(0.1).fit(small_planted.X), random_state=5
    ).get_params() == {**LaplacianScore(6).get_params()}


def test_fits_that_fail_are_told_and_do_not_stop_the_others():
    X = np.random.default_rng(0).standard_normal((6, 4))
    selector = JASFS(6, n_features_to_select=2, random_state=0).fit(X)  # 5 rows: too few
    repeats = repeated(selector, X, 3)
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
