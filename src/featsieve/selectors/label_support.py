"""What AUFS and UGFS share as estimators: labels and a support that predicts them, in turn."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from featsieve import defaults
from featsieve.arrays.namespace import in_double, is_single, to_numpy
from featsieve.base import estimator
from featsieve.selectors.common import LabelSelector, Start
from featsieve.solvers.block_problem import solve
from featsieve.solvers.label_support import SupportProblem, SupportState
from featsieve.solvers.nonnegative_labels import label_of_row
from featsieve.solvers.protocol import Solution
from featsieve.solvers.supports import rank_features
from featsieve.terms.norms import square
from featsieve.terms.orthogonality import normalised_indicator
from featsieve.validation import Check, check_number, nonnegative, nonnegative_integer, warn


@estimator
class LabelSupportSelector(LabelSelector):
    """A selector that finds pseudo-labels and the few features that predict them."""

    alpha: float = 0.01
    ridge: float = 10.0
    orthogonality: float | Sequence[float] = (10.0, 100.0, 1e3, 1e4)
    affinity: Any = "heat"
    path_length: int = 300

    _follows_count = True
    _centres = True  # the regression has an intercept: centring is part of it
    _checks: ClassVar[dict[str, Check]] = {
        "alpha": nonnegative,
        "ridge": nonnegative,
        "orthogonality": lambda _, penalties: penalty_sequence(penalties),
        "path_length": nonnegative_integer,
    }

    def _fit(self, X: Any) -> None:
        """Find pseudo-labels and the features that predict them."""
        lossy = is_single(X) and self.ridge < defaults.SMALL_RIDGE
        X = in_double(X) if lossy else X
        operator = self._operator(X)
        priced = self._price is not None and self.n_features_to_select is None
        k = None if priced else self._n_to_select()
        start = self._first_labels(X, operator)
        F = normalised_indicator(start.labels, start.n_clusters)
        problem = self._problem(start, F, k)
        self._set_fitted(start, problem, self._solve(problem, F))

    def _problem(self, start: Start, F: np.ndarray, n_features: int | None) -> SupportProblem:
        """Return what is minimised."""
        raise NotImplementedError

    def _solve(self, problem: SupportProblem, F: np.ndarray) -> Solution[SupportState]:
        """Run through the penalties of ``orthogonality``: each makes the start of the next.

        The history is that of the last one: within it the objective is one function.
        """
        self._progress.step(f"labels and features in turn, at most {self.max_iter} times")
        *below, last = penalty_sequence(self.orthogonality)
        watch = self._progress.watch(runs=[f"orthogonality={nu:g}" for nu in below])
        tol, state = max(self.tol, defaults.ROUGH_TOL), problem.start(F)
        for nu in below:
            at_nu = replace(problem, orthogonality=nu)
            state = solve(at_nu, state, max_iter=self.max_iter, tol=tol, callback=watch).state
        problem = replace(problem, orthogonality=last)
        watch = self._progress.watch(self.callback, runs=[f"orthogonality={last:g}"])
        return solve(problem, state, max_iter=self.max_iter, tol=self.tol, callback=watch)

    def _set_fitted(
        self, start: Start, problem: SupportProblem, solution: Solution[SupportState]
    ) -> None:
        """Set what the alternation has found."""
        state, operator = solution.state, problem.operator
        n_selected = problem.n_features or len(state.support)
        self._set_outcome(solution)
        self.label_matrix_, self.ridge_ = state.F, problem.ridge
        labels = label_of_row(state.F, state.fitted)
        warn_collapsed(state.F, labels)
        self._keep_labels(labels, start)
        # in the units of X
        self.coef_ = to_numpy(operator.inverse_scale)[:, None] * state.W
        self.intercept_ = state.b - to_numpy(operator.original_mean) @ self.coef_
        ranking = rank_features(
            problem.regression(state.F, problem.weights(state)),
            state.support,
            length=max(self.path_length, n_selected),
            unit=2.0,
        )
        self.path_ = ranking.path
        self._set_selection(ranking.scores, n_selected, order=ranking.order)


def penalty_sequence(orthogonality: Any) -> tuple[float, ...]:
    """Return nu, a number or a rising sequence of numbers, as a tuple; refuse anything else."""
    single = isinstance(orthogonality, (Real, str))
    values = [orthogonality] if single else list(orthogonality)
    for value in values:
        check_number("orthogonality", value, low=0.0, strict=True)
    penalties = tuple(float(value) for value in values)
    if not penalties or any(later <= first for first, later in pairwise(penalties)):
        raise ValueError(
            "orthogonality must be a number above 0, or a sequence of them that rises, such as "
            f"(10, 100, 1000, 10000); got {orthogonality!r}."
        )
    return penalties


def warn_collapsed(F: np.ndarray, labels: np.ndarray) -> None:
    """Warn where the labels F tell (nearly) no samples apart, or leave a cluster empty.

    A single cluster has its own warning.
    """
    n_clusters = F.shape[1]
    n_used = len(np.unique(labels))
    # Of orthonormal labels this is c - 1.
    vanished = square(F - F.mean(axis=0)) < defaults.VANISHED_LABELS * n_clusters
    if n_clusters == 1 or not (vanished or n_used < n_clusters):
        return
    what = "are the same for all samples" if vanished else f"use {n_used} of {n_clusters} clusters"
    fewer = "" if vanished else ", or choose a smaller n_clusters"
    warn(
        f"The pseudo-labels have collapsed: they {what}, so that the ranking means little. "
        f"Decrease alpha, or increase orthogonality{fewer}."
    )
