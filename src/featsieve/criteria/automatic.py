"""How many features: the criterion along the ranking of a fitted selector."""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from featsieve.criteria.clusterings import sample_rows
from featsieve.criteria.curve import CriterionCurve, check_sizes, judge
from featsieve.criteria.measures import LabelAgreement, as_criterion
from featsieve.criteria.n_clusters import suggest_n_clusters
from featsieve.hypotheses.families import table_labels
from featsieve.progress import SILENT, FitProgress
from featsieve.validation import check_varying


@dataclass(frozen=True, eq=False)
class RankedPath:
    """The selections of every size that a ranking holds: the first features of ``order``."""

    order: np.ndarray
    curve: CriterionCurve


def choose_count(
    selector: Any,
    X: Any,
    *,
    criterion: Any = None,
    sizes: Iterable[int] | None = None,
    progress: FitProgress = SILENT,
) -> CriterionCurve:
    """Return the curve that says how many features of a selector's ranking of X to keep."""
    order = np.argsort(selector.ranking_)
    n_varying = int(check_varying(X).sum())
    offer = selector._offer
    looked_at = check_sizes(sizes, selector._n_units)
    if offer is not None:
        looked_at = offer.sizes(order, looked_at)
    varying = looked_at[looked_at <= n_varying]
    looked_at = varying if len(varying) else np.array([n_varying])
    own = getattr(innermost(selector), "_criterion", LabelAgreement.name)
    judged = copy(as_criterion(criterion or own))
    judged.see_variables(selector._variables)
    progress.step("choosing the number of features")
    X, rows = sample_rows(X, check_random_state(0))
    labels = getattr(selector, "labels_", None)
    if labels is None:  # judged by those with which JASFS would start
        labels = labels_of_table(selector, X)
    elif rows is not None:
        labels = labels[rows]
    return judge(judged, X, labels, order=order, sizes=looked_at, progress=progress)


def innermost(selector: Any) -> Any:
    """Return the selector inside of meta-estimators."""
    while hasattr(selector, "selector"):
        selector = selector.selector
    return selector


def with_found_numbers(selector: Any, **settings: Any) -> Any:
    """Return an unfitted copy that looks for as many clusters and features as were found.

    ``settings`` that it does not have are left out.
    """
    parameters = selector.get_params(deep=False)
    offer = selector._offer
    count = selector._count_units(np.flatnonzero(selector.support_))
    spending = offer is not None and offer.budget is not None
    values = {"n_features_to_select": None if spending else count, **settings}
    if parameters.get("n_clusters") is not None:
        values["n_clusters"] = selector.n_clusters_
    if selector._price is not None:  # a number of features, not a price of each
        values[selector._price] = "auto"
    known = {name: value for name, value in values.items() if name in parameters}
    return clone(selector).set_params(**known)


def labels_of_table(selector: Any, X: Any, *, n_clusters: int | None = None) -> np.ndarray:
    """Return pseudo-labels of rows: as many clusters as the selector has, as given, or found."""
    n_clusters = getattr(selector, "n_clusters_", n_clusters)
    if n_clusters is None:
        n_clusters = suggest_n_clusters(X, random_state=0).n_clusters
    n_clusters = max(2, min(n_clusters, X.shape[0]))
    return table_labels(X, n_clusters, random_state=check_random_state(0))
