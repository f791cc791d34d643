"""UGFS: the alternation against brute force, the method of multipliers against its Lagrangian."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from featsieve import UGFS
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.graphs.affinity import laplacian, sample_graph
from featsieve.selectors.common import solve
from featsieve.selectors.ugfs import ReleasedUGFS, SplitProblem
from featsieve.solvers import run
from featsieve.solvers.label_support import (
    solve_support,
    update_features,
)
from featsieve.solvers.projected_labels import LabelProblem, ProjectedNewton
from featsieve.terms.orthogonality import normalised_indicator
from tests.selectors.test_label_support import first_matrix, labels_of, support_problem

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SHAPES = pytest.mark.parametrize("shape", [(20, 7), (12, 25)], ids=["d<n", "d>n"])


def make_problem(X, *, ridge=10.0, k=3, alpha=1.0, nu=10.0):
    return support_problem(
        X, alpha=alpha, ridge=ridge, n_features=k, orthogonality=nu, exchanges=True
    )


def make_split(X, *, kind=SplitProblem, form="auto"):
    operator = as_operator(X, scale="std")
    L = laplacian(sample_graph(operator, "heat", n_neighbors=4))
    return kind(operator, L, 0.7, 3, form)


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


# The alternation --------------------------------------------------------------------------------


@SHAPES
def test_the_alternation_is_that_of_dense_matrices(shape):
    X = np.random.default_rng(1).standard_normal(shape)
    problem = make_problem(X, ridge=12.0, k=2)
    Z, L = problem.operator.rows(0, shape[0]), problem.laplacian.toarray()
    F = first_matrix(shape[0], 3)
    found = solve_support(problem, F, penalties=(10.0,), max_iter=3, tol=0.0).state
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
            found = update_features(problem, state)
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


# The method of multipliers ----------------------------------------------------------------------


def random_state_of(problem, c=3, *, seed=0, mu=0.8):
    """A point at which nothing holds: every block has work to do."""
    rng = np.random.default_rng(seed)
    n, d = problem.operator.shape
    draw = rng.standard_normal
    state = problem.state_of(draw((d, c)), np.linalg.qr(draw((n, c)))[0])
    rows = {name: draw((d, c)) for name in ("B", "Sig")}
    return replace(
        state,
        G=np.abs(draw((n, c))),
        E=draw((n, c)),
        Lam=draw((n, c)),
        Om=draw((n, c)),
        mu=mu,
        **rows,
    )


def lagrangian(problem, s, **changes):
    """The augmented Lagrangian, term by term."""
    v = {name: changes.get(name, getattr(s, name)) for name in ("E", "F", "G", "W", "B")}
    Z = problem.operator.rows(0, problem.operator.shape[0])
    fit = v["E"] - Z @ v["W"] + v["F"]
    value = np.sum(v["E"] ** 2)
    value += problem.alpha * np.trace(v["F"].T @ problem.laplacian.toarray() @ v["G"])
    value += np.sum(s.Lam * fit) + np.sum(s.Sig * (v["W"] - v["B"]))
    value += np.sum(s.Om * (v["F"] - v["G"]))
    squares = np.sum(fit**2) + np.sum((v["W"] - v["B"]) ** 2) + np.sum((v["F"] - v["G"]) ** 2)
    return value + 0.5 * s.mu * squares


@pytest.mark.parametrize(("block", "name"), [("errors", "E"), ("weights", "W"), ("copies", "G")])
@SHAPES
def test_smooth_blocks_are_at_the_minimum_of_the_lagrangian(shape, block, name):
    problem = make_split(np.random.default_rng(3).standard_normal(shape))
    state = getattr(problem, f"update_{block}")(random_state_of(problem))
    value, at = lagrangian(problem, state), getattr(state, name)
    rng = np.random.default_rng(0)
    for _ in range(30):
        moved = at + 1e-2 * rng.standard_normal(at.shape)
        if name == "G":
            moved = np.maximum(moved, 0.0)
        assert lagrangian(problem, state, **{name: moved}) >= value
    # Central differences of a quadratic are its gradient: zero, or pushing against the bound.
    for index in [(0, 0), (1, 2), (at.shape[0] - 1, 1)]:
        h = np.zeros_like(at)
        h[index] = 1e-3
        above, below = (lagrangian(problem, state, **{name: at + s * h}) for s in (1, -1))
        slope = (above - below) / 2e-3
        if name == "G" and at[index] == 0.0:
            assert slope >= -1e-8
        else:
            assert slope == pytest.approx(0.0, abs=1e-7)
    if name == "W":
        np.testing.assert_allclose(state.fitted, problem.operator.matmul(state.W))


@SHAPES
def test_labels_are_the_best_orthonormal_matrix(shape):
    problem = make_split(np.random.default_rng(4).standard_normal(shape))
    state = problem.update_labels(random_state_of(problem))
    F = state.F
    np.testing.assert_allclose(F.T @ F, np.eye(3), atol=1e-10)
    value, rng = lagrangian(problem, state), np.random.default_rng(0)
    for size in (1e-2, 1.0, 100.0):
        for _ in range(10):
            other = np.linalg.qr(F + size * rng.standard_normal(F.shape))[0]
            signs = np.sign(np.sum(other * F, axis=0))
            assert lagrangian(problem, state, F=other * signs) >= value - 1e-9


def test_rows_are_the_best_of_all_groups():
    X = np.random.default_rng(5).standard_normal((15, 7))
    X[:, 3] = 2.0  # a column that does not vary is never kept
    problem = make_split(X)
    state = problem.update_rows(random_state_of(problem))
    assert np.count_nonzero(state.B.any(axis=1)) == 3
    assert not state.B[3].any()
    T = state.W + state.Sig / state.mu
    values = []
    for S in combinations([0, 1, 2, 4, 5, 6], 3):
        B = np.zeros_like(T)
        B[list(S)] = T[list(S)]
        values.append(lagrangian(problem, state, B=B))
    assert lagrangian(problem, state) == pytest.approx(min(values))
    l1 = make_split(X, kind=ReleasedUGFS).update_rows(random_state_of(problem))
    varying = np.delete(np.arange(7), 3)
    expected = varying[np.argsort(-np.abs(T[varying]).sum(axis=1))[:3]]
    assert set(np.flatnonzero(l1.B.any(axis=1))) == set(expected)


@pytest.mark.parametrize("update", ["safe", "paper"])
@SHAPES
def test_the_multipliers_run_is_that_of_dense_matrices(shape, update):
    n, d = shape
    X = np.random.default_rng(8).standard_normal(shape)
    kind = SplitProblem if update == "safe" else ReleasedUGFS
    problem, labels = make_split(X, kind=kind), labels_of(n, 3)
    start = problem.start(labels, 3, random_state=np.random.RandomState(0))
    found = solve(problem, start, max_iter=15, tol=0.0).state
    Z, L, alpha = problem.operator.rows(0, n), problem.laplacian.toarray(), problem.alpha
    released = update == "paper"
    mu = 1e-4 if released else 1.0
    W = np.random.RandomState(0).uniform(size=(d, 3)) if released else np.zeros((d, 3))
    F = np.eye(n)[:, :3] if released else normalised_indicator(labels, 3)
    G, Lam, Sig, Om = F, *(float(released) * np.ones((m, 3)) for m in (n, d, n))
    inverse = np.linalg.inv(Z.T @ Z + np.eye(d))
    for _ in range(15):
        E = mu / (2 + mu) * (Z @ W - F - Lam / mu)
        T = W + Sig / mu
        norms = np.abs(T).sum(axis=1) if released else np.sqrt((T**2).sum(axis=1))
        keep = np.argsort(-norms, kind="stable")[:3]
        B = np.zeros_like(T)
        B[keep] = T[keep]
        W = inverse @ (Z.T @ (E + F + Lam / mu) + B - Sig / mu)
        K = alpha * L @ G + mu * E - mu * Z @ W + Lam + Om - mu * G
        U, _, Vt = np.linalg.svd(K, full_matrices=False)
        F = -U @ Vt
        G = np.maximum(F - alpha * L @ F / mu + Om / mu, 0.0)
        Lam, Sig, Om = Lam + mu * (E - Z @ W + F), Sig + mu * (W - B), Om + mu * (F - G)
        mu = min(1e10, 1.05 * mu)
    np.testing.assert_allclose(found.F, F, atol=1e-8)
    np.testing.assert_allclose(found.W, W, rtol=1e-8, atol=1e-8 * np.abs(W).max())
    np.testing.assert_allclose(found.B, B, rtol=1e-8, atol=1e-8 * np.abs(W).max())
    assert problem.objective(found) == pytest.approx(
        np.sum((Z @ W - F) ** 2) + alpha * np.trace(F.T @ L @ F)
    )


def test_the_safe_settings_do():
    planted = make_planted(60, 20, n_informative=5, n_clusters=3, signal=4.0, random_state=1)
    states = []
    sieve = UGFS(
        3,
        n_features_to_select=5,
        solver="paper",
        max_iter=2000,
        random_state=0,
        callback=lambda i, value, state: states.append(state),
    ).fit(planted.X)
    assert sieve.status_.success
    assert max(states[-1].residuals()) < 1e-2
    assert not hasattr(sieve, "path_")


# Both -------------------------------------------------------------------------------------------


def test_single_precision_without_a_ridge_selects_as_double_precision_does():
    X = np.random.default_rng(0).standard_normal((12, 30)).astype(np.float32)
    single = UGFS(3, ridge=0.0, n_features_to_select=6, init=labels_of(12, 3), max_iter=5)
    expected = np.flatnonzero(single.fit(X.astype(np.float64)).support_)
    assert np.flatnonzero(single.fit(X).support_).tolist() == expected.tolist()


def test_the_method_of_multipliers_is_run_in_double_precision():
    X = np.random.default_rng(0).standard_normal((40, 150)).astype(np.float32)
    sieve = UGFS(3, solver="paper", n_features_to_select=6, init=labels_of(40, 3), max_iter=50)
    expected = sieve.fit(X.astype(np.float64)).scores_
    np.testing.assert_array_equal(sieve.fit(X).scores_, expected)
    assert sieve.label_matrix_.min() >= 0.0


def test_units_in_which_the_ridge_of_the_paper_is_lost_are_refused(small_planted):
    sieve = UGFS(3, n_features_to_select=5, solver="paper", scale="none", random_state=0)
    X = small_planted.X * 1e15  # found by fuzzing: "Singular matrix"
    with pytest.raises(
        ValueError, match=r"reach \de\+3\d, and .* adds 1 .* use scale='unit'.*divide"
    ):
        sieve.fit(X)
    sieve.set_params(scale="unit").fit(X)
    assert sieve.n_features_selected_ == 5
