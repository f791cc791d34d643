"""The graph of the samples and its Laplacians against dense formulas and the golden matrix T9."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.arrays import as_operator
from featsieve.graphs.affinity import (
    degrees,
    laplacian,
    modularity,
    normalised_adjacency,
    normalised_laplacian,
    row_normalised_laplacian,
    sample_graph,
)
from tests.graphs.test_knn import T9, T9_BINARY_DEGREES, T9_HEAT_DEGREES


def random_graph(seed, n=9, *, isolated=True):
    """Return a symmetric, non-negative matrix with loops and (some) samples without an edge."""
    rng = np.random.default_rng(seed)
    S = rng.random((n, n)) * (rng.random((n, n)) < 0.4)
    S = S + S.T
    if isolated:
        alone = rng.random(n) < 0.3
        S[alone], S[:, alone] = 0.0, 0.0
    S[0, 1] = S[1, 0] = 1.0
    return S


def dense_degrees(S):
    degree = S.sum(axis=1)
    with np.errstate(divide="ignore"):
        return degree, np.where(degree > 0.0, degree**-0.5, 0.0)


# The neighbour graph ------------------------------------------------------------------------------


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.uint8])
def test_golden_degrees(dtype, container):
    A = as_operator(container(T9.astype(dtype)))
    binary = sample_graph(A, "binary", n_neighbors=3)
    np.testing.assert_array_equal(degrees(binary), T9_BINARY_DEGREES)
    np.testing.assert_array_equal(binary.data, 1.0)
    tolerance = 1e-5 if dtype == np.float32 else 1e-12
    heat = sample_graph(A, "heat", n_neighbors=3)
    np.testing.assert_allclose(degrees(heat), T9_HEAT_DEGREES, rtol=tolerance)
    np.testing.assert_array_equal(heat.toarray() > 0.0, binary.toarray() > 0.0)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("affinity", ["heat", "binary"])
@pytest.mark.parametrize("offset", [1e6, 1e8])
def test_the_graph_of_uncentred_columns_does_not_depend_on_the_origin(offset, affinity, container):
    X = np.random.default_rng(1).standard_normal((30, 4)) + offset
    near = X - offset  # without rounding
    far = sample_graph(as_operator(container(X), center=False), affinity)
    expected = sample_graph(as_operator(near), affinity)
    np.testing.assert_allclose(far.toarray(), expected.toarray(), atol=1e-9)


# A matrix of the user's ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "container", [np.asarray, np.ndarray.tolist, pd.DataFrame, sp.csc_array, sp.csr_matrix]
)
def test_a_given_matrix_is_used_as_it_is(container):
    S = random_graph(0)
    graph = sample_graph(as_operator(np.eye(9)), container(S), n_neighbors=1)
    assert isinstance(graph, sp.csr_array)
    assert graph.dtype == np.float64
    np.testing.assert_array_equal(graph.toarray(), S)


def test_stored_zeros_are_no_edges_and_the_given_matrix_is_not_modified():
    S = random_graph(3)
    np.fill_diagonal(S, 0.0)
    stored = sp.csr_array(S + np.eye(9))
    stored.setdiag(0.0)
    before = stored.copy()
    assert stored.nnz == np.count_nonzero(S) + 9
    assert sample_graph(as_operator(np.eye(9)), stored).nnz == np.count_nonzero(S)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(stored, part), getattr(before, part))


def bad(change):
    S = random_graph(5, isolated=False)
    change(S)
    return S


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    ("S", "message"),
    [
        (np.ones((9, 8)), r"matrix, here \(9, 9\); got shape \(9, 8\)"),
        (np.ones((8, 8)), r"matrix, here \(9, 9\); got shape \(8, 8\)"),
        (np.zeros((9, 9)), "without any edge"),
        (bad(lambda S: S.__setitem__((2, 3), -0.5)), "negative or non-finite"),
        (bad(lambda S: S.__setitem__((2, 3), np.nan)), "negative or non-finite"),
        (bad(lambda S: S.__setitem__((2, 3), np.inf)), "negative or non-finite"),
        (bad(lambda S: S.__setitem__((2, 3), 7.0)), r"not symmetric: pass \(S \+ S\.T\) / 2"),
    ],
)
def test_a_bad_matrix_is_refused_with_the_reason(S, message, container):
    with pytest.raises(ValueError, match=f"affinity must be 'heat', 'binary', or .*{message}"):
        sample_graph(as_operator(np.eye(9)), container(S))


def test_rounding_is_no_asymmetry():
    S = random_graph(6)
    S[0, 1] *= 1.0 + 1e-13
    assert sample_graph(as_operator(np.eye(9)), S).nnz == np.count_nonzero(S)


# Laplacians ---------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(seed=st.integers(0, 9999), isolated=st.booleans())
def test_laplacians_are_the_dense_formulas(seed, isolated):
    S = random_graph(seed, isolated=isolated)
    degree, root = dense_degrees(S)
    graph, n = sp.csr_array(S), len(S)
    np.testing.assert_allclose(degrees(graph), degree, rtol=1e-14)
    adjacency = root[:, None] * S * root
    P = S / np.where(degree > 0.0, degree, 1.0)[:, None]
    T = P + P.T
    expected = {
        normalised_adjacency: adjacency,
        laplacian: np.diag(degree) - S,
        normalised_laplacian: np.eye(n) - adjacency,
        row_normalised_laplacian: np.diag(T.sum(axis=1)) - T,
    }
    for function, matrix in expected.items():
        got = function(graph)
        assert isinstance(got, sp.csr_array)
        np.testing.assert_allclose(got.toarray(), matrix, atol=1e-13, err_msg=function.__name__)


def test_an_affinity_that_is_no_matrix_is_refused():
    operator = as_operator(np.random.default_rng(0).standard_normal((4, 3)))
    with pytest.raises(TypeError, match=r"affinity must be 'heat', 'binary', or .* got dict"):
        sample_graph(operator, {"a": 1})
    with pytest.raises(TypeError, match="got list"):
        sample_graph(operator, [["a"] * 4] * 4)


def test_entries_stored_twice_are_added_and_the_callers_matrix_stays():
    operator = as_operator(np.random.default_rng(0).standard_normal((3, 2)))
    rows, columns = np.array([0, 0, 1, 1, 2, 1]), np.array([1, 1, 0, 0, 1, 2])
    given = sp.csr_array(
        (np.array([1.0, 2.0, 1.0, 2.0, 4.0, 4.0]), np.array([1, 1, 0, 0, 2, 1]), [0, 2, 5, 6]),
        shape=(3, 3),
    )
    expected = np.zeros((3, 3))
    np.add.at(expected, (rows, columns), [1.0, 2.0, 1.0, 2.0, 4.0, 4.0])
    np.testing.assert_array_equal(sample_graph(operator, given).toarray(), expected)
    assert given.nnz == 6


# Modularity ---------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(seed=st.integers(0, 9999))
def test_modularity_is_the_sum_over_pairs(seed):
    A = random_graph(seed)
    runs = np.random.default_rng(seed).integers(0, 5, (3, len(A)))
    degree, total = A.sum(axis=1), A.sum()
    excess = (A - np.outer(degree, degree) / total) / total
    expected = [excess[labels[:, None] == labels].sum() for labels in runs]
    graph = sp.csr_array(A)
    np.testing.assert_allclose(modularity(graph, runs), expected, atol=1e-12)
    assert modularity(graph, runs[0]) == pytest.approx(expected[0], abs=1e-12)
