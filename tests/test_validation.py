"""What a user passes in: refused in words, or taken as it is."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp

from featsieve import MaxVariance
from featsieve.tuning import suggest_n_clusters
from featsieve.validation import check_table

TABLE = np.random.default_rng(0).standard_normal((12, 4))


@pytest.mark.parametrize("use", [lambda X: MaxVariance(2).fit(X), suggest_n_clusters])
def test_text_in_an_array_of_objects_is_refused_by_column(use):
    X = TABLE.astype(object)
    X[3, 1], X[5, 3] = "much", "1.5"
    with pytest.raises(ValueError, match=r"2 columns do not hold numbers \(1, 3\): drop them"):
        use(X)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.longdouble])
def test_infinite_numbers_of_both_signs_are_refused_without_another_warning(dtype):
    X = TABLE.astype(dtype)
    X[2, 1], X[3, 1], X[4, 2] = np.inf, -np.inf, np.inf
    with pytest.raises(ValueError, match=r"infinity: 3 non-finite values in 2 columns \(1, 2\)"):
        MaxVariance(2).fit(X)


def test_extended_precision_beyond_double_is_refused_as_infinite():
    X = TABLE.astype(np.longdouble)
    X[2, 1] = np.finfo(np.longdouble).max
    if np.isfinite(float(X[2, 1])):
        pytest.skip("extended precision is double precision here")
    with pytest.raises(ValueError, match="infinity: 1 non-finite value in 1 column"):
        MaxVariance(2).fit(X)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, lambda X: da.from_array(X, (5, 3))])
def test_numbers_whose_squares_do_not_fit_are_refused_by_column(make):
    X = np.ldexp(TABLE[:, :3], [0, 700, 900])
    words = r"1e\+271 in 2 columns \(1, 2\), and SPEC adds up squares.*Divide the columns by 1e"
    with pytest.raises(ValueError, match=words):
        check_table(make(X), owner="SPEC")
    with pytest.raises(ValueError, match=r"e-211 in 1 column \(0\), and MaxVariance"):
        MaxVariance(2).fit(make(np.ldexp(TABLE[:, :3], [-700, -800, -900])))
    # small ones do no harm beside others
    found = MaxVariance(2).fit(make(np.ldexp(TABLE[:, :3], [0, -700, -900])))
    np.testing.assert_array_equal(found.scores_[1:], 0.0)


def test_an_ordinary_table_is_returned_as_it_is():
    for X in (TABLE, TABLE.astype(np.float32)):
        assert check_table(X, owner="SPEC") is X


@pytest.mark.parametrize("value", [1e30, 1e-30])
def test_single_precision_has_too_little_room_and_is_left(value):
    X = TABLE.astype(np.float32)
    X[:, 2] *= np.float32(value)
    for table in (X, sp.csr_array(X), da.from_array(X, (5, 4))):
        assert check_table(table, owner="SPEC").dtype == np.float64
