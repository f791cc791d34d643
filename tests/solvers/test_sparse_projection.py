"""The row-sparse projection: two forms of one eigenproblem, descent, and no d x d matrix."""

from itertools import combinations, pairwise

import array_api_compat.numpy as xnp
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import as_operator
from featsieve.graphs.affinity import laplacian, sample_graph
from featsieve.solvers import block_problem, sparse_projection
from featsieve.solvers.sparse_projection import (
    SparseProjection,
    first_inverse_weights,
    roughness,
)
from featsieve.terms.norms import SMOOTHING

FORMS = ("gram", "sample")
SHAPES = [(40, 15), (18, 50)]  # d < n, d > n


def make_problem(X, m=3, share=0.1, *, form="auto", init="roughness", scale="std", L=None):
    """Return the problem on the heat-kernel graph; gamma relative to the mean roughness."""
    operator = as_operator(X, scale=scale)
    if L is None:
        L = laplacian(sample_graph(operator, "heat"))
    rough = roughness(operator, L)
    gamma = share * float(rough[np.asarray(operator.varies)].mean())
    return SparseProjection(operator, L, m, gamma, form, init)


def solve(X, m=3, share=0.1, *, n_iter=10, tol=0.0, **options):
    problem = make_problem(X, m, share, **options)
    return block_problem.solve(problem, problem.start(), max_iter=n_iter, tol=tol), problem


def textbook(Z, L, m, gamma, q, n_iter):
    """Return W and the objectives of the published loop, with its d x d eigenproblem."""
    M = Z.T @ (L @ Z)
    values = []
    for _ in range(n_iter):
        W = np.linalg.eigh(0.5 * (M + M.T) + gamma * np.diag(q))[1][:, :m]
        length = np.sqrt((W**2).sum(axis=1) + SMOOTHING)
        q = 1.0 / (2.0 * length)
        values.append(np.trace(W.T @ M @ W) + gamma * length.sum())
    return W, values


