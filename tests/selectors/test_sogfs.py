"""SOGFS: the published loop written out, each block alone, invariances and warnings."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from featsieve import SOGFS
from featsieve.arrays import as_operator
from featsieve.graphs.adaptive_neighbours import (
    best_weights,
    first_neighbours,
    mean_graph,
    pair_distances,
    smooth_vectors,
)
from featsieve.graphs.affinity import laplacian
from featsieve.graphs.distances import EuclideanDistances
from featsieve.selectors import sogfs as module
from featsieve.selectors.sogfs import SOGFSProblem
from featsieve.solvers import Status
from featsieve.solvers.block_problem import solve
from featsieve.solvers.sparse_projection import ProjectionState
from featsieve.terms.norms import SMOOTHING, inverse_weights, smoothed_norm
from featsieve.terms.simplex import project_rows
from tests.selectors.test_udfs import planted, quiet


def published(X, *, c, m, gamma, k=5, n_inner=6, max_iter=50):
    """Return the outcome of the public program, with its dense matrices and thresholds."""
    X = X - X.mean(axis=0)
    X = X / np.sqrt((X**2).sum(axis=0) + SMOOTHING)
    n = len(X)

    def nearest(Y, count):
        squares = ((Y[:, None] - Y[None]) ** 2).sum(axis=2)
        np.fill_diagonal(squares, np.inf)
        indices = np.argsort(squares, axis=1)[:, :count]
        return indices, np.take_along_axis(squares, indices, axis=1)

    def dense(indices, weights):
        S = np.zeros((n, n))
        S[np.arange(n)[:, None], indices] = weights
        S = 0.5 * (S + S.T)
        return np.diag(S.sum(axis=1)) - S

    def find_w(L):
        M = X.T @ L @ X
        q = np.ones(X.shape[1])
        for _ in range(n_inner):
            W = np.linalg.eigh(0.5 * (M + M.T) + gamma * np.diag(q))[1][:, :m]
            q = 1.0 / (2.0 * np.sqrt((W**2).sum(axis=1) + SMOOTHING))
        return W

    indices, squares = nearest(X, k + 1)
    below = k * squares[:, k] - squares[:, :k].sum(axis=1)
    lists = indices[:, :k]
    L = dense(lists, (squares[:, k:] - squares[:, :k]) / below[:, None])
    a = lam = below.mean() / 2.0
    F = np.linalg.eigh(L)[1][:, :c]
    W = find_w(L)
    for t in range(1, max_iter + 1):
        Y = X @ W
        if t > 5:
            lists = nearest(Y, k)[0]
        near = ((Y[:, None] - Y[lists]) ** 2).sum(axis=2)
        near = near + lam * ((F[:, None] - F[lists]) ** 2).sum(axis=2)
        weights = project_rows(-near / (2.0 * a))
        L = dense(lists, weights)
        W = find_w(L)
        before = F
        energy, vectors = np.linalg.eigh(L)
        F = vectors[:, :c]
        if energy[:c].sum() > 1e-9:
            lam *= 2.0
        elif energy[: c + 1].sum() < 1e-11:
            lam, F = lam / 2.0, before
        elif t > 1:
            break
    return W, L, t, lam


def make_problem(X, *, c=3, m=6, share=1.0, scale="std", **settings):
    operator = as_operator(X, scale=scale)
    neighbours, weights, a = first_neighbours(EuclideanDistances(operator), 5)
    S = mean_graph(neighbours, weights)
    gamma = share * float(np.mean(operator.column_forms(laplacian(S))))
    return SOGFSProblem(operator, c, m, gamma, neighbours, a, **settings), S


def states_of(problem, S, max_iter=50):
    """Run the solver; return its solution and the states after every iteration."""
    states = []
    solution = solve(
        problem,
        problem.start(S),
        max_iter=max_iter,
        callback=lambda i, value, state: states.append(state),
    )
    return solution, states


# The published program ----------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("gamma", [1e-3, 1.0])
@pytest.mark.filterwarnings("ignore:gamma=")
def test_same_as_the_published_program(gamma, seed):
    X = planted((60, 15), seed, n_informative=5).X
    W, L, n_iter, _ = published(X, c=3, m=4, gamma=gamma)
    sieve = SOGFS(
        3,
        n_features_to_select=5,
        n_components=4,
        gamma=60 * gamma,  # columns of unit variance instead of unit length
        init="identity",
        max_inner_iter=6,
        tol=0.0,
    ).fit(X)
    assert sieve.n_iter_ == n_iter
    np.testing.assert_allclose(laplacian(sieve.affinity_).toarray(), L, atol=1e-6)
    np.testing.assert_allclose(sieve.scores_, np.sqrt((W**2).sum(axis=1)), atol=1e-5)
    if n_iter < 50:
        count, component = connected_components(sp.csr_array(L < -1e-12), directed=False)
        assert sieve.n_parts_ == count == 3
        assert adjusted_rand_score(sieve.labels_, component) == 1.0


# Each block alone ---------------------------------------------------------------------------------


def total(problem, near, weights, W, F, lam):
    """Return sum_ij ||x_iW - x_jW||^2 s_ij + a s_ij^2 + 2 gamma ||W||_{2,1} + 2 lam tr(F'LF)."""
    Y = problem.operator.matmul(W)
    graph = laplacian(mean_graph(near, weights))
    smooth = (pair_distances(Y, near) * weights).sum()
    rank = 2.0 * lam * np.sum(F * (graph @ F))
    penalty = 2.0 * problem.gamma * smoothed_norm(W)
    return smooth + problem.smoothing * (weights**2).sum() + penalty + rank


@settings(max_examples=20)
@given(
    n=st.integers(10, 25),
    d=st.integers(3, 30),
    share=st.floats(-3.0, 1.0),
    lam=st.floats(-2.0, 2.0),
    seed=st.integers(0, 50),
)
def test_no_block_raises_the_whole_objective_at_fixed_lam_and_neighbours(n, d, share, lam, seed):
    rng = np.random.default_rng(seed)
    problem, _ = make_problem(rng.standard_normal((n, d)), m=2, share=10.0**share)
    near, lam = problem.neighbours, 10.0**lam * problem.smoothing
    W = np.linalg.qr(rng.standard_normal((d, 2)))[0]
    F = np.linalg.qr(rng.standard_normal((n, 3)))[0]
    weights = rng.dirichlet(np.ones(near.shape[1]), size=n)
    values = [total(problem, near, weights, W, F, lam)]
    costs = pair_distances(problem.operator.matmul(W), near) + lam * pair_distances(F, near)
    weights = best_weights(costs, problem.smoothing)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert (weights >= 0.0).all()
    values.append(total(problem, near, weights, W, F, lam))
    graph = mean_graph(near, weights)
    projection = problem.projection(graph)
    solution = solve(projection, ProjectionState(inverse_weights(W)), max_iter=5, tol=0.0)
    values.append(total(problem, near, weights, solution.state.W, F, lam))
    F = smooth_vectors(graph, 3)
    values.append(total(problem, near, weights, solution.state.W, F, lam))
    assert (np.diff(values) <= 1e-9 * np.abs(values[:-1])).all()


def test_the_weight_of_the_rank_condition(monkeypatch):
    problem, S = make_problem(planted((60, 15)).X)
    solution, states = states_of(problem, S)
    assert solution.status is Status.CONVERGED
    lam = problem.smoothing
    for state in states:
        counts = connected_components(state.S, directed=False)[0]
        assert state.n_parts == counts
        lam = 2.0 * lam if counts < 3 else 0.5 * lam if counts > 3 else lam
        assert state.lam == lam
    assert states[-1].n_parts == 3
    # Too many clusters to be reached: lam stays below its cap, and the limit ends it.
    monkeypatch.setattr(module, "LARGEST_GROWTH", 32.0)
    problem = replace(problem, n_clusters=59)
    solution, states = states_of(problem, S, max_iter=10)
    assert solution.status is Status.ITERATION_LIMIT
    assert max(state.lam for state in states) <= 32.0 * problem.smoothing


def far_blocks(n_blocks=4, size=20):
    """Return blocks of noise so far apart that no neighbours connect them."""
    return np.vstack([planted((size, 6), seed).X + 40.0 * seed for seed in range(n_blocks)])


def test_too_many_parts_keep_the_embedding_of_joined_parts():
    problem, S = make_problem(far_blocks(), c=2, m=3)
    assert connected_components(S, directed=False)[0] >= 4  # the first graph already
    solution, states = states_of(problem, S, max_iter=3)
    assert solution.status is Status.ITERATION_LIMIT
    F = states[0].F
    np.testing.assert_allclose(F.T @ F, np.eye(2), atol=1e-14)
    np.testing.assert_allclose(laplacian(S) @ F, 0.0, atol=1e-14)  # tr(F'LF) = 0: a best F
    assert sorted(set(np.count_nonzero(F, axis=1))) == [1]  # of indicators
    for number, state in enumerate(states, 1):
        assert state.n_parts > 2
        np.testing.assert_array_equal(state.F, F)
        assert state.lam == problem.smoothing / 2.0**number


# Defaults -----------------------------------------------------------------------------------------


def test_defaults_know_no_units():
    X = planted((60, 20)).X
    plain, scaled = (SOGFS(3, scale="none").fit(table) for table in (X, 1e5 * X))
    np.testing.assert_allclose(scaled.scores_, plain.scores_, atol=1e-7)
    assert scaled.gamma_ == pytest.approx(1e10 * plain.gamma_)


# Warnings and errors ------------------------------------------------------------------------------


@quiet
def test_fewer_columns_of_w_than_features_to_select():
    X = planted((60, 20)).X
    with pytest.warns(UserWarning, match="only 3 features have weights"):
        sieve = SOGFS(3, n_features_to_select=8, n_components=3).fit(X)
    assert sieve.n_components_ == 3
    assert sieve.coef_.shape == (20, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert SOGFS(3, n_features_to_select=8).fit(X).n_components_ == 8
        assert SOGFS(3, n_features_to_select=20).fit(X).n_components_ == 19
        low = SOGFS(3, n_features_to_select=8, n_components=3, gamma=1e-3).fit(X)
    assert np.count_nonzero(low.scores_ > 1e-4) > 8
    with pytest.warns(UserWarning, match="W gets 19 columns. Choose a smaller n_components"):
        assert SOGFS(3, n_features_to_select=19, n_components=20).fit(X).n_components_ == 19


@quiet
@pytest.mark.filterwarnings("ignore:The projection is not unique")
def test_more_clusters_than_pairs_of_samples():
    X = planted((40, 15)).X
    pairs = np.repeat(1e3 * np.random.default_rng(0).standard_normal((20, 15)), 2, axis=0)
    twins = pairs + 1e-3 * X
    sieve = SOGFS(20, n_features_to_select=5, n_neighbors=1).fit(twins)  # as many are possible
    np.testing.assert_array_equal(sieve.labels_, np.repeat(np.arange(20), 2))
    for n, parts in ((2, 1), (3, 1), (5, 2), (15, 7)):
        with pytest.warns(UserWarning, match=f"it gets {parts}"):
            few = SOGFS(min(n, 8), n_features_to_select=5, max_iter=2).fit(X[:n])
        assert few.n_parts_ <= parts
        assert len(set(few.labels_)) <= parts


def blobs_and_noise():
    """Return six separate clusters in ten columns, and ten columns of noise."""
    rng = np.random.default_rng(3)
    centres = rng.uniform(-15.0, 15.0, (6, 10))
    labels = np.repeat(np.arange(6), 15)
    return np.hstack(
        [centres[labels] + rng.standard_normal((90, 10)), rng.standard_normal((90, 10))]
    )


def equal_steps():
    """Return five copies of one block at equal distances: which to join is a tie."""
    noise = np.random.default_rng(3).standard_normal((20, 15))
    return np.vstack([noise + 1e3 * step for step in range(5)])


@pytest.mark.parametrize(("make", "c"), [(blobs_and_noise, 3), (equal_steps, 2)])
def test_a_graph_in_more_parts_than_clusters(make, c):
    X = make()
    with pytest.warns(ConvergenceWarning, match="Raise n_neighbors") as caught:
        sieve = SOGFS(c, n_features_to_select=5).fit(X)
    assert not any("max_iter" in str(warning.message) for warning in caught)
    assert sieve.n_parts_ > c
    assert sieve.n_iter_ < 50
    assert sieve.status_ is Status.STATIONARY
    _, component = connected_components(sieve.affinity_, directed=False)
    assert set(sieve.labels_) == set(range(c))
    for part in range(sieve.n_parts_):
        assert len(set(sieve.labels_[component == part])) == 1  # no part is split
    rng = np.random.default_rng(1)
    rows, columns = rng.permutation(X.shape[0]), rng.permutation(X.shape[1])
    with pytest.warns(ConvergenceWarning):
        other = SOGFS(c, n_features_to_select=5).fit(X[rows][:, columns])
    assert adjusted_rand_score(other.labels_, sieve.labels_[rows]) == 1.0
    np.testing.assert_allclose(other.scores_, sieve.scores_[columns], atol=1e-7)


def test_the_advice_on_a_graph_in_parts_helps():
    X = blobs_and_noise()
    with pytest.warns(ConvergenceWarning, match="n_clusters up to 6"):
        SOGFS(3, n_features_to_select=5).fit(X)
    sieve = SOGFS(6, n_features_to_select=5).fit(X)
    assert sieve.status_ is Status.CONVERGED
    assert adjusted_rand_score(sieve.labels_, np.repeat(np.arange(6), 15)) == 1.0


def test_a_stopped_run_is_not_lectured():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sieve = SOGFS(2, n_features_to_select=3, callback=lambda i, value, state: True).fit(
            far_blocks()
        )
    assert sieve.status_ is Status.STOPPED


def test_the_objective_is_the_smoothed_one():
    X = planted((50, 15)).X
    sieve = SOGFS(3, n_features_to_select=5).fit(X)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    W = sieve.coef_ * X.std(axis=0)[:, None]
    S = sieve.affinity_.toarray()
    scatter = np.trace(W.T @ Z.T @ (np.diag(S.sum(axis=1)) - S) @ Z @ W)
    lengths = np.sqrt((W**2).sum(axis=1) + SMOOTHING)
    assert sieve.objective_[-1] == pytest.approx(scatter + sieve.gamma_ * lengths.sum(), rel=1e-12)
