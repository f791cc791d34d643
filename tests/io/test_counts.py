import numpy as np
import pytest
import scipy.sparse as sp

from featsieve.io.counts import kind_of, read_expression

RNG = np.random.default_rng(0)
COUNTS = RNG.negative_binomial(1, 0.3, size=(40, 12)).astype(np.float32)
COUNTS[:, 0] += 1
KINDS = [np.asarray, sp.csr_matrix, sp.csc_array]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("X", "found"),
    [
        (COUNTS, "counts"),
        (COUNTS.astype(np.int64), "counts"),
        (np.log1p(COUNTS), "logs"),
        (np.log1p(COUNTS) - 1.0, "scaled"),
        ((COUNTS > 0).astype(float), "binary"),
        (COUNTS > 0, "binary"),
        (COUNTS * 10.5, "linear"),
        (np.zeros((3, 2)), "binary"),
    ],
)
def test_kinds_are_told_apart(X, found, kind):
    assert kind_of(kind(X)) == found


@pytest.mark.parametrize("kind", KINDS)
def test_counts_are_normalised_and_the_table_stays(kind):
    X = kind(COUNTS.copy())
    found = read_expression(X)
    totals = COUNTS.sum(axis=1)
    expected = np.log1p(COUNTS * (np.median(totals) / totals)[:, None])
    values = found.X.toarray() if sp.issparse(found.X) else found.X
    np.testing.assert_allclose(values, expected, rtol=1e-5)
    assert found.X.dtype == np.float32
    assert sp.issparse(found.X) == sp.issparse(X)
    assert found.target == np.median(totals)
    assert "raw counts" in found.sentence
    assert "median total" in found.sentence
    np.testing.assert_array_equal(X.toarray() if sp.issparse(X) else X, COUNTS)


def test_other_values_stay_as_they_are():
    X = np.log1p(COUNTS)
    found = read_expression(X)
    assert found.X is X
    assert found.target is None
    assert not found.doubt
    assert read_expression(COUNTS, counts=False).X is COUNTS
    assert "counts=True" in read_expression(COUNTS * 10.5).doubt
    assert read_expression(COUNTS * 10.5, counts=True).target is not None  # estimated counts


def test_totals_may_be_of_more_genes():
    found = read_expression(COUNTS, totals=lambda: np.full(40, 100.0))
    np.testing.assert_allclose(found.X, np.log1p(COUNTS), rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "settings", "message"),
    [
        ((0, 3, -2.0), {}, r"1 values are below 0.*counts=False.*--no-counts"),
        ((0, 3, -2.5), {"counts": True}, "1 values are below 0"),
        ((2, slice(None), 0.0), {}, r"1 of 40 cells have no counts at all.*adata\[adata"),
    ],
)
def test_what_no_counts_are(change, settings, message):
    X = COUNTS.copy()
    i, j, value = change
    X[i, j] = value
    with pytest.raises(ValueError, match=message):
        read_expression(X, **settings)
