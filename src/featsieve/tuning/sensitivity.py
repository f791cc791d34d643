"""How much a selection depends on the number of clusters, which nobody knows exactly."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from featsieve import defaults
from featsieve.criteria.n_clusters import suggest_n_clusters
from featsieve.tables import Table
from featsieve.validation import check_n_clusters, check_option, check_selector


def cluster_sensitivity(X: Any, selector: Any, *, n_clusters: Iterable[int] | None = None) -> Table:
    """Compare the selections for several numbers of clusters with that for the selector's own.

    Parameters
    ----------
    X : array-like or scipy.sparse matrix of shape (n_samples, n_features)
        The table: rows are samples.
    selector : UnsupervisedSelector
        A selector with a parameter ``n_clusters`` (a number, or "auto"). It is cloned. Fix its
        ``n_features_to_select`` to see the effect on WHICH features are selected, and an integer
        ``random_state``, or k-means will differ by chance.
    n_clusters : iterable of int or None, default=None
        Numbers to try. None: from half to twice the selector's own.

    Returns
    -------
    Table
        One row per number: ``n_clusters``, ``n_features`` selected, ``jaccard`` (features in common
        with the selection for the selector's own number, over features in either), ``shared`` (the
        share of that selection that is kept), ``label_agreement`` (adjusted Rand index of the two
        clusterings; NaN where the selector finds none), and ``reference`` for the own number.

    Examples
    --------
    >>> from featsieve import JASFS
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.tuning import cluster_sensitivity
    >>> planted = make_planted(n_samples=120, n_features=50, n_informative=10, random_state=0)
    >>> selector = JASFS(4, n_features_to_select=10, random_state=0)
    >>> table = cluster_sensitivity(planted.X, selector, n_clusters=[3, 8])
    >>> table["n_clusters"]
    array([3, 4, 8])
    """
    check_selector(selector)
    if "n_clusters" not in selector.get_params():
        raise ValueError(
            f"{type(selector).__name__} has no parameter n_clusters: there is nothing to compare."
        )
    n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
    own = selector.get_params()["n_clusters"]
    if isinstance(own, str):
        check_option("selector.n_clusters", own, ("auto",))
        own = suggest_n_clusters(X, random_state=0).n_clusters
    if own is None:
        raise ValueError("selector.n_clusters is None: set the number to compare with, or 'auto'.")
    if n_clusters is None:
        tried = [
            min(max(round(own * factor), 2), n_samples) for factor in defaults.SENSITIVITY_FACTORS
        ]
    elif isinstance(n_clusters, Iterable):
        tried = [check_n_clusters(number, n_samples) for number in n_clusters]
    else:
        raise TypeError(f"n_clusters must list numbers, such as [3, 6]; got {n_clusters!r}.")
    numbers = sorted({own, *tried})
    fits = {c: clone(selector).set_params(n_clusters=c).fit(X) for c in numbers}
    base = fits[own]
    n_common = np.array([np.sum(fits[c].support_ & base.support_) for c in numbers])
    n_either = np.array([np.sum(fits[c].support_ | base.support_) for c in numbers])
    agreement = [
        adjusted_rand_score(base.labels_, fits[c].labels_) if hasattr(base, "labels_") else np.nan
        for c in numbers
    ]
    return Table(
        {
            "n_clusters": numbers,
            "n_features": [fits[c].n_features_selected_ for c in numbers],
            "jaccard": n_common / n_either,
            "shared": n_common / base.n_features_selected_,
            "label_agreement": np.array(agreement, dtype=np.float64),
            "reference": np.array(numbers) == own,
        }
    )
