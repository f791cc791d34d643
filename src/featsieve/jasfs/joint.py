"""The default solver of JASFS: the same model, descended in every step over feasible labels.

    J(W, F) = 1/2 ||H(ZW - F)||^2 + (mu/2) ||W||^2 + graph(F) + lam ||W||_{2,0}

Z has standardised columns, F is the normalised indicator of a partition (F >= 0 and F'F = I hold
exactly), and graph(F) is the paper's graph term with S eliminated and its entropy taken relative to
the nearest-neighbour graph of the data (:class:`~featsieve.terms.NeighbourGraph`).

    coordinates in the metric of the ridge hat matrix of all features
    neighbour graph in these coordinates
    first labels: spectral clustering, then the label step with the hat matrix of ALL features
    W: the best support for these labels
    repeat
        F: Hartigan moves with the hat matrix of the SELECTED features
        W: the best support; taken only if it lowers J
    until nothing changes
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import stable_order, to_numpy
from featsieve.graphs.structure import leave_one_out_accuracy
from featsieve.solvers.alternate import Alternation, Block, relative_change
from featsieve.solvers.forward_selection import ForwardSelection, ForwardState, SelectionPath
from featsieve.solvers.homotopy_iht import ConvergedIHT
from featsieve.solvers.local_search import LocalSearch, moves
from featsieve.solvers.partition_moves import PartitionMoves, PartitionProblem
from featsieve.solvers.protocol import Callback, Solution, Status, run
from featsieve.solvers.row_sparse import RowSparseRegression
from featsieve.terms import NeighbourGraph, normalised_indicator
from featsieve.terms.row_sparsity import row_support

W_STEPS = ("forward", "iht", "local")
MAX_SWEEPS = 100
MAX_IHT_STEPS = 2000
# Rounding is not progress: a support must lower J by more than this, relatively.
PROGRESS = 1e-12
# The share of the explained loss that a feature must add to be selected (AUFS).
AUTO_SHARE = 0.004


@dataclass(frozen=True)
class JointProblem:
    """JASFS over partitions and supports."""

    operator: DataOperator
    graph: NeighbourGraph
    n_clusters: int
    ridge: float
    sparsity: float = 0.0
    n_features: int | None = None
    w_step: str = "forward"
    coordinates: np.ndarray | None = None  # E, the hat coordinates of all features

    def labels_matrix(self, labels: np.ndarray) -> np.ndarray:
        """Return F."""
        return normalised_indicator(labels, self.n_clusters)

    def regression(self, labels: np.ndarray) -> RowSparseRegression:
        """Return the problem of the W-step for fixed labels."""
        F = self.labels_matrix(labels)
        return RowSparseRegression(
            self.operator,
            self.operator.xp.asarray(F - F.mean(axis=0), device=self.operator.device),
            ridge=self.ridge,
            sparsity=self.sparsity,
            n_features=self.n_features,
        )

    def value(self, labels: np.ndarray, support: np.ndarray) -> float:
        """Return J at the best W and S for a partition and a support."""
        selected = self.operator.xp.asarray(support, device=self.operator.device)
        return self.regression(labels).value(selected) + self.graph.value(
            self.labels_matrix(labels)
        )

    def cluster_sizes(self, labels: np.ndarray) -> np.ndarray:
        """Return the number of samples in every cluster."""
        return np.bincount(labels, minlength=self.n_clusters)

    def cluster_moments(self, labels: np.ndarray) -> np.ndarray:
        """Return the means of the rows of Z in every cluster (d x c)."""
        sums = to_numpy(self.regression(labels).correlation())
        return sums / np.sqrt(self.cluster_sizes(labels))

    def host_labels(self, labels: np.ndarray) -> np.ndarray:
        """Return the labels as one array."""
        return labels

    def accuracy(self, labels: np.ndarray) -> float:
        """Return how well the labels are predicted from the other samples."""
        if self.coordinates is None:
            raise ValueError("accuracy needs the hat coordinates of the samples.")
        return leave_one_out_accuracy(labels, self.coordinates, self.n_clusters)

    def refine(self, labels: np.ndarray, support: np.ndarray) -> tuple[np.ndarray, Status]:
        """Return the partition after moves in the hat matrix of a support, and how they ended."""
        return refine_labels(self, labels, selected_factor(self, support))

    def same(self, one: np.ndarray, other: np.ndarray) -> bool:
        """Say whether no sample has moved."""
        return np.array_equal(one, other)

    def partition(self, labels: np.ndarray, factor: np.ndarray) -> PartitionProblem:
        """Return the label step in the hat matrix E E', at the graph of the current labels.

        With W at its best, J = const - 1/2 tr(F'EE'F) + alpha tr(F'L_S F) + (a term of S alone), so
        the step maximises tr(F'(EE' - 2 alpha L_S)F). S held at its optimum makes this a majoriser
        of J that touches it: what lowers the one lowers the other.
        """
        laplacian = self.graph.laplacian(self.labels_matrix(labels))
        sparse = sp.csr_array(-2.0 * self.graph.alpha * laplacian)
        return PartitionProblem(factor, sparse, self.n_clusters, labels)


# Labels as a problem keeps them: one array, or blocks beside the parts of the table.
Labels = Any
# A problem over partitions and supports: JointProblem, or LargeProblem of jasfs_large.
Problem = Any


@dataclass(frozen=True)
class JointState:
    """A partition and a support, with the run of forward selection that found the support."""

    labels: Labels
    support: np.ndarray  # in order of entry
    value: float
    path: ForwardState | None = None
    path_labels: Labels = None  # the labels for which it was found
    moved: bool = True  # whether the last label step changed anything
    limited: bool = False  # whether an inner solver ran into its own iteration limit


def refine_labels(
    problem: JointProblem, labels: np.ndarray, factor: np.ndarray
) -> tuple[np.ndarray, Status]:
    """Return the partition after Hartigan moves from the given one, and how they ended."""
    moved = run(PartitionMoves(), problem.partition(labels, factor), max_iter=MAX_SWEEPS)
    return moved.state.labels, moved.status


def selected_factor(problem: JointProblem, support: np.ndarray) -> np.ndarray:
    """Return E with E E' = Z_S (Z_S'Z_S + mu I)^(-1) Z_S', the hat matrix of the support."""
    operator, xp = problem.operator, problem.operator.xp
    selected = xp.asarray(support, device=operator.device)
    n, k = operator.shape[0], len(support)
    if k <= n:
        eye = xp.eye(k, dtype=xp.float64, device=operator.device)
        root = xp.linalg.cholesky(operator.columns_gram(selected) + problem.ridge * eye)
        return to_numpy(operator.columns_matmul(selected, xp.linalg.inv(root).T))
    Z = operator.columns(selected)
    energy, U = xp.linalg.eigh(Z @ Z.T)
    energy = xp.clip(energy, min=0.0)
    return to_numpy(U * xp.sqrt(energy / (energy + problem.ridge))[None, :])


