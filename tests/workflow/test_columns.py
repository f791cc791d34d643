"""Facts about columns, against pandas and brute force."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from featsieve.workflow.columns import (
    constant_columns,
    count_where,
    named_as_row_number,
    row_number_columns,
)

VALUES = st.sampled_from([0.0, -0.0, 1.0, 2.0, np.nan, np.inf, -np.inf])


@st.composite
def tables(draw):
    n, d = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    cells = draw(st.lists(VALUES, min_size=n * d, max_size=n * d))
    return np.array(cells).reshape(n, d)


@given(tables())
def test_counts_are_those_of_pandas(X):
    frame = pd.DataFrame(X)
    for table in (X, sp.csr_array(X)):
        assert count_where(table, np.isnan).tolist() == frame.isna().sum().tolist()
        assert count_where(table, np.isinf).tolist() == frame.isin([np.inf, -np.inf]).sum().tolist()
        assert constant_columns(table).tolist() == (frame.nunique() <= 1).tolist()


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_row_numbers(make, dtype):
    n = 50
    rng = np.random.default_rng(0)
    counts = np.arange(n)
    halves, gap = counts + 0.5, counts.astype(float)
    gap[7] = np.nan
    swapped = counts.copy()
    swapped[[3, 4]] = swapped[[4, 3]]
    others = [counts[::-1], 3 * counts, halves, gap, swapped, np.zeros(n)]
    others += [rng.standard_normal(n), rng.permutation(n)]
    X = np.column_stack([counts, counts + 1, counts + 2, *others]).astype(dtype)
    assert row_number_columns(make(X)).tolist() == [0, 1, 2]
    some = ["age"] * X.shape[1]
    assert row_number_columns(make(X), some).tolist() == [0, 1, 2]
    every = row_number_columns(make(X), ["Row"] * X.shape[1]).tolist()
    assert every == [0, 1, 2, 3, 4, 7, 10]  # also against the order, in steps, swapped, shuffled


def test_a_shuffled_part_of_a_count_is_told_by_its_values_or_its_name():
    rng = np.random.default_rng(0)
    numbers = 1 + rng.permutation(96)[:80]
    ages = rng.integers(18, 90, size=80)
    doubled = np.r_[numbers[:-1], numbers[0]]
    X = np.column_stack([numbers, ages, doubled, 1000 * numbers]).astype(float)
    assert row_number_columns(X, ["Row", "sample no", "id", "case"]).tolist() == [0, 3]
    assert row_number_columns(X, ["weight", "age", "a", "b"]).tolist() == [0]
    ranks = np.column_stack([rng.permutation(80) for _ in range(3)] + [ages]).astype(float)
    assert row_number_columns(ranks).tolist() == []  # most columns are: ranks, not numbers of rows


def test_a_few_people_in_the_order_of_their_age_are_no_count():
    ages = np.array([21, 24, 25, 28, 30, 31, 33, 36.0])
    assert row_number_columns(ages[:, None], ["age"]).tolist() == []


def test_names_of_row_numbers():
    rows = ["row", "ID", "index", "No.", "nr", "Number", "sample", "case", "obs", "Unnamed: 0"]
    rows += ["patient_id", "PatientID", "Sample Number", "row.no", "rowid"]
    features = ["age", "lipid", "humid", "piano", "body mass index", "sample volume", "casein"]
    features += ["number of children", "", "x7", "12", "arrow", "IDH1", "NO2 level", "observed"]
    assert [name for name in rows + features if named_as_row_number(name)] == rows
