"""What a user passes in: refused in words, or taken as it is."""

import numpy as np
import pytest

from featsieve import MaxVariance
from featsieve.tuning import suggest_n_clusters
from featsieve.validation import as_table, refuse_out_of_range

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


def test_functions_get_tables_in_range():
    X = TABLE * [1.0, 2.0**600, 2.0**-600, 1.0]
    found = as_table(X, owner="k-means")
    assert 2.0**199 <= np.abs(found[:, 1]).max() < 2.0**200
    assert 2.0**-201 <= np.abs(found[:, 2]).max() < 2.0**-200
    np.testing.assert_array_equal(found[:, [0, 3]], X[:, [0, 3]])
    assert as_table(TABLE, owner="k-means") is TABLE


def test_columns_that_are_too_large_are_named():
    names = np.array(["a", "b", "c"])
    X = np.ldexp(TABLE[:, :3], [0, 700, 900])
    words = r"1e\+271 in 2 columns \(b, c\), and SPEC adds up their squares.*Divide these columns "
    with pytest.raises(ValueError, match=words + r"by 1e\+271"):
        refuse_out_of_range(X, np.array([0, 700, 900]), owner="SPEC", names=names)
    # small ones do no harm beside others, and are too small if there are no others
    X = np.ldexp(TABLE[:, :3], [0, -700, -900])
    refuse_out_of_range(X, np.array([0, -700, -900]), owner="SPEC")
    with pytest.raises(ValueError, match=r"1e-211 in 2 columns \(0, 1\)"):
        refuse_out_of_range(X[:, 1:], np.array([-700, -900]), owner="SPEC")
