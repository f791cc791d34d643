"""Columns of extreme size: an exact change of units, or a refusal that says what to do."""

import warnings

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from featsieve import JASFS, LaplacianScore, MaxVariance, suggest_n_clusters
from featsieve.arrays.ranges import column_exponents, in_range, with_room
from featsieve.datasets import make_planted

PLANTED = make_planted(60, 20, n_informative=6, n_clusters=3, signal=4.0, random_state=0)


def on_torch(X):
    """Return the table as a tensor, where torch is installed."""
    return pytest.importorskip("torch").asarray(X)


def powers(low, high, *, count=20, seed=0):
    """Return 2^e for random exponents."""
    return np.ldexp(1.0, np.random.default_rng(seed).integers(low, high, count))


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_array, on_torch])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_ordinary_table_is_returned_as_it_is(make, dtype):
    X = PLANTED.X.astype(dtype)
    X[:, 3] = 0.0
    X[:, 4] = 0.0
    X[50, 4] = 1e-8  # small, and not to be seen in the first rows
    X = make(X)
    table, exponents = in_range(X)
    assert table is X
    assert exponents is None


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_array, on_torch])
@pytest.mark.parametrize("factor", [2.0**300, 2.0**-300, 2.0**820, 2.0**-820])
def test_columns_out_of_range_are_multiplied_by_a_power_of_two(make, factor):
    X = PLANTED.X.copy()
    X[:, 5] *= factor
    table, exponents = in_range(make(X))
    values = table.toarray() if sp.issparse(table) else np.asarray(table)
    assert set(np.flatnonzero(exponents)) == {5}
    np.testing.assert_array_equal(np.ldexp(values, exponents), X)
    assert 2.0**-201 <= np.abs(values[:, 5]).max() < 2.0**200
    assert column_exponents(table) is None


def test_a_small_column_is_found_wherever_it_differs_from_zero():
    X = np.ones((30_000, 4))
    X[:, 1] = 0.0
    X[-1, 1] = 1e-250  # far below the first rows
    table, exponents = in_range(X)
    np.testing.assert_array_equal(np.flatnonzero(exponents), [1])
    assert 2.0**-201 <= table[-1, 1] < 2.0**-199


def test_columns_of_denormal_numbers_count_as_zero():
    X = PLANTED.X.copy()
    X[:, 2] = np.arange(60) * 5e-324
    table, _ = in_range(X)
    np.testing.assert_array_equal(table[:, 2], 0.0)
    sieve = JASFS(3, n_features_to_select=20, random_state=0).fit(X)
    assert sieve.scores_[2] == 0.0
    assert sieve.ranking_[2] == 20


@pytest.mark.parametrize("value", [1e30, 1e-30])
def test_single_precision_has_too_little_room_and_is_left(value):
    X = PLANTED.X.astype(np.float32)
    assert with_room(X) is X
    X[:, 7] *= np.float32(value)
    assert with_room(X).dtype == np.float64
    np.testing.assert_array_equal(with_room(X), X)
    assert str(with_room(on_torch(X)).dtype) == "torch.float64"


@pytest.mark.parametrize("init", ["spectral", "k-means"])
def test_the_units_of_standardised_columns_do_not_matter(init):
    sieve = JASFS(3, n_features_to_select=5, init=init, random_state=0)
    plain = JASFS(**sieve.get_params()).fit(PLANTED.X)
    for low, high in ((-190, 190), (-700, 1000)):
        factors = powers(low, high)
        sieve.fit(PLANTED.X * factors)
        np.testing.assert_array_equal(sieve.scores_, plain.scores_)
        np.testing.assert_array_equal(sieve.labels_, plain.labels_)
        np.testing.assert_array_equal(sieve.coef_ * factors[:, None], plain.coef_)
        np.testing.assert_allclose(sieve.intercept_, plain.intercept_, rtol=1e-12)
        np.testing.assert_allclose(
            sieve.cluster_centers_ / factors[sieve.support_], plain.cluster_centers_, rtol=1e-12
        )
        np.testing.assert_array_equal(sieve.predict(PLANTED.X * factors), plain.predict(PLANTED.X))


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array, on_torch])
def test_sparse_and_device_tables_have_the_same_answer(make):
    X = np.where(PLANTED.X > 0.0, PLANTED.X, 0.0) * powers(-700, 1000)
    expected = LaplacianScore(5, scale="unit").fit(X).scores_
    scores = LaplacianScore(5, scale="unit").fit(make(X)).scores_
    np.testing.assert_allclose(scores, expected, rtol=1e-9)


