"""The frame of NDFS, RSFS, RUFS, URAFS and USFS: labels, and weights that predict them, in turn.

Each of these methods is a problem in the frame: the blocks that it updates, its objective, and when
it ends (:class:`LabelRegression`), and an estimator that sets the problem up from a table, a graph
and the first labels (:class:`LabelRegressionSelector`).
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.base import estimator
from featsieve.graphs.affinity import normalised_laplacian, smoothness, split_by_sign
from featsieve.selectors.common import LabelSelector, Start
from featsieve.solvers.block_problem import BlockProblem
from featsieve.solvers.nonnegative_labels import first_label_matrix, label_of_row
from featsieve.solvers.reweighted_ridge import ReweightedRidge, largest_penalty
from featsieve.terms.norms import inverse_weights
from featsieve.terms.orthogonality import normalised_indicator
from featsieve.validation import nonnegative, positive, positive_or_auto, warn


@dataclass(frozen=True)
class LabelState:
    """The variables that all methods have; there are no weights before the first iteration."""

    F: np.ndarray  # labels, n x c
    inverse: Array  # 1/q_j, the inverse weights of the rows of W
    W: Array = None  # d x c
    fitted: Any = None  # XW, n x c, in NumPy


S = TypeVar("S", bound=LabelState)


@dataclass(frozen=True, kw_only=True)
class LabelRegression(BlockProblem[S]):
    """What a method minimises."""

    operator: DataOperator
    form: str = "auto"  # of the regression: see ReweightedRidge

    blocks: ClassVar[tuple[str, ...]] = ("weights", "labels")
    state_type: ClassVar[type[LabelState]] = LabelState

    def start(self, F: np.ndarray) -> Any:
        """Return the first state: labels, and equal weights of the rows."""
        return self.state_type(F, self.ones)

    def value(self, state: S) -> float:
        """Return the objective at a state that has weights."""
        raise NotImplementedError

    def objective(self, state: S) -> float:
        """Return the objective; infinity before the first iteration."""
        return float("inf") if state.W is None else self.value(state)

    @cached_property
    def ridge(self) -> ReweightedRidge:
        """The regressions on the table."""
        return ReweightedRidge(self.operator, self.form)

    @property
    def ones(self) -> Array:
        """The first inverse weights of the rows."""
        xp, device = self.operator.xp, self.operator.device
        return xp.ones(self.operator.shape[1], dtype=xp.float64, device=device)

    def regress(self, state: S, target: np.ndarray, rho: float, **weights: Array) -> S:
        """Return the state with the best W for a target and the present weights of the rows."""
        target = self.operator.place(target)
        W, fitted = self.ridge.solve(target, rho, inverse=state.inverse, **weights)
        return replace(state, W=W, fitted=to_numpy(fitted), inverse=inverse_weights(W))


@dataclass(frozen=True, kw_only=True)
class NonnegativeRegression(LabelRegression[S]):
    """What NDFS, RSFS and RUFS have in common: labels that are smooth on a graph, and penalties."""

    laplacian: sp.csr_array
    alpha: float
    beta: float
    orthogonality: float

    @cached_property
    def signs(self) -> tuple[sp.csr_array, sp.csr_array]:
        """The positive and the negative part of the Laplacian."""
        return split_by_sign(self.laplacian)


@estimator
class LabelRegressionSelector(LabelSelector):
    """Base class of the estimators: first labels, problem, alternation, outcome."""

    def _fit(self, X: Any) -> None:
        """Find pseudo-labels and the features that predict them."""
        operator = self._operator(X)
        n_selected = self._n_to_select()
        start = self._first_labels(X, operator)
        F = self._label_matrix(start)
        problem = self._problem(start, F)
        state = self._alternate(problem, problem.start(F), "labels and features")
        W, warned = self._set_labels(start, problem, state)
        self._set_weights(operator, W, n_selected, warned=warned)

    def _label_matrix(self, start: Start) -> np.ndarray:
        """Return the label matrix to start from."""
        raise NotImplementedError

    def _problem(self, start: Start, F: np.ndarray) -> LabelRegression[Any]:
        """Return what is to be minimised from the label matrix F on."""
        raise NotImplementedError

    def _set_labels(self, start: Start, problem: Any, state: Any) -> tuple[Array, bool]:
        """Set the labels; return the weights, and whether the user knows that they vanished."""
        raise NotImplementedError


@estimator
class NonnegativeLabelSelector(LabelRegressionSelector):
    """Parameters of NDFS, RSFS and RUFS, and what their non-negative labels have in common."""

    alpha: float = 1.0
    beta: float | str = "auto"
    orthogonality: float = 1e8
    affinity: Any = "heat"

    _checks: ClassVar = {"alpha": positive, "beta": positive_or_auto, "orthogonality": nonnegative}

    def _label_matrix(self, start: Start) -> np.ndarray:
        """Return the label matrix to start from."""
        return first_label_matrix(start.labels, start.n_clusters, orthogonality=self.orthogonality)

    def _slope(self, F: np.ndarray) -> np.ndarray:
        """Return half the slope of the loss at W = 0: that of the squared loss is F."""
        return F

    def _terms(self, start: Start) -> dict[str, Any]:
        """Return table and weights of a :class:`NonnegativeRegression`; set ``beta_``."""
        F = normalised_indicator(start.labels, start.n_clusters)
        share = contradicted(start.graph, F) ** 0.5 if isinstance(self.beta, str) else 0.0
        self.beta_ = resolve_penalty(self.beta, start.operator, self._slope(F), share=share)
        weights = {"beta": self.beta_, "orthogonality": self.orthogonality}
        return {"operator": start.operator, "alpha": self.alpha, **weights}

    def _set_labels(self, start: Start, problem: Any, state: Any) -> tuple[Array, bool]:
        """Set the labels; return the weights, and whether the user knows that they vanished."""
        self._keep_labels(label_of_row(state.F, state.fitted), start)
        return state.W, self._warn_vanished(start.operator, state.F)

    def _warn_vanished(self, operator: DataOperator, F: np.ndarray) -> bool:
        """Say, and warn, where the best weights are zero: labels vanished, or beta is large."""
        if np.sum(F * F) < defaults.VANISHED_LABELS * F.shape[1]:
            warn(
                "The pseudo-labels have vanished, and the ranking with them: orthogonality is too "
                "small against the other terms. Increase it."
            )
            return True
        largest = largest_penalty(operator, operator.place(self._slope(F)))
        if self.beta_ >= largest > 0.0:
            warn(
                "beta is so large that all weights vanish: the ranking is that of the features one "
                f"at a time. Choose beta below {largest:.3g}."
            )
            return True
        return False


def contradicted(graph: sp.csr_array, F: np.ndarray) -> float:
    """Return the part of the labels that neighbours contradict: tr(F'LF)/(c - 1), 1 by chance.

    A regression on one feature with the share s of the largest penalty leaves s^2 of what that
    feature explains: the share at which as much is left as neighbours contradict is the root of
    this part. At least one sample counts as contradicted, and one as confirmed.
    """
    n, c = F.shape
    part = smoothness(normalised_laplacian(graph), F) / max(c - 1, 1)
    return float(np.clip(part, 1.0 / n, 1.0 - 1.0 / n))


def resolve_penalty(
    value: float | str, operator: DataOperator, F: np.ndarray, *, share: float
) -> float:
    """Return an l2,1 penalty; "auto" is a share of the largest one for the slope F of the loss."""
    if not isinstance(value, str):
        return float(value)
    return share * largest_penalty(operator, operator.place(F)) or 1.0
