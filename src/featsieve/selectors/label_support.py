"""What AUFS and UGFS share as estimators: labels and a support that predicts them, in turn."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import to_numpy
from featsieve.base import estimator
from featsieve.selectors.common import LabelSelector, Start
from featsieve.solvers.label_support import SupportProblem, SupportState, solve_support
from featsieve.solvers.nonnegative_labels import label_of_row
from featsieve.solvers.projected_labels import penalty_sequence
from featsieve.solvers.protocol import Solution
from featsieve.solvers.supports import rank_features
from featsieve.terms.regression import square
from featsieve.validation import Check, nonnegative, nonnegative_integer, warn


@estimator
class LabelSupportSelector(LabelSelector):
    """A selector that finds pseudo-labels and the few features that predict them."""

    alpha: float = 0.01
    ridge: float = 10.0
    orthogonality: float | Sequence[float] = (10.0, 100.0, 1e3, 1e4)
    affinity: Any = "heat"
    path_length: int = 300

    _follows_count = True
    _checks: ClassVar[dict[str, Check]] = {
        "alpha": nonnegative,
        "ridge": nonnegative,
        "orthogonality": lambda _, penalties: penalty_sequence(penalties),
        "path_length": nonnegative_integer,
    }

    def _solve(self, problem: SupportProblem, F: np.ndarray) -> Solution[SupportState]:
        """Run the alternation through the penalties of ``orthogonality``."""
        penalties = penalty_sequence(self.orthogonality)
        self._progress.step(f"labels and features in turn, at most {self.max_iter} times")
        runs = [f"orthogonality={nu:g}" for nu in penalties]
        return solve_support(
            problem,
            F,
            penalties=penalties,
            max_iter=self.max_iter,
            tol=self.tol,
            callback=self._progress.watch(self.callback, runs=runs[-1:]),
            rough_callback=self._progress.watch(runs=runs[:-1]),
        )

    def _set_fitted(
        self,
        problem: SupportProblem,
        solution: Solution[SupportState],
        n_selected: int,
        start: Start,
    ) -> None:
        """Set what the alternation has found."""
        state = solution.state
        self._set_outcome(solution)
        self.label_matrix_, self.ridge_ = state.F, problem.ridge
        labels = label_of_row(state.F, state.fitted)
        warn_collapsed(state.F, labels)
        self._keep_labels(labels, start)
        self._set_regression(problem.operator, state.W, state.b)
        ranking = rank_features(
            problem.regression(state.F, problem.weights(state)),
            state.support,
            length=max(self.path_length, n_selected),
            unit=2.0,
        )
        self.path_ = ranking.path
        self._set_selection(ranking.scores, n_selected, order=ranking.order)

    def _set_regression(self, operator: DataOperator, W: np.ndarray, b: np.ndarray) -> None:
        """Set W and b in the units of X."""
        self.coef_ = to_numpy(operator.inverse_scale)[:, None] * W
        self.intercept_ = b - to_numpy(operator.original_mean) @ self.coef_


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