@pytest.mark.parametrize("make", [LaplacianScore, MaxVariance, lambda k: JASFS(3, scale="none")])
@pytest.mark.parametrize(("factor", "order"), [(1e200, "1e\\+20"), (1e-200, "1e-(199|200)")])
def test_columns_taken_as_they_are_must_be_in_range(make, factor, order):
    with pytest.raises(ValueError, match=f"of the order of {order}.*Divide these columns by"):
        make(5).fit(PLANTED.X * factor)
    X = PLANTED.X.copy()
    X[:, 4] *= 1e-200  # of no weight beside the others
    assert make(5).fit(X).scores_[4] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("dtype", "low", "high"), [(np.float64, -700, 1000), (np.float32, -130, 110)]
)
def test_a_dask_table_has_the_answer_of_one_in_memory(sparse, dtype, low, high):
    X = PLANTED.X if not sparse else np.where(PLANTED.X > 0.0, PLANTED.X, 0.0)
    X = X.astype(dtype) * powers(low, high).astype(dtype)
    X[:, 7] = np.where(np.arange(60) % 2, X[0, 7], -X[0, 7])  # of mean zero
    table = da.from_array(X, chunks=(25, 20))
    table = table.map_blocks(sp.csr_array) if sparse else table
    sieve = JASFS(3, n_features_to_select=5, random_state=0)
    expected = clone(sieve).fit(sp.csr_array(X) if sparse else X)
    found = clone(sieve).fit(table)
    np.testing.assert_array_equal(found.support_, expected.support_)
    np.testing.assert_allclose(found.scores_, expected.scores_, rtol=1e-9)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    assert found.certify(table).value == pytest.approx(expected.certify(X).value)
    assert suggest_n_clusters(table).n_clusters == suggest_n_clusters(X).n_clusters
    with pytest.raises(ValueError, match="Divide these columns by"):
        MaxVariance(5).fit(da.from_array(PLANTED.X * 1e200, chunks=(20, 20)))


def test_the_other_order_of_bytes_is_the_same_table():
    X = PLANTED.X * powers(-700, 1000)
    other = X.astype(X.dtype.newbyteorder())
    before = other.tobytes()
    sieve = JASFS(3, n_features_to_select=5, random_state=0)
    plain = clone(sieve).fit(X)
    for table in (other, da.from_array(other, chunks=(25, 20))):
        sieve.fit(table)
        np.testing.assert_allclose(sieve.scores_, plain.scores_, rtol=1e-9)
    assert sieve.certify(other).value == pytest.approx(plain.certify(X).value)
    assert sieve.transform(other).dtype == other.dtype
    assert other.tobytes() == before


def test_numbers_near_the_largest_go_through_every_step():
    # Two clusters at the two ends of double precision: sums and differences overflow.
    largest = np.finfo(np.float64).max
    X = PLANTED.X.copy()
    X[:, 0] = np.where(np.arange(60) < 30, largest, -largest)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sieve = JASFS(2, n_features_to_select=3, init=np.arange(60) // 30, max_iter=1).fit(X)
        assert sieve.support_[0]
        assert np.isfinite(sieve.cluster_centers_).all()
        np.testing.assert_allclose(np.abs(sieve.cluster_centers_[:, 0]) / largest, 1.0)
        np.testing.assert_array_equal(sieve.predict(X), np.arange(60) // 30)
        np.testing.assert_array_equal(sieve.transform(X), X[:, sieve.support_])
        assert suggest_n_clusters(X, random_state=0).n_clusters >= 2
