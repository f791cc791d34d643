"""Loaded models whose parts do not fit together; benchmarks/hostile_models.py has more."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from featsieve import AutoSelector, MaxVariance
from featsieve.criteria.structure import untested
from featsieve.io.models import check_content
from featsieve.io.selection_model import SelectionModel

X = np.random.default_rng(0).normal(size=(20, 4)) + np.outer(np.arange(20) % 2, [9, 9, 5, 1])


def fitted(**changes):
    """Return a selector with some fitted attributes replaced."""
    sieve = MaxVariance(2).fit(X)
    vars(sieve).update(changes)
    return sieve


def automatic():
    """Return a fitted selector inside of another."""
    with untested():
        return AutoSelector(MaxVariance(2), sizes=[1, 2]).fit(X)


@pytest.mark.parametrize(
    "model",
    [
        fitted(),
        make_pipeline(StandardScaler(), MaxVariance(2)).fit(X),
        automatic(),
        SelectionModel.from_selector(fitted(), list("abcd")),
    ],
    ids=["selector", "pipeline", "meta", "selection"],
)
def test_models_of_a_fit_pass(model):
    check_content(model)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"support_": np.ones(4)}, "support_ of MaxVariance is not that of a fit to 4 features"),
        ({"support_": [True] * 4}, "support_ of"),
        ({"support_": np.ones(5, bool)}, "support_ of"),
        ({"support_": np.ones((4, 1), bool)}, "support_ of"),
        ({"n_features_in_": True}, "fit to True features"),
        ({"n_features_in_": "4"}, "fit to '4' features"),
        ({"random_state": np.random.RandomState(0)}, None),
    ],
)
def test_fitted_attributes(changes, message):
    model = fitted(**changes)
    if message is None:
        check_content(model)
        return
    for holder in (model, make_pipeline(StandardScaler(), model)):
        with pytest.raises(ValueError, match=message):
            check_content(holder)


def test_a_random_state_outside_of_itself():
    state = np.random.RandomState(0)
    about = state.get_state(legacy=False)
    about["state"]["pos"] = 10**6  # numpy would read beyond the end of its array
    state.set_state(about)
    with pytest.raises(ValueError, match="random state stands at 1000000 of 624"):
        check_content(fitted(random_state=[{"deep": state}]))


def test_a_sparse_part_that_points_outside():
    graph = sp.csr_array(np.eye(3))
    graph.indices[2] = 10**6
    with pytest.raises(ValueError, match="sparse table is damaged"):
        check_content(fitted(graph_=graph))


def test_what_is_no_model():
    for thing in ([1], MaxVariance, None):
        with pytest.raises(ValueError, match="it is no fitted selector"):
            check_content(thing)
    with pytest.raises(NotFittedError):
        check_content(MaxVariance(2))


def test_a_selection_and_its_selector_agree():
    with pytest.raises(ValueError, match="5 feature_names, but the selector was fitted to 4"):
        check_content(SelectionModel(list("abcde"), list("ab"), fitted()))
    with pytest.raises(ValueError, match="not its selector's"):
        check_content(SelectionModel(list("abcd"), list("ad"), fitted()))
    with pytest.raises(NotFittedError):
        check_content(SelectionModel(list("abcd"), list("ab"), MaxVariance(2)))