def table(shape, seed=0, n_shifted=4):
    """Return noise with three clusters in the first columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape)
    labels = np.arange(shape[0]) % 3
    X[:, :n_shifted] += 3.0 * rng.standard_normal((3, n_shifted))[labels]
    return X


def refuse_matrices_beyond(monkeypatch, limit):
    """Make every dense factorisation fail on matrices with both sides larger than ``limit``."""
    names = ("eigh", "eigvalsh", "inv", "solve", "cholesky", "svd", "qr", "eig", "pinv")
    for library in (np.linalg, xnp.linalg, scipy.linalg):
        for name in names:
            real = getattr(library, name, None)
            if real is None:
                continue

            def guarded(A, *args, _real=real, _name=name, **options):
                assert min(A.shape[-2:]) <= limit, f"{_name} of {A.shape}"
                return _real(A, *args, **options)

            monkeypatch.setattr(library, name, guarded)


# One problem, several forms -----------------------------------------------------------------------


@pytest.mark.parametrize(("shape", "share"), [(SHAPES[0], 0.1), (SHAPES[1], 1.0)])
@pytest.mark.parametrize("form", FORMS)
def test_same_as_the_textbook_loop(form, shape, share):
    X = table(shape)
    solution, problem = solve(X, share=share, form=form, n_iter=8)
    Z = problem.operator.rows(0, shape[0])
    q = 1.0 / first_inverse_weights(roughness(problem.operator, problem.laplacian), "roughness", 3)
    W, values = textbook(Z, problem.laplacian, 3, problem.gamma, q, 8)
    np.testing.assert_allclose(solution.objective[1:], values, rtol=1e-8)
    found = solution.state.W
    # Rows that the penalty has dropped are where the dense loop itself loses digits.
    np.testing.assert_allclose(found @ found.T, W @ W.T, atol=1e-7)


@pytest.mark.parametrize(("shape", "m"), [(SHAPES[0], 14), (SHAPES[1], 4), ((30, 30), 1)])
def test_all_forms_are_equal(shape, m):
    X = table(shape, seed=1)
    gram, sample = (solve(X, m=m, form=form)[0] for form in FORMS)
    # The sample form loses digits where it is not used (d <= n): E - ... cancels, on the way most
    # in square tables (3.7e-9 in the first step, nothing in the last).
    digits = 1e-8 if shape == (30, 30) else 1e-9
    np.testing.assert_allclose(gram.objective[1:], sample.objective[1:], rtol=digits)
    np.testing.assert_allclose(
        gram.state.W @ gram.state.W.T, sample.state.W @ sample.state.W.T, atol=1e-8
    )
    assert gram.state.gap == pytest.approx(sample.state.gap, rel=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_a_single_eigenvector_converges(form, monkeypatch):
    monkeypatch.setattr(sparse_projection, "LARGEST_FULL", 0)
    problem = make_problem(table((30, 50)), form=form)
    e = np.random.default_rng(0).uniform(0.9, 1.1, 50)
    theta, vectors = problem.quadratic.leading(e, 3.0, start=np.ones(50), count=1)
    Z = problem.operator.rows(0, 30)
    M = Z.T @ (problem.laplacian @ Z)
    expected, basis = np.linalg.eigh(3.0 * np.linalg.inv(M + 3.0 * np.diag(1.0 / e)))
    assert theta[0] == pytest.approx(expected[-1], rel=1e-10)
    assert abs(vectors[:, 0] @ basis[:, -1]) == pytest.approx(1.0, rel=1e-8)


def test_lanczos_in_the_gram_form(monkeypatch):
    X = table((90, 60))
    dense = solve(X)[0]
    monkeypatch.setattr(sparse_projection, "LARGEST_FULL", 10)
    lanczos = solve(X)[0]
    np.testing.assert_allclose(lanczos.objective, dense.objective, rtol=1e-11)
    np.testing.assert_allclose(np.abs(lanczos.state.W), np.abs(dense.state.W), atol=1e-8)


# What is minimised --------------------------------------------------------------------------------


@settings(max_examples=50)
@given(
    n=st.integers(5, 25),
    d=st.integers(2, 40),
    m=st.integers(1, 8),
    log_share=st.floats(-5.0, 2.0),
    init=st.sampled_from(["roughness", "identity"]),
    seed=st.integers(0, 100),
)
def test_the_objective_never_rises_and_w_stays_orthonormal(n, d, m, log_share, init, seed):
    m = min(m, d)
    X = np.random.default_rng(seed).standard_normal((n, d))
    solution, _ = solve(X, m=m, share=10.0**log_share, init=init, n_iter=12)
    assert all(later <= earlier for earlier, later in pairwise(solution.objective[1:]))
    W = solution.state.W
    np.testing.assert_allclose(W.T @ W, np.eye(m), atol=1e-10)
    lengths = np.sqrt((W**2).sum(axis=1))
    assert np.sum(lengths**2) == pytest.approx(m)
    assert m - 1e-8 <= lengths.sum() <= np.sqrt(d * m) + 1e-8
    assert 0.0 <= solution.state.gap <= 1.0


@pytest.mark.parametrize("form", FORMS)
def test_with_a_large_penalty_the_best_m_columns(form):
    # ||W||_{2,1} >= m, with equality only for m non-zero rows; then tr(W'MW) sums their M_jj.
    X = table((30, 9))
    solution, problem = solve(X, share=1e4, form=form, n_iter=30)
    diagonal = np.diag(problem.operator.quadratic(problem.laplacian))
    best = min(combinations(range(9), 3), key=lambda rows: diagonal[list(rows)].sum())
    lengths = (solution.state.W**2).sum(axis=1)
    assert set(np.flatnonzero(lengths > 0.5)) == set(best)
    assert np.sort(lengths)[-4] < 1e-10
    expected = diagonal[list(best)].sum() + problem.gamma * 3.0
    assert solution.objective[-1] == pytest.approx(expected, rel=1e-6)


def test_a_step_that_does_not_descend_is_not_taken(monkeypatch):
    problem = make_problem(table((30, 12)))
    real, calls = problem.quadratic.leading, []

    def worse(*args, **options):
        calls.append(1)
        theta, vectors = real(*args, **options)
        return theta, (vectors if len(calls) < 3 else np.eye(12)[:, -4:])

    monkeypatch.setattr(problem.quadratic, "leading", worse)
    solution = block_problem.solve(problem, problem.start(), max_iter=5, tol=0.0)
    assert len(calls) == 5
    assert solution.objective[2] == solution.objective[3] == solution.objective[5]
    np.testing.assert_allclose(solution.state.W.T @ solution.state.W, np.eye(3), atol=1e-12)


# Columns that do not vary, the order of the columns, the first weights ----------------------------


def test_the_published_start_is_undecided_for_wide_tables():
    X = table((20, 80))
    order = np.random.default_rng(2).permutation(80)
    straight = solve(X, init="identity", n_iter=20)[0].state
    permuted = solve(X[:, order], init="identity", n_iter=20)[0].state
    lengths = [(state.W**2).sum(axis=1) for state in (straight, permuted)]
    assert np.abs(lengths[1] - lengths[0][order]).max() > 0.1
    assert straight.gap < 1e-10  # and the solver knows
    tall = solve(table((80, 20)), init="identity")[0].state
    assert tall.gap > 1e-4


def test_first_weights():
    rough = np.array([4.0, 1.0, 2.0, 0.0, 8.0, 3.0, 5.0])
    np.testing.assert_array_equal(first_inverse_weights(rough, "identity", 2), 1.0)
    e = first_inverse_weights(rough, "roughness", 1)
    varying = rough > 0.0
    order = np.argsort(rough[varying])
    assert (np.diff(e[varying][order]) < 0.0).all()  # the smoother, the more
    assert np.isfinite(e).all()
    # Nearly equal columns: the m-th smoothest outweighs the median three times.
    close = 1.0 + 1e-3 * np.arange(101)
    e = first_inverse_weights(close, "roughness", 20)
    assert e[20] == pytest.approx(3.0 * e[50])
    np.testing.assert_allclose(first_inverse_weights(7.0 * close, "roughness", 20), e)
    np.testing.assert_array_equal(first_inverse_weights(np.full(5, 2.0), "roughness", 2), 1.0)
    np.testing.assert_array_equal(first_inverse_weights(np.zeros(5), "roughness", 2), 1.0)
    # Every column is wanted, and the roughest is above the median: p = 1.
    found = first_inverse_weights(np.array([1.0, 4.0, 0.0, 2.0, 8.0]), "roughness", 9)
    np.testing.assert_allclose(found[[0, 1, 3, 4]], [3.0, 0.75, 1.5, 0.375])


# Size ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_the_gap_is_that_of_the_eigenvalues(form):
    shape = SHAPES[1]
    problem = make_problem(table(shape), form=form)
    start = problem.start()
    state = block_problem.solve(problem, start, max_iter=1, tol=0.0).state
    Z = problem.operator.rows(0, shape[0])
    P = Z.T @ (problem.laplacian @ Z) + problem.gamma * np.diag(1.0 / start.inverse)
    lam = np.linalg.eigvalsh(P)
    assert state.gap == pytest.approx((lam[3] - lam[2]) / lam[3], rel=1e-6)
