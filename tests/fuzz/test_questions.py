"""Every question about a table or a fit keeps its word on any table, too."""

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve import JASFS, MCFS, MaxVariance
from featsieve.criteria.measures import CRITERIA
from featsieve.evaluation import redundancy
from featsieve.tables import Table
from featsieve.tuning import explain, structure_test, suggest_n_clusters
from tests.fuzz.contract import OUTCOMES, check_answer
from tests.fuzz.tables import Recipe, recipes

# Columns of tables whose descriptions allow NaN (or an infinite separation).
MAY_BE_NAN = ("separation", "eta_squared", "correlation", "selection_frequency")
MAY_BE_NAN += ("p_rotated", "value_rotated")  # not asked where columns are independent
MAY_BE_NAN += ("sparsity", "objective")  # of a path that is a ranking


class Question:
    """What is asked, in the clothes of an estimator: the contract knows how to fit one."""

    def __init__(self, ask: Callable[[Any], Any]) -> None:
        self.ask = ask

    def fit(self, X: Any) -> None:
        """Ask, and keep the answer."""
        answer = self.ask(X)
        frame = isinstance(answer, Table | pd.DataFrame)
        columns = {name: np.asarray(answer[name]) for name in answer} if frame else None
        self.answer_ = columns if frame else answer


@st.composite
def labels_of(draw: st.DrawFn, n_samples: int) -> list:
    """Draw clusters of the samples: few, many, one, or not as many as there are samples."""
    count = draw(st.sampled_from((2, 3, 3, n_samples, 1)))
    length = draw(st.sampled_from((n_samples,) * 9 + (n_samples + 1,)))
    names = draw(st.sampled_from((int, int, str, float)))
    return [names(i % count) for i in range(length)]


@st.composite
def questions(draw: st.DrawFn, name: str, recipe: Recipe) -> Question:
    """Draw a question about a table."""
    n, d = recipe.n_samples, recipe.n_features
    n_neighbors = draw(st.sampled_from((5, 1, 100)))
    n_clusters = draw(st.sampled_from((2, 3, n, n + 1)))
    labels = draw(labels_of(n))
    support = draw(st.lists(st.integers(0, d - 1), unique=True, max_size=d))
    selector = draw(
        st.sampled_from((MCFS(2, n_features_to_select=0.5, n_neighbors=3), MaxVariance(0.5)))
    )
    joint = JASFS(n_clusters, n_features_to_select=0.5, n_neighbors=n_neighbors, random_state=0)
    known = draw(st.sampled_from((labels, None)))
    criterion = CRITERIA[draw(st.sampled_from(sorted(CRITERIA)))](n_runs=2)
    asked: dict[str, Callable[[Any], Any]] = {
        "explain": lambda X: explain(selector.fit(X), X, labels=known),
        "suggest_n_clusters": lambda X: suggest_n_clusters(X),
        "structure_test": lambda X: structure_test(X),
        "redundancy": lambda X: redundancy(X, support),
        "criterion": lambda X: criterion(X, support, labels),
        "certify": lambda X: joint.fit(X).certify(X),
        "predict": lambda X: joint.fit(X).predict(X),
    }
    return Question(asked[name])


QUESTIONS = (
    "explain", "suggest_n_clusters", "structure_test", "redundancy",
    "criterion", "certify", "predict",
)  # fmt: skip


@pytest.mark.parametrize("name", QUESTIONS)
@settings(settings.get_profile("fuzz"))
@given(data=st.data(), recipe=recipes())
def test_any_table_is_answered_for_or_refused(name, data, recipe):
    question = data.draw(questions(name, recipe))
    OUTCOMES[name, check_answer(name, question, recipe, copy, MAY_BE_NAN)] += 1
