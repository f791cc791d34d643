"""Projected L-BFGS against exact answers."""

from collections import deque
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from featsieve.solvers.projected_lbfgs import MEMORY, ProjectedLBFGS, metric_product


@dataclass
class Quadratic:
    """1/2 ||A V - B||^2."""

    A: np.ndarray
    B: np.ndarray
    products: int = 0
    values: list = field(default_factory=list)

    def image(self, V):
        self.products += 1
        return self.A @ V

    def value(self, V, image):
        self.values.append(0.5 * float(np.sum((image - self.B) ** 2)))
        return self.values[-1]

    def gradient(self, V, image):
        return self.A.T @ (image - self.B)


def exact(**options):
    return ProjectedLBFGS(**{"value_tol": 0.0, "gradient_tol": 1e-9, "max_iter": 100} | options)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_least_squares(nonnegative):
    rng = np.random.default_rng(0)
    f = Quadratic(rng.standard_normal((12, 5)), rng.standard_normal((12, 2)))
    V, image = exact(nonnegative=nonnegative).minimise(f, rng.random((5, 2)))
    expected = np.linalg.lstsq(f.A, f.B)[0]
    if nonnegative:
        expected = np.column_stack([nnls(f.A, b)[0] for b in f.B.T])
        assert (expected == 0.0).any()
    np.testing.assert_allclose(V, expected, atol=1e-6)
    np.testing.assert_allclose(image, f.A @ V, atol=1e-9)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 2**32 - 1),
    nonnegative=st.booleans(),
    value_tol=st.sampled_from([0.0, 1e-3, 1.0]),
    stretch=st.sampled_from([1.0, 1e3, 1e6]),
)
def test_it_never_ends_above_its_start_and_stays_feasible(seed, nonnegative, value_tol, stretch):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((8, 6)) * np.logspace(0.0, np.log10(stretch), 6)
    f = Quadratic(A, rng.standard_normal((8, 2)))
    start = np.maximum(rng.standard_normal((6, 2)), 0.0)
    before = f.value(start, A @ start)
    solver = ProjectedLBFGS(nonnegative=nonnegative, value_tol=value_tol, max_iter=50)
    V, image = solver.minimise(f, start)
    assert f.value(V, image) <= before
    assert not nonnegative or V.min() >= 0.0


def test_trials_along_an_unconstrained_ray_need_no_product():
    rng = np.random.default_rng(0)
    f = Quadratic(100.0 * rng.standard_normal((12, 5)), rng.standard_normal((12, 2)))
    ProjectedLBFGS(nonnegative=False, value_tol=0.0, max_iter=1).minimise(f, np.ones((5, 2)))
    assert len(f.values) > 5  # the first step of length 1 is far too long
    assert f.products == 2


def test_a_small_change_ends_the_run_and_is_not_taken():
    f = Quadratic(np.eye(2), np.array([[1e-3], [0.0]]))
    start = np.zeros((2, 1))
    V, _ = ProjectedLBFGS(nonnegative=True, value_tol=1e-3).minimise(f, start)
    np.testing.assert_array_equal(V, start)


@pytest.mark.parametrize("seed", range(2))
def test_the_metric_is_that_of_the_bfgs_formula(seed):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((6, 6))
    hessian = root @ root.T + np.eye(6)
    pairs = deque(maxlen=MEMORY)
    for _ in range(4):
        s = rng.standard_normal((6, 1))
        pairs.append((s, hessian @ s))
    s, y = pairs[-1]
    H = (s.T @ y).item() / (y.T @ y).item() * np.eye(6)
    for s, y in pairs:
        rho = 1.0 / (s.T @ y).item()
        E = np.eye(6) - rho * s @ y.T
        H = E @ H @ E.T + rho * s @ s.T
    gradient = rng.standard_normal((6, 1))
    np.testing.assert_allclose(metric_product(pairs, gradient), H @ gradient, atol=1e-9)


def test_overflow_in_a_trial_is_refused_quietly():
    class Steep(Quadratic):
        def value(self, V, image):
            return float(np.sum(np.exp(V)))

        def gradient(self, V, image):
            return np.exp(V)

    f = Steep(np.eye(1), np.zeros((1, 1)))
    start = np.full((1, 1), 600.0)
    with np.errstate(all="raise", under="ignore"):
        V, _ = ProjectedLBFGS(nonnegative=False, max_iter=5).minimise(f, start)
    assert np.isfinite(V).all()
    assert V[0, 0] <= 600.0


def stiff(seed=0, scale=1.0):
    """Return a quadratic with curvatures from 1 to 1e4, and a start."""
    rng = np.random.default_rng(seed)
    A = np.linalg.qr(rng.standard_normal((20, 20)))[0] * 10.0 ** np.linspace(0.0, 2.0, 20)
    return Quadratic(scale * A, scale * rng.standard_normal((20, 1))), np.zeros((20, 1))


def length_at(f, V):
    return float(np.linalg.norm(f.gradient(V, f.A @ V)))


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_a_relative_tolerance_is_a_share_of_the_first_gradient(scale):
    f, start = stiff(scale=scale)
    first = length_at(f, start)
    solver = ProjectedLBFGS(False, gradient_tol=1e-3, relative=True, value_tol=0.0)
    end = length_at(f, solver.minimise(f, start)[0])
    assert 1e-6 * first < end <= 1e-3 * first
    # else it is a length
    solver = ProjectedLBFGS(False, gradient_tol=1e-3 * scale**2, value_tol=0.0, max_iter=500)
    assert length_at(f, solver.minimise(f, start)[0]) <= 1e-3 * scale**2
