"""SPEC: golden numbers, the three criteria by their definition, and what they are invariant to."""

import numpy as np
import pytest
import scipy.sparse as sp

from featsieve import SPEC, LaplacianScore
from featsieve.arrays import as_operator
from featsieve.graphs.affinity import degrees, sample_graph
from featsieve.selectors import spec
from tests.graphs.test_knn import T9

# spec.md, T9 with k = 3, heat kernel, columns as they are
PHI1 = [0.07725592000418, 0.11564478407100, 0.28838097225889, 0.55717386058614, 0.56640808197711]
PHI2 = [0.380116411864963, 0.470805987504623, 0.91495184283779, 1.083069920563985, 1.19726961492577]
PHI3 = [0.31775464488598, 0.37122834916550, 0.13514753034621, 0.25805328403762, 0.06551887028580]


def textbook(X, S, criterion, *, q=3):
    """Return φ by the definition: every eigenvector, feature by feature."""
    degree = S.sum(axis=1)
    root = np.sqrt(degree)
    values, vectors = np.linalg.eigh(np.eye(len(S)) - S / np.outer(root, root))
    values = np.where(values < 1e-12, 0.0, np.minimum(values, 2.0))
    vectors[:, 0] = root / np.linalg.norm(root)
    phi = []
    for f in np.asarray(X, dtype=float).T:
        share = vectors.T @ (root * f / np.linalg.norm(root * f))
        np.testing.assert_allclose(np.sum(share**2), 1.0)
        if criterion == "plain":
            phi.append(np.sum(share**2 * values))
        elif criterion == "normalized":
            phi.append(np.sum((share**2 * values)[1:]) / (1.0 - share[0] ** 2))
        else:
            phi.append(np.sum((share**2 * (2.0 - values))[1:q]))
    return np.array(phi)


