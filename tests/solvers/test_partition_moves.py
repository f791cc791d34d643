"""Hartigan moves in factored form, against dense matrices and single moves by brute force."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.solvers import PartitionMoves, PartitionProblem, Status, run
from featsieve.terms import indicator

fast = settings(max_examples=30, deadline=None)
seeds = st.integers(0, 10**6)
sizes = st.integers(6, 20)
clusters = st.integers(1, 4)


def draw(seed, n, c, *, rank=3, density=0.3):
    """A factor, a sparse symmetric matrix and labels in which clusters may be tiny or empty."""
    rng = np.random.default_rng(seed)
    E = rng.standard_normal((n, rank))
    B = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density))
    labels = rng.integers(0, c, n)
    return PartitionProblem(E, sp.csr_array(B + B.T), c, labels)


def kernel(problem):
    return problem.factor @ problem.factor.T + problem.sparse.toarray()


def brute_value(problem, labels):
    """sum_k 1_k' K 1_k / n_k over the occupied clusters."""
    M = indicator(labels, problem.n_clusters)
    within = np.einsum("ik,ij,jk->k", M, kernel(problem), M)
    return float(np.sum(within / np.maximum(M.sum(axis=0), 1.0)))


def brute_gains(problem, labels):
    """The rise of the value for every sample and every other cluster; -inf where not allowed."""
    here = brute_value(problem, labels)
    gains = np.full((len(labels), problem.n_clusters), -np.inf)
    for i, own in enumerate(labels):
        for k in range(problem.n_clusters):
            if k != own and np.count_nonzero(labels == own) > 2:
                moved = labels.copy()
                moved[i] = k
                gains[i, k] = brute_value(problem, moved) - here
    return gains


@fast
@given(seeds, sizes, clusters)
def test_objective_stays_exact_after_many_moves_and_never_rises(seed, n, c):
    problem = draw(seed, n, c)
    solution = run(PartitionMoves(), problem, max_iter=100)
    assert solution.objective[0] == pytest.approx(-brute_value(problem, problem.labels), abs=1e-9)
    assert solution.objective[-1] == pytest.approx(
        -brute_value(problem, solution.state.labels), abs=1e-9
    )
    assert np.all(np.diff(solution.objective) <= 1e-12)


@fast
@given(seeds, sizes, clusters)
def test_gains_of_all_moves_equal_the_dense_definition(seed, n, c):
    problem = draw(seed, n, c)
    solver = PartitionMoves()
    state = solver.init(problem)
    products = kernel(problem) @ indicator(problem.labels, c)
    gains = solver._gains(state, np.arange(n), products)
    np.testing.assert_allclose(gains, brute_gains(problem, problem.labels), atol=1e-9)


@fast
@given(seeds, sizes, clusters)
def test_no_allowed_single_move_improves_the_final_partition(seed, n, c):
    problem = draw(seed, n, c)
    solution = run(PartitionMoves(), problem, max_iter=100)
    assert solution.status is Status.STATIONARY
    assert brute_gains(problem, solution.state.labels).max() <= 1e-8


@fast
@given(seeds, sizes, clusters)
def test_one_sweep_makes_only_moves_that_pay_in_the_order_of_the_samples(seed, n, c):
    problem = draw(seed, n, c)
    labels = problem.labels.copy()
    promising = np.flatnonzero(brute_gains(problem, labels).max(axis=1) > 1e-10)
    moved = 0
    for i in promising:
        gain = brute_gains(problem, labels)[i]
        if gain.max() > 1e-10:
            labels[i] = gain.round(9).argmax()  # equal gains: the lower cluster
            moved += 1
    solver = PartitionMoves()
    state = solver.step(problem, solver.init(problem))
    np.testing.assert_array_equal(state.labels, labels)
    assert state.n_moves == moved


def test_minimum_size_binds_where_the_objective_would_empty_a_cluster():
    # One point far from the origin per cluster would be best: E_i E_i' alone in its cluster.
    E = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    problem = PartitionProblem(E, sp.csr_array((4, 4)), 2, np.array([0, 0, 1, 1]))
    assert brute_value(problem, np.array([0, 1, 1, 1])) > brute_value(problem, problem.labels)
    solution = run(PartitionMoves(), problem, max_iter=10)
    np.testing.assert_array_equal(solution.state.labels, [0, 0, 1, 1])
    assert (solution.status, solution.n_iter) == (Status.STATIONARY, 1)
