"""USFS: steps against textbook ones, the label step."""

import numpy as np
import pytest

from featsieve import USFS
from featsieve.arrays import as_operator
from featsieve.selectors.usfs import (
    centre_distances,
    memberships,
)
from featsieve.terms.norms import SMOOTHING
from tests.selectors import label_problems
from tests.selectors.label_problems import SHAPES, iterate, quiet

pytestmark = quiet


def make_problem(X, **more):
    return label_problems.make_problem("USFS", X, scale="none", **more)


def table(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def random_memberships(n, c, seed=0):
    Y = np.random.default_rng(seed).uniform(size=(n, c)) ** 3
    return Y / Y.sum(axis=1, keepdims=True)


def simplex(v):
    """Project by trying every number of positive entries."""
    order = np.sort(v)[::-1]
    thresholds = [(order[:r].sum() - 1.0) / r for r in range(1, len(v) + 1)]
    valid = [t for r, t in enumerate(thresholds) if order[r] > t]
    return np.maximum(v - valid[-1], 0.0)


def textbook(X, Y, *, alpha, beta, gamma, n_iter):
    """Run the consistent steps with dense matrices; return P, Y and the value after each step."""
    d = X.shape[1]
    Z = X - X.mean(axis=0)
    gam = np.ones(d)
    P = b = None
    history, steps = [], []

    def value(D, Y, P):
        b = Y.mean(axis=0)
        fit = np.sum((Z @ P + b - Y) ** 2)
        norms = np.sqrt((P**2).sum(axis=1) + SMOOTHING).sum()
        return np.sum(Y * D) + beta * (np.sum(Y**2) + alpha * fit + gamma * norms)

    for _ in range(n_iter):
        M = np.linalg.inv(np.diag(Y.sum(axis=0))) @ Y.T @ Z
        D = (Z[:, None] - M[None]) ** 2
        D = D.sum(axis=-1)
        if P is not None:
            steps.append(value(D, Y, P))
        b = Y.mean(axis=0)
        P = np.linalg.solve(Z.T @ Z + gamma / alpha * np.diag(gam), Z.T @ (Y - b))
        gam = 0.5 / np.sqrt((P**2).sum(axis=1) + SMOOTHING)
        steps.append(value(D, Y, P))
        target = (alpha * (Z @ P + b) - D / (2.0 * beta)) / (1.0 + alpha)
        Y = np.array([simplex(v) for v in target])
        steps.append(value(D, Y, P))
        history.append(steps[-1])
    return P, Y, history, steps


@SHAPES
@pytest.mark.parametrize(
    "weights",
    [
        {"alpha": 10.0, "beta": 10.0, "gamma": 2.0},
        {"alpha": 0.5, "beta": 20.0, "gamma": 0.1},
        {"alpha": 100.0, "beta": 10.0, "gamma": 100.0},
    ],
)
def test_fast_alternation_is_the_textbook_one_and_every_step_descends(shape, weights):
    X, Y = table(shape) + 2.0, random_memberships(shape[0], 3)
    P, memberships_, history, steps = textbook(X, Y, n_iter=5, **weights)
    problem = make_problem(X, **weights)
    solution, _ = iterate(problem, Y, 5)
    np.testing.assert_allclose(solution.state.W, P, atol=1e-8)
    np.testing.assert_allclose(solution.state.F, memberships_, atol=1e-8)
    np.testing.assert_allclose(solution.objective[1:], history, rtol=1e-8)
    assert np.all(np.diff(steps) <= 1e-10 * np.abs(steps[:-1]))


def test_empty_clusters_move_to_the_farthest_samples():
    X = np.array([[0.0], [1.0], [2.0], [30.0], [-20.0]])
    Y = np.zeros((5, 3))
    Y[:, 1] = 1.0
    D = centre_distances(as_operator(X), Y)
    np.testing.assert_allclose(D[:, 0], (X[:, 0] - 30.0) ** 2, atol=1e-10)
    np.testing.assert_allclose(D[:, 2], (X[:, 0] + 20.0) ** 2, atol=1e-10)
    # and the next labels use them
    nearest = memberships(np.zeros((5, 3)), D, 1.0, 1e-3).argmax(axis=1)
    np.testing.assert_array_equal(nearest, [1, 1, 1, 0, 2])


@pytest.mark.parametrize("scale", ["unit", "none", "raw"])
def test_default_beta_is_a_share_of_the_total_variance(scale):
    X = table((30, 6)) * [1.0, 2.0, 3.0, 0.5, 1.0, 1.0] + 5.0
    beta = 0.05 * (6.0 if scale == "unit" else X.var(axis=0).sum())
    labels = np.arange(30) % 3
    default, explicit = (
        USFS(3, beta=b, scale=scale, init=labels, max_iter=5).fit(X) for b in ("auto", beta)
    )
    np.testing.assert_allclose(default.soft_labels_, explicit.soft_labels_, atol=1e-10)


def test_warns_of_the_uniform_solution(small_planted):
    with pytest.warns(UserWarning, match="soft labels are uniform") as caught:
        USFS(3, beta=1e4, alpha=1.0, gamma=1.0, random_state=0).fit(small_planted.X)
    assert len(caught) == 1
