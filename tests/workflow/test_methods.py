"""Methods by name."""

from inspect import signature

import numpy as np
import pytest

import featsieve
from featsieve.datasets import make_planted
from featsieve.workflow.methods import check_counts, find_method, make_selector, method_names

SHAPE = (30, 12)


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
    with pytest.raises(ValueError, match=r"no method 'jsafs': did you mean JASFS.*The methods are"):
        find_method("jsafs")
    with pytest.raises(ValueError, match=r"no method '123': The methods are JASFS, AUFS"):
        find_method("123")
    with pytest.raises(TypeError, match="name of a method"):
        find_method(featsieve.JASFS)


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


@pytest.mark.parametrize("wrong", [0, 13, 1.5, 0.0, True, None, "many", np.nan])
def test_features_that_cannot_be(wrong):
    with pytest.raises(ValueError, match=r"a count from 1 to 12, a fraction .*; got "):
        check_counts(3, wrong, SHAPE)
