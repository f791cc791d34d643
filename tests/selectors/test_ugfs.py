"""UGFS: the alternation against brute force."""

from itertools import combinations

import numpy as np
import pytest

from featsieve import UGFS
from featsieve.solvers import run
from featsieve.solvers.block_problem import solve
from featsieve.solvers.projected_labels import LabelProblem, ProjectedNewton
from tests.selectors.test_label_support import first_matrix, labels_of, support_problem

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SHAPES = pytest.mark.parametrize("shape", [(20, 7), (12, 25)], ids=["d<n", "d>n"])


def make_problem(X, *, ridge=10.0, k=3, alpha=1.0, nu=10.0):
    return support_problem(
        X, alpha=alpha, ridge=ridge, n_features=k, orthogonality=nu, exchanges=True
    )


def ridge_value(Z, F, mu, support):
    """||ZW + 1b' - F||^2 + mu ||W||^2 at the best W and b on a support, by least squares."""
    support = list(support)
    A = np.column_stack([np.ones(len(Z)), Z[:, support]])
    ridge = np.column_stack([np.zeros(len(support)), np.sqrt(mu) * np.eye(len(support))])
    A, B = np.vstack([A, ridge]), np.vstack([F, np.zeros((len(support), F.shape[1]))])
    solution = np.linalg.lstsq(A, B, rcond=None)[0]
    return np.sum((A @ solution - B) ** 2), solution[1:], solution[0]


def rest_of_objective(problem, F):
    gap = F.T @ F - np.eye(F.shape[1])
    smooth = np.trace(F.T @ problem.laplacian.toarray() @ F)
    return problem.alpha * smooth + 0.5 * problem.orthogonality * np.sum(gap**2)


@SHAPES
def test_the_alternation_is_that_of_dense_matrices(shape):
    X = np.random.default_rng(1).standard_normal(shape)
    problem = make_problem(X, ridge=12.0, k=2)
    Z, L = problem.operator.rows(0, shape[0]), problem.laplacian.toarray()
    F = first_matrix(shape[0], 3)
    found = solve(problem, problem.start(F), max_iter=3, tol=0.0).state
    for _ in range(3):  # the best pair of features, by trying all of them
        pairs = list(combinations(range(shape[1]), 2))
        support = list(pairs[int(np.argmin([ridge_value(Z, F, 12.0, S)[0] for S in pairs]))])
        _, W, b = ridge_value(Z, F, 12.0, support)
        A = np.eye(shape[0]) + L
        step = LabelProblem(A, Z[:, support] @ W + b, 10.0)
        F = run(ProjectedNewton(F), step, max_iter=200).state.F
    assert sorted(found.support.tolist()) == support
    np.testing.assert_allclose(found.W[support], W, atol=1e-8)
    np.testing.assert_allclose(found.b, b, atol=1e-8)
    np.testing.assert_allclose(found.F, F, atol=1e-8)
    J = np.sum((Z @ found.W + found.b - F) ** 2) + 12.0 * np.sum(found.W**2)
    assert problem.objective(found) == pytest.approx(J + rest_of_objective(problem, F))


def test_the_feature_step_nearly_always_finds_the_best_group():
    reached = 0
    for seed in range(8):
        X = np.random.default_rng(seed).standard_normal((14, 9)) + 0.3
        X[:, 1] += X[:, 0]
        for k in (2, 4):
            problem = make_problem(X, k=k, ridge=3.0)
            Z = problem.operator.rows(0, 14)
            state = problem.start(first_matrix(14, 3, seed))
            best = min(ridge_value(Z, state.F, 3.0, S)[0] for S in combinations(range(9), k))
            found = problem.update_features(state)
            value = ridge_value(Z, state.F, 3.0, found.support)[0]
            assert value >= best - 1e-9
            reached += value <= best + 1e-9
            J = problem.objective(found) - rest_of_objective(problem, state.F)
            assert pytest.approx(value) == J
    assert reached >= 14


def test_the_path_gives_every_size_and_passes_through_the_selection(small_planted):
    X = small_planted.X
    sieve = UGFS(3, n_features_to_select=9, path_length=20, random_state=0).fit(X)
    order = sieve.path_.order
    assert len(order) == 20
    assert set(order[:9].tolist()) == set(np.flatnonzero(sieve.support_).tolist())
    assert sieve.ranking_[order].tolist() == list(range(1, 21))
    assert np.all(np.diff(sieve.scores_[np.argsort(sieve.ranking_)]) <= 0.0)
    assert np.all(np.diff(sieve.path_.loss) <= 0.0)
    short = UGFS(3, n_features_to_select=9, path_length=0, random_state=0).fit(X)
    assert short.path_.order.tolist() == order[:9].tolist()


def test_single_precision_without_a_ridge_selects_as_double_precision_does():
    X = np.random.default_rng(0).standard_normal((12, 30)).astype(np.float32)
    single = UGFS(3, ridge=0.0, n_features_to_select=6, init=labels_of(12, 3), max_iter=5)
    expected = np.flatnonzero(single.fit(X.astype(np.float64)).support_)
    assert np.flatnonzero(single.fit(X).support_).tolist() == expected.tolist()
