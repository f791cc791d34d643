"""The whole path of selections, from the one feature that matters most to as many as are useful."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from featsieve.criteria.curve import check_sizes
from featsieve.criteria.plots import plot_path
from featsieve.jasfs.estimator import JASFS
from featsieve.jasfs.joint import nothing_selected, rank, solve_joint
from featsieve.solvers.protocol import Status
from featsieve.tables import Table
from featsieve.validation import as_table, check_number, check_sized_selector


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
    objective : float array of shape (n_points,)
        What the selector minimises, at the solution; NaN where it minimises nothing.
    statuses : list of Status
        How the solver ended.
    labels : int array of shape (n_points, n_samples) or None
        Clusters of the samples, where the selector finds them.
    """

    n_features: np.ndarray
    sparsity: np.ndarray
    supports: np.ndarray
    scores: np.ndarray
    objective: np.ndarray
    statuses: list[Status]
    labels: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.n_features)

    def support_at(self, n_features: int) -> np.ndarray:
        """Return the indices of the selection of a size that the path holds."""
        found = np.flatnonzero(self.n_features == n_features)
        if len(found) == 0:
            sizes = ", ".join(map(str, self.n_features))
            raise ValueError(
                f"The path has no selection of {n_features} features, only of {sizes}."
            )
        return np.flatnonzero(self.supports[found[0]])

    def table(self) -> Table:
        """Return one row per point."""
        return Table(
            {
                "n_features": self.n_features,
                "sparsity": self.sparsity,
                "objective": self.objective,
                "status": [status.name.lower() for status in self.statuses],
            }
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw which features enter where; return the matplotlib axes."""
        return plot_path(self, ax=ax)


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
    if sparsities is None:
        path = _joint_path if joint else _ranked_path
        return path(clone(selector), X, sizes=sizes)
    if sizes is not None or not joint:
        raise ValueError(
            "sparsities belong to JASFS with solver='joint', without sizes: pass sizes instead."
        )
    values = sorted((float(value) for value in sparsities), reverse=True)
    for value in values:
        check_number("every one of sparsities", value, low=0.0, strict=True)
    if not values:
        raise ValueError("sparsities is empty: pass at least one value, or None.")
    return _joint_path(clone(selector), X, sparsities=values)


def _ranked_path(selector: Any, X: Any, *, sizes: Iterable[int] | None) -> SparsityPath:
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


def _joint_path(
    selector: JASFS, X: Any, *, sizes: Any = None, sparsities: Sequence[float] = ()
) -> SparsityPath:
    """Return the solutions of a JASFS for many sizes, or for falling values of λ.

    Each starts at the labels, and the nested path, of the one before. Where sizes were given, λ is
    the largest that selects as many.
    """
    begun, n_varying = selector._begin(X)
    d = begun.problem.operator.shape[1]
    if sparsities:
        problems = [begun.problem.priced(sparsity=value) for value in sparsities]
    else:
        numbers = np.unique(np.minimum(check_sizes(sizes, d), n_varying))
        problems = [begun.problem.priced(n_features=int(number)) for number in numbers]
    labels, path = begun.labels, None
    solved, solutions = [], []
    for problem in problems:
        solution = solve_joint(
            problem, labels, path=path, max_iter=selector.max_iter, tol=selector.tol
        )
        if len(solution.state.support) == 0:  # this λ is too large
            continue
        labels, path = solution.state.labels, solution.state.path
        solved.append(problem)
        solutions.append(solution)
    if not solutions:
        raise ValueError(nothing_selected(problems[-1], begun.labels))
    states = [solution.state for solution in solutions]
    # After all are solved: what the longer paths have found is part of the shorter ones' scores.
    rankings = [rank(problem, state) for problem, state in zip(solved, states, strict=True)]
    prices = [
        problem.sparsity or float(ranking.path.sparsity[len(state.support) - 1])
        for problem, ranking, state in zip(solved, rankings, states, strict=True)
    ]
    return SparsityPath(
        n_features=np.array([len(state.support) for state in states]),
        sparsity=np.array(prices),
        supports=np.stack([np.isin(np.arange(d), state.support) for state in states]),
        scores=np.stack([ranking.scores for ranking in rankings]),
        objective=np.array([solution.objective[-1] for solution in solutions]),
        statuses=[solution.status for solution in solutions],
        labels=np.stack([begun.problem.host_labels(state.labels) for state in states]),
    )
