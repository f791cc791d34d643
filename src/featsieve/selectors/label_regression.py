"""The frame of NDFS, RSFS, RUFS, URAFS and USFS: labels, and weights that predict them, in turn.

Each of these methods is a problem in the frame: the blocks that it updates, its objective, and when
it ends (:class:`LabelRegression`), and an estimator that sets the problem up from a table, a graph
and the first labels (:class:`LabelRegressionSelector`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array, to_numpy
from featsieve.base import UnsupervisedSelector
from featsieve.graphs.affinity import sample_graph
from featsieve.graphs.initial_labels import first_labels
from featsieve.graphs.spectral_labels import by_first_sample
from featsieve.solvers.alternate import Alternation, Block, relative_change
from featsieve.solvers.nonnegative_labels import first_label_matrix, label_of_row
from featsieve.solvers.protocol import Callback, Solution, Status, run
from featsieve.solvers.reweighted_ridge import ReweightedRidge, largest_penalty
from featsieve.terms.orthogonality import indicator, normalised_indicator
from featsieve.terms.row_shrinkage import inverse_weights
from featsieve.validation import warn


@dataclass(frozen=True)
class LabelState:
    """The variables that all methods have; there are no weights before the first iteration."""

    F: np.ndarray  # labels, n x c
    inverse: Array  # 1/q_j, the inverse weights of the rows of W
    W: Array = None  # d x c
    fitted: Any = None  # XW, n x c, in NumPy


S = TypeVar("S", bound=LabelState)


@dataclass(frozen=True, kw_only=True)
class LabelRegression(Generic[S]):
    """What a method minimises, block by block: block ``b`` is the method ``update_b``."""

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

    def converged(self, state: S, history: Sequence[float], tol: float) -> bool:
        """Say whether the last change of the objective is small."""
        return relative_change(history) < tol

    @cached_property
    def ridge(self) -> ReweightedRidge:
        """The regressions on the table."""
        return ReweightedRidge(self.operator, self.form)

    @property
    def ones(self) -> Array:
        """The first inverse weights of the rows."""
        xp, device = self.operator.xp, self.operator.device
        return xp.ones(self.operator.shape[1], dtype=xp.float64, device=device)

    def on_device(self, V: np.ndarray) -> Array:
        """Return an array of the library of the table, on its device."""
        return self.operator.xp.asarray(V, device=self.operator.device)

    def regress(self, state: S, target: np.ndarray, rho: float, **weights: Array) -> S:
        """Return the state with the best W for a target and the present weights of the rows."""
        W, fitted = self.ridge.solve(self.on_device(target), rho, inverse=state.inverse, **weights)
        return replace(state, W=W, fitted=to_numpy(fitted), inverse=inverse_weights(W))


def solve(
    problem: LabelRegression[S],
    state: S,
    *,
    max_iter: int = 200,
    tol: float = 1e-5,
    callback: Callback[S] | None = None,
) -> Solution[S]:
    """Update the blocks of a problem in turn, from a state on."""
    kind = type(problem)
    solver: Alternation[LabelRegression[S], S] = Alternation(
        start=lambda problem: state,
        blocks=[Block(name, getattr(kind, f"update_{name}")) for name in problem.blocks],
        value=kind.objective,
        stop=lambda state, history: (
            Status.CONVERGED if problem.converged(state, history, tol) else None
        ),
    )
    return run(solver, problem, max_iter=max_iter, callback=callback)


@dataclass(frozen=True)
class Start:
    """What an estimator knows before the alternation."""

    X: Any
    operator: DataOperator
    graph: Any  # None where it is not needed
    labels: Any  # None for a random start
    given: bool  # by the user
    n_clusters: int
    random_state: np.random.RandomState


class LabelRegressionSelector(UnsupervisedSelector):
    """Base class of the estimators: graph, first labels, penalty, alternation, outcome."""

    # Values of ``init`` beside those of first_labels; the method makes such a start itself.
    _own_starts: ClassVar[tuple[str, ...]] = ()
    # Whether the published program starts from a 0/1 indicator.
    _starts_hard: ClassVar[bool] = False

    alpha: float
    beta: Any
    orthogonality: float
    update: str
    init: Any
    affinity: Any
    n_neighbors: int
    tol: float
    callback: Any
    random_state: Any
    beta_: float
    labels_: np.ndarray

    def _fit(self, X: Any) -> None:
        """Find pseudo-labels and the features that predict them."""
        operator = self._operator(X)
        n_selected = self._n_to_select()
        n_clusters = self._count_clusters(X)
        random_state = check_random_state(self.random_state)
        self._progress.step("finding the first labels")
        graph, labels, given = self._graph(operator), None, False
        if not (isinstance(self.init, str) and self.init in self._own_starts):
            labels, given = first_labels(
                self.init,
                X,
                operator,
                n_clusters,
                graph=graph,
                n_neighbors=self.n_neighbors,
                random_state=random_state,
                others=self._own_starts,
            )
        start = Start(X, operator, graph, labels, given, n_clusters, random_state)
        F = self._label_matrix(start)
        problem = self._problem(start, F)
        self._progress.step(f"labels and features in turn, at most {self.max_iter} times")
        solution = solve(
            problem,
            problem.start(F),
            max_iter=self.max_iter,
            tol=self.tol,
            callback=self._progress.watch(self.callback),
        )
        self._set_outcome(solution)
        W, warned = self._set_labels(start, problem, solution.state)
        self._set_weights(operator, W, n_selected, warned=warned)

    def _graph(self, operator: DataOperator) -> sp.csr_array | None:
        """Return the graph of the samples; None where the first labels alone may need one."""
        return sample_graph(operator, self.affinity, n_neighbors=self.n_neighbors)

    def _label_matrix(self, start: Start) -> np.ndarray:
        """Return the label matrix to start from."""
        if self._starts_hard and self.update == "paper":
            return indicator(start.labels, start.n_clusters)
        return first_label_matrix(start.labels, start.n_clusters, orthogonality=self.orthogonality)

    def _problem(self, start: Start, F: np.ndarray) -> LabelRegression[Any]:
        """Return what is to be minimised from the label matrix F on."""
        raise NotImplementedError

    def _slope(self, F: np.ndarray) -> np.ndarray:
        """Return half the slope of the loss at W = 0: that of the squared loss is F."""
        return F

    def _resolve_beta(self, start: Start) -> float:
        """Return beta as a number, which is kept as ``beta_``."""
        F = normalised_indicator(start.labels, start.n_clusters)
        self.beta_ = resolve_penalty(self.beta, start.operator, self._slope(F))
        return self.beta_

    def _set_labels(
        self, start: Start, problem: LabelRegression[Any], state: Any
    ) -> tuple[Array, bool]:
        """Set the labels; return the weights, and whether the user knows that they vanished."""
        labels = label_of_row(state.F, state.fitted)
        self.labels_ = labels if start.given else by_first_sample(labels)
        return state.W, self._warn_vanished(start.operator, state.F)

    def _warn_vanished(self, operator: DataOperator, F: np.ndarray) -> bool:
        """Say, and warn, where the best weights are zero: labels vanished, or beta is large."""
        if np.sum(F * F) < defaults.VANISHED_LABELS * F.shape[1]:
            warn(
                "The pseudo-labels have vanished, and the ranking with them: orthogonality is too "
                "small against the other terms. Increase it.",
                UserWarning,
            )
            return True
        slope = operator.xp.asarray(self._slope(F), device=operator.device)
        largest = largest_penalty(operator, slope)
        if self.beta_ >= largest > 0.0:
            warn(
                "beta is so large that all weights vanish: the ranking is that of the features one "
                f"at a time. Choose beta below {largest:.3g}.",
                UserWarning,
            )
            return True
        return False


def resolve_penalty(value: float | str, operator: DataOperator, F: np.ndarray) -> float:
    """Return an l2,1 penalty as a number; "auto" suits the table and the slope F of the loss."""
    if not isinstance(value, str):
        return float(value)
    largest = largest_penalty(operator, operator.xp.asarray(F, device=operator.device))
    return defaults.PENALTY_SHARE * largest or 1.0
