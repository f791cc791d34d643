"""The Laplacian score: golden numbers, its equivalent forms, and where the public code fails."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve import LaplacianScore
from featsieve.arrays import as_operator
from featsieve.graphs.affinity import sample_graph
from tests.graphs.test_knn import T9

# laplacian_score.md, T9 with k = 3
BINARY = [0.485481997677120, 0.530251785043217, 0.960856591188345, 1.183114660581860, 714 / 576]
BINARY_NUMERATORS = [209, 166, 161, 61, 42]
BINARY_MEANS = [6.5, 5.7058823529, 3.2058823529, 1.2058823529, 1.0588235294]
HEAT = [
    0.380116411864963,
    0.470805987504623,
    0.914951842837790,
    1.083069920563985,
    1.197269614925770,
]


def textbook(X, S):
    """Return LS by the definition, dense: x'Lx / x'Dx for x centred with the weights of D."""
    D = np.diag(S.sum(axis=1))
    L = D - S
    scores = []
    for f in np.asarray(X, dtype=float).T:
        x = f - (D.diagonal() @ f) / D.trace()
        scores.append((x @ L @ x) / (x @ D @ x))
    return np.array(scores)


def random_graph(rng, n, *, density=0.4):
    """Return a connected symmetric affinity matrix with loops."""
    S = rng.random((n, n)) * (rng.random((n, n)) < density)
    S = S + S.T + np.eye(n, k=1) + np.eye(n, k=-1)
    S[0, 0] = 0.7
    return S


def toy(seed):
    """Return the table with a known ranking (00_common.md, 7.2): features 0..3 are informative."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((90, 20))
    means = np.array([[0, 0, 0, 0], [6, 0, 6, 0], [0, 6, 6, 6]])
    X[:, :4] += np.repeat(means, 30, axis=0)
    return X


