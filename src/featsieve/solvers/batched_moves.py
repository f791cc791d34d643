"""The label step for many samples: all promising moves at once, on parts of the table.

As :mod:`~featsieve.solvers.partition_moves`, for K = P + w S with the hat matrix
P = Z_A (Z_A'Z_A + mu I)^(-1) Z_A' of some columns A and the graph S = B diag(mass)^(-1) B' of
:mod:`~featsieve.graphs.landmarks`.
Everything follows from sums over clusters,

    n_k,   Z_A'1_k (columns x c),   T = B'M (m x c):
    1_k'K 1_k = (Z_A'1_k)' (Z_A'Z_A + mu I)^(-1) (Z_A'1_k) + w sum_l T_lk^2/mass_l,

which parts of the table add up. Moves that are made together do not bring the sum of their gains:
ever fewer are tried, those of the largest gains, down to a single move, until the objective rises.
Where the search ends no single move raises it by more than BATCH_PROGRESS.

Gains are put into classes, CLASSES per factor of two, so that the parts of a table need only count
them. A batch holds the moves from some class on; the next one about half as many. Moves of the last
class may still undo each other (two rows that change places gain nothing): then fewer of these, in
the order of the rows, down to one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from featsieve import defaults
from featsieve.arrays import DataOperator
from featsieve.arrays.namespace import Array, counts, namespace_of, to_numpy
from featsieve.arrays.row_parts import RowParts, Rows, added, columns_of
from featsieve.graphs.landmarks import LandmarkGraph, linked_sums, mass_by_cluster
from featsieve.solvers.protocol import Status

CLASSES = 4
# The classes begin at gains of 2^-80; those of 2^20 and more are in the last one.
SMALLEST_EXPONENT = -80
N_CLASSES = CLASSES * 100

Links = tuple[Array, Array]
Sums = tuple[np.ndarray, np.ndarray, np.ndarray]  # n_k, Z_A'M (columns x c) and T = B'M (m x c)
Proposal = tuple[Array, Array]  # the best cluster of every row, and the class of its gain


@dataclass(frozen=True)
class LandmarkPartition:
    """Maximise sum_k 1_k'(P + w S) 1_k / n_k over partitions."""

    graph: LandmarkGraph
    support: np.ndarray
    inverse: np.ndarray
    weight: float
    n_clusters: int
    labels: Rows

    @property
    def mass(self) -> np.ndarray:
        """That of the landmarks; one that no row is joined to has none, and no part in T."""
        return np.where(self.graph.mass > 0.0, self.graph.mass, 1.0)

    def within(self, sums: Sums) -> np.ndarray:
        """Return 1_k'K 1_k."""
        _, table, graph = sums
        hat = np.einsum("jk,jk->k", table, self.inverse @ table)
        return hat + self.weight * np.sum(graph**2 / self.mass[:, None], axis=0)

    def value(self, sums: Sums) -> float:
        """Return what is maximised."""
        return float(np.sum(self.within(sums) / sums[0]))


@dataclass(frozen=True)
class BatchState:
    """A partition, with its sums and what the moves need of every row."""

    labels: Rows
    sums: Sums
    value: float
    columns: Rows  # Z_A, or None where it is read again
    diagonal: Rows  # K_ii
    numbers: Rows  # of the rows
    last: float = np.inf  # the relative rise of the last step

    @property
    def reads(self) -> bool:
        """Whether Z_A is read again."""
        return self.columns[0] is None


