"""Names of columns: found, or told with those that may be meant."""

import numpy as np
import pytest

from featsieve.io.names import (
    ColumnError,
    check_unique,
    find_columns,
)

GENES = [f"gene {j}" for j in range(5000)]


def test_columns_are_found_in_the_order_in_which_they_are_wanted():
    assert find_columns(["gene 7", "gene 3"], GENES).tolist() == [7, 3]
    assert find_columns([], GENES).dtype == np.intp


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (["Gene 3"], "no column 'Gene 3' \\(did you mean 'gene 3'\\?\\); columns are: 'gene 0', "),
        (["gene_3"], "no column 'gene_3' \\(did you mean 'gene 3'"),
        (["xyz"], "no column 'xyz'; columns are"),
        (["gene 1", "a", "b"], "no column 'a', 'b'; columns are"),
        ([f"no {j}" for j in range(20)], "no column 'no 0', .*'no 2' and 17 more;"),
    ],
)
def test_missing_columns_are_named(wanted, message):
    with pytest.raises(ColumnError, match=message):
        find_columns(wanted, GENES)


def test_names_that_stand_twice():
    check_unique(GENES)
    with pytest.raises(ColumnError, match=r"the same name: 'a', 'b'; rename them$"):
        check_unique(["a", "b", "b", "a", "b"])
    with pytest.raises(ColumnError, match=r"the same name: '1\.5'; these are numbers: is the line"):
        check_unique(["a", "1.5", "2", "1.5"])
    with pytest.raises(ColumnError, match=r"the same name: '1', 'a'; rename them$"):
        check_unique(["1", "1", "a", "a"])
