"""Selections for other numbers of clusters, against fits and sets made by hand."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from featsieve import JASFS, MCFS, SPEC, LaplacianScore
from featsieve.datasets import make_planted
from featsieve.tuning import cluster_sensitivity, suggest_n_clusters

COLUMNS = ["n_clusters", "n_features", "jaccard", "shared", "label_agreement", "reference"]


@pytest.fixture(scope="module")
def planted():
    return make_planted(90, 40, n_informative=15, n_clusters=4, signal=2.5, random_state=0)


def sieve(n_clusters=4, **settings):
    return JASFS(n_clusters, n_features_to_select=6, random_state=0, **settings)


def test_rows_are_fits_compared_with_the_one_for_the_own_number(planted):
    table = cluster_sensitivity(planted.X, sieve(), n_clusters=[7, 2, 3])
    assert list(table) == COLUMNS
    assert table["n_clusters"].tolist() == [2, 3, 4, 7]
    own = sieve().fit(planted.X)
    mine = set(np.flatnonzero(own.support_))
    for row, c in enumerate((2, 3, 4, 7)):
        other = sieve(c).fit(planted.X)
        theirs = set(np.flatnonzero(other.support_))
        assert table["n_features"][row] == len(theirs) == 6
        assert table["jaccard"][row] == pytest.approx(len(mine & theirs) / len(mine | theirs))
        assert table["shared"][row] == pytest.approx(len(mine & theirs) / len(mine))
        agreement = adjusted_rand_score(own.labels_, other.labels_)
        assert table["label_agreement"][row] == pytest.approx(agreement)
    assert (table["jaccard"] < 1).any()  # or there was nothing to compare


@pytest.mark.parametrize(("own", "tried"), [(2, [2, 3, 4]), (6, [3, 4, 6, 9, 12])])
def test_by_default_half_to_twice_the_own_number_is_tried(own, tried, planted):
    selector = MCFS(own, n_features_to_select=5)
    table = cluster_sensitivity(planted.X, selector)
    assert table["n_clusters"].tolist() == tried
    assert table["n_clusters"][table["reference"]].tolist() == [own]


def test_the_number_may_be_found_first(planted):
    found = suggest_n_clusters(planted.X, random_state=0).n_clusters
    table = cluster_sensitivity(planted.X, sieve("auto"), n_clusters=[found + 1])
    assert table["n_clusters"].tolist() == [found, found + 1]
    assert table["reference"].tolist() == [True, False]


@pytest.mark.parametrize(
    ("selector", "numbers", "error", "message"),
    [
        (LaplacianScore(5), None, ValueError, "LaplacianScore has no parameter n_clusters"),
        (SPEC(5), None, ValueError, r"n_clusters is None: set the number .* or 'auto'"),
        ("JASFS", None, TypeError, "selector must be a selector of featsieve"),
        (sieve(), [1], ValueError, "at least 2"),
        (sieve(), [91], ValueError, "choose n_clusters between 2 and 90"),
        (sieve(), 3, TypeError, r"such as \[3, 6\]"),
    ],
)
def test_mistakes_get_an_answer(selector, numbers, error, message, planted):
    with pytest.raises(error, match=message):
        cluster_sensitivity(planted.X, selector, n_clusters=numbers)
