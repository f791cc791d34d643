"""Conjugate gradients for several right-hand sides, against a direct solver."""

import numpy as np

from featsieve.solvers.conjugate_gradients import conjugate_gradients


def test_conjugate_gradients_solve():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((40, 40))
    A = A @ A.T + np.eye(40)
    b = rng.standard_normal((40, 3))
    b[:, 1] = 0.0
    diagonal = 1.0 / A.diagonal()[:, None]
    x, n_steps = conjugate_gradients(
        lambda v: A @ v, lambda r: diagonal * r, b, tol=1e-13, max_steps=1000
    )
    np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(x[:, 1], 0.0)
    assert 10 < n_steps < 1000
    # a start that is the solution needs no step, nor do targets of zeros
    for right, start in ((b, x), (0.0 * b, None)):
        found = conjugate_gradients(
            lambda v: A @ v, lambda r: r, right, tol=1e-9, max_steps=1000, start=start
        )
        assert found[1] == 0
