"""Ranks of a table, and copies of it without clusters."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import norm, rankdata

from featsieve import defaults
from featsieve.hypotheses.tables import (
    RotatedCopies,
    dense_columns,
    normal_scores,
    permuted,
    rotated,
)


def mixed_table():
    """Return columns with ties, zeros, negative numbers only, one value, and no zeros at all."""
    rng = np.random.default_rng(0)
    n = 50
    X = np.zeros((n, 7))
    X[:, 0] = rng.standard_normal(n)
    X[:, 1] = rng.poisson(0.7, n)
    X[:, 2] = np.where(rng.random(n) < 0.6, 0.0, rng.standard_normal(n))
    X[:, 3] = -rng.poisson(1.0, n)
    X[:, 4] = 5.0
    X[:, 6] = np.exp(10.0 * rng.standard_normal(n))
    return X


def test_normal_scores_are_those_of_mid_ranks():
    X = mixed_table()
    expected = norm.ppf((rankdata(X, axis=0) - 0.5) / len(X))
    found = normal_scores(X)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-6)
    np.testing.assert_allclose(found[:, [4, 5]], 0.0, atol=1e-7)  # a constant stays one


def test_normal_scores_see_the_order_alone():
    X = mixed_table()
    np.testing.assert_array_equal(normal_scores(np.cbrt(X) * 1e-6), normal_scores(X))


@pytest.mark.parametrize("explicit_zeros", [False, True])
def test_normal_scores_of_a_sparse_table_differ_by_a_shift(explicit_zeros):
    X = mixed_table()
    table = sp.csr_array(X)
    if explicit_zeros:  # entries that are stored although they are zero
        rows, columns = np.nonzero(np.ones_like(X))
        table = sp.csr_array((X.ravel(), (rows, columns)), shape=X.shape)
        assert table.nnz == X.size
    scores = normal_scores(table)
    assert sp.issparse(scores)
    assert scores.nnz <= table.nnz
    shift = normal_scores(X) - scores.toarray()
    np.testing.assert_allclose(shift, np.broadcast_to(shift[:1], shift.shape), atol=1e-6)


def torch_table(X):
    return pytest.importorskip("torch").asarray(X)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array, torch_table])
def test_permuted_columns_keep_their_values(kind):
    X = mixed_table()
    found = permuted(kind(X), np.random.default_rng(0))
    assert type(found) is type(kind(X))
    dense = found.toarray() if sp.issparse(found) else np.asarray(found)
    np.testing.assert_array_equal(np.sort(dense, axis=0), np.sort(X, axis=0))
    assert not np.array_equal(dense[:, 0], X[:, 0])
    # every column on its own: rows come apart
    order = np.argsort(dense[:, 0])
    assert not np.array_equal(dense[order][:, 6], X[np.argsort(X[:, 0])][:, 6])
    np.testing.assert_array_equal(X, mixed_table())  # the table itself is as it was


@pytest.mark.parametrize("shape", [(12, 40), (20, 20), (60, 7), (30, 29)])
def test_rotated_samples_keep_means_and_covariance(shape):
    rng = np.random.default_rng(0)
    Z = rng.standard_normal(shape) @ rng.standard_normal((shape[1], shape[1])) + 3.0
    found = rotated(Z, rng)
    np.testing.assert_allclose(found.mean(axis=0), Z.mean(axis=0), rtol=1e-10)
    covariance = np.cov(Z.T)
    np.testing.assert_allclose(np.cov(found.T), covariance, atol=1e-9 * np.abs(covariance).max())
    assert np.abs(found[:, None] - Z[None]).sum(axis=2).min() > 1e-3  # no row is one of Z


@pytest.mark.parametrize("shape", [(40, 60), (80, 10)])
def test_rotated_samples_have_no_clusters(shape):
    n, d = shape
    Z = np.random.default_rng(0).standard_normal((n, d)) * 0.1
    Z[: n // 2] += 3.0
    found = rotated(Z, np.random.default_rng(1))
    along = found @ np.ones(d)
    along = np.sort((along - along.mean()) / along.std())
    # two clusters would leave nobody near the mean
    assert np.count_nonzero(np.abs(along) < 0.5) > n // 5


def leading_kurtosis(Z, count):
    U = np.linalg.svd(Z, full_matrices=False)[0][:, :count]
    return len(Z) * np.sum(U**4, axis=0)


@pytest.mark.parametrize("tied", [0, 2])
@pytest.mark.parametrize(
    ("spread", "least", "most"),
    [("uniform", 1.7, 2.1), ("normal", 2.5, 3.5), ("groups", 1.7, 2.1), ("t", 3.6, 12.0)],
)
def test_rotated_copies_are_as_flat_or_heavy_as_the_table_and_keep_its_correlations(
    spread, least, most, tied
):
    rng = np.random.default_rng(0)
    factor = {
        "uniform": np.sqrt(12.0) * (rng.random((400, 1)) - 0.5),
        "normal": rng.standard_normal((400, 1)),
        "groups": np.where(rng.random((400, 1)) < 0.5, -1.0, 1.0),  # of kurtosis 1
        "t": rng.standard_t(5, (400, 1)),
    }[spread]
    X = 3.0 * factor + rng.standard_normal((400, 60))
    X[:, :tied] = X[:, :tied] > 0.0
    Z = dense_columns(X)[0]
    copies = RotatedCopies(Z, rng)
    found = [copies.draw(rng) for _ in range(5)]
    assert least < np.mean([leading_kurtosis(one, 1) for one in found]) < most
    for one in found:
        np.testing.assert_allclose(np.cov(one[:, tied:].T), np.cov(Z[:, tied:].T), atol=1e-5)
        np.testing.assert_array_equal(np.sort(one[:, :tied], axis=0), np.sort(Z[:, :tied], axis=0))


def test_single_precision_stays():
    Z = np.random.default_rng(0).standard_normal((20, 30)).astype(np.float32)
    assert rotated(Z, np.random.default_rng(0)).dtype == np.float32
    assert dense_columns(sp.csr_array(Z))[0].dtype == np.float32


def test_the_fullest_columns_of_a_wide_sparse_table_are_kept(monkeypatch):
    monkeypatch.setattr(defaults, "MOST_DENSE_COLUMNS", 3)
    X = np.zeros((6, 5))
    for column, filled in enumerate([2, 6, 0, 5, 4]):
        X[:filled, column] = column + 1.0
    X[0, 1] = 1.0
    found, expected = dense_columns(sp.csr_array(X)), dense_columns(X[:, [1, 3, 4]])
    for one, other in zip(found[:2], expected[:2], strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
    np.testing.assert_array_equal(found[2], [1, 3, 4])
    assert dense_columns(X)[0].shape == (6, 4)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_dense_columns_are_standardised_those_that_vary(kind):
    X = mixed_table()
    Z, units, _ = dense_columns(kind(X))
    assert Z.shape == (50, 5)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(Z.std(axis=0), 1.0, atol=1e-5)
    deviation = X[:, X.std(axis=0) > 0.0].std(axis=0)
    np.testing.assert_allclose(units, deviation / deviation.max(), rtol=1e-5)


def test_columns_of_any_unit_fit_into_single_precision():
    X = np.random.default_rng(0).standard_normal((20, 4)) * [1e50, 1e-50, 1e19, 1.0]
    Z, units, _ = dense_columns(X)
    assert np.isfinite(Z).all()
    np.testing.assert_allclose(Z.std(axis=0), 1.0, atol=1e-5)
    assert units.max() == 1.0


def test_rows_of_a_copy_are_far_out_together_where_those_of_the_table_are():
    rng = np.random.default_rng(0)
    factors = rng.standard_normal((400, 3)) @ rng.standard_normal((3, 40))
    normal = factors + rng.standard_normal((400, 40))
    far_out = normal / np.sqrt(rng.chisquare(5.0, (400, 1)))

    def spread_of_norms(X):
        norms = np.sum(np.linalg.svd(X, full_matrices=False)[0] ** 2, axis=1)
        return norms.std() / norms.mean()

    def of_copy(X):
        return spread_of_norms(RotatedCopies(dense_columns(X)[0], rng).draw(rng))

    assert of_copy(normal) == pytest.approx(spread_of_norms(normal), rel=0.3)
    assert of_copy(far_out) == pytest.approx(spread_of_norms(far_out), rel=0.5)
    assert of_copy(far_out) > 2.0 * of_copy(normal)
