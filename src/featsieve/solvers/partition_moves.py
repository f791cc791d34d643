"""The label step over exactly feasible F: Hartigan's single-sample moves, in factored form.

F stays the normalised indicator of a partition. With K = E E' + B (E: n x r, B: sparse), the label
step maximises tr(F'KF) = sum_k 1_k'K 1_k / n_k by moving one sample at a time to another cluster
while that raises it. Only the cluster sums of the rows of E and the sparse edges are needed:
O(r c + edges) per sample, and no n x n array.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from featsieve import defaults
from featsieve.solvers.protocol import Status

# Rounding is not progress.
PROGRESS = 1e-10


@dataclass(frozen=True)
class PartitionProblem:
    """Maximise sum_k 1_k'(E E' + B) 1_k / n_k over partitions into ``n_clusters`` clusters.

    Parameters
    ----------
    factor : array of shape (n, r)
        E.
    sparse : csr array of shape (n, n)
        B, symmetric.
    n_clusters : int
    labels : int array of shape (n,)
        The partition to start from.
    """

    factor: np.ndarray
    sparse: sp.csr_array
    n_clusters: int
    labels: np.ndarray


@dataclass
class PartitionState:
    """A partition with the sums that price its moves."""

    labels: np.ndarray
    sizes: np.ndarray  # n_k
    sums: np.ndarray  # (c, r) cluster sums of the rows of E
    within: np.ndarray  # 1_k'K 1_k
    diagonal: np.ndarray  # K_ii
    n_moves: int = 0  # of the last sweep


class PartitionMoves:
    """Solver of :class:`PartitionProblem`; a step is one sweep over the samples.

    A sweep prices all moves of all samples by one matrix product, and then makes the promising ones
    in the order of the samples, each priced again at the moment it is made, so that every move
    raises the objective.
    """

    def init(self, problem: PartitionProblem) -> PartitionState:
        """Return the state of the given partition."""
        E, B, labels = problem.factor, problem.sparse, problem.labels.copy()
        diagonal = np.einsum("ij,ij->i", E, E) + B.diagonal()
        member = _membership(labels, problem.n_clusters)
        sums = member.T @ E
        sizes = np.bincount(labels, minlength=problem.n_clusters)
        products = E @ sums.T + B @ member.toarray()
        own = products[np.arange(len(labels)), labels]
        within = np.bincount(labels, weights=own, minlength=problem.n_clusters)
        return PartitionState(labels, sizes, sums, within, diagonal)

    def step(self, problem: PartitionProblem, state: PartitionState) -> PartitionState:
        """Sweep over the samples once."""
        member = _membership(state.labels, problem.n_clusters).toarray()
        products = problem.factor @ state.sums.T + problem.sparse @ member
        gains = self._gains(state, np.arange(len(state.labels)), products)
        state.n_moves = 0
        indptr, indices, data = problem.sparse.indptr, problem.sparse.indices, problem.sparse.data
        for i in np.flatnonzero(gains.max(axis=1) > PROGRESS).tolist():
            edges = slice(indptr[i], indptr[i + 1])
            product = state.sums @ problem.factor[i]
            product += np.bincount(
                state.labels[indices[edges]], weights=data[edges], minlength=problem.n_clusters
            )
            gain = self._gains(state, np.array([i]), product[None, :])[0]
            target = int(gain.argmax())
            if gain[target] > PROGRESS:
                self._move(problem, state, i, target, product)
        return state

    def objective(self, problem: PartitionProblem, state: PartitionState) -> float:
        """Return minus what is maximised."""
        occupied = np.maximum(state.sizes, 1)
        return -float(np.sum(state.within / occupied))

    def terminate(
        self, problem: PartitionProblem, state: PartitionState, history: Sequence[float]
    ) -> Status | None:
        """End after a sweep without a move."""
        return Status.STATIONARY if len(history) > 1 and state.n_moves == 0 else None

    @staticmethod
    def _gains(state: PartitionState, samples: np.ndarray, products: np.ndarray) -> np.ndarray:
        """Return the rise of the objective if each sample moved to each cluster; -inf: not allowed.

        products[i, k] = K_i 1_k. Leaving a:  (w_a - 2 p_a + K_ii)/(n_a - 1) - w_a/n_a; entering b:
        (w_b + 2 p_b + K_ii)/(n_b + 1) - w_b/n_b.
        """
        own = state.labels[samples]
        rows = np.arange(len(samples))
        diagonal = state.diagonal[samples]
        sizes, within = state.sizes, state.within
        share = within / np.maximum(sizes, 1)
        left = within[own] - 2.0 * products[rows, own] + diagonal
        leave = left / np.maximum(sizes[own] - 1, 1) - share[own]
        enter = (within + 2.0 * products + diagonal[:, None]) / (sizes + 1) - share
        gains = leave[:, None] + enter
        gains[rows, own] = -np.inf
        gains[sizes[own] <= defaults.SMALLEST_CLUSTER] = -np.inf
        return gains

    @staticmethod
    def _move(
        problem: PartitionProblem, state: PartitionState, i: int, b: int, product: np.ndarray
    ) -> None:
        a = state.labels[i]
        state.within[a] += state.diagonal[i] - 2.0 * product[a]
        state.within[b] += state.diagonal[i] + 2.0 * product[b]
        state.sizes[a] -= 1
        state.sizes[b] += 1
        state.sums[a] -= problem.factor[i]
        state.sums[b] += problem.factor[i]
        state.labels[i] = b
        state.n_moves += 1


def _membership(labels: np.ndarray, n_clusters: int) -> sp.csr_array:
    """Return the 0/1 matrix of the partition, sparse."""
    n = len(labels)
    return sp.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, n_clusters))
