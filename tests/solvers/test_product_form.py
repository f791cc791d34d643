"""Conjugate gradients in the projection: the inverse, which form is taken, no large matrix."""

import numpy as np
import pytest
import scipy.sparse as sp

from featsieve.arrays import as_operator
from featsieve.graphs.affinity import laplacian
from featsieve.solvers.block_problem import solve
from featsieve.solvers.conjugate_gradients import conjugate_gradients
from featsieve.solvers.product_form import ProductForm
from featsieve.solvers.sparse_projection import (
    GramForm,
    SampleForm,
    SparseProjection,
)
from tests.solvers.test_sparse_projection import refuse_matrices_beyond, table


def ring_laplacian(n):
    """Return the Laplacian of a ring of n samples."""
    A = sp.diags_array([np.ones(n - 1)], offsets=[1], shape=(n, n)).tolil()
    A[0, n - 1] = 1.0
    return laplacian(sp.csr_array(A + A.T))


def weights(d, n_live, seed=0):
    """Return inverse weights of a late step: a few live rows, the others dropped."""
    rng = np.random.default_rng(seed)
    e = 3e-8 * rng.uniform(1.0, 2.0, d)
    e[rng.choice(d, n_live, replace=False)] = rng.uniform(0.2, 2.0, n_live)
    return e


def make_form(shape=(30, 50), *, density=None):
    X = table(shape)
    if density is not None:
        X = sp.random_array(
            shape, density=density, format="csr", random_state=np.random.default_rng(0)
        )
    return ProductForm(as_operator(X, scale="std"), ring_laplacian(shape[0]))


def system_of(form, e, gamma):
    """Return Z'LZ and I + N, dense."""
    Z = form.operator.rows(0, form.operator.shape[0])
    M = Z.T @ (form.L @ Z)
    root = np.sqrt(e)
    return M, np.eye(len(e)) + root[:, None] * M * root / gamma


# The inverse --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(30, 50), (50, 30)])
@pytest.mark.parametrize(("n_live", "gamma"), [(6, 0.1), (25, 1000.0)])
def test_same_eigenvectors_as_the_dense_inverse(shape, n_live, gamma):
    form, e = make_form(shape), weights(shape[1], n_live)
    M, _ = system_of(form, e, gamma)
    start = np.random.default_rng(1).standard_normal(shape[1])
    theta, vectors = form.leading(e, gamma, start=start, count=4)
    expected, basis = np.linalg.eigh(gamma * np.linalg.inv(M + gamma * np.diag(1.0 / e)))
    np.testing.assert_allclose(theta[:3], expected[::-1][:3], rtol=1e-8)
    basis = basis[:, ::-1][:, :3]
    np.testing.assert_allclose(vectors[:, :3] @ vectors[:, :3].T, basis @ basis.T, atol=1e-8)


def test_columns_that_do_not_vary():
    X = np.insert(table((20, 30)), 4, 7.0, axis=1)
    form = ProductForm(as_operator(X, scale="std"), ring_laplacian(20))
    e = weights(31, 5) * np.asarray(form.operator.varies)
    _, vectors = form.leading(e, 1.0, start=np.ones(31) * (e > 0.0), count=3)
    np.testing.assert_array_equal(vectors[4], 0.0)


# Conjugate gradients ------------------------------------------------------------------------------


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


# Which form ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "density", "form"),
    [
        ((1600, 1700), 0.005, ProductForm),
        ((1700, 1600), 0.005, GramForm),
        ((100, 800), None, SampleForm),
        ((60, 40), None, GramForm),
    ],
)
def test_no_large_matrix_is_formed_of_a_sparse_table(shape, density, form):
    made = make_form(shape, density=density)
    assert type(SparseProjection(made.operator, made.L, 2, 1.0).quadratic) is form


# Size ---------------------------------------------------------------------------------------------


def test_the_product_form_needs_no_matrix_from_the_start(monkeypatch):
    rng = np.random.default_rng(0)
    operator = as_operator(
        sp.random_array((400, 500), density=0.02, format="csr", random_state=rng)
    )
    L = ring_laplacian(400)
    rough = ProductForm(operator, L).roughness
    gamma = 10.0 * float(rough.mean())
    problem = SparseProjection(operator, L, 5, gamma, "sample")
    dense = solve(problem, problem.start(), max_iter=3)
    refuse_matrices_beyond(monkeypatch, 150)
    problem = SparseProjection(operator, L, 5, gamma, "product")
    product = solve(problem, problem.start(), max_iter=3)
    np.testing.assert_allclose(product.objective[1:], dense.objective[1:], rtol=1e-10)
    np.testing.assert_allclose(
        product.state.W @ product.state.W.T, dense.state.W @ dense.state.W.T, atol=1e-8
    )


@pytest.mark.parametrize("cls", [ProductForm, SampleForm, GramForm])
def test_a_single_eigenvector_converges(cls, monkeypatch):
    shape = (30, 50)
    monkeypatch.setattr("featsieve.solvers.sparse_projection.LARGEST_FULL", 0)
    X, L = table(shape), ring_laplacian(shape[0])
    operator = as_operator(X, scale="std")
    form, e = cls(operator, L), np.random.default_rng(0).uniform(0.9, 1.1, shape[1])
    M, _ = system_of(ProductForm(operator, L), e, 3.0)
    theta, vectors = form.leading(e, 3.0, start=np.ones(shape[1]), count=1)
    expected, basis = np.linalg.eigh(3.0 * np.linalg.inv(M + 3.0 * np.diag(1.0 / e)))
    assert theta[0] == pytest.approx(expected[-1], rel=1e-10)
    assert abs(vectors[:, 0] @ basis[:, -1]) == pytest.approx(1.0, rel=1e-8)
