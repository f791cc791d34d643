"""Methods by name."""

import pytest

import featsieve
from featsieve.datasets import make_planted
from featsieve.workflow import find_method, method_names


def test_every_selector_is_a_method():
    assert set(method_names()) == set(featsieve.selectors.__all__)
    assert method_names()[0] == "JASFS"


@pytest.mark.parametrize(
    "name", ["laplacianscore", "LAPLACIAN_SCORE", "Laplacian-Score", " laplacian score "]
)
def test_spelling_does_not_matter(name):
    assert find_method(name).name == "LaplacianScore"


@pytest.mark.parametrize("name", method_names())
def test_every_method_can_be_made_and_fitted(name):
    X = make_planted(40, 12, n_informative=4, n_clusters=2, random_state=0).X
    method = find_method(name)
    selector = method.make(n_clusters=2, n_features=3, random_state=0).fit(X)
    assert selector.get_support().sum() == 3
    assert method.about.endswith((".", ":"))
    assert getattr(selector, "n_clusters", None) == (2 if method.takes_clusters else None)


def test_a_name_that_is_none_gets_those_spelled_alike():
    with pytest.raises(ValueError, match=r"no method 'jsafs': did you mean JASFS.*The methods are"):
        find_method("jsafs")
    with pytest.raises(ValueError, match=r"no method '123': The methods are JASFS, AUFS"):
        find_method("123")
    with pytest.raises(TypeError, match="name of a method"):
        find_method(featsieve.JASFS)


def test_other_words_are_not_taken_for_a_method():
    with pytest.raises(ValueError, match="no method 'lasso': The methods are JASFS, AUFS"):
        find_method("lasso")
