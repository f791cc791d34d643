"""The whole path of selections, from the one feature that matters most to as many as are useful."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone

from featsieve.criteria.curve import check_sizes
from featsieve.criteria.sparsity_path import SparsityPath
from featsieve.jasfs.estimator import JASFS
from featsieve.jasfs.path import joint_path
from featsieve.solvers.protocol import Status
from featsieve.validation import as_table, check_number, check_sized_selector


def sparsity_path(
    X: Any,
    selector: Any = None,
    *,
    sizes: Iterable[int] | None = None,
    sparsities: Iterable[float] | None = None,
) -> SparsityPath:
    """Return the selections of many sizes, at the cost of about one fit.

    With JASFS (joint solver) every point is a solution of the whole problem, labels included: from
    the largest λ on, each starts at the labels and the features of the one before (and so may end
    in another minimum than a fit from scratch). With other selectors: the best k of one ranking,
    for every k.

    Parameters
    ----------
    X : array-like or scipy.sparse matrix of shape (n_samples, n_features)
        The table: rows are samples.
    selector : UnsupervisedSelector or None, default=None
        Any selector; it is cloned, not changed. None is ``JASFS(n_clusters="auto")``.
    sizes : iterable of int or None, default=None
        Numbers of features. None: some from 5 to 400, or up to all of a narrow table.
    sparsities : iterable of float or None, default=None
        Values of λ instead of ``sizes`` (JASFS with the joint solver). Values too large to select
        anything are left out.

    Returns
    -------
    SparsityPath

    Examples
    --------
    >>> from featsieve import JASFS
    >>> from featsieve.datasets import make_planted
    >>> from featsieve.tuning import sparsity_path
    >>> planted = make_planted(n_samples=120, n_features=50, n_informative=10, random_state=0)
    >>> path = sparsity_path(planted.X, JASFS(4, random_state=0), sizes=[2, 5, 10])
    >>> path.supports.sum(axis=1)
    array([ 2,  5, 10])
    """
    selector = JASFS("auto", random_state=0) if selector is None else selector
    check_sized_selector(selector)
    joint = isinstance(selector, JASFS) and selector.solver == "joint"
    if sparsities is not None:
        if sizes is not None or not joint:
            raise ValueError(
                "sparsities belong to JASFS with solver='joint', without sizes: pass sizes instead."
            )
        values = sorted((float(value) for value in sparsities), reverse=True)
        for value in values:
            check_number("every one of sparsities", value, low=0.0, strict=True)
        if not values:
            raise ValueError("sparsities is empty: pass at least one value, or None.")
        return joint_path(clone(selector), X, sparsities=values)
    if joint:
        return joint_path(clone(selector), X, sizes=sizes)
    return _ranked_path(clone(selector), X, sizes)


def _ranked_path(selector: Any, X: Any, sizes: Iterable[int] | None) -> SparsityPath:
    """Return the best k of a selector's ranking, for every k."""
    numbers = check_sizes(sizes, as_table(X, owner="sparsity_path").shape[1])
    selector.set_params(n_features_to_select=int(numbers[-1])).fit(X)
    supports = selector.ranking_ <= numbers[:, None]
    objective = getattr(selector, "objective_", [np.nan])[-1]
    status = getattr(selector, "status_", Status.CONVERGED)
    labels = getattr(selector, "labels_", None)
    return SparsityPath(
        n_features=numbers,
        sparsity=np.full(len(numbers), np.nan),
        supports=supports,
        scores=np.tile(selector.scores_, (len(numbers), 1)),
        objective=np.full(len(numbers), objective),
        statuses=[status] * len(numbers),
        labels=None if labels is None else np.tile(labels, (len(numbers), 1)),
    )
