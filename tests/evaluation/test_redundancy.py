import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from featsieve.evaluation import redundancy


def brute_force(columns):
    """Return the mean absolute correlation of all pairs, by NumPy."""
    pairs = np.triu_indices(columns.shape[1], 1)
    return np.abs(np.corrcoef(columns, rowvar=False))[pairs].mean()


def mixed_table(n=40, d=12, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + rng.uniform(-5, 5, d)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sets(st.integers(0, 11), min_size=2))
def test_it_is_the_mean_of_the_absolute_correlations(seed, chosen):
    X = mixed_table(seed=seed)
    indices = sorted(chosen)
    mask = np.isin(np.arange(12), indices)
    expected = brute_force(X[:, indices])
    assert redundancy(X, indices) == pytest.approx(expected)
    assert redundancy(X, mask) == redundancy(X, indices)


@pytest.mark.parametrize(("form", "dtype"), [(sp.csr_array, np.float32), (sp.coo_array, np.int64)])
def test_sparse_tables(form, dtype):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((50, 20)) < 0.3, rng.integers(1, 9, (50, 20)), 0).astype(dtype)
    chosen = [3, 17, 4, 8]
    assert redundancy(form(X), chosen) == pytest.approx(brute_force(X[:, chosen].astype(float)))


def test_large_offsets_and_units_do_not_matter():
    X = mixed_table()
    moved = X * 10.0 ** np.arange(-6, 6) + 1e4 * 10.0 ** np.arange(-6, 6)
    assert redundancy(moved, range(12)) == pytest.approx(brute_force(X), rel=1e-9)
    assert redundancy(sp.csr_array(moved), range(12)) == pytest.approx(brute_force(X), rel=1e-9)


def test_constant_columns_count_as_uncorrelated():
    X = mixed_table()[:, :4]
    with_constants = np.column_stack([X, np.full(40, 0.1), np.zeros(40)])
    # 6 pairs of 15 are left
    expected = brute_force(X) * 6 / 15
    assert redundancy(with_constants, range(6)) == pytest.approx(expected)
    assert redundancy(with_constants, [4, 5]) == 0.0


def test_one_feature_repeats_nothing_and_copies_repeat_all():
    X = mixed_table()
    assert redundancy(X, [7]) == 0.0
    copies = np.column_stack([X[:, 0], -3.0 * X[:, 0], X[:, 0] + 100.0])
    assert redundancy(copies, [True] * 3) == pytest.approx(1.0)
    assert redundancy(copies, [0, 1, 2]) <= 1.0


def test_columns_that_are_not_selected_are_not_read():
    X = mixed_table()
    X[3, 5] = np.nan
    for table in (X, sp.csc_array(X), pd.DataFrame(X)):
        assert redundancy(table, [0, 7]) == pytest.approx(brute_force(X[:, [0, 7]]))
        with pytest.raises(ValueError, match="NaN"):
            redundancy(table, [5, 6])


def test_many_columns_are_summed_in_blocks(monkeypatch):
    X = mixed_table(n=30, d=50)
    expected = brute_force(X)
    module = sys.modules[redundancy.__module__]
    monkeypatch.setattr(module, "BLOCK_ELEMENTS", 7 * 50)
    assert redundancy(X, range(50)) == pytest.approx(expected)
    assert redundancy(sp.csr_array(X), range(50)) == pytest.approx(expected)


@pytest.mark.parametrize(
    "support",
    [[], np.zeros(12, bool), np.ones(11, bool), [0, 12], [0, 1, 1, 0], [0.5, 1.0], [[0, 1]]],
)
def test_a_support_that_does_not_fit_is_refused(support):
    with pytest.raises(ValueError, match="mask of bool for the 12 columns of X, or the indices"):
        redundancy(mixed_table(), support)