class BatchedMoves:
    """Solver of :class:`LandmarkPartition`; a step makes one batch of moves."""

    def init(self, problem: LandmarkPartition) -> BatchState:
        """Return the state of the given partition."""
        graph, parts, support = problem.graph, problem.graph.parts, problem.support
        columns = parts.keep_columns(support)
        again = columns[0] is None
        root = np.linalg.cholesky(problem.inverse)  # R with R R' = inverse
        weights = (support, root, problem.weight, problem.mass)
        diagonal = parts.map(leverages, columns, graph.links, shared=weights, table=again)
        shared = (support, problem.n_clusters)
        sizes, table = parts.total(
            cluster_sums, columns, problem.labels, shared=shared, table=again
        )
        sums = (sizes, table, graph.cluster_mass(problem.labels, problem.n_clusters))
        numbers = parts.scatter(np.arange(parts.bounds[-1][1]))
        return BatchState(problem.labels, sums, problem.value(sums), columns, diagonal, numbers)

    def step(self, problem: LandmarkPartition, state: BatchState) -> BatchState:
        """Make the largest batch of promising moves that raises the objective noticeably."""
        graph, parts = problem.graph, problem.graph.parts
        proposals = self.proposals(problem, state)
        best, best_value = None, state.value
        for batch in batches(parts, proposals, state.numbers):
            changes = parts.total(
                changed_sums,
                state.columns,
                graph.links,
                state.labels,
                proposals,
                state.numbers,
                shared=(problem.support, problem.n_clusters, graph.n_landmarks, *batch),
                table=state.reads,
            )
            tried = added(state.sums, changes)
            # No cluster may become too small; one that is may stay as it is, or grow.
            if np.any(tried[0] < np.minimum(state.sums[0], defaults.SMALLEST_CLUSTER)):
                continue
            value = problem.value(tried)
            if value > best_value:
                best, best_value = (batch, tried), value
            if value - state.value >= defaults.BATCH_PROGRESS * value:
                break
        if best is None:
            return replace(state, last=0.0)
        batch, sums = best
        labels = parts.map(
            moved_labels, state.labels, proposals, state.numbers, shared=batch, table=False
        )
        rise = (best_value - state.value) / best_value
        return replace(state, labels=labels, sums=sums, value=best_value, last=rise)

    def proposals(self, problem: LandmarkPartition, state: BatchState) -> Rows:
        """Return the best move of every row, as :func:`propose` does."""
        sizes, table, graph = state.sums
        return problem.graph.parts.map(
            propose,
            state.columns,
            problem.graph.links,
            state.labels,
            state.diagonal,
            shared=(
                problem.support,
                problem.inverse @ table,
                problem.weight * graph / problem.mass[:, None],
                sizes,
                problem.within(state.sums) / sizes,
            ),
            table=state.reads,
        )

    def objective(self, problem: LandmarkPartition, state: BatchState) -> float:
        """Return minus what is maximised."""
        return -state.value

    def terminate(
        self, problem: LandmarkPartition, state: BatchState, history: Sequence[float]
    ) -> Status | None:
        """End when no batch raises the objective noticeably."""
        return Status.STATIONARY if state.last < defaults.BATCH_PROGRESS else None


def batches(parts: RowParts, proposals: Rows, numbers: Rows) -> Iterator[tuple[int, int]]:
    """Yield batches of the proposed moves: their least class of gains, and the row they end at."""
    found = parts.total(count_gains, proposals, table=False)
    # at_least[g]: how many moves have a gain of class g or more
    at_least = np.cumsum(found[::-1])[::-1]
    if at_least[0] == 0:
        return
    last, n = int(np.flatnonzero(at_least)[-1]), parts.bounds[-1][1]
    least = 0
    yield least, n
    while at_least[least] > at_least[last]:
        # at most half of the moves, or the last class where it has more
        few = at_least[:last] <= at_least[least] / 2
        least = int(np.argmax(np.append(few, True)))
        yield least, n
    rows = parts.gather(parts.map(rows_of, proposals, numbers, shared=(least, n), table=False))
    n_moves = len(rows)
    while n_moves > 1:
        n_moves //= 2
        yield least, int(rows[n_moves])


# Functions of a part ------------------------------------------------------------------------------


def _columns(part: DataOperator, kept: Array | None, support: np.ndarray) -> Array:
    return columns_of(part, support) if kept is None else kept


def _product(part: DataOperator, Z: Array, M: np.ndarray) -> Array:
    """Return Z M in double precision."""
    xp = part.xp
    return xp.astype(Z @ xp.astype(part.place(M), Z.dtype, copy=False), xp.float64, copy=False)


def leverages(
    part: DataOperator,
    kept: Array | None,
    links: Links,
    support: np.ndarray,
    root: np.ndarray,
    weight: float,
    mass: np.ndarray,
) -> Array:
    """Return K_ii = |z_i'R|^2 + w sum_l b_il^2/mass_l."""
    xp = part.xp
    nearest, weights = links
    image = _product(part, _columns(part, kept, support), root)
    squares = linked_sums(part, (nearest, weights * weights), 1.0 / mass[:, None])[:, 0]
    return xp.sum(image * image, axis=1) + weight * squares


def cluster_sums(
    part: DataOperator, kept: Array | None, labels: Array, support: np.ndarray, n_clusters: int
) -> tuple[np.ndarray, Array]:
    """Return n_k and Z_A'M."""
    Z = _columns(part, kept, support)
    member = indicator(part, labels, n_clusters)
    sizes = part.xp.sum(member, axis=0)
    sums = Z.T @ part.xp.astype(member, Z.dtype)
    return to_numpy(sizes), part.xp.astype(sums, part.xp.float64)


