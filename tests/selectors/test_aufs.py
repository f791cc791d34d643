"""AUFS against a dense textbook version, brute force, and its own promises."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from featsieve import AUFS
from featsieve.datasets import make_planted
from featsieve.solvers import run
from featsieve.solvers.block_problem import solve
from featsieve.solvers.projected_labels import LabelProblem, ProjectedNewton
from tests.selectors.test_label_support import first_matrix, support_problem

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


# The textbook version: dense matrices, explicit weights, refits of every candidate --------------


def textbook_objective(problem, Z, state):
    sigma, total = problem.sigma, 0.0
    for i in range(len(Z)):
        u = np.linalg.norm(Z[i] @ state.W + state.b - state.F[i])
        total += (1 + sigma) * u**2 / (u + sigma)
    gap = state.F.T @ state.F - np.eye(state.F.shape[1])
    return (
        total
        + problem.alpha * np.trace(state.F.T @ problem.laplacian.toarray() @ state.F)
        + problem.sparsity * np.count_nonzero(state.W.any(axis=1))
        + problem.ridge * np.sum(state.W**2)
        + 0.5 * problem.orthogonality * np.sum(gap**2)
    )


def weighted_fit(Z, F, omega, mu, support):
    """W and b of the weighted ridge regression with an intercept, and twice its value."""
    n, c = F.shape
    A = np.column_stack([np.ones(n), Z[:, support]])
    D = np.diag([0.0] + [mu] * len(support))
    solution = np.linalg.solve(A.T @ (omega[:, None] * A) + D, A.T @ (omega[:, None] * F))
    W = np.zeros((Z.shape[1], c))
    W[support] = solution[1:]
    value = np.sum(omega[:, None] * (A @ solution - F) ** 2) + mu * np.sum(W**2)
    return W, solution[0], value


def textbook_run(problem, Z, F, *, k, n_iter):
    """Greedy W-step by explicit refits, label step on dense matrices."""
    W, b, support = np.zeros((Z.shape[1], F.shape[1])), F.mean(axis=0), []
    sigma, L = problem.sigma, problem.laplacian.toarray()

    def weights(W, b, F):
        u = np.linalg.norm(Z @ W + b - F, axis=1)
        return (1 + sigma) * (u + 2 * sigma) / (2 * (u + sigma) ** 2)

    for _ in range(n_iter):
        omega = weights(W, b, F)
        greedy = []
        while len(greedy) < k:
            rest = [j for j in range(Z.shape[1]) if j not in greedy]
            values = [weighted_fit(Z, F, omega, problem.ridge, [*greedy, j])[2] for j in rest]
            greedy.append(rest[int(np.argmin(values))])
        candidates = [greedy, support] if support else [greedy]
        support = min(candidates, key=lambda S: weighted_fit(Z, F, omega, problem.ridge, S)[2])
        W, b, _ = weighted_fit(Z, F, omega, problem.ridge, support)
        omega = weights(W, b, F)
        A = np.diag(omega) + problem.alpha * L
        step = LabelProblem(A, omega[:, None] * (Z @ W + b), problem.orthogonality)
        F = run(ProjectedNewton(F), step, max_iter=200).state.F
    return W, b, F


@pytest.mark.parametrize("shape", [(20, 7), (12, 25)], ids=["d<n", "d>n"])
def test_the_run_is_that_of_dense_matrices(shape):
    X = np.random.default_rng(1).standard_normal(shape)
    problem = support_problem(X, ridge=15.0, n_features=3, sigma=0.3)
    F = first_matrix(shape[0], 3)
    at_nu = replace(problem, orthogonality=10.0)
    found = solve(at_nu, problem.start(F), max_iter=3, tol=0.0).state
    Z = problem.operator.rows(0, shape[0])
    W, b, F = textbook_run(at_nu, Z, F, k=3, n_iter=3)
    np.testing.assert_allclose(found.W, W, atol=1e-8)
    np.testing.assert_allclose(found.b, b, atol=1e-8)
    np.testing.assert_allclose(found.F, F, atol=1e-8)
    assert at_nu.objective(found) == pytest.approx(textbook_objective(at_nu, Z, found))


# Descent ----------------------------------------------------------------------------------------


def test_penalties_below_the_last_only_make_its_start():
    X = np.random.default_rng(0).standard_normal((30, 10))
    values = []
    sieve = AUFS(
        3,
        orthogonality=(10, 1e3),
        n_features_to_select=4,
        random_state=0,
        callback=lambda i, value, state: values.append((i, value)),
    ).fit(X)
    assert [i for i, _ in values] == list(range(1, sieve.n_iter_ + 1))
    assert [value for _, value in values] == sieve.objective_.tolist()
    direct = AUFS(3, orthogonality=1e3, n_features_to_select=4, random_state=0).fit(X)
    assert direct.objective_[0] != sieve.objective_[0]


# How many features ------------------------------------------------------------------------------


def test_too_large_a_sparsity_names_the_largest_usable_one(small_planted):
    # (While nu rises, the labels move, and a little more may be usable.)
    sieve = AUFS(3, sparsity=1e6, orthogonality=1e4, random_state=0)
    with pytest.raises(ValueError, match="no feature is selected: the largest value") as error:
        sieve.fit(small_planted.X)
    largest = float(str(error.value).split("here is ")[1].split(". Decrease")[0])
    sieve.set_params(sparsity=largest).fit(small_planted.X)
    assert sieve.n_features_selected_ >= 1
    assert sieve.sparsity_ == largest
    with pytest.raises(ValueError, match="no feature is selected"):
        sieve.set_params(sparsity=largest * (1 + 1e-9)).fit(small_planted.X)


def test_auto_sparsity_selects_the_informative_features(small_planted):
    sieve = AUFS(3, random_state=0).fit(small_planted.X)
    assert np.all(sieve.support_[small_planted.informative])
    assert sieve.n_features_selected_ < 40
    assert sieve.sparsity_ > 0.0


# Quality and invariance -------------------------------------------------------------------------


def test_a_tiny_sigma_is_raised(small_planted):
    few = {"n_features_to_select": 3, "random_state": 0, "max_iter": 1}
    sieve = AUFS(3, sigma=1e-300, **few).fit(small_planted.X)
    auto = AUFS(3, **few).fit(small_planted.X)
    assert sieve.sigma_ == pytest.approx(2e-5 * auto.sigma_)


def test_single_precision_without_a_ridge_selects_no_dependent_columns():
    X = np.random.default_rng(0).standard_normal((12, 30)).astype(np.float32)
    sieve = AUFS(3, ridge=0.0, sparsity=1e-9, max_iter=5, random_state=0).fit(X)
    assert sieve.n_features_selected_ <= 11


def test_a_number_of_features_and_a_price_are_too_much(small_planted):
    with pytest.raises(ValueError, match="both say how many features"):
        AUFS(3, n_features_to_select=3, sparsity=0.1).fit(small_planted.X)


def test_outlying_samples_do_not_become_clusters():
    planted = make_planted(200, 40, n_informative=12, n_clusters=4, random_state=0)
    rng = np.random.default_rng(0)
    X = planted.X.copy()
    X[rng.choice(200, 4, replace=False)] += 10.0 * rng.standard_normal((4, 40))
    sieve = AUFS(4, n_features_to_select=12, random_state=0).fit(X)
    assert np.bincount(sieve.labels_, minlength=4).min() > 33
    assert planted.informative[sieve.support_].sum() >= 11


@pytest.mark.parametrize("seed", [0, 6])
def test_as_many_clusters_as_samples_in_every_layout(seed):
    """Every column tells the same of such labels: ties, which rounding decided (fuzzing)."""
    X = np.random.default_rng(seed).standard_normal((16, 4))
    few = {"max_iter": 1, "orthogonality": 10.0}
    sieve = AUFS(16, n_features_to_select=2, random_state=0, **few)
    found = [clone(sieve).fit(table) for table in (X, np.asfortranarray(X))]
    np.testing.assert_array_equal(found[0].support_, found[1].support_)
