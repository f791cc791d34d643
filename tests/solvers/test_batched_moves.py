"""Batches of moves against the dense kernel, single moves and brute force."""

from dataclasses import replace
from functools import reduce
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from featsieve.arrays import as_operator
from featsieve.arrays.row_parts import RowParts, added
from featsieve.defaults import BATCH_PROGRESS
from featsieve.graphs.coordinates import hat_directions
from featsieve.graphs.landmarks import LandmarkGraph, choose_landmarks
from featsieve.solvers.batched_moves import (
    CLASSES,
    SMALLEST_EXPONENT,
    BatchedMoves,
    LandmarkPartition,
    batches,
    moved_labels,
)
from featsieve.solvers.protocol import run

C = 4
SUPPORT = np.array([0, 3, 5, 6])


def make_problem(labels, *, n_rows=None, seed=0, weight=0.6):
    X, _ = make_blobs(len(labels), 8, centers=C, cluster_std=3.0, random_state=seed)
    operator = as_operator(X, scale="unit")
    parts = RowParts(operator, n_rows=n_rows)
    landmarks = choose_landmarks(
        operator,
        hat_directions(operator),
        n_landmarks=30,
        random_state=np.random.RandomState(seed),
    )
    graph = LandmarkGraph(parts, landmarks)
    Z = operator.columns(SUPPORT)
    inverse = np.linalg.inv(Z.T @ Z + 2.0 * np.eye(len(SUPPORT)))
    return LandmarkPartition(graph, SUPPORT, inverse, weight, C, parts.scatter(labels)), Z


def dense_kernel(problem, Z):
    graph = problem.graph
    nearest, weights = graph.parts.gather(graph.links)
    B = np.zeros((len(nearest), graph.n_landmarks))
    np.put_along_axis(B, nearest, weights, axis=1)
    mass = np.where(graph.mass > 0, graph.mass, 1.0)
    return Z @ problem.inverse @ Z.T + problem.weight * (B / mass) @ B.T


def value(K, labels, c=C):
    M = np.eye(c)[labels]
    return float(np.sum(np.einsum("ik,ik->k", M, K @ M) / M.sum(axis=0)))


def random_labels(n, seed=1):
    return np.random.default_rng(seed).integers(0, C, n)


@pytest.mark.parametrize("n_rows", [None, 50])
def test_the_objective_is_that_of_the_dense_kernel(n_rows):
    labels = random_labels(180)
    problem, Z = make_problem(labels, n_rows=n_rows)
    K = dense_kernel(problem, Z)
    solver = BatchedMoves()
    state = solver.init(problem)
    assert -solver.objective(problem, state) == pytest.approx(value(K, labels), rel=1e-6)
    np.testing.assert_allclose(
        problem.graph.parts.gather(state.diagonal), np.diag(K), rtol=1e-5, atol=1e-9
    )
    for _ in range(6):
        state = solver.step(problem, state)
        now = problem.graph.parts.gather(state.labels)
        assert -solver.objective(problem, state) == pytest.approx(value(K, now), rel=1e-6)


def test_every_proposal_is_the_best_single_move():
    labels = random_labels(90)
    problem, Z = make_problem(labels)
    K = dense_kernel(problem, Z)
    solver = BatchedMoves()
    proposals = solver.proposals(problem, solver.init(problem))
    best, kinds = problem.graph.parts.gather(proposals)
    before = value(K, labels)
    for i in range(len(labels)):
        gains = np.full(C, -np.inf)
        for b in set(range(C)) - {labels[i]}:
            moved = labels.copy()
            moved[i] = b
            gains[b] = value(K, moved) - before
        if gains.max() > 1e-6:
            assert gains[best[i]] == pytest.approx(gains.max(), rel=1e-4, abs=1e-7)
            low = 2.0 ** (kinds[i] / CLASSES + SMALLEST_EXPONENT)
            assert low * 0.999 <= gains.max() <= low * 2.0 ** (1 / CLASSES) * 1.001
        elif gains.max() < -1e-6:
            assert kinds[i] == -1


def test_how_the_table_is_cut_does_not_matter():
    labels = random_labels(400)
    ends = []
    for n_rows in (None, 37):
        problem, _ = make_problem(labels, n_rows=n_rows)
        ends.append(
            problem.graph.parts.gather(run(BatchedMoves(), problem, max_iter=100).state.labels)
        )
    np.testing.assert_array_equal(*ends)