def indicator(part: DataOperator, labels: Array, n_clusters: int) -> Array:
    """Return the 0/1 matrix of a partition, in double precision."""
    xp = part.xp
    clusters = xp.arange(n_clusters, dtype=labels.dtype, device=part.device)
    return xp.astype(labels[:, None] == clusters[None, :], xp.float64)


def propose(
    part: DataOperator,
    kept: Array | None,
    links: Links,
    labels: Array,
    diagonal: Array,
    support: np.ndarray,
    table_weights: np.ndarray,
    graph_weights: np.ndarray,
    sizes: np.ndarray,
    share: np.ndarray,
) -> Proposal:
    """Return the best other cluster of every row, and the class of its gain (-1: no gain).

    With p_k = K_i 1_k and the share s_k = 1_k'K 1_k/n_k, leaving a brings
    (s_a - 2 p_a + K_ii)/(n_a - 1), and entering b (2 p_b - s_b + K_ii)/(n_b + 1).
    """
    xp = part.xp
    products = _product(part, _columns(part, kept, support), table_weights)
    products += linked_sums(part, links, graph_weights)
    member = indicator(part, labels, len(sizes))
    sizes_, share_ = part.place(sizes.astype(np.float64)), part.place(share)
    enter = (2.0 * products - share_[None, :] + diagonal[:, None]) / (sizes_ + 1.0)[None, :]
    enter = enter - member * 1e300  # not its own
    best = xp.argmax(enter, axis=1)
    own_product = xp.sum(products * member, axis=1)
    own_share, own_size = member @ share_, member @ sizes_
    leave = (own_share - 2.0 * own_product + diagonal) / xp.clip(own_size - 1.0, min=1.0)
    gain = xp.max(enter, axis=1) + leave
    gain = xp.where(own_size > defaults.SMALLEST_CLUSTER, gain, xp.zeros_like(gain))
    return best, gain_classes(gain)


def changed_sums(
    part: DataOperator,
    kept: Array | None,
    links: Links,
    labels: Array,
    proposal: Proposal,
    numbers: Array,
    support: np.ndarray,
    n_clusters: int,
    n_landmarks: int,
    least: int,
    end: int,
) -> tuple[np.ndarray, Array, np.ndarray]:
    """Return what the moves of a batch change in the sums."""
    xp = part.xp
    (rows,) = xp.nonzero(in_batch(proposal, numbers, least, end))
    old, new = xp.take(labels, rows), xp.take(proposal[0], rows)
    change = indicator(part, new, n_clusters) - indicator(part, old, n_clusters)
    moved = columns_of(part.at_rows(rows), support) if kept is None else xp.take(kept, rows, axis=0)
    table = xp.astype(moved.T @ xp.astype(change, moved.dtype), xp.float64)
    nearest, weights = (xp.take(block, rows, axis=0) for block in links)
    shape = (n_landmarks, n_clusters)
    graph = mass_by_cluster((nearest, weights), new, shape=shape)
    graph -= mass_by_cluster((nearest, weights), old, shape=shape)
    return to_numpy(xp.sum(change, axis=0)), table, graph


def gain_classes(gain: Array) -> Array:
    """Return the class of every gain; -1 where there is none."""
    xp = namespace_of(gain)
    possible = gain > 2.0**SMALLEST_EXPONENT
    exponent = xp.log2(xp.where(possible, gain, xp.ones_like(gain))) - SMALLEST_EXPONENT
    kind = xp.clip(xp.floor(CLASSES * exponent), max=N_CLASSES - 1.0)
    return xp.astype(xp.where(possible, kind, -xp.ones_like(kind)), xp.int32)


def count_gains(part: DataOperator, proposal: Proposal) -> np.ndarray:
    """Return how many moves there are in every class of gains."""
    return counts(proposal[1] + 1, N_CLASSES + 1)[1:]  # class -1: no gain


def in_batch(proposal: Proposal, numbers: Array, least: int, end: int) -> Array:
    """Say which rows a batch moves: those of a class from ``least`` on, before row ``end``."""
    return (proposal[1] >= least) & (numbers < end)


def rows_of(part: DataOperator, proposal: Proposal, numbers: Array, least: int, end: int) -> Array:
    """Return the numbers of the rows that a batch moves."""
    return numbers[in_batch(proposal, numbers, least, end)]


def moved_labels(
    part: DataOperator, labels: Array, proposal: Proposal, numbers: Array, least: int, end: int
) -> Array:
    """Return the partition after the moves of a batch."""
    moved = part.xp.astype(proposal[0], labels.dtype)
    return part.xp.where(in_batch(proposal, numbers, least, end), moved, labels)
