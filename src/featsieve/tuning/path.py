"""The whole path of selections, from the one feature that matters most to as many as are useful."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from featsieve.constraints import CONSTRAINTS
from featsieve.criteria.curve import check_sizes
from featsieve.jasfs.estimator import JASFS
from featsieve.jasfs.joint import rank, solve_joint
from featsieve.validation import check_sized_selector, check_table


@dataclass(frozen=True, eq=False)
class SparsityPath:
    """Selections of many sizes.

    Attributes
    ----------
    n_features : int array of shape (n_points,)
        Number of selected features, not falling.
    sparsity : float array of shape (n_points,)
        λ of JASFS at every point, not rising; NaN for selectors that have none.
    supports : bool array of shape (n_points, n_features)
        The selected features.
    scores : float array of shape (n_points, n_features)
        Scores of all features.
    labels : int array of shape (n_points, n_samples) or None
        Clusters of the samples, where the selector finds them.
    """

    n_features: np.ndarray
    sparsity: np.ndarray
    supports: np.ndarray
    scores: np.ndarray
    labels: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.n_features)


def sparsity_path(
    X: Any, selector: Any = None, *, sizes: Iterable[int] | None = None, batch: Any = None
) -> SparsityPath:
    """Return the selections of many sizes, at the cost of about one fit.

    With JASFS (joint solver) every point is a solution of the whole problem for the same label
    hypotheses. With ``refine_labels`` labels move too: from the largest λ on, each point starts at
    the labels and the features of the one before (and so may end in another minimum than a fit
    from scratch). With other selectors: the best k of one ranking,
    for every k.

    Parameters
    ----------
    X : array-like or scipy.sparse matrix of shape (n_samples, n_features)
        The table: rows are samples.
    selector : UnsupervisedSelector or None, default=None
        Any selector without constraints; it is cloned, not changed. None is
        ``JASFS(n_clusters="auto")``.
    sizes : iterable of int or None, default=None
        Numbers of features. None: some from 5 to 400, or up to all of a narrow table.
    batch : array-like of shape (n_samples,), optional
        Batch of every row, as in ``fit`` of the selector.

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
    constrained = [name for name in CONSTRAINTS if getattr(selector, name, None) is not None]
    if constrained:
        raise ValueError(
            f"sparsity_path counts columns, without constraints: leave {constrained[0]} out, or "
            "fit the selector: path_ and ranking_ of a fit honour them."
        )
    selector = clone(selector)
    if isinstance(selector, JASFS) and selector.solver == "joint":
        return _joint_path(selector, X, sizes, batch)
    numbers = check_sizes(sizes, check_table(X, owner="sparsity_path").shape[1])
    selector.set_params(n_features_to_select=int(numbers[-1])).fit(X, batch=batch)
    labels = getattr(selector, "labels_", None)
    return SparsityPath(
        n_features=numbers,
        sparsity=np.full(len(numbers), np.nan),
        supports=selector.ranking_ <= numbers[:, None],
        scores=np.tile(selector.scores_, (len(numbers), 1)),
        labels=None if labels is None else np.tile(labels, (len(numbers), 1)),
    )


def _joint_path(selector: JASFS, X: Any, sizes: Iterable[int] | None, batch: Any) -> SparsityPath:
    """Return the solutions of a JASFS for many sizes: each starts at the one before.

    λ is the largest that selects as many.
    """
    problem, begun, n_varying = selector._begin(X, batch)
    d = problem.operator.shape[1]
    numbers = np.unique(np.minimum(check_sizes(sizes, d), n_varying))
    problems = [problem.priced(n_features=int(number)) for number in numbers]
    pool, path, states = begun.pool, None, []
    for problem in problems:
        solution = solve_joint(
            problem, pool, path=path, max_iter=selector.max_iter, tol=selector.tol
        )
        states.append(solution.state)
        pool, path = solution.state.pool, solution.state.path
    # After all are solved: what the longer paths have found is part of the shorter ones' scores.
    rankings = [rank(problem, state) for problem, state in zip(problems, states, strict=True)]
    last = [len(state.support) - 1 for state in states]
    return SparsityPath(
        n_features=np.array([len(state.support) for state in states]),
        sparsity=np.array(
            [ranking.path.sparsity[at] for ranking, at in zip(rankings, last, strict=True)]
        ),
        supports=np.stack([np.isin(np.arange(d), state.support) for state in states]),
        scores=np.stack([ranking.scores for ranking in rankings]),
        labels=np.stack(
            [state.pool.labels[0] if selector.refine_labels else begun.labels for state in states]
        ),
    )