# Golden numbers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(("affinity", "expected"), [("binary", BINARY), ("heat", HEAT)])
def test_golden_scores(affinity, expected, container):
    sieve = LaplacianScore(2, affinity=affinity, n_neighbors=3).fit(container(T9))
    np.testing.assert_allclose(sieve.laplacian_score_, expected, rtol=1e-12)
    np.testing.assert_allclose(sieve.scores_, 2.0 - np.array(expected), rtol=1e-12)
    np.testing.assert_array_equal(sieve.ranking_, [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(sieve.support_, [True, True, False, False, False])
    assert sieve.n_features_selected_ == 2


def test_golden_numerators_and_means_of_the_definition():
    # The textbook function of these tests, itself held against the specification.
    S = sample_graph(as_operator(T9), "binary", n_neighbors=3).toarray()
    X = T9.astype(float)
    degree = S.sum(axis=1)
    np.testing.assert_allclose(np.sum(X * ((np.diag(degree) - S) @ X), axis=0), BINARY_NUMERATORS)
    np.testing.assert_allclose(degree @ X / degree.sum(), BINARY_MEANS, rtol=1e-10)
    np.testing.assert_allclose(textbook(X, S), BINARY, rtol=1e-12)


# Equivalent forms ---------------------------------------------------------------------------------


@st.composite
def tables(draw):
    """Return (X, S): a table without constant columns, and an affinity matrix."""
    n, d = draw(st.integers(3, 20)), draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-4, 5, d) + rng.integers(-2, 3, d)
    return X, random_graph(rng, n)


@settings(max_examples=20)
@given(case=tables(), sparse=st.booleans())
def test_the_fast_form_is_the_definition(case, sparse):
    X, S = case
    table = sp.csr_array(X) if sparse else X
    sieve = LaplacianScore(1, affinity=S).fit(table)
    np.testing.assert_allclose(sieve.laplacian_score_, textbook(X, S), atol=1e-8)


def test_on_the_graph_of_the_classes_it_is_the_fisher_score():
    # S_il = 1/n_class inside a class, loops included: LS = 1/(1 + Fisher).
    rng = np.random.default_rng(0)
    sizes = np.array([10, 15, 5])
    labels = np.repeat(np.arange(3), sizes)
    X = rng.standard_normal((30, 8)) + rng.standard_normal((3, 8))[labels]
    S = (labels[:, None] == labels) / sizes[labels][:, None]
    groups = [X[labels == k] for k in range(3)]
    between = sum(len(g) * (g.mean(axis=0) - X.mean(axis=0)) ** 2 for g in groups)
    within = sum(len(g) * g.var(axis=0) for g in groups)
    sieve = LaplacianScore(1, affinity=S).fit(X)
    expected = 1.0 / (1.0 + between / within)
    np.testing.assert_allclose(sieve.laplacian_score_, expected, rtol=0, atol=1e-14)


def test_the_scale_only_changes_the_graph():
    X = np.random.default_rng(3).standard_normal((40, 6)) * np.logspace(-2, 2, 6)
    for scale in ("none", "unit"):
        table = X / X.std(axis=0) if scale == "unit" else X
        S = sample_graph(as_operator(table), "heat")
        expected = textbook(X, S.toarray())
        sieve = LaplacianScore(2, scale=scale).fit(X)
        np.testing.assert_allclose(sieve.laplacian_score_, expected, rtol=1e-9)
    none, unit, raw = (
        LaplacianScore(2, scale=scale).fit(X).scores_ for scale in ("none", "unit", "raw")
    )
    assert np.abs(none - unit).max() > 0.01
    np.testing.assert_allclose(raw, none, rtol=1e-10)


# Numerics -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("offset", [1e3, 1e8])
@pytest.mark.parametrize("scale", ["none", "unit", "raw"])
def test_a_large_offset_costs_no_digits(scale, offset, container):
    X = np.random.default_rng(4).standard_normal((40, 8)) + offset
    near = X - offset  # without rounding
    sieve, expected = (
        LaplacianScore(2, scale=scale).fit(table).laplacian_score_ for table in (container(X), near)
    )
    np.testing.assert_allclose(sieve, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(
    "S", [np.array([[0.0, 1.0], [1.0, 0.0]]), "heat", "binary"], ids=["given", "heat", "binary"]
)
def test_a_constant_column_is_never_above_one_that_varies(S):
    # Two samples, one edge: LS = 2 for whatever differs between them.
    sieve = LaplacianScore(1, affinity=S).fit(np.array([[5.0, 0.0], [5.0, 1.0]]))
    np.testing.assert_array_equal(sieve.ranking_, [2, 1])
    np.testing.assert_array_equal(sieve.support_, [False, True])


@pytest.mark.parametrize("seed", range(3))
def test_a_column_that_only_varies_off_the_graph_is_last(seed):
    # The last sample has no edge, so nothing is known of how smooth the first column is.
    rng = np.random.default_rng(seed)
    S = np.zeros((6, 6))
    S[:5, :5] = random_graph(rng, 5)
    X = rng.standard_normal((6, 2))
    X[:5, 0] = X[0, 0]
    sieve = LaplacianScore(1, affinity=S).fit(X)
    np.testing.assert_array_equal(sieve.ranking_, [2, 1])
    assert sieve.scores_[0] == 0.0
    assert sieve.laplacian_score_[1] == pytest.approx(textbook(X[:, 1:], S)[0], rel=1e-10)


def test_a_column_constant_on_every_part_of_the_graph_is_perfect():
    labels = np.repeat([0, 1, 2], [4, 5, 6])
    S = (labels[:, None] == labels) - np.eye(15)
    X = np.column_stack([np.random.default_rng(6).standard_normal(15), labels, labels == 1])
    sieve = LaplacianScore(2, affinity=S).fit(X)
    np.testing.assert_allclose(sieve.laplacian_score_[1:], 0.0, atol=1e-14)
    np.testing.assert_array_equal(sieve.support_, [False, True, True])
