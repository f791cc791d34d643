"""DUFS: the objective against its definition, the gradient against differences and autograd."""

import numpy as np
import pytest

from featsieve import DUFS, LaplacianScore, defaults
from featsieve.arrays import as_operator
from featsieve.datasets import make_planted
from featsieve.selectors.dufs import gated_smoothness, objective

X = np.random.default_rng(0).standard_normal((12, 6))
OPERATOR = as_operator(X, scale="std")
GATES = np.random.default_rng(1).random(6)
STEP = 1e-5


def smoothness(gates, power):
    """Return tr(Y'P^t Y) / n with a kernel of the second neighbours, pair by pair."""
    Y = (X - X.mean(axis=0)) / X.std(axis=0) * gates
    n = len(Y)
    D = np.array([[np.sum((a - b) ** 2) for b in Y] for a in Y])
    h = np.sort([np.sort(row)[2] for row in D])[n // 2]
    K = np.exp(-D / (2.0 * h))
    P = K / K.sum(axis=1, keepdims=True)
    return np.trace(Y.T @ np.linalg.matrix_power(P, power) @ Y) / n


@pytest.mark.parametrize("power", [1, 2, 3])
def test_smoothness_is_that_of_the_random_walk_on_the_gated_table(power):
    found = gated_smoothness(OPERATOR, GATES, power=power, n_neighbors=2)
    assert found.value == pytest.approx(smoothness(GATES, power), rel=1e-12)
    differences = [
        (smoothness(GATES + STEP * e, power) - smoothness(GATES - STEP * e, power)) / (2.0 * STEP)
        for e in np.eye(6)
    ]
    np.testing.assert_allclose(found.gradient, differences, atol=1e-8)


def test_the_gradient_by_the_means_of_the_gates():
    rng = np.random.default_rng(2)
    mu, noise, varies = rng.uniform(-0.2, 1.2, 6), 0.5 * rng.standard_normal(6), np.arange(6) != 3

    def value(mu):
        return objective(OPERATOR, mu, noise, varies, power=2, n_neighbors=2)[0]

    gradient = objective(OPERATOR, mu, noise, varies, power=2, n_neighbors=2)[1]
    differences = [(value(mu + STEP * e) - value(mu - STEP * e)) / (2.0 * STEP) for e in np.eye(6)]
    np.testing.assert_allclose(gradient, differences, atol=1e-9)
    assert gradient[3] == 0.0


def test_the_gradient_is_that_of_autograd():
    torch = pytest.importorskip("torch")
    Z = torch.as_tensor((X - X.mean(axis=0)) / X.std(axis=0))
    mu = torch.full((6,), 0.4, dtype=torch.float64, requires_grad=True)
    noise = 0.5 * np.random.default_rng(3).standard_normal(6)
    Y = Z * torch.clamp(mu + torch.as_tensor(noise), 0.0, 1.0)
    D = ((Y[:, None, :] - Y[None, :, :]) ** 2).sum(dim=2)
    h = torch.sort(torch.sort(D, dim=1).values[:, 2]).values[6]
    K = torch.exp(-D / (2.0 * h))
    P = K / K.sum(dim=1, keepdim=True)
    is_open = torch.distributions.Normal(0.0, defaults.DUFS_NOISE).cdf(mu).sum()
    expected = -torch.trace(Y.T @ P @ P @ Y) / (12 * is_open)
    expected.backward()
    value, gradient = objective(
        OPERATOR, np.full(6, 0.4), noise, np.ones(6, dtype=bool), power=2, n_neighbors=2
    )
    assert value == pytest.approx(expected.item(), rel=1e-12)
    np.testing.assert_allclose(gradient, mu.grad.numpy(), rtol=1e-9)


def test_the_objective_falls_and_gates_of_noise_close():
    made = make_planted(90, 150, n_informative=10, n_clusters=3, signal=3.0, random_state=0)
    sieve = DUFS(10, random_state=0).fit(made.X)
    assert sieve.objective_.shape == (200,)
    assert sieve.objective_[-10:].mean() < sieve.objective_[:10].mean()
    assert sieve.scores_[made.informative].mean() > 0.95
    assert sieve.scores_[~made.informative].mean() < sieve.scores_[made.informative].mean() - 0.15
    plain = LaplacianScore(10, scale="unit").fit(made.X)
    found = [(one.support_ & made.informative).sum() for one in (sieve, plain)]
    assert found[0] >= max(9, found[1] - 1)


def test_many_samples_are_drawn(monkeypatch):
    monkeypatch.setattr(defaults, "DUFS_SAMPLES", 60)
    made = make_planted(400, 40, n_informative=6, n_clusters=3, signal=3.0, random_state=0)
    sieve = DUFS(6, n_steps=60, random_state=0).fit(made.X)
    assert (sieve.support_ & made.informative).sum() >= 5
