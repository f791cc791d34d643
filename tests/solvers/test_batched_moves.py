from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

from featsieve.arrays import as_operator
from featsieve.arrays.row_parts import MemoryParts
from featsieve.graphs.coordinates import hat_directions
from featsieve.graphs.landmarks import LandmarkGraph, choose_landmarks
from featsieve.solvers.batched_moves import (
    CLASSES,
    SMALLEST_EXPONENT,
    BatchedMoves,
    LandmarkPartition,
    propose,
)
from featsieve.solvers.partition_moves import PartitionMoves, PartitionProblem
from featsieve.solvers.protocol import run

C = 4
SUPPORT = np.array([0, 3, 5, 6])


def make_problem(labels, *, n_rows=None, seed=0, weight=0.6):
    X, _ = make_blobs(len(labels), 8, centers=C, cluster_std=3.0, random_state=seed)
    operator = as_operator(X, scale="unit")
    parts = MemoryParts(operator, n_rows=n_rows)
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


def value(K, labels):
    M = np.eye(C)[labels]
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
    state = BatchedMoves().init(problem)
    sums = state.sums
    mass = np.where(problem.graph.mass > 0, problem.graph.mass, 1.0)
    shared = (
        SUPPORT,
        problem.inverse @ sums.table,
        problem.weight * sums.graph / mass[:, None],
        sums.sizes,
        sums.within(problem) / sums.sizes,
    )
    rows = (state.columns, problem.graph.links, state.labels, state.diagonal)
    best, kinds = problem.graph.parts.gather(problem.graph.parts.map(propose, *rows, shared=shared))
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


@pytest.mark.parametrize("seed", range(5))
def test_from_spectral_labels_it_ends_where_single_moves_end(seed):
    problem, Z = make_problem(random_labels(300, seed), seed=seed)
    K = dense_kernel(problem, Z)
    graph = problem.graph
    start = graph.parts.gather(graph.labels(C, random_state=np.random.RandomState(seed)))
    rng = np.random.default_rng(seed)
    start = np.where(rng.random(300) < 0.1, rng.integers(0, C, 300), start)  # some are wrong
    batched = run(BatchedMoves(), replace(problem, labels=graph.parts.scatter(start)), max_iter=100)
    assert batched.status.success
    assert np.all(np.diff(batched.objective) <= 0.0)
    single = run(
        PartitionMoves(),
        PartitionProblem(np.zeros((300, 1)), sp.csr_array(K), C, start),
        max_iter=100,
    )
    assert -batched.objective[-1] > 0.99 * -single.objective[-1]
    assert -batched.objective[-1] > 1.05 * value(K, start)


def test_clusters_keep_two_samples():
    labels = np.zeros(120, dtype=int)
    labels[:2], labels[2:4], labels[4:6] = 1, 2, 3
    problem, _ = make_problem(labels)
    found = problem.graph.parts.gather(run(BatchedMoves(), problem, max_iter=50).state.labels)
    assert np.bincount(found, minlength=C).min() >= 2


def test_how_the_table_is_cut_does_not_matter():
    labels = random_labels(400)
    ends = []
    for n_rows in (None, 37):
        problem, _ = make_problem(labels, n_rows=n_rows)
        ends.append(
            problem.graph.parts.gather(run(BatchedMoves(), problem, max_iter=100).state.labels)
        )
    np.testing.assert_array_equal(*ends)


def test_labels_that_cannot_be_bettered_are_returned_as_they_are():
    problem, _ = make_problem(random_labels(200))
    ended = run(BatchedMoves(), problem, max_iter=200).state.labels
    again = run(BatchedMoves(), replace(problem, labels=ended), max_iter=200)
    assert again.n_iter <= 2