def find_support(
    problem: Problem,
    labels: Labels,
    *,
    known: np.ndarray | None = None,
    path: ForwardState | None = None,
) -> tuple[np.ndarray, ForwardState | None]:
    """Return the support that the chosen W-step finds for fixed labels, in order of entry.

    ``known`` is a support to do better than; ``path`` a part of the path for these labels, which
    may go on beyond ``n_features``.
    """
    regression = problem.regression(labels)
    if problem.w_step == "iht":
        found = run(ConvergedIHT(), regression, max_iter=MAX_IHT_STEPS).state
        return np.flatnonzero(to_numpy(row_support(found.W))), None
    path = run(ForwardSelection(), regression, max_iter=regression.limit, state=path).state
    support = np.asarray(path.order[: regression.limit], dtype=np.intp)
    if problem.w_step == "forward":
        return support, path
    starts = [support] if known is None else [support, known]
    searched = [run(LocalSearch(start=s), regression, max_iter=10_000).state for s in starts]
    return min(searched, key=lambda state: state.value).support, None


def nested_path(problem: Problem, labels: Labels, length: int) -> ForwardState:
    """Return the run of forward selection for fixed labels, ``length`` features long."""
    regression = replace(problem, sparsity=0.0, n_features=length).regression(labels)
    return run(ForwardSelection(), regression, max_iter=regression.limit).state


