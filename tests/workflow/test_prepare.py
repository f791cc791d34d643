"""Tables made ready: what is refused, filled, scaled and told."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from featsieve.datasets import Dataset
from featsieve.workflow.prepare import as_dataset, prepare_table


@pytest.fixture(name="X")
def some_numbers():
    return np.random.default_rng(0).standard_normal((30, 6))


def with_gaps(X):
    X = X.copy()
    X[[0, 3, 5], 1] = np.nan
    X[7, 4] = np.nan
    return X


def test_a_clean_table_stays_as_it_is(X):
    ready = prepare_table(X)
    assert ready.X is X
    assert ready.table.X is X
    assert ready.fill is ready.centre is ready.scale is None
    assert ready.notes == ()


def test_missing_values_are_refused_with_count_and_columns(X):
    table = Dataset("people", with_gaps(X), feature_names=list("abcdef"))
    with pytest.raises(
        ValueError, match=r"4 missing values, in 2 columns \('b' \d, 'e' \d\)\."
    ) as told:
        prepare_table(table)
    assert "--impute median" in str(told.value)
    assert "impute='median'" in str(told.value)
    assert "--drop" in str(told.value)


def test_gaps_are_filled_as_scikit_learn_does(X):
    ready = prepare_table(with_gaps(X), impute="median")
    expected = SimpleImputer(strategy="median").fit(with_gaps(X))
    np.testing.assert_array_equal(ready.X, expected.transform(with_gaps(X)))
    np.testing.assert_array_equal(ready.fill, expected.statistics_)
    (note,) = ready.notes
    assert note.startswith("4 missing values, in 2 columns ('x1' ")
    assert note.endswith("): filled with the column's median.")


def test_sparse_gaps_are_filled_and_zeros_stay(X):
    dense = np.where(X > 0.3, X, 0.0)
    dense[2, 1] = dense[4, 1] = np.nan
    ready = prepare_table(sp.csr_array(dense), impute="median")
    assert sp.issparse(ready.X)
    assert ready.X.format == "csr"
    np.testing.assert_array_equal(
        ready.X.toarray(), SimpleImputer(strategy="median").fit_transform(dense)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_are_standardised_as_scikit_learn_does(X, dtype):
    X = (5.0 * X + 3.0).astype(dtype)
    ready = prepare_table(X, standardize=True)
    assert ready.X.dtype == dtype
    np.testing.assert_allclose(ready.X, StandardScaler().fit_transform(X))
    np.testing.assert_allclose((X - ready.centre) / ready.scale, ready.X, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(ready.table.X, X)


def test_sparse_columns_are_scaled_and_not_centred(X):
    X = sp.csr_array(np.where(X > 0.3, X, 0.0))
    ready = prepare_table(X, standardize=True)
    assert ready.X.nnz == X.nnz
    assert ready.centre is None
    np.testing.assert_allclose(ready.X.toarray().std(axis=0), 1.0)


def test_values_that_cannot_be_used(X):
    infinite, empty = X.copy(), X.copy()
    infinite[3, 2], empty[:, 3] = np.inf, np.nan
    for impute in (None, "median"):
        with pytest.raises(ValueError, match="1 infinite value, in column 'x2': correct"):
            prepare_table(infinite, impute=impute)
    for impute in (None, "median"):
        ready = prepare_table(empty, impute=impute)
        assert ready.notes == ("Without any value, and left out: column 'x3'.",)
        np.testing.assert_array_equal(ready.X[:, 3], 0.0)  # as any constant column
        assert ready.table.dropped == ("x3",)
    with pytest.raises(ValueError, match="no value at all in the table"):
        prepare_table(np.full((5, 3), np.nan))
    with pytest.raises(ValueError, match=r"one row only.*at least 2 are needed.*--transpose"):
        prepare_table(X[:1])


def test_odd_columns_are_told_with_the_fix(X):
    frame = pd.DataFrame(X, columns=list("ABCDEF"))
    frame["B"], frame["D"] = 4.0, 7.0
    frame["row id"] = np.arange(1, 31)
    ready = prepare_table(frame)
    about_rows, about_constants = ready.notes
    assert about_rows.startswith("Numbers of rows would be taken as features: column 'row id'.")
    assert "--drop 'row id'" in about_rows
    assert "--id-column 'row id'" in about_rows
    assert about_constants == "Constant, and nothing to select: 2 columns ('B', 'D')."


def test_tables_of_every_kind(X, tmp_path):
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame.to_csv(tmp_path / "t.csv", index=False)
    for table in (frame, pl.from_pandas(frame), tmp_path / "t.csv", str(tmp_path / "t.csv")):
        found = as_dataset(table)
        assert found.names == list("abcdef")
        np.testing.assert_allclose(found.X, X, rtol=1e-15)
    assert as_dataset(X).names == [f"x{j}" for j in range(6)]
    flags = as_dataset(pd.DataFrame({"a": [True, False], "b": [1, 2]}))
    assert flags.X.tolist() == [[1.0, 1.0], [0.0, 2.0]]
    with pytest.raises(ValueError, match="not hold numbers"):
        as_dataset(pd.DataFrame({"a": ["x", "y"], "b": [1, 2]}))


@pytest.mark.parametrize("library", [pd, pl])
def test_gaps_of_data_frames_are_missing_values(library):
    with pytest.raises(ValueError, match="1 missing value, in column 'a'"):
        prepare_table(library.DataFrame({"a": [1, None, 3], "b": [1.0, 2.0, 3.0]}))


def test_names_of_rows_are_kept():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}, index=["mary", "tom"])
    assert as_dataset(frame).sample_names == ["mary", "tom"]
    assert as_dataset(frame.reset_index(drop=True)).sample_names is None
    with pytest.raises(ValueError, match="same name: 'a'; rename them"):
        as_dataset(frame.set_axis(["a", "a"], axis=1))


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_columns_of_very_different_sizes_are_standardized(make):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 6)) * (rng.random((30, 6)) < 0.5)
    X[:, 5] = 0.0
    factors = 2.0 ** np.array([0, 180, -200, 100, -100, 0])
    plain = prepare_table(make(X), standardize=True)
    found = prepare_table(make(X * factors), standardize=True)
    one, other = (p.X.toarray() if sp.issparse(p.X) else p.X for p in (plain, found))
    np.testing.assert_array_equal(other, one)
    np.testing.assert_array_equal(found.scale / plain.scale, factors)
    if found.centre is not None:
        np.testing.assert_array_equal(found.centre, plain.centre * factors)
    assert [note.kind for note in found.notes] == ["constant"]
