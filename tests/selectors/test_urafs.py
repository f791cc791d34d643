"""URAFS: closed forms against textbook ones, and the authors' alternation."""

import numpy as np
import pytest

from featsieve.selectors.common import Start
from featsieve.selectors.urafs import centred_frame, label_rows
from featsieve.terms.norms import SMOOTHING
from featsieve.terms.orthogonality import normalised_indicator
from tests.selectors import label_problems
from tests.selectors.label_problems import SHAPES, iterate


def make_problem(X, **more):
    return label_problems.make_problem("URAFS", X, scale="none", **more)


def table(shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def frame(n, c, seed=0):
    """Return random labels as centred orthonormal columns, c of them."""
    rng = np.random.default_rng(seed)
    return centred_frame(normalised_indicator(rng.permutation(np.arange(n) % (c + 1)), c + 1))


def centred(X):
    return X - X.mean(axis=0)


def dense_graph(F, beta):
    """Return S, L and the entropy term of the textbook."""
    distance = ((F[:, None] - F[None]) ** 2).sum(axis=-1)
    S = np.exp(-distance / (2.0 * beta))
    S /= S.sum(axis=1, keepdims=True)
    symmetric = (S + S.T) / 2.0
    return S, np.diag(symmetric.sum(axis=1)) - symmetric


def power(A, exponent):
    energy, basis = np.linalg.eigh((A + A.T) / 2.0)
    return (basis * energy**exponent) @ basis.T


def polar(A):
    U, _, Vt = np.linalg.svd(A, full_matrices=False)
    return U @ Vt


def test_a_direction_that_no_column_predicts_gets_no_weight():
    X = np.zeros((12, 2))
    X[:6, 0], X[3:9, 1] = 1.0, 1.0
    Z = centred(X)
    predicted = np.linalg.svd(Z, full_matrices=True)[0]
    outside = centred(predicted[:, 2:])
    outside = np.linalg.svd(outside - predicted[:, :2] @ (predicted[:, :2].T @ outside))[0][:, :1]
    F = np.hstack([predicted[:, :1], outside])
    W = make_problem(X, sparsity=1.0).best_weights(F, np.ones(2))[0]
    A = Z.T @ Z + np.eye(2)
    # W'AW is a projector of rank 1, not a completion by an arbitrary second direction
    np.testing.assert_allclose(np.linalg.eigvalsh(W.T @ A @ W), [0.0, 1.0], atol=1e-7)
    np.testing.assert_allclose(W[:, 1], 0.0, atol=1e-7)


@SHAPES
@pytest.mark.parametrize("sparsity", [0.1, 1e3])
def test_reweighting_lowers_the_objective_with_w_eliminated(shape, sparsity):
    """phi(q) = -2 tr G(q)^(1/2) + lam/4 sum 1/q, by dense roots."""
    X, F = table(shape), frame(shape[0], 3)
    Z = centred(X)
    problem = make_problem(X, sparsity=sparsity)

    def phi(e):
        G = F.T @ Z @ np.linalg.solve(Z.T @ Z + sparsity * np.diag(1.0 / e), Z.T @ F)
        return -2.0 * np.sum(np.sqrt(np.linalg.eigvalsh((G + G.T) / 2.0))) + sparsity / 4 * e.sum()

    e = np.ones(shape[1])
    values = [phi(e)]
    for _ in range(8):
        e = problem.best_weights(F, e)[2]
        values.append(phi(e))
    assert np.all(np.diff(values) <= 1e-10 * np.abs(values[:-1]))
    assert values[-1] < values[0] - 1e-3 * abs(values[0])


def textbook(X, F, *, alpha, beta, sparsity, n_iter):
    """Return W, F and the objectives of the safe alternation, with dense S and matrix roots."""
    Z = centred(X)
    n, d = Z.shape
    H = np.eye(n) - 1.0 / n
    e = np.ones(d)
    history = []

    def best_weights(e):
        A = Z.T @ Z + sparsity * np.diag(1.0 / e)
        root = power(A, -0.5)
        W = root @ polar(root @ Z.T @ F)
        G = F.T @ Z @ np.linalg.solve(A, Z.T @ F)
        return W, G

    for _ in range(n_iter):
        W, G = best_weights(e)
        lengths = ((W @ power(G, 0.25)) ** 2).sum(axis=1)
        e = 2.0 * np.sqrt(lengths + SMOOTHING)
        W, _ = best_weights(e)
        for _ in range(3):
            _, L = dense_graph(F, beta)
            eta = (1.0 + 1e-6) * (1.0 + 4.0 * alpha * np.diag(L).max())
            F = polar(eta * F - (H + 2.0 * alpha * L) @ F + Z @ W)
        S, L = dense_graph(F, beta)
        entropy = np.sum(S * np.log(np.maximum(S, 1e-300)))
        penalty = np.sum((W**2).sum(axis=1) / e) + 0.25 * e.sum() + SMOOTHING * np.sum(1.0 / e)
        graph = 2.0 * alpha * (np.trace(F.T @ L @ F) + beta * entropy)
        loss = np.sum((H @ (X @ W - F)) ** 2)
        history.append(loss + sparsity * penalty + graph)
    return W, F, e, history


@SHAPES
@pytest.mark.parametrize("parameters", [(0.1, 0.01, 1.0), (2.0, 0.2, 10.0)])
def test_fast_alternation_is_the_textbook_one(shape, parameters):
    alpha, beta, sparsity = parameters
    X, F = table(shape), frame(shape[0], 3)
    W, labels, e, history = textbook(X, F, alpha=alpha, beta=beta, sparsity=sparsity, n_iter=4)
    problem = make_problem(X, alpha=alpha, beta=beta, sparsity=sparsity)
    solution, _ = iterate(problem, F, 4)
    np.testing.assert_allclose(solution.state.W, W, atol=1e-8)
    np.testing.assert_allclose(solution.state.F, labels, atol=1e-8)
    np.testing.assert_allclose(solution.state.inverse, e, atol=1e-8)
    np.testing.assert_allclose(solution.objective[1:], history, rtol=1e-8)
    np.testing.assert_allclose(labels.T @ labels, np.eye(3), atol=1e-10)


def test_recorded_value_bounds_the_published_objective_from_above():
    X, F = table((20, 12)), frame(20, 3)
    problem = make_problem(X, alpha=0.5, beta=0.1, sparsity=5.0)
    solution, _ = iterate(problem, F, 30)
    W, F = solution.state.W, solution.state.F
    S, L = dense_graph(F, 0.1)
    published = np.sum((centred(X) @ W - F) ** 2) + 5.0 * np.sqrt((W**2).sum(axis=1)).sum()
    published += np.trace(F.T @ L @ F) + 0.1 * np.sum(S * np.log(S))  # 2 alpha = 1
    assert published <= solution.objective[-1]


def test_labels_of_a_rotated_indicator_are_its_clusters():
    labels = np.array([0, 1, 1, 2, 0, 2, 2, 1])
    turn = np.linalg.qr(table((3, 3)))[0]
    F = normalised_indicator(labels, 3) @ turn
    other = (labels + 2) % 3
    for given, expected in ((False, labels), (True, other)):
        start = Start(None, None, None, other, given, 3, np.random.RandomState(0))
        np.testing.assert_array_equal(label_rows(F, start), expected)