def largest_sparsity(problem: Problem, labels: Labels) -> float:
    """Return the largest lambda that selects something for these labels.

    The half gain of the best single feature. Iterative hard thresholding stays at W = 0 longer: for
    it, the lambda below which a row surely survives the shortest step it tries from there.
    """
    regression = problem.regression(labels)
    xp = regression.operator.xp
    if problem.w_step == "iht":
        state = ConvergedIHT().init(regression)
        gradient = state.datafit.gradient(state.W, state.image)
        shortest = 0.75 * state.step_size
        return 0.5 * shortest * float(xp.max(xp.sum(gradient * gradient, axis=1)))
    return float(xp.max(ForwardSelection().init(regression).candidates))


def solve_joint(
    problem: Problem,
    labels: Labels,
    *,
    path: ForwardState | None = None,
    max_iter: int = 20,
    tol: float = 1e-5,
    callback: Callback[JointState] | None = None,
) -> Solution[JointState]:
    """Descend J from the given labels. The first iteration is the first W-step.

    ``path`` may hold a part of the path for these labels.
    """

    def start(problem: Problem) -> JointState:
        support, found = find_support(problem, labels, path=path)
        return JointState(labels, support, problem.value(labels, support), found, labels)

    def update_labels(problem: Problem, state: JointState) -> JointState:
        refined, status = problem.refine(state.labels, state.support)
        state = replace(state, limited=state.limited or not status.success)
        value = problem.value(refined, state.support)
        if problem.same(refined, state.labels) or value > state.value:
            return replace(state, moved=False)
        return replace(state, labels=refined, value=value)

    def update_features(problem: Problem, state: JointState) -> JointState:
        if not state.moved:
            return state
        support, path = find_support(problem, state.labels, known=state.support)
        value = problem.value(state.labels, support)
        if len(support) == 0 or value >= state.value - PROGRESS * abs(state.value):
            return state  # the acceptance guard: J never increases
        return replace(state, support=support, value=value, path=path, path_labels=state.labels)

    def stop(state: JointState, history: Sequence[float]) -> Status | None:
        if not state.moved or len(state.support) == 0:
            return Status.STATIONARY
        return Status.CONVERGED if relative_change(history) < tol else None

    solver = Alternation(
        start=start,
        blocks=(Block("labels", update_labels), Block("features", update_features)),
        value=lambda problem, state: state.value,
        stop=stop,
    )
    return run(solver, problem, max_iter=max_iter, callback=callback, count_start=True)


def rank_features(
    problem: Problem, state: JointState, *, path_length: int
) -> tuple[np.ndarray, np.ndarray, SelectionPath | None]:
    """Return the scores of all features, their order (best first), and the nested path.

    Along a path the score is the largest lambda that still selects the feature; off it, what the
    feature would add now, at most what the last one was worth. Where the W-step has no path it is
    the price of the feature's removal (selected ones, which come first) or addition.
    """
    if state.path is None:
        priced = moves(problem.regression(state.labels), state.support)
        scores = priced.add.copy()
        scores[state.support] = priced.drop
        left_out = np.ones(len(scores), dtype=bool)
        left_out[state.support] = False
        return scores, np.lexsort((-scores, left_out)), None
    length = max(path_length, len(state.support))
    longer = replace(problem, sparsity=0.0, n_features=length).regression(state.labels)
    solver = ForwardSelection()
    begun = state.path
    if state.path_labels is None or not problem.same(state.path_labels, state.labels):
        # The labels moved and the support stayed: price the same features for the new labels.
        begun = solver.init(longer)
        for j in state.support.tolist():
            begun = solver.add(longer, begun, j)
    finished = run(solver, longer, max_iter=longer.limit, state=begun).state
    path = solver.path(finished)
    scores = np.clip(to_numpy(finished.candidates), 0.0, path.sparsity[-1])
    scores[path.order] = path.sparsity
    off_path = np.setdiff1d(np.arange(len(scores)), path.order)
    order = np.concatenate([path.order, off_path[stable_order(scores[off_path])]])
    return scores, order, path