class ReadAgain(RowParts):
    """Parts that keep no columns, and give none to a function that promised not to look."""

    def keep_columns(self, indices):
        return [None] * len(self.bounds)

    def map(self, function, *states, shared=(), table=True):
        if table:
            self.readers = getattr(self, "readers", set()) | {function.__name__}
            return super().map(function, *states, shared=shared)
        nothing = self.operator.part(0, 0)
        return [function(nothing, *blocks, *shared) for blocks in zip(*states, strict=True)]

    def total(self, function, *states, shared=(), table=True):
        return reduce(added, self.map(function, *states, shared=shared, table=table))


def test_columns_that_are_read_again_change_nothing():
    labels = random_labels(200)
    kept, _ = make_problem(labels, n_rows=50)
    parts = ReadAgain(kept.graph.parts.operator, n_rows=50)
    graph = LandmarkGraph(parts, kept.graph.landmarks)
    again = replace(kept, graph=graph, labels=parts.scatter(labels))
    one, other = (run(BatchedMoves(), problem, max_iter=100) for problem in (kept, again))
    assert other.state.columns == [None] * 4
    needed = {"leverages", "cluster_sums", "propose", "changed_sums"}
    assert parts.readers == needed | {"nearest_landmarks"}
    assert one.n_iter > 1
    np.testing.assert_allclose(other.objective, one.objective, rtol=1e-12)
    np.testing.assert_array_equal(
        parts.gather(other.state.labels), kept.graph.parts.gather(one.state.labels)
    )


def plain_problem(X, labels, c, *, n_rows=None):
    """Return the problem with the kernel XX' alone, and that kernel."""
    operator = as_operator(X, center=False)
    parts = RowParts(operator, n_rows=n_rows)
    state = np.random.RandomState(0)
    landmarks = choose_landmarks(
        operator, hat_directions(operator), n_landmarks=4, random_state=state
    )
    d, start = X.shape[1], parts.scatter(labels)
    graph = LandmarkGraph(parts, landmarks)
    return LandmarkPartition(graph, np.arange(d), np.eye(d), 0.0, c, start), X @ X.T


def torn_pairs(ratio, growth, *, n_rows=None):
    """Return pairs of parallel rows, all torn apart by the first partition, and their kernel."""
    first = growth ** np.arange(6)
    X = np.concatenate([np.diag(first), np.diag(ratio * first)])
    return plain_problem(X, np.repeat([0, 1], 6), 2, n_rows=n_rows)


@pytest.mark.parametrize("n_rows", [None, 5])
@pytest.mark.parametrize(("ratio", "growth"), [(1.0, 1.0), (1.0, 1.2), (1.1, 1.2), (3.0, 1.5)])
def test_of_moves_that_undo_each_other_only_some_are_made(ratio, growth, n_rows):
    # Every row wants to join the other one of its pair: if all do, the pairs stay torn. With ratio
    # 1 both rows gain the same, so that no class of gains holds one without the other.
    problem, K = torn_pairs(ratio, growth, n_rows=n_rows)
    solution = run(BatchedMoves(), problem, max_iter=50)
    assert np.all(np.diff(solution.objective) <= 0.0)
    labels = problem.graph.parts.gather(solution.state.labels)
    np.testing.assert_array_equal(labels[:6], labels[6:])
    assert solution.objective[-1] == pytest.approx(-value(K, labels, 2))
    assert largest_rise(K, labels, 2) <= BATCH_PROGRESS * solution.state.value


def largest_rise(K, labels, c=C):
    """Return what the best single move brings that leaves two rows in every cluster."""
    before, sizes = value(K, labels, c), np.bincount(labels, minlength=c)
    rises = [0.0]
    for i in np.flatnonzero(sizes[labels] > 2):
        for b in set(range(c)) - {labels[i]}:
            moved = labels.copy()
            moved[i] = b
            rises.append(value(K, moved, c) - before)
    return max(rises)