def table(n, d, seed=0):
    """Return a table of which no two eigenvalues of the graph are equal."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) + rng.uniform(-2.0, 2.0, d)


@pytest.mark.parametrize(
    ("criterion", "golden"), [("plain", PHI1), ("normalized", PHI2), ("leading", PHI3)]
)
def test_golden_numbers(criterion, golden):
    sieve = SPEC(2, criterion=criterion, n_clusters=3, n_neighbors=3, scale="raw").fit(T9)
    np.testing.assert_allclose(sieve.spectral_score_, golden, rtol=1e-12)
    expected = golden if criterion == "leading" else 2.0 - np.array(golden)
    np.testing.assert_allclose(sieve.scores_, expected, rtol=1e-12)
    # Small is good but for "leading".
    sign = -1.0 if criterion == "leading" else 1.0
    np.testing.assert_array_equal(np.argsort(sieve.ranking_), np.argsort(sign * np.array(golden)))


@pytest.mark.parametrize("criterion", spec.CRITERIA)
@pytest.mark.parametrize("shape", [(40, 12), (15, 40)])
def test_every_way_to_compute_it_is_the_definition(criterion, shape):
    X = table(*shape)
    S = sample_graph(as_operator(X), "heat").toarray()
    sieve = SPEC(3, criterion=criterion, n_clusters=4, scale="raw").fit(X)
    expected = textbook(X, S, criterion, q=4)
    np.testing.assert_allclose(sieve.spectral_score_, expected, rtol=1e-8, atol=1e-12)
    if criterion == "leading":
        assert len(sieve.eigenvalues_) == 3
    else:
        assert not hasattr(sieve, "eigenvalues_")
        np.testing.assert_allclose(sieve.scores_, 2.0 - expected, atol=1e-8)


def test_the_default_is_the_laplacian_score():
    X = table(50, 20)
    for scale in ("none", "unit", "raw"):
        expected = LaplacianScore(5, scale=scale).fit(X)
        found = SPEC(5, scale=scale).fit(X)
        np.testing.assert_allclose(
            found.spectral_score_, expected.laplacian_score_, rtol=1e-12, atol=1e-12
        )
        np.testing.assert_array_equal(found.ranking_, expected.ranking_)


@pytest.mark.parametrize("criterion", spec.CRITERIA)
def test_units_do_not_matter_and_the_origin_only_where_documented(criterion):
    X = table(40, 10)
    S = sample_graph(as_operator(X), "heat")
    sieve = SPEC(3, criterion=criterion, n_clusters=3, affinity=S, scale="raw")
    phi = sieve.fit(X).spectral_score_
    units = 10.0 ** np.arange(-5.0, 5.0) * np.array([1, -1] * 5)
    np.testing.assert_allclose(sieve.fit(X * units).spectral_score_, phi, rtol=1e-9)
    shifted = sieve.fit(X + 5.0).spectral_score_
    if criterion == "normalized":
        np.testing.assert_allclose(shifted, phi, rtol=1e-9)
    else:
        assert np.abs(shifted - phi).min() > 1e-3
        # ... which centring takes care of.
        sieve.set_params(scale="none")
        np.testing.assert_allclose(
            sieve.fit(X + 5.0).spectral_score_, sieve.fit(X).spectral_score_, rtol=1e-9
        )


def test_a_large_mean_costs_no_digits():
    X = table(40, 10)
    S = sample_graph(as_operator(X), "heat")
    phi = SPEC(3, affinity=S).fit(X).spectral_score_
    for scale in ("none", "unit", "raw"):
        far = SPEC(3, affinity=S, scale=scale).fit(X + 1e6).spectral_score_
        np.testing.assert_allclose(far, phi, rtol=1e-7)


def test_of_a_repeated_eigenvalue_all_vectors_are_used():
    n = 24
    A = np.roll(np.eye(n), 1, axis=1)
    ring = A + A.T  # all eigenvalues are double
    X = table(n, 6)
    sieve = SPEC(2, criterion="leading", n_clusters=2, affinity=ring).fit(X)
    np.testing.assert_allclose(sieve.eigenvalues_, 1.0 - np.cos(2.0 * np.pi / n), atol=1e-10)
    assert len(sieve.eigenvalues_) == 2
    # So the scores do not depend on where the ring begins.
    turned = SPEC(2, criterion="leading", n_clusters=2, affinity=ring).fit(np.roll(X, 5, axis=0))
    np.testing.assert_allclose(turned.scores_, sieve.scores_, rtol=1e-8)


def test_a_column_that_hardly_varies_is_not_best():
    X = table(30, 4)
    S = sample_graph(as_operator(X), "heat")
    X[:, 0] = 1e7 + 1e-6 * X[:, 0]  # 1 - α_1² is rounding
    for criterion in spec.CRITERIA:
        sieve = SPEC(1, criterion=criterion, affinity=S, n_clusters=3, scale="raw").fit(X)
        assert np.isfinite(sieve.scores_).all()
        if criterion != "normalized":  # which centres first, and can look at the rest
            assert sieve.scores_[0] == 0.0
            assert sieve.ranking_[0] == 4


def test_a_single_cluster_leaves_nothing_to_look_at():
    with pytest.warns(UserWarning, match="n_clusters=1"):
        sieve = SPEC(2, criterion="leading", n_clusters=1).fit(table(20, 5))
    np.testing.assert_array_equal(sieve.scores_, 0.0)
    np.testing.assert_array_equal(sieve.ranking_, np.arange(1, 6))


def test_samples_without_an_edge_do_not_count():
    X = table(20, 5)
    S = sample_graph(as_operator(X[:15]), "heat")
    larger = sp.csr_array(sp.block_diag([S, np.zeros((5, 5))]))
    assert (degrees(larger)[15:] == 0.0).all()
    for criterion in spec.CRITERIA:
        small, large = (
            SPEC(2, criterion=criterion, n_clusters=3, affinity=A, scale="raw").fit(T)
            for A, T in ((S, X[:15]), (larger, X))
        )
        np.testing.assert_allclose(large.spectral_score_, small.spectral_score_, rtol=1e-9)


def test_leading_needs_a_number_of_clusters():
    with pytest.raises(ValueError, match="criterion='leading' needs n_clusters"):
        SPEC(3, criterion="leading").fit(table(40, 10))


def test_scores_that_differ_by_rounding_are_ties_in_every_layout():
    # Six samples, all of them neighbours: every column has the same score. Found by fuzzing.
    X = np.random.default_rng(1).standard_normal((6, 3))
    for table in (X, np.asfortranarray(X), sp.csr_array(X)):
        sieve = SPEC(1, criterion="leading", affinity="binary", n_clusters=2, scale="unit")
        np.testing.assert_allclose(sieve.fit(table).scores_, 0.8, rtol=1e-12)
        np.testing.assert_array_equal(sieve.ranking_, [1, 2, 3])
