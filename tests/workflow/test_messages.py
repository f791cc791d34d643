"""Columns in messages."""

import numpy as np

from featsieve.workflow.messages import by_column, list_columns, list_counts


def test_counts_and_lists():
    assert list_columns(["a"]) == "column 'a'"
    assert list_columns(list("abcde")) == "5 columns ('a', 'b', 'c', 'd', 'e')"
    assert list_columns(list("abcdef")) == "6 columns ('a', 'b', 'c', 'd', 'e', ...)"
    counts = by_column(np.arange(3), list("abc"))
    assert list(counts.items()) == [("c", 2), ("b", 1)]
    assert list_counts(counts, "missing value") == "3 missing values, in 2 columns ('c' 2, 'b' 1)"
