"""What AUFS and UGFS share as estimators: labels and a support that predicts them, in turn."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import to_numpy
from featsieve.base import UnsupervisedSelector
from featsieve.graphs.affinity import laplacian, sample_graph
from featsieve.graphs.initial_labels import first_labels
from featsieve.graphs.spectral_labels import by_first_sample
from featsieve.solvers.forward_selection import SelectionPath
from featsieve.solvers.label_support import SupportProblem, SupportState, solve_support
from featsieve.solvers.nonnegative_labels import label_of_row
from featsieve.solvers.projected_labels import penalty_sequence
from featsieve.solvers.protocol import Solution
from featsieve.solvers.supports import rank_features
from featsieve.terms.orthogonality import normalised_indicator
from featsieve.terms.regression import square
from featsieve.validation import warn


class Start(NamedTuple):
    """The first labels, and the graph of the samples."""

    laplacian: sp.csr_array
    labels: np.ndarray
    F: np.ndarray
    given: bool  # by the user
    random_state: np.random.RandomState


class LabelSupportSelector(UnsupervisedSelector):
    """A selector that finds pseudo-labels and the few features that predict them."""

    _follows_count = True

    path_: SelectionPath
    intercept_: np.ndarray
    label_matrix_: np.ndarray
    labels_: np.ndarray
    ridge_: float
    init: Any
    affinity: Any
    n_neighbors: int
    orthogonality: float | Sequence[float]
    tol: float
    path_length: int
    callback: Any
    random_state: Any

    def _first_labels(self, X: Any, operator: DataOperator) -> Start:
        """Return the first labels, and the graph of the samples."""
        n_clusters = self._count_clusters(X)
        random_state = check_random_state(self.random_state)
        self._progress.step("finding the first labels")
        S = sample_graph(operator, self.affinity, n_neighbors=self.n_neighbors)
        labels, given = first_labels(
            self.init, X, operator, n_clusters, graph=S, random_state=random_state
        )
        F = normalised_indicator(labels, n_clusters)
        return Start(laplacian(S), labels, F, given, random_state)

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
        self, problem: SupportProblem, solution: Solution[SupportState], n_selected: int
    ) -> np.ndarray:
        """Set what the alternation has found; return the labels as they are numbered there."""
        state = solution.state
        self._set_outcome(solution)
        self.label_matrix_, self.ridge_ = state.F, problem.ridge
        labels = label_of_row(state.F, state.fitted)
        warn_collapsed(state.F, labels)
        self._set_regression(problem.operator, state.W, state.b)
        ranking = rank_features(
            problem.regression(state.F, problem.weights(state)),
            state.support,
            length=max(self.path_length, n_selected),
            unit=2.0,
        )
        self.path_ = ranking.path
        self._set_selection(ranking.scores, n_selected, order=ranking.order)
        return labels

    def _set_labels(self, labels: np.ndarray, *, given: bool) -> None:
        """Set the labels; those that the user gave keep their order."""
        self.labels_ = labels if given else by_first_sample(labels)

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
    vanished = (
        square(F - F.mean(axis=0)) < defaults.VANISHED_LABELS * n_clusters
    )  # orthonormal ones have c - 1
    if n_clusters == 1 or not (vanished or n_used < n_clusters):
        return
    what = "are the same for all samples" if vanished else f"use {n_used} of {n_clusters} clusters"
    fewer = "" if vanished else ", or choose a smaller n_clusters"
    warn(
        f"The pseudo-labels have collapsed: they {what}, so that the ranking means little. "
        f"Decrease alpha, or increase orthogonality{fewer}.",
        UserWarning,
    )