@pytest.mark.parametrize("seed", range(4))
def test_where_it_ends_no_single_move_is_left(seed):
    # Few rows in tight pairs: many moves of about the same gain, and many that undo each other.
    rng = np.random.default_rng(seed)
    start = random_labels(36, seed)
    problem, Z = make_problem(start, seed=seed, weight=float(rng.choice([0.0, 0.3, 2.0])))
    solution = run(BatchedMoves(), problem, max_iter=200)
    assert solution.status.success
    labels = problem.graph.parts.gather(solution.state.labels)
    found = solution.state.value
    # The last class is as wide as a factor of 2^(1/CLASSES).
    assert (
        largest_rise(dense_kernel(problem, Z), labels)
        <= 1.2 * BATCH_PROGRESS * found + 1e-6 * found
    )


def test_a_cluster_that_all_would_leave_keeps_two_samples():
    # Three clear clusters, and a fourth of a few rows of these.
    X = np.kron(np.eye(3), np.ones((8, 1))) + 1e-3 * np.random.default_rng(0).random((24, 3))
    labels = np.repeat(np.arange(3), 8)
    labels[[0, 1, 8, 9, 16]] = 3
    problem, K = plain_problem(X, labels, C)
    solver = BatchedMoves()
    state = solver.init(problem)
    _, kinds = problem.graph.parts.gather(solver.proposals(problem, state))
    assert np.all(kinds[labels == 3] >= 0)
    solution = run(solver, problem, max_iter=50)
    found = problem.graph.parts.gather(solution.state.labels)
    assert np.bincount(found, minlength=C).min() >= 2
    assert solution.state.value == pytest.approx(value(K, found))


def test_a_cluster_of_two_does_not_hinder_the_others():
    # The two rows of the small cluster would gain most, but must stay; another one is misplaced.
    X = np.kron(np.diag([3.0, 3.0, 1.0]), np.ones((8, 1)))
    labels = np.repeat(np.arange(3), 8)
    labels[[0, 8]] = 3
    labels[16] = 1
    problem, K = plain_problem(X, labels, C)
    solver = BatchedMoves()
    _, kinds = problem.graph.parts.gather(solver.proposals(problem, solver.init(problem)))
    np.testing.assert_array_equal(np.flatnonzero(kinds >= 0), [16])
    moved = labels.copy()
    moved[0] = 0
    assert value(K, moved) > value(K, labels) + 1.0
    solution = run(solver, problem, max_iter=50)
    found = problem.graph.parts.gather(solution.state.labels)
    labels[16] = 2
    np.testing.assert_array_equal(found, labels)


def test_a_landmark_without_rows_has_no_part():
    problem, _ = make_problem(random_labels(60))
    graph = problem.graph
    far = replace(
        graph.landmarks, points=np.append(graph.landmarks.points, graph.landmarks.points[:1], 0)
    )
    far.points[-1] += 1e3
    lonely = LandmarkGraph(graph.parts, far)
    assert lonely.mass[-1] == 0.0
    one, other = (
        run(BatchedMoves(), replace(problem, graph=each), max_iter=50) for each in (graph, lonely)
    )
    np.testing.assert_allclose(other.objective, one.objective, rtol=1e-6)


# Classes of gains, and the batches that are tried in turn ----------------------------------------


def batches_of(kinds, *, n_rows=None):
    """Return the rows of every batch."""
    n = len(kinds)
    parts = RowParts(as_operator(np.eye(n) + 1.0), n_rows=n_rows)
    kinds = np.asarray(kinds, dtype=np.int32)
    proposals = [(np.ones(b - a, dtype=int), kinds[a:b]) for a, b in parts.bounds]
    found = []
    numbers = parts.scatter(np.arange(n))
    for batch in batches(parts, proposals, numbers):
        stay = parts.scatter(np.zeros(n, dtype=int))
        moved = parts.gather(parts.map(moved_labels, stay, proposals, numbers, shared=batch))
        found.append(np.flatnonzero(moved).tolist())
    return found


@pytest.mark.parametrize("seed", range(5))
def test_every_batch_is_a_part_of_the_one_before_and_no_larger_gain_is_left_out(seed):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(-1, rng.integers(1, 30), 40)
    kinds[0] = 0
    found = batches_of(kinds, n_rows=7)
    assert found[0] == np.flatnonzero(kinds >= 0).tolist()
    assert len(found[-1]) == 1
    assert kinds[found[-1][0]] == kinds.max()
    for before, now in pairwise(found):
        assert set(now) < set(before)
        out = np.setdiff1d(before, now)
        assert kinds[now].min() >= kinds[out].max()
