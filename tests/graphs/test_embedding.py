"""Spectral embedding: golden numbers, the trivial vector, repeated eigenvalues, both solvers."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from featsieve.arrays import as_operator
from featsieve.graphs import embedding
from featsieve.graphs.affinity import degrees, sample_graph
from featsieve.graphs.embedding import leading_eigenpairs, spectral_embedding
from tests.graphs.test_knn import T9
from tests.graphs.test_spectral_labels import components_graph

PATHS = {"dense": 10**6, "lanczos": 0}


@pytest.fixture(params=PATHS)
def path(request, monkeypatch):
    """Take the dense, then the Lanczos solver."""
    monkeypatch.setattr(embedding, "LARGEST_DENSE", PATHS[request.param])
    monkeypatch.setattr(embedding, "LARGEST_SHARE", 1.0 - PATHS[request.param] / 10**6)
    return request.param


def ring(n):
    """Return the cycle of n samples: all eigenvalues but one or two are double."""
    A = np.roll(np.eye(n), 1, axis=1)
    return sp.csr_array(A + A.T)


def assert_embedding(S, Y, values):
    """L y = λ Deg y, Y' Deg Y = I, and deg'Y = 0."""
    degree = degrees(S)
    DY = degree[:, None] * Y
    np.testing.assert_allclose(Y.T @ DY, np.eye(Y.shape[1]), atol=1e-12)
    np.testing.assert_allclose(degree @ Y, 0.0, atol=1e-12)
    np.testing.assert_allclose(DY - S @ Y, values * DY, atol=1e-10)


def test_golden_eigenvalues():
    S = sample_graph(as_operator(T9), "binary", n_neighbors=3)
    Y, values = spectral_embedding(S, 3)
    golden = [0.7356678564672919, 0.1606954946799886, 0.0230956088785876]
    np.testing.assert_allclose(1.0 - values, golden, rtol=1e-12)
    assert_embedding(S, Y, values)


@pytest.mark.parametrize("n_vectors", [1, 4, 12])
def test_it_is_the_generalised_eigenproblem(n_vectors, path):
    S, _ = components_graph((40,), seed=1)
    D = np.diag(degrees(S))
    expected, vectors = scipy.linalg.eigh(D - S.toarray(), D)
    Y, values = spectral_embedding(S, n_vectors)
    np.testing.assert_allclose(values, expected[1 : n_vectors + 1], atol=1e-12)
    inner = np.abs(Y.T @ D @ vectors[:, 1 : n_vectors + 1])
    np.testing.assert_allclose(inner, np.eye(n_vectors), atol=1e-7)
    assert_embedding(S, Y, values)


@pytest.mark.parametrize("sizes", [(12, 20, 7), (9, 9, 9), (15, 15)])
@pytest.mark.parametrize("n_vectors", [1, 2, 5])
def test_components_are_told_apart_first_and_the_trivial_vector_is_gone(sizes, n_vectors, path):
    S, component = components_graph(sizes, seed=2)
    Y, values = spectral_embedding(S, n_vectors)
    assert_embedding(S, Y, values)
    n_zero = min(n_vectors, len(sizes) - 1)
    np.testing.assert_array_equal(values[:n_zero], 0.0)
    assert (values[n_zero:] > 1e-3).all()
    first = np.unique(component, return_index=True)[1]  # of equal sizes, who has the first sample
    order = np.lexsort((first, -np.bincount(component)))
    for k in range(n_zero):  # the k-th largest against all smaller ones
        levels = np.array([Y[component == c, k].mean() for c in order])
        for c, level in zip(order, levels, strict=True):
            np.testing.assert_allclose(Y[component == c, k], level, atol=1e-12)
        np.testing.assert_allclose(levels[:k], 0.0, atol=1e-12)
        np.testing.assert_allclose(levels[k + 1 :], levels[-1], atol=1e-12)
        assert levels[k] * levels[-1] < 0.0


def test_samples_without_an_edge_are_zero(path):
    S, _ = components_graph((25,), seed=4)
    larger = sp.csr_array(sp.block_diag([S, np.zeros((3, 3))]))
    Y, values = spectral_embedding(larger, 4)
    expected, expected_values = spectral_embedding(S, 4)
    np.testing.assert_array_equal(Y[25:], 0.0)
    np.testing.assert_allclose(values, expected_values, atol=1e-12)
    np.testing.assert_allclose(Y[:25], expected, atol=1e-9)


def test_no_copy_of_a_repeated_eigenvalue_is_missed(path):
    for n in (60, 161):
        values, vectors = leading_eigenpairs(ring(n), 8)
        frequency = np.repeat(np.arange(1, 5), 2)
        np.testing.assert_allclose(values, np.cos(2.0 * np.pi * frequency / n), atol=1e-10)
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(8), atol=1e-9)
    # Equal components: every eigenvalue four times.
    twins = sp.csr_array(sp.block_diag([ring(17)] * 4))
    values, _ = leading_eigenpairs(twins, 3 + 8)
    expected = np.concatenate([np.ones(3), np.full(8, np.cos(2.0 * np.pi / 17))])
    np.testing.assert_allclose(values, expected, atol=1e-10)


@pytest.mark.parametrize(
    ("count", "expected"), [(0, 0), (1, 2), (2, 2), (3, 4), (58, 58), (59, 59), (80, 59)]
)
def test_whole_clusters_end_with_the_last_copy(count, expected, path):
    _, vectors = leading_eigenpairs(ring(60), count, whole_clusters=True)
    assert vectors.shape == (60, expected)


def test_whole_clusters_hold_all_component_vectors(path):
    S, _ = components_graph((8, 9, 10, 11), seed=5)
    assert leading_eigenpairs(S, 1, whole_clusters=True)[0].tolist() == [1.0, 1.0, 1.0]
    values, vectors = leading_eigenpairs(S, 4, whole_clusters=True)
    assert values[:3].tolist() == [1.0, 1.0, 1.0]
    assert len(values) == 4
    # The span does not depend on the order of the samples.
    order = np.random.default_rng(0).permutation(38)
    other = leading_eigenpairs(sp.csr_array(S[order][:, order]), 4, whole_clusters=True)[1]
    span = vectors[order] @ vectors[order].T
    np.testing.assert_allclose(other @ other.T, span, atol=1e-8)


def test_eigenvalues_that_say_nothing_are_left_out_unless_there_is_nothing_else():
    star = np.zeros((7, 7))
    star[0, 1:] = star[1:, 0] = 1.0  # eigenvalues 1, 0 (five times), -1
    Y, values = spectral_embedding(sp.csr_array(star), 6)
    np.testing.assert_allclose(values, [2.0], atol=1e-12)
    Y, values = spectral_embedding(sp.csr_array(star), 2)
    np.testing.assert_allclose(values, [1.0, 1.0], atol=1e-12)
    assert Y.shape == (7, 2)


def test_lanczos_that_does_not_converge_gives_way_to_the_dense_solver(monkeypatch):
    S, _ = components_graph((50,), seed=8)
    expected, values = spectral_embedding(S, 3)

    def fail(*args, **kwargs):
        raise embedding.ArpackNoConvergence("no", np.zeros(0), np.zeros((0, 0)))

    monkeypatch.setattr(embedding, "LARGEST_DENSE", 0)
    monkeypatch.setattr(embedding, "largest_by_lanczos", fail)
    Y, found = spectral_embedding(S, 3)
    np.testing.assert_allclose(found, values, atol=1e-12)
    np.testing.assert_allclose(Y, expected, atol=1e-8)
